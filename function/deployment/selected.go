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
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/support"
)

// selected is what follows from a spec and what was selected for it, whatever is observed. It is remembered: while a revision goes out, call after
// call is made with the same spec and the same catalog.
type selected struct {
	// blueprint is the digest of the Blueprint. Empty if it cannot be computed.
	blueprint string

	// unsupported are the fields that do nothing yet.
	unsupported []string

	request Request
	checks  gates.Checks
}

// renderedSites is what is rendered for a spec and what was selected for it, and the deliveries that bring it to the repositories.
type renderedSites struct {
	sites      []compose.Rendered
	deliveries map[string]*deliveryv1alpha1.GitDelivery
}

// selectionKey returns the key of what follows from a spec, whose digest was observed, and a selection.
func selectionKey(in Input, o Observed, s *catalog.Selection) memo.Key {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s %q %x", o.specDigest, in.Claim, s.Key)
	for _, p := range s.Places {
		_, _ = fmt.Fprintf(h, " %q", p.Repository)
	}
	return memo.Key(h.Sum(nil))
}

// rememberResult returns what was computed for a key, and computes it if it is not remembered. Errors, and what comes with them, are not remembered.
func rememberResult[V any](m *memo.Memo[V], key memo.Key, compute func() (V, int, error)) (V, error) {
	if known, ok := m.Get(key); ok {
		return known, nil
	}
	v, bytes, err := compute()
	if err == nil {
		m.Put(key, v, bytes)
	}
	return v, err
}

// compileSelected returns what follows from a selection, and about how many bytes that is.
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
	if out.checks, err = CompileChecks(c.gates, in, i, s, out.request.Plan); err != nil {
		return out, 0, err
	}
	out.request.Plan = markGates(out.request.Plan, out.checks)
	return out, siteBytes * len(s.Places), nil
}

// siteBytes is how many bytes what is compiled for one Site takes, about, beside its trees.
const siteBytes = 2 << 10

// A selection is what a spec selected from the catalog, with the key of all that follows from it.
type selection struct {
	intent  intent.Intent
	catalog *catalog.Selection
	key     memo.Key
}

// renderSelection returns what is rendered for a selection in a track, and the deliveries of that.
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
		// What the schema of a parameter refuses is refused first.
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
		// What is remembered has good queries: they are read once too.
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

// digestOf returns the digest of an object of a kind. It is remembered: to compute it takes longer than to compare what it is of.
func (c *Core) digestOf(kind string, of any, compute func() (string, error)) (string, error) {
	raw, err := json.Marshal(of)
	if err != nil {
		return "", errors.Wrapf(err, "cannot encode the %s", kind)
	}
	return rememberResult(c.digests, sha256.Sum256(append([]byte(kind), raw...)), func() (string, int, error) {
		d, err := compute()
		return d, len(d), err
	})
}
