package deployment

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/memo"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
	"github.com/intentplane/intentplane/function/support"
)

// plan is what is asked for now.
type plan struct {
	needs   []catalog.Need
	channel channel
	wish    rollout.Wish
	// wanted deliveries. Which trees are wanted does not depend on the order that they are part of.
	wanted map[string]*deliveryv1alpha1.GitDelivery
	// unobserved are the Sites that nobody observes, and whether delivered counts as live there.
	unobserved map[string]bool
	// chosen Sites. Nil means that they are not known.
	chosen map[string]bool
	// obeyed is the request that releases a step. Nil means none.
	obeyed *rolloutv1alpha1.RolloutRequest
	// checks that the revision is judged by.
	checks gates.Checks
	// clustered are the Sites that receive nothing before their clusters are ready.
	clustered map[string]bool
	// stages of the plan that ended, and when the present one began.
	stages []Stage
	began  time.Time
}

// endStage notes how long the present stage took. The next one begins.
func endStage(p *plan, name deploymentv1alpha1.Phase, now time.Time) {
	if !now.IsZero() {
		p.stages = append(p.stages, Stage{Name: name, Took: now.Sub(p.began)})
	}
	p.began = now
}

// plan compiles, places and renders the intent, with the Blueprint that the deployment stays with or, where an update is approved, the
// one in the channel. It returns a problem when it cannot; what it found out by then is in the facts.
func (c *Core) plan(ctx context.Context, in Input, f *phase.Input, approved bool) (plan, error) {
	p := plan{began: c.stopwatch()}
	i, field, err := ReadIntent(&in.Spec)
	if field != "" {
		f.Understood = string(i.Canonical())
	}
	if err != nil {
		return p, err
	}
	q := CatalogQuery(in, i, field)
	if !approved {
		q.Pinned = p.channel.pin(rollout.Pinned(f.Order, in.Spec.Blueprint, q.BlueprintName()))
	}
	s, needs, err := catalog.Resolve(q, in.Answers)
	p.needs = needs
	p.channel.see(s, err)
	if err != nil {
		return p, err
	}
	if s == nil {
		return p, missing(deploymentv1alpha1.ReasonUnknown, "The catalog was not read yet.")
	}
	err = c.fill(ctx, in, f, i, s, &p)
	return p, err
}

func (c *Core) fill(ctx context.Context, in Input, f *phase.Input, i intent.Intent, s *catalog.Selection, p *plan) error {
	if err := checkSiteReplicas(in.Spec, i, s); err != nil {
		return err
	}
	if err := checkTimeouts(in.Spec); err != nil {
		return err
	}
	s.Places = keepRepositories(s.Places, f.Observed)
	set, err := support.Selection(s)
	if err != nil {
		return err
	}
	f.Unsupported = set
	d, err := c.digestOf(s.Blueprint.Spec)
	if err != nil {
		return err
	}
	if err := p.channel.check(d); err != nil {
		return err
	}
	if p.wish, err = c.wish(in, f, i, s, d); err != nil {
		return err
	}
	if p.checks, err = CompileChecks(c.gates, in, i, s, p.wish.Request.Plan); err != nil {
		return err
	}
	p.wish.Request.Plan = gated(p.wish.Request.Plan, p.checks)
	endStage(p, deploymentv1alpha1.PhaseCompiling, c.stopwatch())
	rendered, err := c.RenderSites(ctx, in, i, s)
	endStage(p, deploymentv1alpha1.PhaseRendering, c.stopwatch())
	if err != nil {
		return err
	}
	// What its schema says of a parameter is said first.
	if err := c.checkRead(in, i, s); err != nil {
		return err
	}
	if p.wanted, err = deliveries(in, rendered); err != nil {
		return err
	}
	inherited := compose.Inherit(p.wanted, f.Observed)
	p.unobserved, p.clustered = unobserved(s.Places), clustered(s.Places)
	p.chosen = compose.Sites(p.wanted)
	p.wish.Eased, p.wish.Untold = eased(in, f), f.Order != nil && compose.Untold(inherited, f.Observed, *f.Order)
	p.wish.Awaited = f.Order != nil && compose.Awaits(inherited, f.Observed, *f.Order, p.clustered)
	p.wish.Unchanged = p.unchanged(f, inherited) && !p.changesChecks(f)
	p.wish.Marks = marks(s.Blueprint.Spec.Irreversible, f, rendered)
	p.wish.InFlight = inFlight(in, f, p.unobserved)
	return fits(inherited, f.Observed)
}

