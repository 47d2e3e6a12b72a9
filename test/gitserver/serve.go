package gitserver

import (
	"bytes"
	"compress/gzip"
	"crypto/subtle"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

// emptyRequest is the length of a push that only probes whether the server lets it in: one flush packet.
const emptyRequest = int64(len("0000"))

// An authorizer says whether a request may pass.
type authorizer func(r *http.Request) bool

func requireBasicAuth(user, password string) authorizer {
	return func(r *http.Request) bool {
		u, p, ok := r.BasicAuth()
		return ok && equalInConstantTime(u, user) && equalInConstantTime(p, password)
	}
}

func bearerToken(token string) authorizer {
	return func(r *http.Request) bool { return equalInConstantTime(r.Header.Get("Authorization"), "Bearer "+token) }
}

func equalInConstantTime(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

func (s *Server) serveRequest(w http.ResponseWriter, r *http.Request) {
	repo := repositoryOf(r)
	if status := s.admitRequest(repo, r); status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	if !s.isAuthorized(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
		return
	}
	if err := bufferRequestBody(r); err != nil {
		http.Error(w, "cannot read request", http.StatusBadRequest)
		return
	}
	if s.multiACK && isFetchRequest(r) && !asksForMultiACK(r) {
		http.Error(w, "TF401041: The Git protocol sent is not as expected (Clients must support multi-ack.).", http.StatusBadRequest)
		return
	}
	s.callBeforeFetch(repo, r)
	if !isPushRequest(r) {
		s.answerGitRequest(w, r)
		return
	}
	s.serveDelayedPush(w, r, repo)
}

func (s *Server) callBeforeFetch(repo string, r *http.Request) {
	var fn func()
	s.withTraffic(repo, func(t *traffic) { fn = t.beforeFetchFn })
	if fn != nil && r.URL.Query().Get("service") == "git-upload-pack" {
		fn()
	}
}

// serveDelayedPush holds the answer back until the test that waits for the push has seen it.
func (s *Server) serveDelayedPush(w http.ResponseWriter, r *http.Request, repo string) {
	var drop func()
	s.withTraffic(repo, func(t *traffic) { drop = t.dropPushFn })
	if drop != nil {
		drop()
		panic(http.ErrAbortHandler)
	}
	answer := httptest.NewRecorder()
	s.answerGitRequest(answer, r)
	s.callAfterPush(repo)
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = io.Copy(w, answer.Body)
}

func (s *Server) callAfterPush(repo string) {
	var fn func()
	s.withTraffic(repo, func(t *traffic) {
		t.pushes++
		fn = t.afterPushFn
	})
	if fn != nil {
		fn()
	}
}

// admitRequest counts a request and returns the status it shall fail with, or 0.
func (s *Server) admitRequest(repo string, r *http.Request) int {
	status := 0
	s.withTraffic(repo, func(t *traffic) {
		t.requests++
		status = t.fail
		if status == 0 && asksForPush(r) {
			status = t.failPushes
		}
	})
	return status
}

func (s *Server) isAuthorized(r *http.Request) bool {
	return len(s.auth) == 0 || slices.ContainsFunc(s.auth, func(accepts authorizer) bool { return accepts(r) })
}

// bufferRequestBody reads the whole body before git gets it: git would read for ever, at full load, from a body that ends before its length, which a
// client sends that was killed while it pushed. Git compresses a large request.
func bufferRequestBody(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.ContentLength = int64(len(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Header.Get("Content-Encoding") != "gzip" {
		return nil
	}
	r.Body, err = gzip.NewReader(bytes.NewReader(body))
	return err
}

func repositoryOf(r *http.Request) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
	return name
}

func asksForPush(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
}

func isPushRequest(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") && r.ContentLength > emptyRequest
}

func isFetchRequest(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-upload-pack")
}

// asksForMultiACK reports whether a fetch has the capability, and leaves the body to be read.
func asksForMultiACK(r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte("multi_ack"))
}
