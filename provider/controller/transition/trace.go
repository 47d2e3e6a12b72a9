package transition

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/tracing"
)

// A Tracer exports what happened to a revision.
type Tracer interface {
	Export(revision tracing.Revision)
}

// maxFailedChecks is how many failed checks a span names.
const maxFailedChecks = 10

// traceStep exports the trace of a revision with the step by which it comes to its verdict, and the rest of it with the end of its rollback. The process
// that creates the event of a step exports, so each is exported once. A verified revision that passes through its phases again, after a spec that could not be
// carried out, keeps its trace. What no object says any more is left out.
func (r *Reconciler) traceStep(ctx context.Context, u *unstructured.Unstructured, s *phaseLog, one step, reason event.Reason, status *observedStatus) {
	if r.tracer == nil || one.Revision == 0 {
		return
	}
	out := tracing.Revision{UID: s.uid, Number: one.Revision}
	switch {
	case reason == event.Reason(ReasonRevisionRolledBack):
		out.Spans = []tracing.Span{newSpan("rollback", s.timeOfPhase(one.Revision, deploymentv1alpha1.PhaseRollingBack, one.At.Time), one.At.Time)}
	case reason == event.Reason(ReasonRevisionRejected):
		out.Root.Failure = cmp.Or(status.Rollback.Reason, ReasonRevisionRejected)
		r.fillTrace(ctx, &out, u, s, one, status)
	case one.To == string(deploymentv1alpha1.PhaseSucceeded) && !s.hasSucceededBefore(one):
		r.fillTrace(ctx, &out, u, s, one, status)
	default:
		return
	}
	r.tracer.Export(out)
}

// fillTrace adds the root and all that led to a verdict.
func (r *Reconciler) fillTrace(ctx context.Context, out *tracing.Revision, u *unstructured.Unstructured, s *phaseLog, one step, status *observedStatus) {
	ended := one.At.Time
	ordered := s.timeOfPhase(one.Revision, "", ended)
	delivering := s.timeOfPhase(one.Revision, deploymentv1alpha1.PhaseDelivering, ended)
	out.Root.Began, out.Root.Ended = ordered, ended
	out.Root.Attributes = map[string]string{
		"k8s.namespace.name": u.GetNamespace(), "intentplane.deployment": u.GetName(), "intentplane.group": u.GroupVersionKind().Group,
		"intentplane.revision": strconv.FormatInt(one.Revision, 10), "intentplane.request": status.rolloutRequest(), "vcs.ref.head.revision": status.Delivery.GitCommit,
	}
	of := claimOf{group: u.GroupVersionKind().Group, namespace: u.GetNamespace(), name: u.GetName(), revision: one.Revision}
	syncs, gates := r.syncSpans(ctx, of), r.gateSpans(ctx, of)
	pushed := earliestBegin(syncs, s.timeOfPhase(one.Revision, deploymentv1alpha1.PhaseValidating, ended))
	push := newSpan("push", delivering, pushed)
	push.Attributes = map[string]string{"vcs.ref.head.revision": status.Delivery.GitCommit}
	proven := latestEnd(append(syncs, gates...), pushed)
	verdict := newSpan("verdict", proven, ended)
	verdict.Failure = out.Root.Failure
	out.Spans = slices.Concat([]tracing.Span{newSpan("order", ordered, delivering), push}, syncs, gates, []tracing.Span{verdict})
}

func newSpan(name string, began, ended time.Time) tracing.Span {
	return tracing.Span{Name: name, Key: name, Began: began, Ended: ended}
}

// timeOfPhase returns when a revision came into a phase for the first time, or into its first one where the phase is empty. It returns otherwise where the
// status has truncated that.
func (s *phaseLog) timeOfPhase(revision int64, phase deploymentv1alpha1.Phase, otherwise time.Time) time.Time {
	for _, c := range s.seen {
		if c.Revision == revision && (phase == "" || c.To == string(phase)) {
			return c.At.Time
		}
	}
	return otherwise
}

