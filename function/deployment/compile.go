package deployment

import (
	"context"
	"maps"
	"time"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/irreversible"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/placement"
	"github.com/intentplane/intentplane/function/requests"
)

// Compiled is the result of the second stage of a call, compiled from the spec and the catalog. No later stage writes into it.
type Compiled struct {
	phase.Compilation

	// needs of the catalog that have to be answered.
	needs []catalog.Need

	// channel of the Blueprint that the deployment stays with.
	channel compile.Channel

	// renderer is the version that renders.
	renderer int32

	// request that the spec compiles to, and the desired revision.
	request compile.Request
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
	refusals map[string]requests.Refusal

	// recheck says when a problem may be over, and when it is the deployment's turn to take a new renderer.
	recheck recheck

	// tracker composes directories in tracks.
	tracker *directories.Tracker

	// timer of the stages.
	timer timer
}

// isChosenSite is true for a Site of the deployment, as far as its Sites are known.
func (c Compiled) isChosenSite(site string) bool { return c.chosen == nil || c.chosen[site] }

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

func newStageTimer(now func() time.Time) timer { return timer{now: now, began: now()} }

// endTimedStage records the duration of the present stage. The next stage begins.
func (t *timer) endTimedStage(name deploymentv1alpha1.Phase) {
	now := t.now()
	if !now.IsZero() {
		t.stages = append(t.stages, Stage{Name: name, Took: now.Sub(t.began)})
	}
	t.began = now
}

// compileDesired compiles the desired state of the spec. A RolloutRequest that approves an update changes the compiled Blueprint or renderer.
func (c *Core) compileDesired(ctx context.Context, in Input, o Observed) (Compiled, error) {
	ctx, cancel := withRenderTimeout(ctx, in)
	defer cancel()
	k, err := c.compileSpec(ctx, in, o, false)
	if err != nil {
		return Compiled{}, err
	}
	o = o.continueWith(k)
	k.needs = append([]catalog.Need{catalog.RequestsNeed(in.Claim)}, k.needs...)
	k.update = c.waitingUpdate(o, k)
	k.recheck = recheckOfProblem(k.Problem).mergeRecheck(c.rendererSlot(in, o, k))
	if chosenApproval(in, o, k) == nil {
		return k, nil
	}
	return c.compileApproved(ctx, in, o, k)
}

// compileSpec compiles, places and renders the intent, with the Blueprint that the deployment stays with or, if an update is approved, the
// Blueprint in the channel. A failed compilation has a problem, and all results that precede it.
func (c *Core) compileSpec(ctx context.Context, in Input, o Observed, isApproved bool) (Compiled, error) {
	k := Compiled{timer: newStageTimer(c.stopwatch), renderer: c.version, tracker: c.tracker}
	err := c.selectAndRender(ctx, in, o, isApproved, &k)
	k.Problem, err = compile.ProblemOf(err)
	return k, err
}

func (c *Core) selectAndRender(ctx context.Context, in Input, o Observed, isApproved bool, k *Compiled) error {
	i, field, err := c.compiler.ReadIntent(&in.Spec)
	if field != "" {
		k.Understood = string(i.Canonical())
	}
	if err != nil {
		return err
	}
	q := compile.CatalogQuery(in.Deployment, i, field)
	k.siteLabels = q.SiteLabels()
	if !isApproved {
		q.Pinned = k.channel.Pin(blueprintOf(o.state), in.Spec.Blueprint, q.BlueprintName())
	}
	s, needs, err := c.catalog.Resolve(q, in.Answers)
	k.needs = needs
	k.channel.RecordSelection(s, err)
	if err != nil {
		return err
	}
	if s == nil {
		return compile.PendingProblem(deploymentv1alpha1.ReasonUnknown, "The catalog was not read yet.")
	}
	s.Places = compose.KeepRepositories(s.Places, o.deliveries)
	from := compile.Selection{Deployment: in.Deployment, SpecDigest: o.specDigest, Intent: i, Catalog: s, Renderer: c.version}
	if err := c.compileSelection(from, k); err != nil {
		return err
	}
	if o.state.Seq == 0 { // A ledger that is open stays where it is.
		if k.preferredHome, err = ledgerhome.Preferred(in.Spec.DeliveryConfig.LedgerConfigRef, k.request.Plan, s.Places); err != nil {
			return compile.InvalidSpec(err)
		}
	}
	k.timer.endTimedStage(deploymentv1alpha1.PhaseCompiling)
	o = o.withoutStaleEvents(k.request.Request)
	placer := placement.Placer{Compiler: c.compiler, State: o.state, Deliveries: o.deliveries}
	rendered, err := placer.Render(ctx, from)
	k.timer.endTimedStage(deploymentv1alpha1.PhaseRendering)
	if err == nil {
		err = placer.CheckMove(s.Places, k.request.Request, rendered)
	}
	if err != nil {
		return err
	}
	if rendered.Placement.HasSteps && !rendered.Placement.IsMove {
		if k.canaryChecks, err = c.compiler.Checks(from, k.request.Plan, rendered.Placement); err != nil {
			return err
		}
	}
	return c.compileDeliveries(in, o, from, rendered, k)
}

// compileSelection compiles the request and its checks from the selection.
func (c *Core) compileSelection(from compile.Selection, k *Compiled) error {
	result, err := c.compiler.CompileSelection(from)
	k.Unsupported, k.request, k.checks = result.Unsupported, result.Request, result.Checks
	if result.Blueprint != "" {
		if err := k.channel.CheckDigest(result.Blueprint); err != nil {
			return err
		}
	}
	return err
}

// compileDeliveries compiles the deliveries of the rendered files, and the facts about them beside the revision.
func (c *Core) compileDeliveries(in Input, o Observed, from compile.Selection, rendered placement.Placed, k *Compiled) error {
	s := from.Catalog
	k.deliveries = rendered.Deliveries
	k.unobserved, k.clustered, k.chosen = sitesWithoutReports(s.Places), sitesWithCluster(s.Places), compose.Sites(k.deliveries)
	inherited := compose.Inherit(k.deliveries, o.deliveries)
	k.desired = c.desiredRevision(in, o, *k, inherited)
	k.desired.Placement, k.desired.Workload = rendered.Placement, rendered.Workload
	var err error
	if k.desired, err = compile.WithSteps(from, k.desired, k.checks, canary.IsServedBy(o.state.PastRevision(o.state.Stable))); err != nil {
		return err
	}
	k.desired.ReadMarks = irreversible.Served{State: o.state, Deliveries: o.deliveries}.MarkReader(s.Blueprint.Spec.Irreversible, rendered.Sites)
	if err := compose.CheckSizes(inherited, o.deliveries); err != nil {
		return compile.ErrorWithReason(deploymentv1alpha1.ReasonTooLarge, err)
	}
	return nil
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

// withRenderTimeout bounds the time that a call may compile and render for. An invalid duration is a problem of the spec.
func withRenderTimeout(ctx context.Context, in Input) (context.Context, context.CancelFunc) {
	timeout, err := time.ParseDuration(in.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}
