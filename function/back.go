package function

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// maxTurns is how often one call goes on from what it just decided about a way back: to its first attempt, and no further.
const maxTurns = 3

// defaultAttempt is what the schema says an attempt may take.
const defaultAttempt = "5m"

// back asks for what a rejected order has left to do. What was begun goes on whatever is wrong with the deployment now.
func (p plan) back(in Input, f *phase.Facts, out *Output, o rolloutv1alpha1.Order) error {
	all := slices.Collect(maps.Values(f.Observed))
	for range maxTurns {
		parts := compose.Parts(f.Observed, p.wanted, o)
		p.retreat(in, f, parts, o)
		next, stop := rollout.Back(o, rollout.Retreat{
			Policy: p.policy(in), All: all, Parts: ordered(parts), Chosen: p.isChosen, Proof: f.Proof(),
		})
		f.Stop, f.StopMessage = stop, rollout.Explained(o, f.Target, stop)
		if rollout.Same(next, o) {
			break
		}
		o = next
	}
	if err := p.gates(in, f, out); err != nil {
		return err
	}
	if f.Order.Attempt == 0 {
		return askFor(f.Desired, out) // The SiteSync goes on as it is.
	}
	return observeAs(f, out)
}

// ordered are deliveries in the order of their names.
func ordered(ds map[string]*deliveryv1alpha1.GitDelivery) []*deliveryv1alpha1.GitDelivery {
	var out []*deliveryv1alpha1.GitDelivery
	for _, name := range slices.Sorted(maps.Keys(ds)) {
		out = append(out, ds[name])
	}
	return out
}

// retreat composes a rejected order: as it is, or an attempt to go back.
func (p plan) retreat(in Input, f *phase.Facts, parts map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) {
	f.Order, f.Target = &o, rollout.TargetOf(o, ordered(f.Observed))
	spec := usable(in.Spec.DeliveryConfig)
	if o.Attempt == 0 {
		f.Desired, f.Sync = compose.Stay(parts, spec, o), f.ObservedSync
		return
	}
	r := compose.Return{Target: f.Target, Chosen: p.isChosen, Timeout: attemptTimeout(in)}
	f.Desired = compose.Back(parts, spec, o, r)
	spec.SyncWaitTimeout, spec.ClusterWaitTimeout = deploymentv1alpha1.Duration(r.Timeout), deploymentv1alpha1.Duration(r.Timeout)
	f.Sync = compose.Sync(in.Claim, spec, o, f.Desired, p.nobody(f))
}

// nobody are the Sites that have no engine. While the catalog is not known, these are the ones that no SiteSync looked at.
func (p plan) nobody(f *phase.Facts) map[string]bool {
	if p.unobserved != nil || f.ObservedSync == nil {
		return p.unobserved
	}
	out := compose.Sites(f.Desired)
	for _, s := range f.ObservedSync.Spec.ForProvider.Sites {
		delete(out, s.Name)
	}
	return out
}

// isChosen is true for a Site that the deployment is for, as far as that is known.
func (p plan) isChosen(site string) bool { return p.chosen == nil || p.chosen[site] }

func (p plan) policy(in Input) rollout.Policy {
	c := in.Spec.RollbackConfig
	return rollout.Policy{Auto: *c.AutoRollback, MaxRetries: *c.MaxRetries, MaxPerHour: *c.MaxPerHour}
}

// attemptTimeout is what an attempt may take. What nobody would keep freezes the order, and a way back goes on with the default.
func attemptTimeout(in Input) string {
	if t := in.Spec.RollbackConfig.AttemptTimeout; kept(t) {
		return string(t)
	}
	return defaultAttempt
}

// usable leaves out timeouts that nobody would keep: those of before stay.
func usable(d deploymentv1alpha1.DeliveryConfig) deploymentv1alpha1.DeliveryConfig {
	for _, t := range []*deploymentv1alpha1.Duration{&d.DeliveryTimeout, &d.SyncWaitTimeout, &d.ClusterWaitTimeout} {
		if !kept(*t) {
			*t = ""
		}
	}
	return d
}

