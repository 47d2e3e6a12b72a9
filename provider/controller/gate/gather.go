package gate

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
)

// A round is what is read once for all checks of a Gate.
type round struct {
	gate     *v1alpha1.Gate
	configs  map[xpv2.ProviderConfigReference]config
	evidence evidence
	sites    map[string]*catalogv1alpha1.Site
	servers  map[string]answer
}

// An answer is a server, or why there is none.
type answer struct {
	server  prometheus.Server
	problem string
	// outage says that the problem is one of the server, and not of the check.
	outage bool
}

// gather the facts about a Gate that has no verdict. It returns an error if the control plane's API server cannot be asked.
func (e *external) gather(ctx context.Context, g *v1alpha1.Gate) (facts, error) {
	f := facts{namespace: g.GetNamespace(), spec: *g.Spec.ForProvider.DeepCopy(), before: e.before(g), now: e.now()}
	if f.before.Verdict != "" || f.spec.ClaimRef.Namespace != f.namespace {
		e.meter.Forget(client.ObjectKeyFromObject(g))
		e.memory.plan(g, time.Time{})
		return f, nil // There is nothing left to measure, or it is not for this Gate to.
	}
	r := &round{
		gate: g, configs: map[xpv2.ProviderConfigReference]config{}, sites: map[string]*catalogv1alpha1.Site{}, servers: map[string]answer{},
	}
	var err error
	if r.evidence, err = e.evidence(ctx, f.namespace, f.spec); err != nil {
		return facts{}, err
	}
	f.longest, f.checks = e.longest(f.spec.Checks), make([]checkFacts, len(f.spec.Checks))
	outages, invalid := gates.OutagePolicyOf(f.spec)
	tasks, of := []meter.Task{}, []int{}
	for i, c := range f.spec.Checks {
		if gates.Ended(f.last(i).Phase) {
			continue
		}
		t, err := e.check(ctx, r, c, f.last(i), f.seen(i), &f.checks[i])
		if err != nil {
			return facts{}, err
		}
		if invalid != nil {
			f.checks[i].impossible = invalid.Error()
		}
		if t != nil {
			t.Outages, t.UnavailableSince = outages, f.unavailableSince(i)
			tasks, of = append(tasks, *t), append(of, i)
		}
	}
	e.plan(g, f)
	for n, j := range e.meter.Measure(client.ObjectKeyFromObject(g), g.GetUID(), tasks) {
		f.checks[of[n]].judgement = j
	}
	return f, nil
}

// plan when to look again.
func (e *external) plan(g *v1alpha1.Gate, f facts) {
	next := time.Time{}
	for _, c := range f.checks {
		if c.next.IsZero() || c.judgement.Ended() {
			continue
		}
		if next.IsZero() || c.next.Before(next) {
			next = c.next
		}
	}
	e.memory.plan(g, next)
}

// unavailableSince is since when the metrics backend of a check was last seen to be unavailable. Zero if it was not.
func (f facts) unavailableSince(i int) time.Time {
	if since := f.last(i).UnavailableSince; since != nil {
		return since.Time
	}
	return time.Time{}
}

// seen is when a check began, or begins now: no earlier than that.
func (f facts) seen(i int) time.Time {
	if at := f.last(i).StartedAt; at != nil {
		return at.Time
	}
	return setup.Timestamp(f.now).Time
}

// check what there is to know of one check. It returns what is to be measured, if anything can be.
func (e *external) check(ctx context.Context, r *round, c v1alpha1.GateCheck, last v1alpha1.CheckResult, seen time.Time, into *checkFacts) (*meter.Task, error) {
	site, err := e.site(ctx, r, c.Site)
	if err != nil {
		return nil, err
	}
	if site != nil {
		into.liveSince = r.evidence.liveSince(site, seen)
	}
	k, err := kindOf(c)
	if err != nil {
		into.impossible = err.Error()
		return nil, nil //nolint:nilerr,nilnil // The check is invalid, and nothing is measured.
	}
	if k.run == nil {
		return e.measurement(ctx, r, k, c, site, into)
	}
	if site == nil || into.liveSince.IsZero() {
		return nil, nil //nolint:nilnil // There is nothing to measure.
	}
	into.job = last.JobRef.DeepCopy()
	return nil, k.run(ctx, e, r, c, site, into)
}

