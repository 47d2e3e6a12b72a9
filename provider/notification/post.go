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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/shares"
)

// placeLimits are the limits of concurrent posts, so that a receiver which is slow, or a namespace with many deployments, does not keep others
// from being posted to.
func placeLimits() shares.Limits {
	return shares.Limits{PerHost: 32, PerNamespaceAtHost: 8, PerNamespace: 16, Together: 64}
}

// placeTimeout is how long a post waits for others that are under way.
const placeTimeout = 5 * time.Second

// ErrBusy means that too many other posts are under way. It says nothing of the receiver.
var ErrBusy = errors.New("too many notifications are posted at the same time")

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

// A Poster posts outcomes. It follows no redirect, reads a bounded answer, and waits for a bounded time. It is safe for concurrent use.
type Poster struct {
	client *fetch.Client
	places *shares.Places
}

// NewPoster returns a Poster with options of how servers are asked.
func NewPoster(o fetch.Options) *Poster {
	o.Askers = "notifications"
	return &Poster{client: fetch.New(o), places: shares.NewPlaces(placeLimits())}
}

// Post posts an outcome to a receiver. It returns a RejectedError for an answer that does not take it, a fetch.Error where there is none, and
// ErrBusy if nothing was posted. None of them holds a secret, or the path of an address.
func (p *Poster) Post(ctx context.Context, r *Receiver, n *Notification) error {
	body, contentType, err := r.encode(n)
	if err != nil {
		return err
	}
	free, err := p.acquirePlace(ctx, shares.Place{Host: r.URL.Host, Namespace: n.Deployment.Namespace})
	if err != nil {
		return err
	}
	defer free()
	a, err := p.client.Do(ctx, fetch.Request{
		URL: r.URL, Body: body, ContentType: contentType, Signature: sign(body, r.Key), Credentials: fetch.Credentials{CABundle: r.CABundle},
	})
	if err != nil {
		return err
	}
	if a.Status < 200 || a.Status > 299 {
		return &RejectedError{Status: a.Status}
	}
	return nil
}

func (p *Poster) acquirePlace(ctx context.Context, place shares.Place) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	free, err := p.places.Acquire(ctx, place)
	if err != nil {
		return nil, ErrBusy
	}
	return free, nil
}

// encode returns the body for an outcome, and its type.
func (r *Receiver) encode(n *Notification) (body []byte, contentType string, err error) {
	if r.Format == configv1alpha1.FormatSlack {
		body, err = newSlackMessage(n, r.ControlPlane)
		return body, contentTypeJSON, err
	}
	body, err = newCloudEvent(n, r.ControlPlane)
	return body, contentTypeCloudEvent, err
}

// sign returns the signature of a body: sha256= and the HMAC-SHA256 in hexadecimal digits. It is empty without a key.
func sign(body []byte, key fetch.Secret) string {
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
