package fetch

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/provider/memory"
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// busyTimeout is how long a request waits for other requests.
	busyTimeout = 5 * time.Second

	// answerBytes is the memory of one answer, with the growth of its buffer and the decoded form.
	answerBytes = 3 * MaxBytes
)

// ErrBusy means that too many other requests are under way. It says nothing of the server.
var ErrBusy = errors.New("too many concurrent requests")

// An Account pays for all requests of one purpose: for their places at servers, and for the memory of their answers. The clients of a process share it, and
// its namespaces take turns, so that its bounds hold for the whole process, and a namespace whose servers are slow waits for itself. Nothing is sent with a nil
// Account, or with the zero value. It is safe for concurrent use.
type Account struct {
	places *shares.Places
	// askers names the senders of the requests in the error about a host that may not be asked.
	askers string
	// dropsBodies is true where the status of an answer is all that counts.
	dropsBodies bool
}

// NewMeasurementAccount returns the account of measurements. It has the limits of the queue of measurements, in which they wait so that no
// time counts meanwhile.
func NewMeasurementAccount() *Account {
	return &Account{askers: "checks", places: shares.NewPlaces(shares.Limits{PerHost: 8, PerNamespace: 16, Together: 32})}
}

// NewNotificationAccount returns the account of notifications. Their answers have no content that counts, and none of it is held.
func NewNotificationAccount() *Account {
	limits := shares.Limits{PerHost: 32, PerNamespaceAtHost: 8, PerNamespace: 16, Together: 64}
	return &Account{askers: "notifications", places: shares.NewPlaces(limits), dropsBodies: true}
}

// IsZero reports whether nothing can be sent with the account: it is nil, or no constructor made it.
func (a *Account) IsZero() bool { return a == nil || a.places == nil }

// acquirePlace waits for a place, then for the memory of an answer, and returns the function that frees both. It returns ErrBusy if they are not free in time.
// A request that waits for its place holds no memory, so the places bound the memory of all requests.
func (a *Account) acquirePlace(ctx context.Context, place shares.Place) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	free, err := a.places.Acquire(ctx, place)
	if err != nil {
		return nil, ErrBusy
	}
	release, err := memory.Reserve(ctx, place.Namespace, a.bytesOfAnswer())
	if err != nil {
		free()
		return nil, ErrBusy
	}
	return func() { release(); free() }, nil
}

func (a *Account) bytesOfAnswer() int64 {
	if a.dropsBodies {
		return 0
	}
	return answerBytes
}

// readBoundedAnswer reads an answer up to its bound. It returns an Error.
func (a *Account) readBoundedAnswer(ctx context.Context, resp *http.Response) (Answer, error) {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return Answer{}, redirectError(resp)
	}
	body := bytes.Buffer{}
	target := io.Writer(&body)
	if a.dropsBodies {
		target = io.Discard
	}
	n, err := io.Copy(target, io.LimitReader(resp.Body, MaxBytes+1))
	if err != nil {
		return Answer{}, classifyError(ctx, err)
	}
	if n > MaxBytes {
		return Answer{}, Error(ProblemLarge)
	}
	date, _ := http.ParseTime(resp.Header.Get("Date")) // Zero for a missing or unreadable date.
	return Answer{Status: resp.StatusCode, Date: date, ContentType: resp.Header.Get("Content-Type"), Body: body.Bytes()}, nil
}
