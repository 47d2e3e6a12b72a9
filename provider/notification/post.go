package notification

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/fetch"
)

// A Receiver is the target of posts, with its format and keys.
type Receiver struct {
	// URL that is posted to.
	URL *url.URL

	// Format of the body.
	Format configv1alpha1.NotificationFormat

	// Key that the body is signed with. Empty means that it is not signed.
	Key fetch.Secret

	// CABundle is the certificates that the server's must descend from, as PEM. Empty means the system's.
	CABundle []byte

	// ControlPlane is the name of the installation.
	ControlPlane string
}

// A RejectedError is an answer of a receiver that does not take a notification. It holds nothing of the answer but its status.
type RejectedError struct {
	// Status code of the answer.
	Status int
}

// Error names the status.
func (e *RejectedError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the server answers with status %d %s", e.Status, http.StatusText(e.Status)))
}

// A Poster posts outcomes. It follows no redirect, reads a bounded answer, and waits for a bounded time. A receiver that is slow, or a namespace with many
// deployments, keeps no other namespace from posting. It is safe for concurrent use.
type Poster struct {
	clients *fetch.Clients
}

// NewPoster returns a Poster that asks servers by clients.
func NewPoster(c *fetch.Clients) *Poster { return &Poster{clients: c} }

// Post posts an outcome to a receiver. It returns a RejectedError for an answer that does not take it, a fetch.Error where there is none, and
// fetch.ErrBusy if nothing was posted. None of them holds a secret, or the path of an address.
func (p *Poster) Post(ctx context.Context, r *Receiver, n *Notification) error {
	body, contentType, err := r.encodeOutcome(n)
	if err != nil {
		return err
	}
	a, err := p.clients.ForNamespace(n.Deployment.Namespace).Do(ctx, fetch.Request{
		URL: r.URL, Body: body, ContentType: contentType, Signature: signatureOfBody(body, r.Key), Credentials: fetch.Credentials{CABundle: r.CABundle},
	})
	if err != nil {
		return err
	}
	if a.Status < 200 || a.Status > 299 {
		return &RejectedError{Status: a.Status}
	}
	return nil
}

// encodeOutcome returns the body for an outcome, and its type.
func (r *Receiver) encodeOutcome(n *Notification) (body []byte, contentType string, err error) {
	if r.Format == configv1alpha1.FormatSlack {
		body, err = newSlackMessage(n, r.ControlPlane)
		return body, contentTypeJSON, err
	}
	body, err = newCloudEvent(n, r.ControlPlane)
	return body, contentTypeCloudEvent, err
}

// signatureOfBody returns the signature of a body: sha256= and the HMAC-SHA256 in hexadecimal digits. It is empty without a key.
func signatureOfBody(body []byte, key fetch.Secret) string {
	if key == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write(body) // A hash takes all that it is given.
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// IsOutage reports whether a receiver that gave an error would not take other outcomes either.
func IsOutage(err error) bool {
	var rejected *RejectedError
	if !errors.As(err, &rejected) {
		return true
	}
	return rejected.Status >= http.StatusInternalServerError || rejected.Status == http.StatusTooManyRequests || rejected.Status == http.StatusRequestTimeout
}
