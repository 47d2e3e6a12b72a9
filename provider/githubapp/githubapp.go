// Package githubapp exchanges the key of a GitHub App for the tokens of one of its installations.
package githubapp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/golang-jwt/jwt/v5"
)

const (
	// publicAPI is the API of github.com.
	publicAPI = "https://api.github.com"

	// skew is the greatest difference of clocks. GitHub accepts no assertion that is valid for more than ten minutes.
	skew     = time.Minute
	validity = 8 * time.Minute

	// ahead is how long before its expiry a token is replaced, so that none expires during a request.
	ahead = 5 * time.Minute

	maxAnswerBytes = 64 << 10

	// maxKeyBytes is the maximum size of a private key: an RSA key of 16,384 bits. A signature takes time by the third power of the length, and a tenant writes the
	// key.
	maxKeyBytes = 16 << 10
)

// An App is an installation of a GitHub App.
type App struct {
	// ID of the App, or its client ID.
	ID string
	// Installation is a number.
	Installation string
	// PrivateKey in PEM.
	PrivateKey string
	// BaseURL of the API, https. Empty is the public one.
	BaseURL string
}

// Check returns an error if the App cannot be used. The error never repeats a key.
func (a App) Check() error {
	if a.ID == "" || strings.ContainsFunc(a.ID, func(r rune) bool { return !isASCIIDigit(r) && !isASCIILetter(r) && r != '.' }) {
		return errors.New("the ID of the GitHub App must consist of letters, digits and dots")
	}
	if a.Installation == "" || strings.ContainsFunc(a.Installation, func(r rune) bool { return !isASCIIDigit(r) }) {
		return errors.New("the installation ID of the GitHub App must be a number")
	}
	switch {
	case a.PrivateKey == "":
		return errors.New("the private key of the GitHub App is empty")
	case len(a.PrivateKey) > maxKeyBytes:
		return errors.Errorf("the private key of the GitHub App has more than %d KiB", maxKeyBytes>>10)
	}
	_, err := a.tokenEndpointURL()
	return err
}

func isASCIIDigit(r rune) bool { return r >= '0' && r <= '9' }

func isASCIILetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func (a App) tokenEndpointURL() (string, error) {
	base := cmp.Or(a.BaseURL, publicAPI)
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("the base URL of GitHub's API must be https, without credentials, query and fragment")
	}
	return strings.TrimRight(base, "/") + "/app/installations/" + a.Installation + "/access_tokens", nil
}

// A RefusedError is a response without a token.
type RefusedError struct {
	// Status of the answer.
	Status int
}

// Error names the status of the response.
func (e *RefusedError) Error() string {
	return "GitHub's API answered " + cmp.Or(http.StatusText(e.Status), fmt.Sprintf("status %d", e.Status)) + " to the App"
}

// A KeyError is a malformed private key.
type KeyError struct{}

// Error does not repeat the key.
func (*KeyError) Error() string { return "the private key of the GitHub App is malformed" }

// Tokens of an App. It is safe for concurrent use.
type Tokens struct {
	app  App
	http *http.Client
	now  func() time.Time

	// turn is locked by the goroutine that requests a token. Others wait for the same response.
	turn  chan struct{}
	token string
	until time.Time
}

// New returns the tokens of an App. They are requested through the transport when they are needed.
func New(a App, wire http.RoundTripper, now func() time.Time) *Tokens {
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Tokens{app: a, http: &http.Client{Transport: wire, CheckRedirect: noRedirect}, now: now, turn: make(chan struct{}, 1)}
}

// Token returns a token that is valid for some minutes. It returns a RefusedError if GitHub gives none, a KeyError if the key is malformed,
// and another error if GitHub cannot be reached.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if t.token != "" && t.now().Before(t.until.Add(-ahead)) {
		return t.token, nil
	}
	var err error
	t.token, t.until, err = t.requestToken(ctx)
	return t.token, err
}

// Forget drops a token that a server refused, unless there is a newer one.
func (t *Tokens) Forget(token string) {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	if t.token == token {
		t.token = ""
	}
}

func (t *Tokens) requestToken(ctx context.Context) (string, time.Time, error) {
	proof, err := t.signAssertion()
	if err != nil {
		return "", time.Time{}, err
	}
	endpoint, err := t.app.tokenEndpointURL()
	if err != nil {
		return "", time.Time{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, http.NoBody)
	if err != nil {
		return "", time.Time{}, errors.New("cannot make request for a token")
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("Authorization", "Bearer "+proof)
	res, err := t.http.Do(req)
	if err != nil {
		return "", time.Time{}, err
	}
	defer res.Body.Close() //nolint:errcheck // It was read, or is not wanted.
	return t.parseTokenResponse(res)
}

// signAssertion returns a JSON Web Token that proves possession of the App's key.
func (t *Tokens) signAssertion() (string, error) {
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(t.app.PrivateKey))
	if err != nil {
		return "", &KeyError{}
	}
	now := t.now()
	proof, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: t.app.ID, IssuedAt: jwt.NewNumericDate(now.Add(-skew)), ExpiresAt: jwt.NewNumericDate(now.Add(validity)),
	}).SignedString(key)
	if err != nil {
		return "", &KeyError{}
	}
	return proof, nil
}

func (t *Tokens) parseTokenResponse(res *http.Response) (string, time.Time, error) {
	if res.StatusCode != http.StatusCreated {
		return "", time.Time{}, &RefusedError{Status: res.StatusCode}
	}
	answer := struct {
		Token string    `json:"token"`
		Until time.Time `json:"expires_at"` //nolint:tagliatelle // GitHub's name.
	}{}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswerBytes)).Decode(&answer); err != nil {
		return "", time.Time{}, errors.New("the response of GitHub's API has no token")
	}
	odd := func(r rune) bool { return !isASCIIDigit(r) && !isASCIILetter(r) && !strings.ContainsRune("._-", r) }
	if answer.Token == "" || strings.ContainsFunc(answer.Token, odd) {
		return "", time.Time{}, errors.New("the response of GitHub's API has no token")
	}
	return answer.Token, answer.Until, nil
}
