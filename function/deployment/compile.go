package deployment

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/phase"
)

// Compiled is the result of the second stage of a call, compiled from the spec and the catalog. No later stage writes into it.
type Compiled struct {
	phase.Compilation

	// needs of the catalog that have to be answered.
	needs []catalog.Need

	// channel of the Blueprint that the deployment stays with.
	channel channel

	// renderer is the version that renders.
	renderer int32

	// request that the spec compiles to, and the desired revision.
	request Request
	desired step.Desired

	// preferredHome is the name of the configuration of the repository that a new ledger is opened in. Empty means that it is not known.
	preferredHome string

	// deliveries of the desired revision. Their trees do not depend on the revision that they are part of.
	deliveries map[string]*deliveryv1alpha1.GitDelivery

	// unobserved are the Sites without an engine, and whether a delivered tree counts as live there. Nil means that the catalog is not known.
	unobserved map[string]bool

	// chosen Sites. Nil means that they are not known.
	chosen map[string]bool

	// siteLabels are the labels by which the spec selects Sites. Empty means that it names them, or that its intent could not be read.
	siteLabels map[string]string

	// clustered are the Sites that receive nothing before their clusters are ready.
	clustered map[string]bool

	// checks that the revision is judged by.
	checks gates.Checks

	// canaryChecks are the checks of the steps in which the revision shares requests.
	canaryChecks gates.Checks

	// update that waits.
	update deploymentv1alpha1.UpdateStatus

	// refusals of updates that requests approve, by the uid of the request.
	refusals map[string]refusal

	// recheck says when a problem may be over, and when it is the deployment's turn to take a new renderer.
	recheck recheck

	// tracker composes directories in tracks.
	tracker *directories.Tracker

	// timer of the stages.
	timer timer
}

// isChosen is true for a Site of the deployment, as far as its Sites are known.
func (c Compiled) isChosen(site string) bool { return c.chosen == nil || c.chosen[site] }

// sitesWithoutSync returns the Sites that the SiteSync does not observe: they have neither an engine nor a cluster to wait for.
func (c Compiled) sitesWithoutSync() map[string]bool {
	out := maps.Clone(c.unobserved)
	maps.DeleteFunc(out, func(site string, _ bool) bool { return c.clustered[site] })
	return out
}

// A timer measures stages by a clock.
type timer struct {
	now    func() time.Time
	began  time.Time
	stages []Stage
}

func newTimer(now func() time.Time) timer { return timer{now: now, began: now()} }

// endStage records the duration of the present stage. The next stage begins.
func (t *timer) endStage(name deploymentv1alpha1.Phase) {
	now := t.now()
	if !now.IsZero() {
		t.stages = append(t.stages, Stage{Name: name, Took: now.Sub(t.began)})
	}
	t.began = now
}

// compile compiles the desired state of the spec. A RolloutRequest that approves an update changes the compiled Blueprint or renderer.
func (c *Core) compile(ctx context.Context, in Input, o Observed) (Compiled, error) {
	ctx, cancel := withRenderTimeout(ctx, in)
	defer cancel()
	k, err := c.compileSpec(ctx, in, o, false)
	if err != nil {
		return Compiled{}, err
	}
	o = o.continueWith(k)
	k.needs = append([]catalog.Need{catalog.RequestsNeed(in.Claim)}, k.needs...)
	k.update = c.waitingUpdate(o, k)
	k.recheck = recheckOf(k.Problem).joinWith(c.rendererSlot(in, o, k))
	if chosenApproval(in, o, k) == nil {
		return k, nil
	}
	return c.compileApproved(ctx, in, o, k)
}

// compileSpec compiles, places and renders the intent, with the Blueprint that the deployment stays with or, if an update is approved, the
// Blueprint in the channel. A failed compilation has a problem, and all results that precede it.
func (c *Core) compileSpec(ctx context.Context, in Input, o Observed, isApproved bool) (Compiled, error) {
	k := Compiled{timer: newTimer(c.stopwatch), renderer: c.version, tracker: c.tracker}
	err := c.selectAndRender(ctx, in, o, isApproved, &k)
	k.Problem, err = problemOf(err)
	return k, err
}

