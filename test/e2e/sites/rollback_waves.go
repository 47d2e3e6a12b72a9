package sites

import (
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// treesOfClaim returns the trees of a claim's directories at Sites, by their names.
func (s *stage) treesOfClaim(claim string, sites ...string) map[string]string {
	s.T.Helper()
	out := map[string]string{}
	for _, site := range sites {
		out[site] = s.Tree(s.Directory(site, claim))
	}
	return out
}

// withTwoWaves returns edge1, and edge2 after it.
func (s *stage) withTwoWaves(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	return s.Set(o, []any{
		map[string]any{"name": "first", "sites": []any{s.Site("edge1")}},
		map[string]any{"name": "second", "sites": []any{s.Site("edge2")}},
	}, "spec", "deliveryConfig", "waves")
}

// wantRollback compares status.rollback.
func (s *stage) wantRollback(u *unstructured.Unstructured, reason, commit string, attempts int64) {
	s.T.Helper()
	got, _, err := unstructured.NestedMap(u.Object, "status", "rollback")
	s.Must(err)
	s.WantEqual("status.rollback", map[string]any{"active": false, "reason": reason, "previousCommit": commit, "attempts": attempts}, got)
}

// refuseCommits makes a repository refuse commits to its branch. The repository accepts commits to its state.
func (s *stage) refuseCommits(repo string) error {
	hook := s.receiveHookPath(repo)
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		return err
	}
	return os.WriteFile(hook, []byte("#!/bin/sh\nwhile read -r old new ref; do case \"$ref\" in refs/heads/*) exit 1;; esac; done\n"), 0o755)
}

func (s *stage) receiveHookPath(repo string) string {
	return filepath.Join(s.Git.Path(repo), "hooks", "pre-receive")
}

// commitsInRepository returns the number of commits in another repository, without its first commit.
func (s *stage) commitsInRepository(repo string) int {
	s.T.Helper()
	log, err := s.Git.Log(s.T.Context(), repo, "main")
	s.Must(err)
	return len(log) - 1
}

func (s *stage) treeInRepository(repo, revision, path string) string {
	s.T.Helper()
	out, err := s.Git.Git(s.T.Context(), repo, "ls-tree", "--object-only", revision, path)
	s.Must(err)
	return strings.TrimSpace(out)
}
