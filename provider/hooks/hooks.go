// Package hooks receives the webhooks of Git servers.
//
// A hook means that a repository should be looked at now, and nothing else: the look finds the changes. So nothing of a body is kept or
// parsed, and a hook that is sent twice does no harm.
package hooks

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// MaxBody is how large the body of a hook may be, in bytes. GitHub sends none that is larger.
	MaxBody = 25 << 20

	maxHeaderBytes  = 16 << 10
	headerTimeout   = 5 * time.Second
	readTimeout     = 30 * time.Second
	idleTimeout     = time.Minute
	shutdownTimeout = 5 * time.Second

	// retryAfter is when a sender of too many hooks may try again, in seconds.
	retryAfter = "1"
)

// Results of hooks.
const (
	// ResultAccepted means that the repository is looked at.
	ResultAccepted = "Accepted"

	// ResultRefused means that the hook is not signed with the token of the Application, or that no Application of that name has a webhook.
	ResultRefused = "Refused"

	// ResultLimited means that too many hooks came at once.
	ResultLimited = "Limited"

	// ResultTooLarge means that the body is larger than MaxBody.
	ResultTooLarge = "TooLarge"

	// ResultUnread means that the body ended early, or that the API server did not answer.
	ResultUnread = "Unread"
)

// Results returns all results.
func Results() []string {
	return []string{ResultAccepted, ResultRefused, ResultLimited, ResultTooLarge, ResultUnread}
}

// A Receiver has the Applications that hooks are for.
type Receiver interface {
	// TokenOf returns the token of an Application's webhook, or nil if it has none. It returns an error if the API server cannot be asked.
	TokenOf(ctx context.Context, application types.NamespacedName) ([]byte, error)

	// Record has the repository of an Application looked at. It does not wait for that. It returns an error if the API server does not take it.
	Record(ctx context.Context, application types.NamespacedName) error

	// Flush writes all records that Record put off. It is called once no more hooks are received, and ends with its context.
	Flush(ctx context.Context)
}

// A Server receives hooks at an address. Where several providers run, each of them does: a Service leads to any of their pods.
type Server struct {
	// Address to listen at, such as :8082.
	Address string

	// Receiver of the hooks.
	Receiver Receiver

	// Count is called with the result of each hook.
	Count func(result string)

	// Log of refused hooks, with the reason, which the sender does not learn.
	Log logging.Logger

	// Now returns the time.
	Now func() time.Time
}

// NeedLeaderElection is false: a hook is recorded by the replica that it reaches, and the leader looks.
func (*Server) NeedLeaderElection() bool { return false }

// Start listens until the context ends, answers the hooks that it received by then, and has their records written. It returns an error if it cannot listen.
func (s *Server) Start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Address)
	if err != nil {
		return errors.Wrap(err, "cannot listen for webhooks")
	}
	return s.serveUntilEnded(ctx, l)
}

// serveUntilEnded answers hooks until the context ends.
func (s *Server) serveUntilEnded(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		s.shutDownServer(context.WithoutCancel(ctx), server)
	})
	if err := server.Serve(&listener{Listener: l, places: newConnectionPlaces(), now: s.Now}); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return errors.Wrap(err, "cannot receive webhooks")
	}
	<-stopped // Serve returns when the shutdown begins.
	return nil
}

// shutDownServer answers the hooks that are being received, and has all records written.
func (s *Server) shutDownServer(ctx context.Context, server *http.Server) {
	answering, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	if server.Shutdown(answering) != nil {
		_ = server.Close()
	}
	flushing, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	s.Receiver.Flush(flushing)
}

// Handler returns the HTTP handler of hooks.
func (s *Server) Handler() http.Handler {
	decoy := prefixKey + base64.StdEncoding.EncodeToString([]byte(rand.Text()))
	h := &handler{Server: s, limit: newRateLimit(), places: newReadPlaces(), namespaces: newNamespaceLimit(), decoy: []byte(decoy)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hooks/{namespace}/{application}", h.answerHook)
	return mux
}

// A handler answers hooks.
type handler struct {
	*Server

	limit      *rateLimit
	places     *readPlaces
	namespaces *namespaceLimit

	// decoy is the token of Applications that have none: their hooks are read, and end, in the same way as hooks with a wrong signature.
	decoy []byte
}

// resultVerified means that a hook is signed with the token of its Application. No sender gets it as an answer.
const resultVerified = ""

// answerHook says little: the sender of a hook learns neither whether an Application exists, nor the error of a signature.
func (h *handler) answerHook(w http.ResponseWriter, r *http.Request) {
	result := h.receiveHook(w, r)
	h.Count(result)
	status := map[string]int{
		ResultAccepted: http.StatusAccepted, ResultLimited: http.StatusTooManyRequests, ResultTooLarge: http.StatusRequestEntityTooLarge, ResultUnread: http.StatusServiceUnavailable,
	}[result]
	if status == 0 {
		status = http.StatusNotFound
	}
	if result == ResultLimited {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.WriteHeader(status)
}

// receiveHook verifies a hook, and has the repository looked at.
func (h *handler) receiveHook(w http.ResponseWriter, r *http.Request) string {
	key := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("application")}
	network := networkOfAddress(r.RemoteAddr)
	switch {
	case !isRequestSigned(r.Header, h.Now()):
		return h.reportRefusedHook(key, "it is not signed")
	case r.ContentLength > MaxBody:
		return ResultTooLarge
	case !h.limit.tryAllowHook(sender{application: key, network: network}, h.Now()):
		return ResultLimited
	}
	place := h.places.takeReadPlace(network, h.Now(), func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) })
	if place == nil {
		return ResultLimited
	}
	result := h.verifyHook(key, w, r)
	h.places.freeReadPlace(place) // From here on a tenant waits for itself.
	if result != resultVerified {
		return result
	}
	return h.recordHook(r.Context(), key)
}

// verifyHook returns resultVerified, or why a hook is not recorded. Of an Application that does not exist it reads as much as of others.
func (h *handler) verifyHook(key types.NamespacedName, w http.ResponseWriter, r *http.Request) string {
	token, err := h.Receiver.TokenOf(r.Context(), key)
	if err != nil {
		h.Log.Info("Cannot read the token of a webhook", "application", key, "error", err)
		return ResultUnread
	}
	isKnown := len(token) > 0
	if !isKnown {
		token = h.decoy
	}
	now := h.Now()
	isTrue, err := checkProofs(proofsOfRequest(r.Header, token, now), isBodySigned(r.Header, now), http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return ResultTooLarge
	case err != nil:
		return ResultUnread
	case !isKnown:
		return h.reportRefusedHook(key, "no Application of that name has a webhook with a token")
	case !isTrue:
		return h.reportRefusedHook(key, "the signature is not one of the token")
	}
	return resultVerified
}

// recordHook has the repository of a verified hook looked at, as often as its namespace may.
func (h *handler) recordHook(ctx context.Context, key types.NamespacedName) string {
	if !h.namespaces.tryAllowHook(key.Namespace, h.Now()) {
		return ResultLimited
	}
	if err := h.Receiver.Record(ctx, key); err != nil {
		h.Log.Info("Cannot record a webhook", "application", key, "error", err)
		return ResultUnread
	}
	return ResultAccepted
}

func (h *handler) reportRefusedHook(key types.NamespacedName, reason string) string {
	h.Log.Debug("A webhook was refused", "application", key, "reason", reason)
	return ResultRefused
}
