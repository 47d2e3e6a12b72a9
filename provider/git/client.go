package git

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/receivepack"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/git/uploadpack"
	"github.com/intentplane/intentplane/provider/memory"
	"github.com/intentplane/intentplane/provider/signature"
)

const (
	// defaultTimeout ends an operation whose context has no deadline.
	defaultTimeout = time.Minute

	// maxInflatedBytes limits the memory of the objects of one answer.
	maxInflatedBytes = 80 << 20

	// trustFactor is how much memory certificates and host keys take, as a multiple of their text: they are decoded.
	trustFactor = 3
)

// A Client speaks to one Remote. It is safe for concurrent use. Every method
// ends when its context does; without a deadline it ends after a minute.
type Client struct {
	remote Remote
	key    string
	conn   *transport.Conn
	pusher *receivepack.Pusher
	budget *budget.Budget
	signer *signature.Signer
	// watched are refs whose commits snapshots have.
	watched []string
}

type options struct {
	now      func() time.Time
	resolver *net.Resolver
	limits   transport.Limits
}

// An Option of a Client.
type Option func(o *options)

// WithClock sets the clock for the expiry of credentials and signing keys. The default is the clock of the system.
func WithClock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// WithResolver sets the DNS resolver. The default is the resolver of the system.
func WithResolver(r *net.Resolver) Option { return func(o *options) { o.resolver = r } }

// WithLimits sets the limits of one answer of the server. Without it, each limit has its default.
func WithLimits(l transport.Limits) Option { return func(o *options) { o.limits = l } }

func newOptions(o []Option) options {
	opts := options{now: time.Now}
	for _, fn := range o {
		fn(&opts)
	}
	return opts
}

// NewClient returns a Client for the remote, at the cost of a budget, in which the remote's namespace takes turns. It returns an error
// without a budget, and if the remote is not valid or its CA bundle holds no certificate; it opens no connection.
func NewClient(r Remote, b *budget.Budget, o ...Option) (*Client, error) {
	if b.IsZero() {
		return nil, errors.New("cannot make a client of a repository: no namespace pays for its answers")
	}
	opts := newOptions(o)
	if err := r.Validate(); err != nil {
		return nil, err
	}
	u, err := policy.ParseRepositoryURL(r.URL)
	if err != nil {
		return nil, err
	}
	conn, err := transport.New(r.serverOfRemote(), transport.Options{Now: opts.now, Resolver: opts.resolver, Limits: opts.limits, Secrets: r.signingSecrets()})
	if err != nil {
		return nil, err
	}
	c := &Client{remote: r, key: u.Key(), conn: conn, budget: b.ForNamespace(r.Namespace)}
	c.pusher = receivepack.New(conn, c.budget)
	if r.Signing != nil {
		c.signer = signature.New(*r.Signing, opts.now)
	}
	memory.HoldWhile(c, r.Namespace, int64(trustFactor*(len(r.CABundle)+len(r.KnownHosts))))
	return c, nil
}

// Close drops the connections that are idle.
func (c *Client) Close() { c.conn.Close() }

// snapshotTarget identifies the repository and the refs of a snapshot.
func (c *Client) snapshotTarget() string {
	return c.key + " " + c.remote.Branch + " " + c.remote.StateRef
}

// startOperation returns the context of an operation, which has a deadline.
func (c *Client) startOperation(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = c.conn.StartOperation(ctx)
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, defaultTimeout)
}

// openFetchSession opens a session that reads from the server, which is a request of the meter's reader. The caller closes it. It has the refs that the client
// reads.
func (c *Client) openFetchSession(ctx context.Context, m *objects.Meter) (*uploadpack.Session, error) {
	return uploadpack.Open(ctx, c.conn, uploadpack.Options{
		Budget: c.budget, Meter: m, MaxInflated: maxInflatedBytes, Refs: slices.Concat([]string{c.remote.branchRef(), c.remote.StateRef}, c.watched),
	})
}
