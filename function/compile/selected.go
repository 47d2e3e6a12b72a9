package compile

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
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/support"
)

// Selected is compiled from a spec and its selection alone. It is cached: while a revision goes out, many calls have the same spec and the same catalog. No
// caller may change it.
type Selected struct {
	// Blueprint is the digest of the Blueprint. Empty if it cannot be computed.
	Blueprint string

	// Unsupported are the fields without effect in this version.
	Unsupported []string

	// Request for a revision, and the Checks of the revision.
	Request Request
	Checks  gates.Checks
}

// Rendered has the rendered files for a spec and its selection, and the deliveries that bring them to the repositories. It is cached. No caller may change it.
type Rendered struct {
	Sites      []compose.Rendered
	Deliveries map[string]*deliveryv1alpha1.GitDelivery
}

// CompileSelection returns the request and the checks of a selection. The result of a problem has all that precedes it.
func (c *Compiler) CompileSelection(from Selection) (Selected, error) {
	return c.selected.Remember(from.resultCacheKey(), func() (Selected, int, error) { return c.compileSelected(from) })
}

// compileSelected returns the compilation of a selection, and its approximate size in bytes.
func (c *Compiler) compileSelected(from Selection) (Selected, int, error) {
	out, spec, i, s := Selected{}, from.Deployment.Spec, from.Intent, from.Catalog
	if err := checkSiteReplicas(spec, i, s); err != nil {
		return out, 0, err
	}
	err := checkTimeouts(spec)
	if err != nil {
		return out, 0, err
	}
	if out.Unsupported, err = support.Selection(s); err != nil {
		return out, 0, err
	}
	if out.Blueprint, err = c.blueprintDigest(s.Blueprint.Spec); err != nil {
		return out, 0, err
	}
	// The objectives of the intent are in the gates.
	if out.Request, err = NewRequest(spec, string(i.WithoutSLOs().Canonical()), s, out.Blueprint, from.Renderer); err != nil {
		return out, 0, err
	}
	if out.Checks, err = c.Checks(from, out.Request.Plan, step.Placement{}); err != nil {
		return out, 0, err
	}
	out.Request.Plan = markGatedSteps(out.Request.Plan, out.Checks)
	return out, siteBytes * len(s.Places), nil
}

// siteBytes is the approximate size of the compilation for one Site, in bytes, beside its trees.
const siteBytes = 2 << 10

// Render returns the rendered files of a selection in a track, which is empty for a workload without tracks, and their deliveries.
func (c *Compiler) Render(ctx context.Context, from Selection, name string) (Rendered, error) {
	d, i, s, key := from.Deployment, from.Intent, from.Catalog, from.resultCacheKey()
	if name != "" {
		key = memo.KeyOf(fmt.Sprintf("%x %s", key, name))
	}
	return c.rendered.Remember(key, func() (Rendered, int, error) {
		out, bytes := Rendered{}, siteBytes*len(s.Places)
		var err error
		if out.Sites, err = c.renderSitesIn(ctx, d, i, s, name); err != nil {
			return out, 0, err
		}
		// Parameters that the schema refuses are reported first.
		if err := c.checkValuesRead(d, i, s); err != nil {
			return out, 0, err
		}
		for _, r := range out.Sites {
			bytes += len(r.Packed.Encoded)
			for _, content := range r.Files {
				bytes += len(content)
			}
		}
		out.Deliveries, err = composeTrees(d, out.Sites)
		return out, bytes, err
	})
}

// blueprintDigest returns the digest of a Blueprint, which never changes.
func (c *Compiler) blueprintDigest(b catalogv1alpha1.BlueprintSpec) (string, error) {
	return c.digestOfObject("Blueprint", b, func() (string, error) {
		// Cached Blueprints have valid queries: they are checked once, too.
		if err := checkMetrics(b); err != nil {
			return "", err
		}
		return digest.Of(b, nil)
	})
}

// SpecDigest returns the digest of a spec.
func (c *Compiler) SpecDigest(s *deploymentv1alpha1.IntentDeploymentSpec) (string, error) {
	return c.digestOfObject("spec", s, func() (string, error) { return digest.Spec(s) })
}

// digestOfObject returns the digest of an object of a kind. It is cached: computing it takes longer than comparing its content.
func (c *Compiler) digestOfObject(kind string, value any, compute func() (string, error)) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", errors.Wrapf(err, "cannot encode the %s", kind)
	}
	return c.digests.Remember(sha256.Sum256(append([]byte(kind), raw...)), func() (string, int, error) {
		d, err := compute()
		return d, len(d), err
	})
}
