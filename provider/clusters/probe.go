package clusters

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/singleflight"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

const (
	// probeTimeout ends the question whether an API server is ready.
	probeTimeout = 5 * time.Second

	// maxSaid bounds the bytes that are read of an answer.
	maxSaid = 64 << 10

	// maxVersion bounds the version that an API server names.
	maxVersion = 64

	// goodFor and badFor are how long answers are believed.
	goodFor = 5 * time.Minute
	badFor  = 10 * time.Second
)

// anyTenant is the author of a kubeconfig in any tenant's namespace.
const anyTenant Origin = "any tenant"

// A Prober asks API servers whether they are ready, and caches their answers for a while: one request serves all readers. It asks the API
// servers of Cluster API's clusters, whose kubeconfigs are in namespaces of tenants. It is safe for concurrent use.
type Prober struct {
	limits Limits
	now    func() time.Time

	flights singleflight.Group

	mu    sync.Mutex
	known map[string]known
}

type known struct {
	answer readiness.Answer
	until  time.Time
}

// NewProber returns a Prober that takes kubeconfigs within limits. Each API server has an account of its own.
func NewProber(l Limits, now func() time.Time) *Prober {
	return &Prober{limits: l, now: now, known: map[string]known{}}
}

// Ask the API server that a kubeconfig leads to. It returns when to ask again, too. A kubeconfig that is refused sends no request.
func (p *Prober) Ask(ctx context.Context, kubeconfig []byte) (readiness.Answer, time.Time) {
	key := kubeconfigDigest(kubeconfig)
	if k, ok := p.rememberedAnswer(key); ok {
		return k.answer, k.until
	}
	v, _, _ := p.flights.Do(key, func() (any, error) {
		// The first caller may give up; the other callers still wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		e := &account.Expectation{Kind: account.ObjectAnswer, Account: p.limits.Accounts.For("probe " + key)}
		defer e.End()
		return p.rememberAnswer(key, p.probeAPIServer(account.WithExpectation(ctx, e), kubeconfig)), nil
	})
	k, _ := v.(known)
	return k.answer, k.until
}

func (p *Prober) rememberedAnswer(key string) (known, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.known[key]
	return k, ok && p.now().Before(k.until)
}

func (p *Prober) rememberAnswer(key string, a readiness.Answer) known {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	maps.DeleteFunc(p.known, func(_ string, k known) bool { return !now.Before(k.until) })
	p.known[key] = known{answer: a, until: now.Add(answerLifetime(a))}
	return p.known[key]
}

// answerLifetime is how long an answer is believed.
func answerLifetime(a readiness.Answer) time.Duration {
	if a.Reason == "" {
		return goodFor
	}
	return badFor
}

func (p *Prober) probeAPIServer(ctx context.Context, kubeconfig []byte) readiness.Answer {
	cfg, err := Parse(kubeconfig, p.limits)
	if err != nil {
		return readiness.Answer{Asked: true, Reason: readiness.ReasonServerUnreachable}
	}
	h, wire, err := newHTTPClient(cfg, newGuardedDialer(anyTenant, p.limits))
	if err != nil {
		return readiness.Answer{Asked: true, Reason: readiness.ReasonServerUnreachable}
	}
	defer wire.CloseIdleConnections()
	server := strings.TrimRight(cfg.Host, "/")
	status, _, err := getResponseBody(ctx, h, server+"/readyz")
	if err == nil && (status == http.StatusNotFound || status == http.StatusForbidden) {
		// Not every API server has it, and not everybody may ask.
		status, _, err = getResponseBody(ctx, h, server+"/api")
	}
	if reason := probeFailureReason(status, err); reason != "" {
		return readiness.Answer{Asked: true, Reason: reason}
	}
	return readiness.Answer{Asked: true, Version: readVersion(ctx, h, server)}
}

func probeFailureReason(status int, err error) string {
	var refusal *address.RefusedError
	switch {
	case errors.As(err, &refusal):
		return readiness.ReasonKubeconfigRefused
	case err != nil:
		return readiness.ReasonServerUnreachable
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return readiness.ReasonKubeconfigDenied
	case status != http.StatusOK:
		return readiness.ReasonServerNotReady
	}
	return ""
}

// readVersion returns the version that the API server names. It is empty if it does not.
func readVersion(ctx context.Context, h *http.Client, server string) string {
	status, body, err := getResponseBody(ctx, h, server+"/version")
	version := struct {
		GitVersion string `json:"gitVersion"`
	}{}
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &version) != nil || len(version.GitVersion) > maxVersion {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < '!' || r > '~' {
			return -1
		}
		return r
	}, version.GitVersion)
}

func getResponseBody(ctx context.Context, h *http.Client, url string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, nil, errors.Wrap(err, "cannot make request")
	}
	resp, err := h.Do(req)
	if err != nil {
		return 0, nil, errors.Wrap(err, "cannot ask API server")
	}
	defer resp.Body.Close() //nolint:errcheck // Nothing was written.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxSaid))
	return resp.StatusCode, body, errors.Wrap(err, "cannot read answer")
}