// hasSucceededBefore reports whether the revision of a step had come to its end before, as far as the status remembers.
func (s *phaseLog) hasSucceededBefore(one step) bool {
	return slices.ContainsFunc(s.seen, func(c change) bool {
		return c.Revision == one.Revision && c.Index < one.Index && c.To == string(deploymentv1alpha1.PhaseSucceeded)
	})
}

// A claimOf identifies one revision of a deployment.
type claimOf struct {
	group, namespace, name string
	revision               int64
}

func (c claimOf) matches(ref rolloutv1alpha1.ClaimReference, revision int64) bool {
	return ref.APIGroup == c.group && ref.Kind == deploymentv1alpha1.Kind && ref.Namespace == c.namespace && ref.Name == c.name && revision == c.revision
}

// syncSpans returns a span for each Site that the revision came to: from when the repository had it until it was proven to run.
func (r *Reconciler) syncSpans(ctx context.Context, of claimOf) []tracing.Span {
	l := &deliveryv1alpha1.SiteSyncList{}
	if r.kube.List(ctx, l, client.InNamespace(of.namespace)) != nil {
		return nil
	}
	var out []tracing.Span
	for i := range l.Items {
		is := &l.Items[i].Status.AtProvider
		if is.Position == nil || !of.matches(l.Items[i].Spec.ForProvider.ClaimRef, is.Position.Revision) {
			continue
		}
		for _, site := range is.Sites {
			if site.StartedAt != nil && site.LiveSince != nil {
				out = append(out, tracing.Span{
					Name: "sync", Key: "sync " + site.Name, Began: site.StartedAt.Time, Ended: site.LiveSince.Time,
					Attributes: map[string]string{"intentplane.site": site.Name, "vcs.ref.head.revision": site.Commit, "intentplane.proof": string(site.Proof)},
				})
			}
		}
	}
	return out
}

// gateSpans returns a span for each Gate of the revision that came to a verdict.
func (r *Reconciler) gateSpans(ctx context.Context, of claimOf) []tracing.Span {
	l := &rolloutv1alpha1.GateList{}
	if r.kube.List(ctx, l, client.InNamespace(of.namespace)) != nil {
		return nil
	}
	var out []tracing.Span
	for i := range l.Items {
		g := &l.Items[i]
		is, position := &g.Status.AtProvider, g.Status.AtProvider.ObservedPosition()
		if is.StartedAt == nil || is.EndedAt == nil || !of.matches(g.Spec.ForProvider.ClaimRef, position.Revision) {
			continue
		}
		s := newSpan("gate", is.StartedAt.Time, is.EndedAt.Time)
		s.Key += " " + g.GetName()
		s.Attributes = map[string]string{"intentplane.gate": g.GetName(), "intentplane.verdict": string(is.Verdict), "intentplane.failed_checks": failedChecks(is.Checks)}
		if is.Verdict != rolloutv1alpha1.GatePassed {
			s.Failure = string(is.Verdict)
		}
		out = append(out, s)
	}
	return out
}

// failedChecks names the checks that did not pass.
func failedChecks(all []rolloutv1alpha1.CheckResult) string {
	var out []string
	for _, c := range all {
		if c.Phase != rolloutv1alpha1.CheckPassed && len(out) < maxFailedChecks {
			out = append(out, c.Name+" at "+c.Site)
		}
	}
	return strings.Join(out, ", ")
}

func earliestBegin(all []tracing.Span, otherwise time.Time) time.Time {
	if len(all) == 0 {
		return otherwise
	}
	return slices.MinFunc(all, func(a, b tracing.Span) int { return a.Began.Compare(b.Began) }).Began
}

func latestEnd(all []tracing.Span, otherwise time.Time) time.Time {
	if len(all) == 0 {
		return otherwise
	}
	return slices.MaxFunc(all, func(a, b tracing.Span) int { return a.Ended.Compare(b.Ended) }).Ended
}
