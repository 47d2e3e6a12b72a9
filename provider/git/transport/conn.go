// Package transport reaches Git servers over HTTP and SSH: credentials, certificates and host keys, limits of a server's answers, and the classes of failures
// on the wire. It does not decode the bytes of a repository.
package transport

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// Limits of the answers of one server.
const (
	// maxBodyBytes bounds one answer on the wire: its server may be a tenant's.
	maxBodyBytes = 32 << 20
	// maxListBytes bounds an answer that brings no objects, such as a list of refs.
	maxListBytes = 8 << 20
)

// Limits of one answer of a server. A field that is zero has its default.
type Limits struct {
	// Bytes on the wire. The default is 32 MiB, and 8 MiB for an answer that brings no objects.
	Bytes int64
	// Wait is how long an SSH server may take until it answers. The default is 45 seconds.
	Wait time.Duration
}

func (l Limits) withDefaults() Limits {
	l.Bytes = cmp.Or(l.Bytes, maxBodyBytes)
	l.Wait = cmp.Or(l.Wait, answerTime)
	return l
}

// A Conn reaches one repository of one server. It is safe for concurrent use.
type Conn struct {
	server   Server
	endpoint transport.Endpoint
	git      transport.Transport
	http     *http.Transport
	ssh      *sshConn
	redactor *strings.Replacer
	app      *installation
	route    *route
}

// Options of a Conn.
type Options struct {
	// Now is the clock for the expiry of tokens.
	Now func() time.Time
	// Resolver of names. Nil is the system's.
	Resolver *net.Resolver
	// Limits of the server's answers.
	Limits Limits
	// Secrets are redacted in all messages, beside the credentials of the server.
	Secrets []string
}

// New returns a Conn. It returns an error if the server is not valid or its CA bundle holds no certificate; it opens no connection.
func New(s Server, o Options) (*Conn, error) {
	u, err := policy.ParseRepositoryURL(s.URL)
	if err != nil {
		return nil, err
	}
	c := &Conn{server: s, endpoint: newEndpoint(u), redactor: newRedactor(s, o.Secrets...), route: newServerRoute(s.Guard)}
	limits := o.Limits.withDefaults()
	if u.Scheme == schemeSSH {
		c.ssh = newSSHConnection(u, s, c.route.newGuardedDialer(o.Resolver), limits)
		return c, nil
	}
	if c.http, err = newHTTPTransport(s, c.route.newGuardedDialer(o.Resolver)); err != nil {
		return nil, err
	}
	c.setBodyLimit(limits.Bytes)
	c.app = newInstallation(s.Auth, c.http, o.Now)
	return c, nil
}

// ListRefs returns the refs that a session lists. Of large lists the budget lets few come at once, and each namespace has its turn. It returns an error without a
// budget.
func (c *Conn) ListRefs(ctx context.Context, s transport.Session, b *budget.Budget) (*packp.AdvRefs, error) {
	if b.IsZero() {
		return nil, errors.New("cannot list refs: no namespace pays for the answer")
	}
	ctx, meter := budget.WithListMeter(ctx, b)
	defer func() { meter.Free() }()
	adv, err := s.AdvertisedReferencesContext(ctx)
	if err == nil || errors.Is(err, transport.ErrEmptyRemoteRepository) {
		c.route.recordProof(ctx)
	}
	return adv, err
}

// setBodyLimit makes the transport. It is our own: the registry of go-git is one
// per process, and would mix up the trust of two repositories.
func (c *Conn) setBodyLimit(limit int64) {
	h := &http.Client{Transport: bodyLimit{next: stallLimit{next: c.http, time: stallTime}, limit: limit}, CheckRedirect: checkRedirect}
	c.git = githttp.NewClientWithOptions(h, &githttp.ClientOptions{RedirectPolicy: githttp.FollowInitialRedirects})
}

// Close drops the connections that are idle.
func (c *Conn) Close() {
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
}

