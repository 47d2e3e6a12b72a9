package causes

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/test/wire"
)

// password of the repository.
const password = "correct"

// moveBehindCutWire moves the repository behind a wire, and cuts it.
func (s *stage) moveBehindCutWire() *wire.Wire {
	s.T.Helper()
	scheme, rest, _ := strings.Cut(s.Git.URL(s.Namespace), "://")
	host, path, _ := strings.Cut(rest, "/")
	w, err := wire.New(s.T.Context(), host)
	s.Must(err)
	s.T.Cleanup(w.Close)
	s.Must(w.Cut())
	s.Apply(s.Set(s.ProviderConfig(), scheme+"://"+w.Address()+"/"+path, "spec", "git", "url"))
	return w
}

// updateHookPath is the path of a server's hook that decides about each ref alone.
func (s *stage) updateHookPath() string {
	return filepath.Join(s.Git.Path(s.Namespace), "hooks", "update")
}

// refuseState makes the server accept the branch, and refuse all refs of the state.
func (s *stage) refuseState() {
	s.T.Helper()
	s.Must(os.MkdirAll(filepath.Dir(s.updateHookPath()), 0o755))
	script := "#!/bin/sh\ncase \"$1\" in refs/heads/main) ;; *) echo 'only the branch may be pushed' >&2; exit 1;; esac\n"
	s.Must(os.WriteFile(s.updateHookPath(), []byte(script), 0o755))
}

// forceBranch moves the branch to a commit, as a forced push does.
func (s *stage) forceBranch(commit string) {
	s.T.Helper()
	_, err := s.Git.Git(s.T.Context(), s.Namespace, "update-ref", "refs/heads/main", commit)
	s.Must(err)
}

// repositoryStories are of the repository and its server.
func repositoryStories() map[string]story {
	return map[string]story{
		"WrongPassword": {
			reason: "A wrong password is the cause until the platform team corrects the Secret.",
			breaks: func(s *stage) func() {
				s.GuardRepository(password)
				s.Apply(s.BasicAuthSecret("wrong"))
				s.Apply(s.deployment)
				return func() { s.Apply(s.BasicAuthSecret(password)) }
			},
			want: answer{object: "GitDelivery ", reason: "AuthFailed", actor: advice.PlatformTeam, do: "Correct the credentials in the Secret"},
		},
		"HostDown": {
			reason: "A Git server that does not answer is the cause until its owner starts it.",
			breaks: func(s *stage) func() {
				host := s.moveBehindCutWire()
				s.Apply(s.deployment)
				return func() { s.Must(host.Connect(s.T.Context())) }
			},
			want: answer{object: "GitDelivery ", reason: "MemoryUnknown", actor: advice.RepositoryOwner, do: "check the server"},
		},
		"StateRefused": {
			reason: "A server that refuses the ref of the state is the cause until its owner allows the provider's push.",
			breaks: func(s *stage) func() {
				s.refuseState()
				s.Apply(s.deployment)
				return func() { s.Must(os.Remove(s.updateHookPath())) }
			},
			want: answer{object: "GitDelivery ", reason: "StateRefused", actor: advice.RepositoryOwner, do: "Let the provider push the ref"},
		},
		"BranchRewritten": {
			reason: "A branch whose history lost a delivery is the cause until its owner restores the history.",
			breaks: func(s *stage) func() {
				s.awaitSucceeded(1)
				first := s.Commits()[0].ID
				s.awaitSucceeded(2)
				commit := s.Commits()[0].ID
				s.forceBranch(first)
				return func() { s.forceBranch(commit) }
			},
			want: answer{object: "GitDelivery ", reason: "Diverged", actor: advice.RepositoryOwner, do: "Find out who rewrote the branch"},
		},
	}
}