func (c *Core) selectAndRender(ctx context.Context, in Input, o Observed, isApproved bool, k *Compiled) error {
	i, field, err := readIntentWith(&in.Spec, c.intentOf)
	if field != "" {
		k.Understood = string(i.Canonical())
	}
	if err != nil {
		return err
	}
	q := CatalogQuery(in, i, field)
	k.siteLabels = q.SiteLabels()
	if !isApproved {
		q.Pinned = k.channel.pinBlueprint(Pinned(blueprintOf(o.state), in.Spec.Blueprint, q.BlueprintName()))
	}
	s, needs, err := c.catalog.Resolve(q, in.Answers)
	k.needs = needs
	k.channel.noteSelection(s, err)
	if err != nil {
		return err
	}
	if s == nil {
		return pendingProblem(deploymentv1alpha1.ReasonUnknown, "The catalog was not read yet.")
	}
	s.Places = keepRepositories(s.Places, o.deliveries)
	key := selectionKey(in, o, s)
	if err := c.compileSelection(in, i, s, key, k); err != nil {
		return err
	}
	if o.state.Seq == 0 { // A ledger that is open stays where it is.
		if k.preferredHome, err = preferredHome(in, k.request.Plan, s.Places); err != nil {
			return err
		}
	}
	k.timer.endStage(deploymentv1alpha1.PhaseCompiling)
	rendered, err := c.renderPlaced(ctx, in, o.forRequest(k.request.Request), selection{intent: i, catalog: s, key: key})
	k.timer.endStage(deploymentv1alpha1.PhaseRendering)
	if err == nil {
		err = checkMove(o.forRequest(k.request.Request), s, k.request.Request, rendered)
	}
	if err != nil {
		return err
	}
	if rendered.placement.HasSteps && !rendered.placement.IsMove {
		if k.canaryChecks, err = CompileChecks(c.gates, in, i, s, k.request.Plan, rendered.placement); err != nil {
			return err
		}
	}
	return c.compileDeliveries(in, o, s, rendered, k)
}

// compileSelection compiles the request and its checks from the selection.
func (c *Core) compileSelection(in Input, i intent.Intent, s *catalog.Selection, key memo.Key, k *Compiled) error {
	result, err := rememberResult(c.selected, key, func() (selected, int, error) { return c.compileSelected(in, i, s) })
	k.Unsupported, k.request, k.checks = result.unsupported, result.request, result.checks
	if result.blueprint != "" {
		if err := k.channel.checkDigest(result.blueprint); err != nil {
			return err
		}
	}
	return err
}

// compileDeliveries compiles the deliveries of the rendered files, and the facts about them beside the revision.
func (c *Core) compileDeliveries(in Input, o Observed, s *catalog.Selection, rendered placedSites, k *Compiled) error {
	k.deliveries = rendered.deliveries
	o = o.forRequest(k.request.Request)
	k.unobserved, k.clustered, k.chosen = sitesWithoutReports(s.Places), sitesWithCluster(s.Places), compose.Sites(k.deliveries)
	inherited := compose.Inherit(k.deliveries, o.deliveries)
	k.desired = c.desiredRevision(in, o, *k, inherited)
	k.desired.Placement, k.desired.Workload = rendered.placement, rendered.workload
	var err error
	if k.desired, err = withCanarySteps(in, o, s, k.desired, k.checks); err != nil {
		return err
	}
	k.desired.ReadMarks = markReader(s.Blueprint.Spec.Irreversible, o, rendered.sites)
	return checkSizes(inherited, o.deliveries)
}

// CatalogQuery requests the Sites, the Blueprint and the configurations of a deployment, whose intent was read from a field.
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

// unquotedSites returns the Sites that a sentence names without quotes. A Site of an earlier delivery is not a mistake in the sentence: if it is
// deleted, the deployment waits for it.
func unquotedSites(in Input) []string {
	if in.Spec.Intent == nil {
		return nil
	}
	return slices.DeleteFunc(intent.UnquotedSites(*in.Spec.Intent), func(site string) bool {
		_, delivered := in.Status.Delivery.Sites[site]
		return delivered
	})
}

// sitesWithCluster returns the Sites that wait for a Cluster API cluster.
func sitesWithCluster(places []catalog.Place) map[string]bool {
	out := map[string]bool{}
	for _, p := range places {
		if p.Site.Spec.Cluster.ClusterRef != nil {
			out[p.Site.GetName()] = true
		}
	}
	return out
}

// sitesWithoutReports returns the Sites without an engine, and whether a delivery counts as live there.
func sitesWithoutReports(places []catalog.Place) map[string]bool {
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
			return invalidSpec(errors.Errorf("spec.%s: %q is not between %s and %s", t.field, t.value, "1s", "24h"))
		}
	}
	return nil
}

// isValidTimeout is true for a timeout that the provider accepts.
func isValidTimeout(t deploymentv1alpha1.Duration) bool {
	_, isValid := deliveryv1alpha1.ParseTimeout(string(t))
	return isValid
}

// withRenderTimeout bounds the time that a call may compile and render for. An invalid duration is a problem of the spec.
func withRenderTimeout(ctx context.Context, in Input) (context.Context, context.CancelFunc) {
	timeout, err := time.ParseDuration(in.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}
