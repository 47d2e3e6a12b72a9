package git

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/signature"
)

const (
	// defaultTimeout ends an operation whose context has no deadline.
	defaultTimeout = time.Minute

	// maxBodyBytes bounds what one answer of a server may have on the wire,
	// maxListBytes one that brings no objects, such as a list of refs, and
	// maxInflatedBytes what objects may have in memory: a repository is somebody
	// else's, and its server may be a tenant's.
	maxBodyBytes     = 32 << 20
	maxListBytes     = 8 << 20
	maxInflatedBytes = 80 << 20
)

// A Client speaks to one Remote. It is safe for concurrent use. Every method
// ends when its context does; without a deadline it ends after a minute.
type Client struct {
	remote      Remote
	key         string
	endpoint    transport.Endpoint
	git         transport.Transport
	http        *http.Transport
	ssh         *sshConn
	redactor    *strings.Replacer
	maxInflated int64
	budget      *Budget
	signer      *signature.Signer
	app         *installation
	idleLine    atomic.Pointer[pushLine]
	route       *route
	// noted are refs that snapshots tell the place of.
	watched []string
}

type options struct {
	now      func() time.Time
	resolver *net.Resolver
}

// An Option of a Client.
type Option func(o *options)

// WithClock sets the clock that says when credentials and signing keys end. Without it, it is the system's.
func WithClock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// withResolver sets what resolves names. Without it, it is the system's.
func withResolver(r *net.Resolver) Option { return func(o *options) { o.resolver = r } }

// NewClient returns a Client for the remote. It returns an error if the remote
// is not valid or its CA bundle holds no certificate; it contacts nobody.
func NewClient(r Remote, o ...Option) (*Client, error) {
	opts := options{now: time.Now}
	for _, fn := range o {
		fn(&opts)
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	u, err := policy.ParseRepositoryURL(r.URL)
	if err != nil {
		return nil, err
	}
	c := &Client{
		remote:      r,
		key:         u.Key(),
		endpoint:    newEndpoint(u),
		redactor:    newRedactor(r),
		maxInflated: maxInflatedBytes,
		route:       &route{guard: r.Guard},
	}
	if r.Signing != nil {
		c.signer = signature.New(*r.Signing, opts.now)
	}
	if u.Scheme == schemeSSH {
		c.ssh = newSSHConn(u, r, c.route.newDialer(opts.resolver))
		return c, nil
	}
	if c.http, err = newHTTPTransport(r, c.route.newDialer(opts.resolver)); err != nil {
		return nil, err
	}
	c.setBodyLimit(maxBodyBytes)
	c.app = newInstallation(r.Auth, c.http, opts.now)
	return c, nil
}

// listRefs returns the refs that a session lists.
func (c *Client) listRefs(ctx context.Context, s transport.Session) (*packp.AdvRefs, error) {
	adv, err := s.AdvertisedReferencesContext(ctx)
	if err == nil || errors.Is(err, transport.ErrEmptyRemoteRepository) {
		c.route.answered.Store(true)
	}
	return adv, err
}

// setBodyLimit makes the transport. It is our own: the registry of go-git is one
// per process, and would mix up the trust of two repositories.
func (c *Client) setBodyLimit(most int64) {
	h := &http.Client{Transport: bodyLimit{next: stallLimit{next: c.http, time: stallTime}, limit: most}, CheckRedirect: checkRedirect}
	c.git = githttp.NewClientWithOptions(h, &githttp.ClientOptions{RedirectPolicy: githttp.FollowInitialRedirects})
}

// Close drops the connections that are idle.
func (c *Client) Close() {
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
}

// remoteKey says which refs of which repository a snapshot speaks about.
func (c *Client) remoteKey() string {
	return c.key + " " + c.remote.Branch + " " + c.remote.StateRef
}

func (c *Client) UploadSession(ctx context.Context) (transport.UploadPackSession, error) {
	if c.ssh != nil {
		return c.ssh.openSession(ctx, transport.UploadPackServiceName)
	}
	ep := c.endpoint
	auth, err := c.currentAuth(ctx)
	if err != nil {
		return nil, err
	}
	return c.git.NewUploadPackSession(&ep, auth)
}

func (c *Client) ReceiveSession(ctx context.Context) (transport.ReceivePackSession, error) {
	if c.ssh != nil {
		return c.ssh.openSession(ctx, transport.ReceivePackServiceName)
	}
	ep := c.endpoint
	auth, err := c.currentAuth(ctx)
	if err != nil {
		return nil, err
	}
	return c.git.NewReceivePackSession(&ep, auth)
}

func (c *Client) currentAuth(ctx context.Context) (transport.AuthMethod, error) {
	if c.app != nil {
		return c.app.authMethod(ctx)
	}
	if c.remote.Auth == nil {
		return nil, nil //nolint:nilnil // Nobody is who was asked for.
	}
	return c.remote.Auth.authMethod(), nil
}

func withDefaultDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, defaultTimeout)
}

// newEndpoint keeps the path as written: go-git sends it without escaping.
func newEndpoint(u policy.RepositoryURL) transport.Endpoint {
	host := u.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port, _ := strconv.Atoi(u.Port) // It has digits only, and none means the default.
	return transport.Endpoint{Protocol: u.Scheme, Host: host, Port: port, Path: u.Path}
}

// A redirectError is a redirect that is not followed.
type redirectError struct {
	to string
}

// Error says where the server wanted to lead us, without credentials.
func (e redirectError) Error() string {
	return "the repository redirects to host " + strconv.Quote(Shorten(e.to)) + ": use the URL of its new place"
}

// checkRedirect follows redirects within a host only. The transport drops the
// credentials on the way to another host, but an anonymous answer of a host
// that nobody named is no better: what is delivered would go there.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from, to := via[0].URL, req.URL
	upgrade := from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == ""
	same := strings.EqualFold(from.Hostname(), to.Hostname()) && from.Port() == to.Port()
	if !same || (from.Scheme != to.Scheme && !upgrade) {
		return redirectError{to: to.Host}
	}
	return nil
}

// bodyLimit ends an answer that is longer than limit, or than a list may be where it brings no objects.
type bodyLimit struct {
	next  http.RoundTripper
	limit int64
}

// RoundTrip sends the request.
func (b bodyLimit) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		// The text of an error page helps nobody and may repeat the request.
		_ = res.Body.Close()
		res.Body = http.NoBody
	}
	limit := b.limit
	if !strings.HasSuffix(req.URL.Path, "/"+transport.UploadPackServiceName) {
		limit = min(limit, maxListBytes)
	}
	res.Body = &limitedBody{ReadCloser: res.Body, left: limit}
	return res, nil
}

// A tooLargeError is an answer beyond the limits.
type tooLargeError struct{}

// Error is the same for every server.
func (tooLargeError) Error() string { return "the server sent more than fits" }

type limitedBody struct {
	io.ReadCloser

	left int64
}

// Read reads until the limit.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooLargeError{}
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
