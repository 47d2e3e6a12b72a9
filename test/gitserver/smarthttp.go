package gitserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// A gitRequest is one request of Git's smart HTTP protocol (gitprotocol-http): a client asks for the refs that a service advertises, or runs the service.
type gitRequest struct {
	service   string // upload-pack or receive-pack
	advertise bool
	repo      string // the directory below the server's
}

// parseRequest returns the request of a URL. It reports false for any other URL.
func parseRequest(r *http.Request) (gitRequest, bool) {
	repo, operation := path.Split(path.Clean(r.URL.Path))
	g := gitRequest{service: strings.TrimPrefix(operation, "git-"), repo: repo}
	if operation == "refs" {
		g = gitRequest{
			service:   strings.TrimPrefix(r.URL.Query().Get("service"), "git-"),
			advertise: true,
			repo:      strings.TrimSuffix(repo, "info/"),
		}
	}
	method := map[bool]string{true: http.MethodGet, false: http.MethodPost}[g.advertise]
	return g, r.Method == method && (g.service == "upload-pack" || g.service == "receive-pack")
}

// gitArguments returns the git command that answers a request.
func (g gitRequest) gitArguments(dir string) []string {
	if g.advertise {
		return []string{g.service, "--stateless-rpc", "--http-backend-info-refs", dir}
	}
	return []string{g.service, "--stateless-rpc", dir}
}

// answerGitRequest answers a request by one git process. Git's own http-backend would be a second one for each request. The process is not ended when its client
// goes away: a forge carries out a push that it received whole.
func (s *Server) answerGitRequest(w http.ResponseWriter, r *http.Request) {
	g, ok := parseRequest(r)
	dir := filepath.Join(s.dir, filepath.FromSlash(g.repo))
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); !ok || err != nil {
		http.NotFound(w, r)
		return
	}
	kind := map[bool]string{true: "advertisement", false: "result"}[g.advertise]
	w.Header().Set("Content-Type", "application/x-git-"+g.service+"-"+kind)
	w.Header().Set("Cache-Control", "no-cache")
	protocol, answer := r.Header.Get("Git-Protocol"), &gitAnswer{ResponseWriter: w}
	if g.advertise && !strings.Contains(protocol, "version=2") {
		line := "# service=git-" + g.service + "\n"
		answer.prefix = fmt.Sprintf("%04x%s0000", len(line)+len("0000"), line)
	}
	cmd := s.gitCommand(context.WithoutCancel(r.Context()), g.gitArguments(dir))
	cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+protocol)
	cmd.Stdin, cmd.Stdout = r.Body, answer
	// A client sees a later failure as an answer that ends early, or in git's own report.
	if err := cmd.Run(); err != nil && !answer.hasBegun {
		http.Error(w, "git failed", http.StatusInternalServerError)
	}
}

// A gitAnswer writes a prefix before the first bytes of a git process: until then the answer may become an error.
type gitAnswer struct {
	http.ResponseWriter

	prefix   string
	hasBegun bool
}

// Write writes the output of a git process.
func (a *gitAnswer) Write(p []byte) (int, error) {
	if !a.hasBegun {
		a.hasBegun = true
		if _, err := io.WriteString(a.ResponseWriter, a.prefix); err != nil {
			return 0, err
		}
	}
	return a.ResponseWriter.Write(p)
}

// gitCommand is a git command. On a disk that is full it can write to no file.
func (s *Server) gitCommand(ctx context.Context, arguments []string) *exec.Cmd {
	s.mu.Lock()
	defer s.mu.Unlock()
	cmd := exec.CommandContext(ctx, "git", arguments...)
	if s.full {
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -f 0; exec git "$@"`, "git"}, arguments...)...)
	}
	cmd.Env = isolatedEnvironment(s.dir)
	return cmd
}
