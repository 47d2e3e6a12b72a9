package gitserver

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/patience"
)

// client runs the real git client in dir.
func client(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(isolatedEnvironment(dir),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustClient(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := client(t.Context(), dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func start(t *testing.T, o ...Option) *Server {
	t.Helper()
	s, err := New(t.Context(), t.TempDir(), o...)
	if err != nil {
		t.Fatalf("New(...): %v", err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), "team/fleet", map[string]string{"README.md": "hello\n", "a/b.yaml": "b: 1\n"}); err != nil {
		t.Fatalf("CreateRepo(...): %v", err)
	}
	return s
}

// push commits a file of this size in a fresh clone and pushes it.
func push(t *testing.T, s *Server, size int) (string, error) {
	t.Helper()
	dir := t.TempDir()
	mustClient(t, dir, "clone", "-q", s.URL("team/fleet"), "w")
	w := filepath.Join(dir, "w")
	if err := os.WriteFile(filepath.Join(w, "new.txt"), randomish(size), 0o600); err != nil {
		t.Fatal(err)
	}
	mustClient(t, w, "add", ".")
	mustClient(t, w, "commit", "-q", "-m", "Change\n\nIntent: x\nStep: 3")
	return client(t.Context(), w, "push", "-q", "origin", "HEAD:main")
}

// randomish returns bytes that do not compress.
func randomish(n int) []byte {
	b := make([]byte, n)
	x := uint32(2463534242)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

func TestPush(t *testing.T) {
	cases := map[string]struct {
		reason string
		size   int
	}{
		"Small": {reason: "An ordinary push should arrive.", size: 10},
		"Large": {reason: "A push that git sends in chunks should arrive, though CGI knows no chunks.", size: 3 << 20},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			notified := 0
			s.AfterPush("team/fleet", func() { notified++ })
			if out, err := push(t, s, tc.size); err != nil {
				t.Fatalf("\n%s\npush: %v\n%s", tc.reason, err, out)
			}

			files, err := s.Files(t.Context(), "team/fleet", Branch)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"README.md": "hello\n", "a/b.yaml": "b: 1\n", "new.txt": string(randomish(tc.size))}
			if diff := cmp.Diff(want, files); diff != "" {
				t.Errorf("\n%s\nFiles(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]int{1, 1}, []int{notified, s.Pushes("team/fleet")}); diff != "" {
				t.Errorf("\n%s\nPushes of the hook and of the counter: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	s := start(t)
	if err := s.CreateRepo(t.Context(), "empty", nil); err != nil {
		t.Fatalf("CreateRepo(...): %v", err)
	}
	refs, err := s.Refs(t.Context(), "empty")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{}, refs); diff != "" {
		t.Errorf("Refs(...): -want, +got:\n%s", diff)
	}
	if err := s.CreateRepo(t.Context(), "empty", nil); err == nil {
		t.Errorf("CreateRepo(...): want an error for a repository that exists")
	}
}

// announceRequest returns a channel that is closed when the server begins to serve its first request.
func announceRequest(s *Server) <-chan struct{} {
	begun, handler, first := make(chan struct{}), s.http.Config.Handler, sync.Once{}
	s.http.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first.Do(func() { close(begun) })
		handler.ServeHTTP(w, r)
	})
	return begun
}

// TestKilledClient shows that a client which ends in the middle of its push leaves nothing behind that runs on.
func TestKilledClient(t *testing.T) {
	s := start(t)
	begun := announceRequest(s)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.http.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	const half = "POST /team/fleet.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-git-receive-pack-request\r\nContent-Length: 100\r\n\r\n0000"
	if _, err := c.Write([]byte(half)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-begun:
	case <-time.After(patience.Limit):
		t.Fatal("the server has got no request")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		s.http.Close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience.Limit):
		t.Error("Close(): a request whose client is gone goes on")
	}
}

func TestFail(t *testing.T) {
	cases := map[string]struct {
		reason    string
		fail      func(s *Server)
		wantFetch bool
		wantPush  bool
	}{
		"Healthy":   {reason: "A server without faults serves fetches and pushes.", fail: func(*Server) {}, wantFetch: true, wantPush: true},
		"NotFound":  {reason: "A repository that is gone should serve nothing.", fail: func(s *Server) { s.Fail("team/fleet", http.StatusNotFound) }},
		"Forbidden": {reason: "A repository that is closed should serve nothing.", fail: func(s *Server) { s.Fail("team/fleet", http.StatusForbidden) }},
		"ReadOnly": {
			reason:    "A token that may only read should still read.",
			fail:      func(s *Server) { s.FailPushes("team/fleet", http.StatusForbidden) },
			wantFetch: true,
		},
		"Healed": {
			reason:    "A repository should come back.",
			fail:      func(s *Server) { s.Fail("team/fleet", http.StatusServiceUnavailable); s.Fail("team/fleet", 0) },
			wantFetch: true,
			wantPush:  true,
		},
		"Other": {
			reason:    "The failure of one repository should not touch another.",
			fail:      func(s *Server) { s.Fail("team/other", http.StatusNotFound) },
			wantFetch: true,
			wantPush:  true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			dir := t.TempDir()
			mustClient(t, dir, "clone", "-q", s.URL("team/fleet"), "w")
			w := filepath.Join(dir, "w")
			mustClient(t, w, "commit", "-q", "--allow-empty", "-m", "x")

			tc.fail(s)

			_, fetch := client(t.Context(), w, "fetch", "-q")
			_, push := client(t.Context(), w, "push", "-q", "origin", "HEAD:main")
			if diff := cmp.Diff([]bool{tc.wantFetch, tc.wantPush}, []bool{fetch == nil, push == nil}); diff != "" {
				t.Errorf("\n%s\nfetch, push: -want, +got:\n%s", tc.reason, diff)
			}
			if s.Requests("team/fleet") == 0 {
				t.Errorf("\n%s\nRequests(...): want some", tc.reason)
			}
		})
	}
}

func TestAuth(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   bool
	}{
		"None":          {reason: "A client without credentials should be refused."},
		"Basic":         {reason: "The right password should be let in.", args: []string{"-c", "http.extraHeader=Authorization: Basic dTpw"}, want: true},
		"WrongPassword": {reason: "A wrong password should be kept out.", args: []string{"-c", "http.extraHeader=Authorization: Basic dTpx"}},
		"Bearer":        {reason: "The right token should be let in.", args: []string{"-c", "http.extraHeader=Authorization: Bearer t0ken"}, want: true},
		"WrongBearer":   {reason: "A wrong token should be kept out.", args: []string{"-c", "http.extraHeader=Authorization: Bearer other"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := start(t, WithBasicAuth("u", "p"), WithBearerToken("t0ken"))
			_, err := client(t.Context(), t.TempDir(), append(tc.args, "ls-remote", s.URL("team/fleet"))...)
			if diff := cmp.Diff(tc.want, err == nil); diff != "" {
				t.Errorf("\n%s\nls-remote: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	cases := map[string]struct {
		reason string
		trust  bool
	}{
		"Trusted":   {reason: "A client that trusts the CA should be served.", trust: true},
		"Untrusted": {reason: "A client that does not trust the CA should refuse the server."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := start(t, WithTLS())
			dir := t.TempDir()
			ca := filepath.Join(dir, "ca.pem")
			if err := os.WriteFile(ca, s.CA(), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"ls-remote", s.URL("team/fleet")}
			if tc.trust {
				args = append([]string{"-c", "http.sslCAInfo=" + ca}, args...)
			}
			out, err := client(t.Context(), dir, args...)
			if diff := cmp.Diff(tc.trust, err == nil); diff != "" {
				t.Errorf("\n%s\nls-remote: -want, +got:\n%s\n%s", tc.reason, diff, out)
			}
		})
	}
}

func TestBlobless(t *testing.T) {
	s := start(t)
	dir := t.TempDir()
	mustClient(t, dir, "clone", "-q", "--no-checkout", "--depth=1", "--filter=blob:none", s.URL("team/fleet"), "w")
	if out := mustClient(t, filepath.Join(dir, "w"), "ls-tree", "-r", "--name-only", "HEAD"); out != "README.md\na/b.yaml\n" {
		t.Errorf("ls-tree of a clone without blobs: %q", out)
	}
}