// UploadSession opens a session that reads from the repository.
func (c *Conn) UploadSession(ctx context.Context) (transport.UploadPackSession, error) {
	if c.ssh != nil {
		return c.ssh.openSession(ctx, transport.UploadPackServiceName)
	}
	ep := c.endpoint
	auth, err := c.currentAuthMethod(ctx)
	if err != nil {
		return nil, err
	}
	return c.git.NewUploadPackSession(&ep, auth)
}

// ReceiveSession opens a session that pushes to the repository.
func (c *Conn) ReceiveSession(ctx context.Context) (transport.ReceivePackSession, error) {
	if c.ssh != nil {
		return c.ssh.openSession(ctx, transport.ReceivePackServiceName)
	}
	ep := c.endpoint
	auth, err := c.currentAuthMethod(ctx)
	if err != nil {
		return nil, err
	}
	return c.git.NewReceivePackSession(&ep, auth)
}

func (c *Conn) currentAuthMethod(ctx context.Context) (transport.AuthMethod, error) {
	if c.app != nil {
		return c.exchangeToken(ctx)
	}
	if c.server.Auth == nil {
		return nil, nil //nolint:nilnil // Nil requests anonymous access.
	}
	return c.server.Auth.gitAuthMethod(), nil
}

// exchangeToken returns the credentials of an installation token of the GitHub App. By issuing a token, GitHub's API has proven its identity.
func (c *Conn) exchangeToken(ctx context.Context) (transport.AuthMethod, error) {
	visitedFromContext(ctx).forgetConnection()
	auth, err := c.app.gitAuthMethod(ctx)
	if err == nil {
		c.route.recordProof(ctx)
	}
	return auth, err
}

// IsHTTP reports whether the server is reached by requests and answers, and not by one connection for all.
func (c *Conn) IsHTTP() bool { return strings.HasPrefix(c.endpoint.Protocol, "http") }

// newEndpoint keeps the path as written: go-git sends it without escaping.
func newEndpoint(u policy.RepositoryURL) transport.Endpoint {
	host := u.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port, _ := strconv.Atoi(u.Port) // It has digits only, and none means the default.
	return transport.Endpoint{Protocol: u.Scheme, Host: host, Port: port, Path: u.Path}
}

// checkRedirect follows redirects within a host only. The transport drops the
// credentials on the way to another host, but anonymous access to a host that
// no configuration names is not better: deliveries would go there.
func checkRedirect(req *http.Request, via []*http.Request) error {
	source, target := via[0].URL, req.URL
	upgrade := source.Scheme == "http" && target.Scheme == "https" && source.Port() == "" && target.Port() == ""
	isSameHost := strings.EqualFold(source.Hostname(), target.Hostname()) && source.Port() == target.Port()
	if !isSameHost || (source.Scheme != target.Scheme && !upgrade) {
		return &failure.ClassifiedError{
			Class:  failure.ClassTrust,
			Detail: "the repository redirects to host " + strconv.Quote(failure.Shorten(target.Host)) + ": use the URL of its new place",
		}
	}
	return nil
}

// Key is equal for connections that really reach the same server: by the same address, through the same proxy, and with trust in the
// same certificates or host keys. A URL alone does not identify the server.
func (c *Conn) Key() string {
	h := sha256.New()
	proxy := ""
	if c.server.Proxy != nil {
		proxy = c.server.Proxy.URL
	}
	for _, part := range [][]byte{[]byte(proxy), c.server.CABundle, c.server.KnownHosts} {
		sum := sha256.Sum256(part)
		_, _ = h.Write(sum[:])
	}
	addr := net.JoinHostPort(strings.ToLower(c.endpoint.Host), strconv.Itoa(c.endpoint.Port))
	return c.endpoint.Protocol + "://" + addr + " " + hex.EncodeToString(h.Sum(nil))
}

// IsEmptyRepository reports whether a session found a repository that has no refs at all.
func IsEmptyRepository(err error) bool { return errors.Is(err, transport.ErrEmptyRemoteRepository) }
