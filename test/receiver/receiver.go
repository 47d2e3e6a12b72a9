// Package receiver plays the receiver of notifications: a server that takes them, fails, is down for a while, and loses its answers, as a test wants it.
package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxBody is how many bytes of a notification are read.
const maxBody = 1 << 20

// A Notification is one post that was taken.
type Notification struct {
	// ID, Type and Subject of the CloudEvent.
	ID      string `json:"id"`
	Type    string `json:"type"`
	Subject string `json:"subject"`

	// Body of the post.
	Body string `json:"-"`

	// At is when the post was taken.
	At time.Time `json:"-"`
}

// A Receiver takes notifications that are signed with its key. It is safe for concurrent use.
type Receiver struct {
	key     string
	address string
	bundle  []byte

	mu     sync.Mutex
	server *httptest.Server
	taken  []Notification
	// fails and loses are how many of the next posts are refused, and how many are taken without an answer.
	fails, loses int
	// refused is how many posts were not taken, and unsigned how many of them had no right signature.
	refused, unsigned int
	changed           chan struct{}
}

// New returns a receiver that takes notifications. It returns an error if no address is free.
func New(key string) (*Receiver, error) {
	r := &Receiver{key: key, address: "127.0.0.1:0", changed: make(chan struct{})}
	return r, r.Start()
}

// Start lets the receiver take notifications at the address that it had. It returns an error if that is not free.
func (r *Receiver) Start() error {
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		return errors.Wrap(err, "cannot listen for notifications")
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(r.serveRequest))
	_ = s.Listener.Close()
	s.Listener = l
	s.StartTLS()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server, r.address = s, l.Addr().String()
	r.bundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return nil
}

// Stop lets no notification reach the receiver until it starts again.
func (r *Receiver) Stop() {
	r.server.CloseClientConnections()
	r.server.Close()
}

// URL that notifications are posted to.
func (r *Receiver) URL() string { return "https://" + r.address + "/notifications" }

// Bundle returns the certificate of the receiver as PEM.
func (r *Receiver) Bundle() string { return string(r.bundle) }

// Fail lets the receiver refuse so many of the next posts.
func (r *Receiver) Fail(posts int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = posts
}

// LoseAnswers lets the receiver take so many of the next posts without an answer.
func (r *Receiver) LoseAnswers(posts int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loses = posts
}

// Taken returns all posts that were taken, in their order, and a channel that closes with the next post.
func (r *Receiver) Taken() ([]Notification, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Notification(nil), r.taken...), r.changed
}

// Refused returns how many posts were not taken, and how many of them had no right signature.
func (r *Receiver) Refused() (all, unsigned int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused, r.unsigned
}

func (r *Receiver) serveRequest(w http.ResponseWriter, req *http.Request) {
	b, err := io.ReadAll(io.LimitReader(req.Body, maxBody))
	n := Notification{Body: string(b), At: time.Now()}
	if err != nil || json.Unmarshal(b, &n) != nil {
		http.Error(w, "cannot read notification", http.StatusBadRequest)
		return
	}
	status := r.takeRequest(n, r.hasValidSignature(b, req.Header.Get("X-Signature")))
	if status == 0 {
		panic(http.ErrAbortHandler) // The connection ends without an answer.
	}
	w.WriteHeader(status)
}

// takeRequest returns the status of the answer, or 0 for none.
func (r *Receiver) takeRequest(n Notification, signed bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.changed)
	r.changed = make(chan struct{})
	switch {
	case !signed:
		r.refused++
		r.unsigned++
		return http.StatusUnauthorized
	case r.fails > 0:
		r.fails--
		r.refused++
		return http.StatusServiceUnavailable
	}
	r.taken = append(r.taken, n)
	if r.loses > 0 {
		r.loses--
		return 0
	}
	return http.StatusNoContent
}

func (r *Receiver) hasValidSignature(body []byte, signature string) bool {
	mac := hmac.New(sha256.New, []byte(r.key))
	_, _ = mac.Write(body) // A hash takes all that it is given.
	return hmac.Equal([]byte(signature), []byte("sha256="+hex.EncodeToString(mac.Sum(nil))))
}
