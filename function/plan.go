package function

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/memo"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/render"
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
func (c *Core) plan(ctx context.Context, in Input, f *phase.Facts, approved bool) (plan, error) {
	p := plan{began: c.stopwatch()}
	i, field, err := understand(&in.Spec)
	if field != "" {
		f.Understood = string(i.Canonical())
	}
	if err != nil {
		return p, err
	}
	q := query(in, i, field)
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

func (c *Core) fill(ctx context.Context, in Input, f *phase.Facts, i intent.Intent, s *catalog.Selection, p *plan) error {
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
	if p.checks, err = judges(c.gates, in, i, s, p.wish.Request.Plan); err != nil {
		return err
	}
	p.wish.Request.Plan = gated(p.wish.Request.Plan, p.checks)
	endStage(p, deploymentv1alpha1.PhaseCompiling, c.stopwatch())
	rendered, err := c.render(ctx, in, i, s)
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

// unchanged is true when deliveries ask for the trees of the order, in the repositories that it is for.
func (p plan) unchanged(f *phase.Facts, ds map[string]*deliveryv1alpha1.GitDelivery) bool {
	if f.Order == nil {
		return false
	}
	asked := onlyVersions(f, p.wish)
	ds = compose.Await(ds, f.Observed, f.ObservedSync, *f.Order, p.clustered)
	wanted, observed := compose.ByRepository(ds, ds, asked), compose.ByRepository(f.Observed, ds, asked)
	return maps.Equal(compose.TreeIDs(wanted), compose.AskedIDs(observed, *f.Order))
}

// onlyVersions is true when the request is that of the order, but for the renderer. Then each delivery goes to the repository that it
// went to, whatever its name says.
func onlyVersions(f *phase.Facts, w rollout.Wish) bool {
	return f.Order != nil && rollout.Asked(*f.Order, w)
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

// read decodes the intent from the field that holds it.
func read(s deploymentv1alpha1.IntentDeploymentSpec) (intent.Intent, string, error) {
	switch {
	case s.Intent != nil && s.Expectation != nil, s.Intent == nil && s.Expectation == nil:
		return intent.Intent{}, "spec", errors.New("spec: exactly one of intent and expectation must be set")
	case s.Expectation != nil:
		i, err := intent.FromExpectation(s.Expectation)
		return i, "spec.expectation", err
	}
	i, err := intent.FromText(*s.Intent)
	return i, "spec.intent", err
}

func query(in Input, i intent.Intent, field string) catalog.Query {
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

func (c *Core) render(ctx context.Context, in Input, i intent.Intent, s *catalog.Selection) ([]compose.Rendered, error) {
	// The schema lets only durations through.
	timeout, err := time.ParseDuration(in.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return nil, terminal(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhasePending, errors.Wrap(err, "spec.compileConfig.renderTimeout"))
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, p := range s.Places {
		if err := policy.CheckCount(p.ConfigRef.Kind, &p.Config, sharing(s.Places, p)); err != nil {
			return nil, terminal(deploymentv1alpha1.ReasonPolicyDenied, deploymentv1alpha1.PhaseRendering, err)
		}
	}
	return eachPlace(s.Places, func(p catalog.Place) (compose.Rendered, error) {
		if err := ctx.Err(); err != nil {
			return compose.Rendered{}, late(errors.New("cannot render for all Sites within compileConfig.renderTimeout"))
		}
		return c.renderPlace(ctx, in, i, s, p)
	})
}

// placesAtOnce is how many Sites one call renders for at once.
const placesAtOnce = 4

// eachPlace renders for several places at once. Where several fail, the error is that of the first one in the order of places.
func eachPlace(places []catalog.Place, do func(catalog.Place) (compose.Rendered, error)) ([]compose.Rendered, error) {
	out, errs := make([]compose.Rendered, len(places)), make([]error, len(places))
	slots, all := make(chan struct{}, placesAtOnce), sync.WaitGroup{}
	for n := range places {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			out[n], errs[n] = do(places[n])
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sharing is how many places have the same configuration as one: they are in one delivery.
func sharing(places []catalog.Place, one catalog.Place) int {
	n := 0
	for _, p := range places {
		if p.ConfigRef == one.ConfigRef {
			n++
		}
	}
	return n
}

// renderPlace returns the files of one Site.
func (c *Core) renderPlace(ctx context.Context, in Input, i intent.Intent, s *catalog.Selection, p catalog.Place) (compose.Rendered, error) {
	out, what := compose.Rendered{Place: p}, renderInput(in, i, s, p)
	if err := substituted(in.Spec, render.CheckSubstitution(i, what.Site)); err != nil {
		return out, err
	}
	files, err := c.renderer.Build(ctx, what)
	if err == nil {
		err = c.checker.Check(&s.Blueprint, policyInput(in, p, files))
	}
	if err != nil {
		return out, Refused(err, files)
	}
	packed, err := c.packer.Pack(files)
	if err != nil {
		return out, tooLarge(err)
	}
	out.Files, out.Packed = files, &packed
	return out, nil
}

// renderReason says why there is nothing to deliver. What was rendered and is well-formed is against a limit.
func renderReason(err error, rendered tree.Files) string {
	if e := (&policy.InvalidError{}); errors.As(err, &e) || rendered == nil {
		return deploymentv1alpha1.ReasonRenderFailed
	}
	return deploymentv1alpha1.ReasonPolicyDenied
}

func renderInput(in Input, i intent.Intent, s *catalog.Selection, p catalog.Place) render.Input {
	parameters := make(map[string]string, len(p.Site.Spec.Parameters))
	for key, value := range p.Site.Spec.Parameters {
		parameters[key] = string(value)
	}
	return render.Input{
		Blueprint: &s.Blueprint,
		Intent:    i,
		Site: render.Site{
			Name: p.Site.GetName(), Parameters: parameters, Layout: p.Site.Spec.Repository.Layout, Substitution: render.SubstitutionAt(p.Site.Spec.Engine),
		},
		Claim: render.Claim{APIGroup: in.Claim.APIGroup, Namespace: in.Claim.Namespace, Name: in.Claim.Name},
	}
}

func policyInput(in Input, p catalog.Place, files tree.Files) policy.Input {
	return policy.Input{
		Claim:      in.Claim,
		Site:       &p.Site,
		ConfigKind: p.ConfigRef.Kind,
		Config:     &p.Config,
		Branch:     p.Config.Git.Branch,
		Path:       p.Path,
		Layout:     p.Site.Spec.Repository.Layout,
		Files:      files,
	}
}