// resume goes on with an order as it is, to a verdict and back, while nothing new may be ordered. What a later step would bring is not known
// here, so it waits. Where an object was lost, or memory and objects disagree, everything stays.
func (p plan) resume(in Input, f *phase.Facts, out *Output, current *rolloutv1alpha1.Order) error {
	if current == nil || !agreed(f, *current) {
		return nil
	}
	if current.Rejected() {
		return p.back(in, f, out, *current)
	}
	parts := compose.Parts(f.Observed, nil, *current)
	if !compose.Covers(parts, *current) {
		return nil
	}
	spec := usable(in.Spec.DeliveryConfig)
	carryOn := func(o rolloutv1alpha1.Order) {
		f.Order, f.Desired, f.Sync = &o, compose.Resume(parts, spec, o), compose.Observers(f.ObservedSync, spec, o)
	}
	carryOn(*current)
	judged := rollout.Judge(*current, f.Proof())
	if judged.Rejected() {
		return p.back(in, f, out, judged)
	}
	if judged.Step == current.Step {
		carryOn(judged)
	}
	if err := p.gates(in, f, out); err != nil || rollout.Same(*f.Order, *current) && !f.Waits {
		return err
	}
	return observeAs(f, out)
}

// agreed is true when no object asks for an earlier revision than the one that is remembered, and none for another request.
func agreed(f *phase.Facts, o rolloutv1alpha1.Order) bool {
	asks := func(d *deliveryv1alpha1.GitDelivery) bool {
		is := d.Spec.ForProvider.Order
		return is.Revision == o.Revision && is.Request == o.Request
	}
	for _, d := range f.Observed {
		done := d.Status.AtProvider.Order
		if done != nil && done.Revision == o.Revision && !asks(d) {
			return false
		}
	}
	return len(f.Observed) > 0 && slices.ContainsFunc(slices.Collect(maps.Values(f.Observed)), asks)
}

// inFlight is true for an order without a verdict that one will come for by itself: it is at its last step, whose trees the objects hold,
// and nothing is in its way. What is in the way may be just what the catalog mends.
func inFlight(in Input, f *phase.Facts, unobserved map[string]bool) bool {
	if f.Order == nil || f.Order.Verdict != nil || f.Order.Step+1 < f.Order.Steps {
		return false
	}
	parts := compose.Parts(f.Observed, nil, *f.Order)
	if !compose.Covers(parts, *f.Order) || !agreed(f, *f.Order) {
		return false
	}
	trial := *f
	trial.Unobserved = unobserved
	trial.Desired = compose.Resume(parts, in.Spec.DeliveryConfig, *f.Order)
	trial.Sync = f.ObservedSync
	return trial.Watched() && trial.Unhindered()
}

// changesChecks is true when the Gate of the order's step cannot measure, and the revision would be judged by other checks now. Those of a
// Gate never change, so it takes the next revision to ask them.
func (p plan) changesChecks(f *phase.Facts) bool {
	g := f.AwaitingGate()
	return g != nil && !equality.Semantic.DeepEqual(g.Spec.ForProvider.Checks, p.checks.At(f.Order.Plan[f.Order.Step]))
}

// gates asks for the Gate of the order's step, which waits until that is live, and lets those go that have told all they can: when every
// repository remembers the verdict, the Gates of earlier steps, and by then, or with the first Gate of the revision, those of others. Whatever is
// added or removed makes a generation of the composite, which Crossplane tells in several writes: so all of that happens with the order.
func (p plan) gates(in Input, f *phase.Facts, out *Output) error {
	name := compose.GateName(*f.Order)
	g, err := p.gate(in, f, name)
	if err != nil {
		return err
	}
	if g != nil {
		out.Resources[name] = Resource{Object: g}
	}
	remembered := phase.Remembered(f)
	judged := remembered || g != nil || f.Gates[name] != nil
	for other, o := range f.Gates {
		of := o.Spec.ForProvider.Order
		another := of.Revision != f.Order.Revision || of.Request != f.Order.Request
		if another && judged || !another && of.Step < f.Order.Step && remembered {
			delete(out.Resources, other)
		}
	}
	return nil
}

// gate is the one to make, or nil.
func (p plan) gate(in Input, f *phase.Facts, name string) (*unstructured.Unstructured, error) {
	if f.Gates[name] != nil || f.Order.Verdict != nil || !rollout.Gated(*f.Order) {
		return nil, nil //nolint:nilnil // There is nothing to judge.
	}
	g := compose.Gate(in.Claim, *f.Order, f.ObservedSync, in.Spec.GatesConfig, p.checks.At(f.Order.Plan[f.Order.Step]))
	if g == nil {
		return nil, nil //nolint:nilnil // There is nothing to ask.
	}
	o, err := compose.Encode(g)
	return o, errors.Wrapf(err, "cannot encode composed resource %q", name)
}
