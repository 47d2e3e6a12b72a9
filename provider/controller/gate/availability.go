package gate

import (
	"cmp"
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/availability"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
	"github.com/intentplane/intentplane/provider/gates/verdict"
	"github.com/intentplane/intentplane/provider/panics"
	"github.com/intentplane/intentplane/provider/workload"
)

const (
	typeAvailability = "Availability"

	// maxSitesAtOnce is how many Sites are asked at the same time.
	maxSitesAtOnce = 16
)

// availabilityKind is the kind of checks which wait until pods of the revision are available.
func availabilityKind() kind {
	return kind{
		name:  typeAvailability,
		isSet: func(c *v1alpha1.GateCheck) bool { return c.Availability != nil },
		// The Site alone says which namespaces may be observed in its cluster: run asks it.
		allow: func(*catalogv1alpha1.Site, endpoint.Config, v1alpha1.GateCheck) error { return nil },
		run: func(ctx context.Context, e *external, s subject, last v1alpha1.CheckResult, into *verdict.CheckFacts) error {
			return e.gatherAvailability(ctx, s, last, into)
		},
		lead: func(_ *external, c v1alpha1.GateCheck) time.Duration { return settlingTime(c) },
	}
}

// settlingTime returns for how long pods have to be available, which they may do beyond the timeout.
func settlingTime(c v1alpha1.GateCheck) time.Duration {
	rules, err := gates.RulesOf(c.Check)
	if err != nil {
		return 0
	}
	return time.Duration(rules.Count-1) * rules.Interval
}

// A siteWorkload is the observed workload of a Site.
type siteWorkload struct {
	setup.Workload

	cluster *clusters.Cluster
	// problem says why nothing could be read. Empty if it was.
	problem string
}

// gatherAvailability judges a check by the Deployments of the claim at its Site. An unobservable Site gives no verdict. It returns an error if
// the control plane's API server cannot be asked.
func (e *external) gatherAvailability(ctx context.Context, s subject, last v1alpha1.CheckResult, into *verdict.CheckFacts) error {
	rules, err := gates.RulesOf(s.check.Check)
	if err == nil {
		err = policy.CheckAvailability(s.site, s.gate.GetNamespace())
	}
	if err != nil {
		into.Impossible = err.Error()
		return nil //nolint:nilerr // It is the check's problem.
	}
	if err := e.readWorkloads(ctx, s.reconcileCache); err != nil {
		return err
	}
	w, now := s.workloads[s.check.Site], e.now()
	want, deployments := ptr.Deref(s.check.Availability.MinAvailable, 1), workload.SelectTracks(s.check.Availability.Image, w.Deployments)
	h := workload.Assess(s.check.Availability.Image, deployments, w.ReplicaSets)
	report := ""
	clock := e.memory.advanceClock(s.gate, s.check.Site+"/"+s.check.Name, func(c availability.Clock, isKnown bool) availability.Clock {
		if !isKnown {
			c = availability.Resume(ptr.Deref(last.CountsFrom, metav1.Time{}).Time, ptr.Deref(last.UnavailableSince, metav1.Time{}).Time, last.ObservedAt != nil)
		}
		c = c.Follow(into.LiveSince)
		c.IsObserved = c.IsObserved || w.problem == "" && !s.isElsewhere(h)
		if report = s.servingReason(w, c.IsObserved); w.problem != "" && report == "" {
			return c.Miss(w.problem, now)
		}
		return c.See(report != "" || availability.IsServing(h, want), now)
	})
	into.CountsFrom, into.IsObserved = clock.CountsFrom(), clock.IsObserved
	into.Judgement, into.Next = clock.Judge(rules, siteOutagePolicy(s.gate), now)
	into.Judgement.Message = cmp.Or(into.Judgement.Message, report)
	if into.Judgement.Phase == v1alpha1.CheckFailed && s.isElsewhere(h) && !clock.IsObserved {
		into.Judgement.Phase, into.Judgement.Message = v1alpha1.CheckPassed, setup.CountsAsLive+h.Message
	}
	if into.Judgement.Phase == v1alpha1.CheckFailed {
		trouble := w.readPodTrouble(ctx, s.gate.GetNamespace(), h.PodSelector)
		into.Judgement.Message = oneline.Cut(availability.Explain(h, trouble, want), verdict.MaxExplained)
	}
	return nil
}