// measurement returns the task of a check that the scheduler measures, or nil for one that can never be measured.
func (e *external) measurement(ctx context.Context, r *round, k kind, c v1alpha1.GateCheck, site *catalogv1alpha1.Site, into *checkFacts) (*meter.Task, error) {
	t, err := taskOf(c)
	if err != nil {
		into.impossible = err.Error()
		return nil, nil //nolint:nilerr,nilnil // The check is invalid, and nothing is measured.
	}
	t.LiveSince = into.liveSince
	if site == nil || t.LiveSince.IsZero() {
		return unasked(t), nil
	}
	if into.impossible, err = e.source(ctx, r, k, c, site, t); err != nil || into.impossible != "" {
		return nil, err
	}
	return t, nil
}

// longest is how long the longest of some checks takes at most. Those that can never be measured take no time.
func (e *external) longest(checks []v1alpha1.GateCheck) time.Duration {
	out := time.Duration(0)
	for _, c := range checks {
		rules, err := gates.RulesOf(c.Check)
		if err != nil {
			continue
		}
		lead := rules.InitialDelay
		if k, err := kindOf(c); err == nil && k.lead != nil {
			lead = max(lead, k.lead(e, c))
		}
		// The first measurement waits for the grid, and the timeout begins with it. A Job has its grace instead.
		out = max(out, lead+max(rules.Interval, grace)+rules.Timeout)
	}
	return out
}

// site returns a Site that the Gate's namespace may use, or nil.
func (e *external) site(ctx context.Context, r *round, name string) (*catalogv1alpha1.Site, error) {
	if s, ok := r.sites[name]; ok {
		return s, nil
	}
	s := &catalogv1alpha1.Site{}
	err := e.kube.Get(ctx, client.ObjectKey{Name: name}, s)
	if client.IgnoreNotFound(err) != nil {
		return nil, errors.Wrapf(err, "cannot get Site %q", name)
	}
	if kerrors.IsNotFound(err) || policy.CheckSite(s, r.gate.GetNamespace()) != nil {
		s = nil
	}
	r.sites[name] = s
	return s, nil
}

// taskOf a check, but for what it asks. It returns an error for a check that can never be measured.
func taskOf(c v1alpha1.GateCheck) (*meter.Task, error) {
	rules, err := gates.RulesOf(c.Check)
	if err != nil {
		return nil, err
	}
	limit, err := threshold.Parse(string(c.Threshold))
	if err != nil {
		return nil, errors.Wrap(err, "threshold")
	}
	if c.Unit != "" || limit.Unit() == "" {
		if limit, err = limit.In(c.Unit); err != nil {
			return nil, errors.Wrap(err, "threshold")
		}
	}
	if !limit.Compares() {
		return nil, errors.New("threshold: must begin with a comparison")
	}
	least := int64(1)
	if c.MinSamples != nil {
		least = int64(*c.MinSamples)
	}
	return &meter.Task{ID: c.Site + "/" + c.Name, Type: c.Type, Rules: rules, Criteria: gates.Criteria{Limit: limit, MinSamples: least, NoData: c.NoData}}, nil
}

// source sets the question of a check. It returns why the check can never be asked, and an error if the API server cannot be reached.
func (e *external) source(ctx context.Context, r *round, k kind, c v1alpha1.GateCheck, site *catalogv1alpha1.Site, t *meter.Task) (string, error) {
	config, err := e.configOf(ctx, r, c)
	if err != nil {
		return "", err
	}
	if problem := config.allow(site, c); problem != "" {
		t.Question = trouble(problem)
		return "", nil
	}
	return k.ask(ctx, e, subject{round: r, config: config, check: c, site: site}, t)
}

// unasked is a task whose subject is not live: nothing is asked.
func unasked(t *meter.Task) *meter.Task {
	t.Question = trouble("")
	return t
}

// question of a server that cannot be asked.
func (a answer) question() meter.Question {
	if a.outage {
		return outage{trouble(a.problem)}
	}
	return trouble(a.problem)
}

// outage is a question that cannot be asked because of the server, and not because of the check.
type outage struct{ trouble }

// Ask nobody.
func (o outage) Ask(context.Context, time.Duration) gates.Answer {
	return gates.Answer{Problem: string(o.trouble), Unavailable: true}
}

// trouble is a question that cannot be asked for now. It goes wrong as often as it may, for somebody may solve it in the meantime.
type trouble string

// Key is what is in the way: what others cannot ask for another reason is no answer to this.
func (t trouble) Key(time.Duration) string { return string(t) }

// Ask nobody.
func (t trouble) Ask(context.Context, time.Duration) gates.Answer {
	return gates.Answer{Problem: string(t)}
}
