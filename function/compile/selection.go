package compile

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/timeout"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/intent"
)

// A Selection is the catalog's selection for the intent of a deployment.
type Selection struct {
	Deployment Deployment

	// SpecDigest is the digest of the spec as its author wrote it.
	SpecDigest string

	// Intent of the deployment, and the objects that the Catalog has for it.
	Intent  intent.Intent
	Catalog *catalog.Selection

	// Renderer is the version that renders.
	Renderer int32
}

// resultCacheKey returns the cache key of the results of the selection.
func (s Selection) resultCacheKey() memo.Key {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s %q %x", s.SpecDigest, s.Deployment.Claim, s.Catalog.Key)
	for _, p := range s.Catalog.Places {
		_, _ = fmt.Fprintf(h, " %q", p.Repository)
	}
	return memo.Key(h.Sum(nil))
}

// CatalogQuery requests the Sites, the Blueprint and the configurations of a deployment, whose intent was read from a field.
func CatalogQuery(d Deployment, i intent.Intent, field string) catalog.Query {
	return catalog.Query{
		Namespace:      d.Claim.Namespace,
		Name:           d.Claim.Name,
		ServiceType:    i.Type,
		IntentSites:    i.Sites,
		IntentLabels:   i.Selector,
		IntentField:    field,
		UnquotedSites:  unquotedSites(d),
		DeliveredSites: slices.Collect(maps.Keys(d.Status.Delivery.Sites)),
		Blueprint:      d.Spec.Blueprint,
		Delivery:       d.Spec.DeliveryConfig,
	}
}

// unquotedSites returns the Sites that a sentence names without quotes. A Site of an earlier delivery is not a mistake in the sentence: if it is
// deleted, the deployment waits for it.
func unquotedSites(d Deployment) []string {
	if d.Spec.Intent == nil {
		return nil
	}
	return slices.DeleteFunc(intent.UnquotedSites(*d.Spec.Intent), func(site string) bool {
		_, delivered := d.Status.Delivery.Sites[site]
		return delivered
	})
}

// CheckSelection returns an error, whose reason ReasonOf returns, when a selection from the catalog does not fit a deployment.
func CheckSelection(d Deployment, i intent.Intent, s *catalog.Selection) error {
	if err := checkSiteReplicas(d.Spec, i, s); err != nil {
		return err
	}
	return checkMetrics(s.Blueprint.Spec)
}

// checkSiteReplicas returns a problem if the intent sets replicas for a Site that is not selected. Which Sites are chosen is not
// known before: the intent need not name them.
func checkSiteReplicas(spec deploymentv1alpha1.IntentDeploymentSpec, i intent.Intent, s *catalog.Selection) error {
	field := "spec.intent: replicas"
	if spec.Expectation != nil {
		field = "spec.expectation.siteReplicas"
	}
	for _, name := range slices.Sorted(maps.Keys(i.SiteReplicas)) {
		if !slices.ContainsFunc(s.Places, func(p catalog.Place) bool { return p.Site.GetName() == name }) {
			return terminalProblem(deploymentv1alpha1.ReasonInvalidIntent, deploymentv1alpha1.PhaseCompiling,
				errors.Errorf("%s: Site %q is not a Site of the deployment", field, name))
		}
	}
	return nil
}

// checkTimeouts returns a problem for a timeout that the provider does not accept.
func checkTimeouts(s deploymentv1alpha1.IntentDeploymentSpec) error {
	for _, t := range []struct {
		field string
		value deploymentv1alpha1.Duration
	}{
		{"deliveryConfig.deliveryTimeout", s.DeliveryConfig.DeliveryTimeout},
		{"deliveryConfig.syncWaitTimeout", s.DeliveryConfig.SyncWaitTimeout},
		{"deliveryConfig.clusterWaitTimeout", s.DeliveryConfig.ClusterWaitTimeout},
		{"rollbackConfig.attemptTimeout", s.RollbackConfig.AttemptTimeout},
		{"gatesConfig.metricsUnavailableTimeout", s.GatesConfig.MetricsUnavailableTimeout},
	} {
		if !isValidTimeout(t.value) {
			return InvalidSpec(errors.Errorf("spec.%s: %q is not between %s and %s", t.field, t.value, "1s", "24h"))
		}
	}
	return nil
}

// isValidTimeout is true for a timeout that the provider accepts.
func isValidTimeout(t deploymentv1alpha1.Duration) bool {
	_, isValid := timeout.Parse(string(t))
	return isValid
}