// isElsewhere is true for a Site without a Deployment that need not be in the cluster which the Site names. It counts as serving if none is created there before
// the timeout: until then the Deployment of a first revision may be on its way.
func (s subject) isElsewhere(h workload.Health) bool {
	return h.IsAbsent() && setup.IsElsewhere(s.site)
}

// servingReason returns the reason why a Site without an observed workload counts as serving: the health in the report of its engine, or unobservedIsLive. It is
// empty for a Site that counts by its pods. A Site whose pods were observed keeps counting by them during an outage, since the pods themselves may be down.
func (s subject) servingReason(w *siteWorkload, isObserved bool) string {
	switch {
	case w.problem == "" || isObserved:
		return ""
	case s.evidence.IsReportedHealthy(s.check.Site):
		return setup.CountsAsHealthy + w.problem
	case ptr.Deref(s.site.Spec.Engine.UnobservedIsLive, false):
		return setup.CountsAsLive + w.problem
	}
	return ""
}

// siteOutagePolicy returns the outage policy of a check whose Site cannot be observed: the check waits, regardless of the policy for an unavailable
// metrics backend.
func siteOutagePolicy(g *v1alpha1.Gate) gates.OutagePolicy {
	p, err := gates.OutagePolicyOf(g.Spec.ForProvider)
	if err != nil {
		return gates.OutagePolicy{} // The check is refused for it.
	}
	p.Reject = false
	return p
}

// readWorkloads reads the workloads of all Sites of a Gate that have an open check of this type, at the same time: clusters that do not answer cost one short
// wait together. It returns an error if the control plane's API server cannot be asked.
func (e *external) readWorkloads(ctx context.Context, r *reconcileCache) error {
	if r.workloads != nil {
		return nil
	}
	r.workloads = map[string]*siteWorkload{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxSitesAtOnce)
	for _, c := range r.open {
		if c.Type != typeAvailability || r.workloads[c.Site] != nil {
			continue
		}
		site, err := e.readAllowedSite(ctx, r, c.Site)
		if err != nil {
			return errors.Join(err, g.Wait())
		}
		w := &siteWorkload{}
		r.workloads[c.Site] = w
		if site != nil {
			g.Go(func() error {
				return panics.Recover("read a workload", func() error { return e.readWorkload(ctx, r.gate, site, w) })
			})
		}
	}
	return g.Wait()
}

func (e *external) readWorkload(ctx context.Context, g *v1alpha1.Gate, site *catalogv1alpha1.Site, into *siteWorkload) error {
	namespace := g.GetNamespace()
	if policy.CheckAvailability(site, namespace) != nil {
		return nil //nolint:nilerr // Nothing is read, and the check says so.
	}
	c, err := setup.ConnectSite(ctx, e.kube, e.look, site)
	if err == nil {
		into.cluster = c
		into.Workload, err = setup.SelectWorkload(ctx, c, namespace, g.Spec.ForProvider.ClaimRef.Name)
	}
	var unread *clusters.Error
	if errors.As(err, &unread) {
		into.problem = "the Site cannot be looked at: " + setup.ExplainUnread(unread, "Deployments and ReplicaSets", namespace)
		return nil
	}
	return err
}

// readPodTrouble returns why pods are not available. It is empty if that cannot be read.
func (w *siteWorkload) readPodTrouble(ctx context.Context, namespace, selector string) workload.Trouble {
	if selector == "" {
		return workload.Trouble{}
	}
	trouble := workload.Trouble{}
	err := w.cluster.VisitFew(ctx, podResource(), namespace, selector, func(pods []unstructured.Unstructured) { trouble = workload.PodTrouble(pods) })
	if err != nil {
		return workload.Trouble{}
	}
	return trouble
}
