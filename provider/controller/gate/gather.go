package gate

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/verdict"
)

// A reconcileCache holds objects that are read once for all checks of a Gate.
type reconcileCache struct {
	gate     *v1alpha1.Gate
	configs  map[xpv2.ProviderConfigReference]endpoint.Config
	evidence verdict.Evidence
	sites    map[string]*catalogv1alpha1.Site
	servers  map[string]endpoint.Endpoint
	// open are the checks that have not ended.
	open []v1alpha1.GateCheck
	// workloads by the names of their Sites. Nil until a check asks for one.
	workloads map[string]*siteWorkload
}

// gatherFacts gathers the facts about a Gate that has no verdict. It returns an error if the control plane's API server cannot be asked.
func (e *external) gatherFacts(ctx context.Context, g *v1alpha1.Gate) (verdict.Facts, error) {
	f := verdict.Facts{Namespace: g.GetNamespace(), Spec: *g.Spec.ForProvider.DeepCopy(), Last: e.lastObservation(g), Now: e.now()}
	if f.Last.Verdict != "" || f.Spec.ClaimRef.Namespace != f.Namespace {
		e.meter.Forget(client.ObjectKeyFromObject(g))
		e.memory.planNextLook(g, time.Time{})
		e.memory.forgetClocks(client.ObjectKeyFromObject(g))
		return f, nil // There is nothing left to measure, or it is not for this Gate to.
	}
	r := &reconcileCache{
		gate: g, configs: map[xpv2.ProviderConfigReference]endpoint.Config{}, sites: map[string]*catalogv1alpha1.Site{}, servers: map[string]endpoint.Endpoint{},
		open: f.OpenChecks(),
	}
	var err error
	if r.evidence, err = e.gatherEvidence(ctx, f.Namespace, f.Spec); err != nil {
		return verdict.Facts{}, err
	}
	r.evidence.HasBegun, f.PauseEnd = f.Last.StartedAt != nil, r.evidence.PauseEnd()
	f.Longest, f.Checks = e.longestCheck(f.Spec.Checks), make([]verdict.CheckFacts, len(f.Spec.Checks))
	outages, invalid := gates.OutagePolicyOf(f.Spec)
	tasks, indexes := []meter.Task{}, []int{}
	for i, c := range f.Spec.Checks {
		if gates.Ended(f.LastResult(i).Phase) {
			continue
		}
		t, err := e.gatherCheck(ctx, r, c, f.LastResult(i), f.StartOfCheck(i), &f.Checks[i])
		if err != nil {
			return verdict.Facts{}, err
		}
		if invalid != nil {
			f.Checks[i].Impossible = invalid.Error()
		}
		if t != nil {
			t.Rules.GoesOn = f.Spec.Until == v1alpha1.GateUntilReleased && !r.evidence.IsReleased()
			t.Rules.HasCount = f.LastResult(i).CountedAt != nil
			t.Rules.HoldsInconclusive = f.Spec.OnInconclusive == deploymentv1alpha1.InconclusiveHold
			t.Outages, t.UnavailableSince = outages, f.UnavailableSince(i)
			tasks, indexes = append(tasks, *t), append(indexes, i)
		}
	}
	e.planNextLook(g, f)
	for n, j := range e.meter.Measure(client.ObjectKeyFromObject(g), g.GetUID(), tasks) {
		f.Checks[indexes[n]].Judgement = j
	}
	return f, nil
}

// planNextLook plans the next observation of the Gate.
func (e *external) planNextLook(g *v1alpha1.Gate, f verdict.Facts) {
	next := time.Time{}
	for _, c := range f.Checks {
		if c.Next.IsZero() || c.Judgement.Ended() {
			continue
		}
		if next.IsZero() || c.Next.Before(next) {
			next = c.Next
		}
	}
	e.memory.planNextLook(g, next)
}

// gatherCheck gathers the facts about one check. It returns the task to measure, or nil if the check cannot be measured.
func (e *external) gatherCheck(ctx context.Context, r *reconcileCache, c v1alpha1.GateCheck, last v1alpha1.CheckResult, observed time.Time, into *verdict.CheckFacts) (*meter.Task, error) {
	site, err := e.readAllowedSite(ctx, r, c.Site)
	if err != nil {
		return nil, err
	}
	if site != nil {
		into.LiveSince = r.evidence.LiveSince(site, observed)
	}
	k, err := kindOfCheck(c)
	if err != nil {
		into.Impossible = err.Error()
		return nil, nil //nolint:nilerr,nilnil // The check is invalid, and nothing is measured.
	}
	if k.run == nil {
		return e.measurement(ctx, r, k, c, site, into)
	}
	if site == nil || into.LiveSince.IsZero() {
		return nil, nil //nolint:nilnil // There is nothing to measure.
	}
	return nil, k.run(ctx, e, subject{reconcileCache: r, check: c, site: site}, last, into)
}

// measurement returns the task of a check that the scheduler measures, or nil for a check that can never be measured.
func (e *external) measurement(ctx context.Context, r *reconcileCache, k kind, c v1alpha1.GateCheck, site *catalogv1alpha1.Site, into *verdict.CheckFacts) (*meter.Task, error) {
	t, err := meter.NewTask(c)
	if err != nil {
		into.Impossible = err.Error()
		return nil, nil //nolint:nilerr,nilnil // The check is invalid, and nothing is measured.
	}
	t.LiveSince = into.LiveSince
	if site == nil || t.LiveSince.IsZero() {
		return makeTaskIdle(t), nil
	}
	if into.Impossible, err = e.setQuestion(ctx, r, k, c, site, t); err != nil || into.Impossible != "" {
		return nil, err
	}
	return t, nil
}

// longestCheck is how long the longest of some checks takes at most. Checks that can never be measured take no time.
func (e *external) longestCheck(checks []v1alpha1.GateCheck) time.Duration {
	out := time.Duration(0)
	for _, c := range checks {
		rules, err := gates.RulesOf(c.Check)
		if err != nil {
			continue
		}
		lead := rules.InitialDelay
		if k, err := kindOfCheck(c); err == nil && k.lead != nil {
			lead = max(lead, k.lead(e, c))
		}
		// The first measurement waits for the grid, and the timeout begins with it. A Job has its grace instead.
		out = max(out, lead+max(rules.Interval, grace)+rules.Timeout)
	}
	return out
}

// readAllowedSite returns a Site that the Gate's namespace may use, or nil.
func (e *external) readAllowedSite(ctx context.Context, r *reconcileCache, name string) (*catalogv1alpha1.Site, error) {
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

// setQuestion sets the question of a check. It returns why the check can never be asked, and an error if the API server cannot be reached.
func (e *external) setQuestion(ctx context.Context, r *reconcileCache, k kind, c v1alpha1.GateCheck, site *catalogv1alpha1.Site, t *meter.Task) (string, error) {
	config, err := e.configOfCheck(ctx, r, c)
	if err != nil {
		return "", err
	}
	if problem := deniedCheck(config, site, c); problem != "" {
		t.Question = meter.Problem(problem)
		return "", nil
	}
	return k.ask(ctx, e, subject{reconcileCache: r, config: config, check: c, site: site}, t)
}

// makeTaskIdle is a task whose subject is not live: the meter sends no query for it.
func makeTaskIdle(t *meter.Task) *meter.Task {
	t.Question = meter.Problem("")
	return t
}

// failingQuestion returns the question for a server that cannot be asked.
func failingQuestion(e endpoint.Endpoint) meter.Question {
	if e.IsOutage {
		return meter.ServerProblem{Problem: meter.Problem(e.Problem)}
	}
	return meter.Problem(e.Problem)
}
