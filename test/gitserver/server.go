// Package gitserver serves bare Git repositories over HTTP(S) on loopback, through git's own upload-pack and receive-pack, and
// lets a test break them, watch them and write to them as another user.
package gitserver

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Server serves the repositories below one directory. Its methods are safe for concurrent use.
type Server struct {
	dir  string
	auth []authorizer
	tls  bool
	http *httptest.Server

	// multiACK refuses fetches of clients without multi_ack.
	multiACK bool

	mu    sync.Mutex
	full  bool
	repos map[string]*traffic
}

// traffic has the counts of one repository, and the planned results of its next requests.
type traffic struct {
	requests      int
	pushes        int
	fail          int
	failPushes    int
	beforeFetchFn func()
	dropPushFn    func()
	afterPushFn   func()
}

// An Option configures a Server.
type Option func(s *Server)

// WithBasicAuth admits requests with this user and password. Several ways to be admitted are alternatives.
func WithBasicAuth(user, password string) Option {
	return func(s *Server) { s.auth = append(s.auth, requireBasicAuth(user, password)) }
}

// WithBearerToken admits requests that bear this token. Several ways to be admitted are alternatives.
func WithBearerToken(token string) Option {
	return func(s *Server) { s.auth = append(s.auth, bearerToken(token)) }
}

// WithTLS serves HTTPS. CA returns the certificate that a client must trust.
func WithTLS() Option {
	return func(s *Server) { s.tls = true }
}

// WithMultiACK refuses clients that fetch without the capability multi_ack, with the status and the words of Azure DevOps.
func WithMultiACK() Option {
	return func(s *Server) { s.multiACK = true }
}

// New starts a Server on a free loopback port, for the repositories below dir, which it creates when it does not exist. It returns an error
// if git is not installed or dir cannot be made. It lives until Close, also after the end of ctx.
func New(_ context.Context, dir string, o ...Option) (*Server, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.Wrap(err, "cannot find git")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, errors.Wrap(err, "cannot resolve repository directory")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, errors.Wrap(err, "cannot create repository directory")
	}

	s := &Server{dir: dir, repos: map[string]*traffic{}}
	for _, fn := range o {
		fn(s)
	}
	if err := s.writeTemplate(); err != nil {
		return nil, err
	}
	s.http = s.startListening()
	return s, nil
}

func (s *Server) startListening() *httptest.Server {
	h := http.HandlerFunc(s.serveRequest)
	if s.tls {
		return httptest.NewTLSServer(h)
	}
	return httptest.NewServer(h)
}

// Close ends the server and every connection to it. The repositories stay where they are.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL returns the clone URL of a repository, without credentials.
func (s *Server) URL(repo string) string {
	return s.http.URL + "/" + repo + ".git"
}

// Path returns the directory of a bare repository.
func (s *Server) Path(repo string) string {
	return filepath.Join(s.dir, filepath.FromSlash(repo)+".git")
}

// CA returns the PEM bundle that clients of a Server WithTLS must trust, and nil without TLS.
func (s *Server) CA() []byte {
	if !s.tls {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})
}

// Fail answers every request for a repository with this HTTP status, until it is 0 again.
func (s *Server) Fail(repo string, status int) {
	s.withTraffic(repo, func(t *traffic) { t.fail = status })
}

// FailPushes answers every attempt to push with this HTTP status, until it is 0 again. Fetching goes on.
func (s *Server) FailPushes(repo string, status int) {
	s.withTraffic(repo, func(t *traffic) { t.failPushes = status })
}

// Fill the disk, or make room again. Nothing can be written while it is full.
func (s *Server) Fill(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// BeforeFetch calls fn, if it isn't nil, when a client asks for the refs of a fetch, before it is answered.
func (s *Server) BeforeFetch(repo string, fn func()) {
	s.withTraffic(repo, func(t *traffic) { t.beforeFetchFn = fn })
}

// DropPush calls fn, if it isn't nil, when a push arrives, and does not carry it out: its sender gets no answer.
func (s *Server) DropPush(repo string, fn func()) {
	s.withTraffic(repo, func(t *traffic) { t.dropPushFn = fn })
}

// AfterPush calls fn, if it isn't nil, when a push was carried out and before its sender is answered, which is when a crash hurts most.
func (s *Server) AfterPush(repo string, fn func()) {
	s.withTraffic(repo, func(t *traffic) { t.afterPushFn = fn })
}

// Requests returns how many HTTP requests a repository got, with any answer.
func (s *Server) Requests(repo string) int {
	n := 0
	s.withTraffic(repo, func(t *traffic) { n = t.requests })
	return n
}

// Pushes returns how many pushes reached a repository, whether it took them or not.
func (s *Server) Pushes(repo string) int {
	n := 0
	s.withTraffic(repo, func(t *traffic) { n = t.pushes })
	return n
}

func (s *Server) withTraffic(repo string, fn func(t *traffic)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.repos[repo]
	if !ok {
		t = &traffic{}
		s.repos[repo] = t
	}
	fn(t)
}
