package deployment

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/support"
)

// selected is compiled from a spec and its selection alone, independent of the observed resources. It is cached: while a revision goes out, many
// calls have the same spec and the same catalog.
type selected struct {
	// blueprint is the digest of the Blueprint. Empty if it cannot be computed.
	blueprint string

	// unsupported are the fields without effect in this version.
	unsupported []string

	request Request
	checks  gates.Checks
}

// renderedSites has the rendered files for a spec and its selection, and the deliveries that bring them to the repositories.
type renderedSites struct {
	sites      []compose.Rendered
	deliveries map[string]*deliveryv1alpha1.GitDelivery
}

// selectionKey returns the cache key for results of a spec, whose digest was observed, and a selection.
func selectionKey(in Input, o Observed, s *catalog.Selection) memo.Key {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s %q %x", o.specDigest, in.Claim, s.Key)
	for _, p := range s.Places {
		_, _ = fmt.Fprintf(h, " %q", p.Repository)
	}
	return memo.Key(h.Sum(nil))
}

// rememberResult returns the cached result for a key, or computes it. Errors, and results with an error, are not cached.
func rememberResult[V any](m *memo.Memo[V], key memo.Key, compute func() (V, int, error)) (V, error) {
	if cached, ok := m.Get(key); ok {
		return cached, nil
	}
	v, bytes, err := compute()
	if err == nil {
		m.Put(key, v, bytes)
	}
	return v, err
}

// compileSelected returns the compilation of a selection, and its approximate size in bytes.
func (c *Core) compileSelected(in Input, i intent.Intent, s *catalog.Selection) (selected, int, error) {
	out := selected{}
	if err := checkSiteReplicas(in.Spec, i, s); err != nil {
		return out, 0, err
	}
	err := checkTimeouts(in.Spec)
	if err != nil {
		return out, 0, err
	}
	if out.unsupported, err = support.Selection(s); err != nil {
		return out, 0, err
	}
	if out.blueprint, err = c.blueprintDigest(s.Blueprint.Spec); err != nil {
		return out, 0, err
	}
	// The objectives of the intent are in the gates.
	if out.request, err = NewRequest(in.Spec, string(i.WithoutSLOs().Canonical()), s, out.blueprint, c.version); err != nil {
		return out, 0, err
	}
	if out.checks, err = CompileChecks(c.gates, in, i, s, out.request.Plan, step.Placement{}); err != nil {
		return out, 0, err
	}
	out.request.Plan = markGates(out.request.Plan, out.checks)
	return out, siteBytes * len(s.Places), nil
}

// siteBytes is the approximate size of the compilation for one Site, in bytes, beside its trees.
const siteBytes = 2 << 10

// A selection is the catalog's selection for an intent, with the cache key of its results.
type selection struct {
	intent  intent.Intent
	catalog *catalog.Selection
	key     memo.Key
}

// renderSelection returns the rendered files of a selection in a track, and their deliveries.
func (c *Core) renderSelection(ctx context.Context, in Input, from selection, name string) (renderedSites, error) {
	i, s, key := from.intent, from.catalog, from.key
	if name != "" {
		key = memo.KeyOf(fmt.Sprintf("%x %s", from.key, name))
	}
	return rememberResult(c.rendered, key, func() (renderedSites, int, error) {
		out, bytes := renderedSites{}, siteBytes*len(s.Places)
		var err error
		if out.sites, err = c.renderSitesIn(ctx, in, i, s, name); err != nil {
			return out, 0, err
		}
		// Parameters that the schema refuses are reported first.
		if err := c.checkRead(in, i, s); err != nil {
			return out, 0, err
		}
		for _, r := range out.sites {
			bytes += len(r.Packed.Encoded)
			for _, content := range r.Files {
				bytes += len(content)
			}
		}
		out.deliveries, err = composeTrees(in, out.sites)
		return out, bytes, err
	})
}

// blueprintDigest returns the digest of a Blueprint, which never changes.
func (c *Core) blueprintDigest(b catalogv1alpha1.BlueprintSpec) (string, error) {
	return c.digestOf("Blueprint", b, func() (string, error) {
		// Cached Blueprints have valid queries: they are checked once, too.
		if err := checkMetrics(b); err != nil {
			return "", err
		}
		return digest.Of(b, nil)
	})
}

// specDigest returns the digest of a spec.
func (c *Core) specDigest(s *deploymentv1alpha1.IntentDeploymentSpec) (string, error) {
	return c.digestOf("spec", s, func() (string, error) { return digest.Spec(s) })
}

// digestOf returns the digest of an object of a kind. It is cached: computing it takes longer than comparing its content.
func (c *Core) digestOf(kind string, value any, compute func() (string, error)) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", errors.Wrapf(err, "cannot encode the %s", kind)
	}
	return rememberResult(c.digests, sha256.Sum256(append([]byte(kind), raw...)), func() (string, int, error) {
		d, err := compute()
		return d, len(d), err
	})
}
