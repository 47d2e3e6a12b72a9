// Package fetch is the HTTP client for servers that users name, such as Prometheus servers, web checks and receivers of notifications.
//
// It reaches no machine that is near or that trusts each client that reaches it, whichever address a name resolves to; it follows no
// redirect, uses no proxy of the environment, and reads no more than it has room for. Its errors have stable words.
package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/redaction"
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// MaxBytes of an answer.
	MaxBytes = 1 << 20

	// Timeout of a question, with all that it takes to ask it.
	Timeout = 10 * time.Second
)

// Problems of a question.
const (
	ProblemSilent    = "the server does not answer"
	ProblemSlow      = "the server does not answer in time"
	ProblemUntrusted = "the server's certificate is not trusted"
	ProblemBundle    = "the CA bundle has more than 256 KiB"
	ProblemRedirect  = "the server redirects, which is not followed"
	ProblemLarge     = "the answer is larger than 1 MiB"
	ProblemUnpaid    = "no account pays for the answer"
)

// An Error is the reason why a server did not answer, in stable words. They hold no address but the refused address, as the user wrote it.
type Error string

// Error returns the problem.
func (e Error) Error() string { return string(e) }

// IsOutage is true for an error without an answer to the request: the server was not reached, not in time, not known to be the right server, or may not be
// asked. An answer that is too large is an answer, and not an outage.
func IsOutage(err error) bool {
	var e Error
	return errors.Is(err, ErrBusy) || errors.As(err, &e) && e != ProblemLarge
}

// refusedError names the host that may not be asked, as the user wrote it, the refused askers, and the reason. It hides the address that the name resolved to.
func refusedError(askers, host string, refusal *address.RefusedError) Error {
	verb := "resolves to"
	if _, err := netip.ParseAddr(host); err == nil {
		verb = "is"
	}
	return Error(fmt.Sprintf("%s may not ask the host %q: it %s %s", askers, host, verb, refusal.Class))
}

// A Secret is text that is never shown.
type Secret string

// String never shows the secret.
func (Secret) String() string { return redaction.Mark }

// GoString never shows the secret.
func (Secret) GoString() string { return redaction.Mark }

// Credentials for a server, and the certificates to trust. The zero Credentials are anonymous and trust the system's certificates.
type Credentials struct {
	// Username and Password of basic authentication.
	Username string
	Password Secret

	// Token of bearer authentication.
	Token Secret

	// CABundle is the certificates that the server's must descend from, as PEM. Empty means the system's.
	CABundle []byte
}

// Digest distinguishes credentials, which do not follow from it.
func (c Credentials) Digest() [sha256.Size]byte {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(c.Username), []byte(c.Password), []byte(c.Token), c.CABundle} {
		sum := sha256.Sum256(part)
		_, _ = h.Write(sum[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// A Request is one question.
type Request struct {
	// URL that is asked.
	URL *url.URL

	// Form that is posted. Nil means no form.
	Form url.Values

	// Body that is posted instead of a form. Without either the method is GET.
	Body []byte

	// ContentType of the body.
	ContentType string

	// Signature of the body, in header X-Signature. Empty means that it is not signed.
	Signature string

	// Credentials for the server.
	Credentials Credentials
}

// An Answer is the response of a server.
type Answer struct {
	// Status code.
	Status int

	// Date of the answer by the server's clock. Zero if it did not say.
	Date time.Time

	// ContentType of the body.
	ContentType string

	// Body of the answer. Empty where the account reads none.
	Body []byte
}

// Options of Clients.
type Options struct {
	// Loopback lets checks reach the provider's own machine. It is for tests.
	Loopback bool

	// UserAgent that servers see.
	UserAgent string
}

// Clients are the clients of all namespaces, which share connections. They are safe for concurrent use.
type Clients struct {
	options    Options
	account    *Account
	transports *transports
}

// New returns Clients whose requests an account pays for. It returns an error without an account.
func New(o Options, a *Account) (*Clients, error) {
	if a.IsZero() {
		return nil, errors.New("cannot make clients of web servers: no account pays for the answers")
	}
	return &Clients{options: o, account: a, transports: newTransports(address.Guard{Loopback: o.Loopback})}, nil
}

// ForNamespace returns the client of a namespace, which has its turn.
func (c *Clients) ForNamespace(namespace string) *Client {
	return &Client{clients: c, namespace: namespace}
}

// A Client asks servers at the cost of a namespace. It is safe for concurrent use. A Client that Clients did not return asks nothing.
type Client struct {
	clients   *Clients
	namespace string
}

// IsZero reports whether no account pays for the requests of the client.
func (c *Client) IsZero() bool { return c == nil || c.clients == nil || c.clients.account.IsZero() }

// Do sends one request, once the namespace has its turn. Without an answer it returns an Error, or ErrBusy if nothing was sent. Each status but a redirect is an
// answer.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	if c.IsZero() {
		return Answer{}, Error(ProblemUnpaid)
	}
	free, err := c.clients.account.acquirePlace(ctx, shares.Place{Host: r.URL.Host, Namespace: c.namespace})
	if err != nil {
		return Answer{}, err
	}
	defer free()
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return c.sendRequest(ctx, r)
}

// sendRequest sends a request that has its place.
func (c *Client) sendRequest(ctx context.Context, r Request) (Answer, error) {
	transport, err := c.clients.transports.transportFor(c.namespace, r.Credentials.CABundle)
	if err != nil {
		return Answer{}, err
	}
	req, err := c.newHTTPRequest(ctx, r)
	if err != nil {
		return Answer{}, Error(ProblemSilent) // The message of the error may repeat the request.
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		var refusal *address.RefusedError
		if errors.As(err, &refusal) {
			return Answer{}, refusedError(c.clients.account.askers, r.URL.Hostname(), refusal)
		}
		return Answer{}, classifyError(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	return c.clients.account.readBoundedAnswer(ctx, resp)
}

func (c *Client) newHTTPRequest(ctx context.Context, r Request) (*http.Request, error) {
	method, body, contentType := http.MethodGet, r.Body, r.ContentType
	if r.Form != nil {
		body, contentType = []byte(r.Form.Encode()), "application/x-www-form-urlencoded"
	}
	if r.Form != nil || r.Body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.Wrap(err, "cannot make request")
	}
	for name, value := range map[string]string{"Content-Type": contentType, "X-Signature": r.Signature} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Cache-Control", "no-store")
	req.Header.Set("User-Agent", c.clients.options.UserAgent)
	setCredentials(req, r.Credentials)
	return req, nil
}

func setCredentials(req *http.Request, k Credentials) {
	switch {
	case k.Token != "":
		req.Header.Set("Authorization", "Bearer "+string(k.Token))
	case k.Username != "":
		req.SetBasicAuth(k.Username, string(k.Password))
	}
}

// redirectError names the target server of a redirect, such as a login server. The path and the query may hold a secret.
func redirectError(resp *http.Response) Error {
	target, err := resp.Location()
	if err != nil || target.Host == "" || target.Host == resp.Request.URL.Host {
		return ProblemRedirect
	}
	return Error(ProblemRedirect + ": it leads to " + oneline.Clean(target.Scheme+"://"+target.Host, maxWords))
}

func classifyError(ctx context.Context, err error) Error {
	var (
		authority x509.UnknownAuthorityError
		cert      *tls.CertificateVerificationError
		timeout   net.Error
	)
	switch {
	case errors.As(err, &authority), errors.As(err, &cert):
		return ProblemUntrusted
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return ProblemSlow
	}
	return ProblemSilent
}