// digestOf a Blueprint, which never changes, is remembered: it takes longer to compute than to tell whether it is the same.
func (c *Core) digestOf(b catalogv1alpha1.BlueprintSpec) (string, error) {
	raw, err := json.Marshal(b)
	if err != nil {
		return "", errors.Wrap(err, "cannot encode the Blueprint")
	}
	k := memo.Key(sha256.Sum256(raw))
	if d, ok := c.digests.Get(k); ok {
		return d, nil
	}
	// What is remembered has good queries: they are read once too.
	if err := checkMetrics(b); err != nil {
		return "", err
	}
	d, err := digest.Of(b, nil)
	if err == nil {
		c.digests.Put(k, d, len(d))
	}
	return d, err
}

// CatalogQuery asks for the Sites, the Blueprint and the configurations of a deployment, whose intent was read from a field.
func CatalogQuery(in Input, i intent.Intent, field string) catalog.Query {
	return catalog.Query{
		Namespace:      in.Claim.Namespace,
		Name:           in.Claim.Name,
		ServiceType:    i.Type,
		IntentSites:    i.Sites,
		IntentLabels:   i.Selector,
		IntentField:    field,
		UnquotedSites:  unquotedSites(in),
		DeliveredSites: slices.Collect(maps.Keys(in.Status.Delivery.Sites)),
		Blueprint:      in.Spec.Blueprint,
		Delivery:       in.Spec.DeliveryConfig,
	}
}

// unquotedSites are the Sites that a sentence says without quotes. One that the deployment was delivered to is no mistake of the sentence: if it
// is deleted, the deployment waits for it.
func unquotedSites(in Input) []string {
	if in.Spec.Intent == nil {
		return nil
	}
	return slices.DeleteFunc(intent.UnquotedSites(*in.Spec.Intent), func(site string) bool {
		_, delivered := in.Status.Delivery.Sites[site]
		return delivered
	})
}

// clustered are the Sites that wait for a Cluster API cluster.
func clustered(places []catalog.Place) map[string]bool {
	out := map[string]bool{}
	for _, p := range places {
		if p.Site.Spec.Cluster.ClusterRef != nil {
			out[p.Site.GetName()] = true
		}
	}
	return out
}

// unobserved are the Sites that have no engine, and whether delivered counts as live there.
func unobserved(places []catalog.Place) map[string]bool {
	out := map[string]bool{}
	for _, p := range places {
		if e := p.Site.Spec.Engine; e.Type == catalogv1alpha1.EngineNone {
			out[p.Site.GetName()] = e.UnobservedIsLive != nil && *e.UnobservedIsLive
		}
	}
	return out
}

// CheckSelection returns an error, whose reason ReasonOf returns, when a selection from the catalog does not fit a deployment.
func CheckSelection(in Input, i intent.Intent, s *catalog.Selection) error {
	if err := checkSiteReplicas(in.Spec, i, s); err != nil {
		return err
	}
	return checkMetrics(s.Blueprint.Spec)
}

// checkSiteReplicas returns a problem when the intent says replicas for a Site that was not chosen. Which Sites are chosen is not
// known before: the intent need not name them.
func checkSiteReplicas(spec deploymentv1alpha1.IntentDeploymentSpec, i intent.Intent, s *catalog.Selection) error {
	field := "spec.intent: replicas"
	if spec.Expectation != nil {
		field = "spec.expectation.siteReplicas"
	}
	for _, name := range slices.Sorted(maps.Keys(i.SiteReplicas)) {
		if !slices.ContainsFunc(s.Places, func(p catalog.Place) bool { return p.Site.GetName() == name }) {
			return terminal(deploymentv1alpha1.ReasonInvalidIntent, deploymentv1alpha1.PhaseCompiling,
				errors.Errorf("%s: Site %q is not among the chosen ones", field, name))
		}
	}
	return nil
}

// Bounds of the timeouts that others keep for us.
const (
	shortestTimeout = time.Second
	longestTimeout  = 24 * time.Hour
)

// checkTimeouts returns a problem for a timeout that nobody would keep.
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
		if !kept(t.value) {
			return terminal(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhaseCompiling,
				errors.Errorf("spec.%s: %q is not between %s and %s", t.field, t.value, "1s", "24h"))
		}
	}
	return nil
}

// kept is true for a timeout that others would keep for us.
func kept(t deploymentv1alpha1.Duration) bool {
	is, err := time.ParseDuration(string(t))
	return err == nil && is >= shortestTimeout && is <= longestTimeout
}

// bounded lets all plans of a call together take no longer than rendering may. What is no duration is a problem of the plan.
func bounded(ctx context.Context, in Input) (context.Context, context.CancelFunc) {
	timeout, err := time.ParseDuration(in.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}
