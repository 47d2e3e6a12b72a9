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

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/tracing"
	"github.com/intentplane/intentplane/provider/usage"
)

// A Tracer exports the trace of a revision.
type Tracer interface {
	Export(revision tracing.Revision)
}

// maxFailedChecks is the maximum number of failed checks in a span.
const maxFailedChecks = 10

// exportStepTrace exports the trace of a revision with the step by which it comes to its verdict, and the rest of it with the end of its rollback.
// The process that creates the event of a step exports, so each is exported once. A verified revision that passes through its phases again,
// after a spec that could not be carried out, or that a user rolls back, keeps its trace. Facts that no object has any more are left out.
func (r *Reconciler) exportStepTrace(ctx context.Context, u *unstructured.Unstructured, s *phaseLog, transition step, reason event.Reason, status *observedStatus) {
	if r.tracer == nil || transition.Revision == 0 {
		return
	}
	out := tracing.Revision{UID: s.uid, Number: transition.Revision, Epoch: r.ledgerEpoch(ctx, u)}
	switch {
	case reason == event.Reason(ReasonRevisionRolledBack):
		out.Spans = []tracing.Span{newSpan("rollback", s.timeOfPhase(transition.Revision, deploymentv1alpha1.PhaseRollingBack, transition.At.Time), transition.At.Time)}
	case s.hasSucceededBefore(transition):
		return // It has its root already: a user rolls it back, or it passed through its phases again.
	case reason == event.Reason(ReasonRevisionRejected):
		out.Root.Failure = cmp.Or(status.Rollback.Reason, ReasonRevisionRejected)
		r.addTraceSpans(ctx, &out, u, s, transition, status)
	case transition.To == string(deploymentv1alpha1.PhaseSucceeded):
		r.addTraceSpans(ctx, &out, u, s, transition, status)
	case transition.To == string(deploymentv1alpha1.PhaseValidating):
		s.syncs, s.syncsOf = r.syncSpans(ctx, newRevisionClaim(u, transition.Revision)), transition.Revision
		return
	default:
		return
	}
	r.tracer.Export(out)
}

// addTraceSpans adds the root and all that led to a verdict.
func (r *Reconciler) addTraceSpans(ctx context.Context, out *tracing.Revision, u *unstructured.Unstructured, s *phaseLog, transition step, status *observedStatus) {
	ended := transition.At.Time
	ordered := s.timeOfPhase(transition.Revision, "", ended)
	delivering := s.timeOfPhase(transition.Revision, deploymentv1alpha1.PhaseDelivering, ended)
	out.Root.Began, out.Root.Ended = ordered, ended
	out.Root.Attributes = map[string]string{
		"k8s.namespace.name": u.GetNamespace(), "intentplane.deployment": u.GetName(), "intentplane.group": u.GroupVersionKind().Group,
		"intentplane.revision": strconv.FormatInt(transition.Revision, 10), "intentplane.request": status.rolloutRequest().Name, "vcs.ref.head.revision": status.Delivery.GitCommit,
	}
	claim := newRevisionClaim(u, transition.Revision)
	syncs, gates := s.withEarlierSyncs(claim.revision, r.syncSpans(ctx, claim)), r.gateSpans(ctx, claim)
	pushed := earliestBegin(syncs, s.timeOfPhase(transition.Revision, deploymentv1alpha1.PhaseValidating, ended))
	push := newSpan("push", delivering, pushed)
	push.Attributes = map[string]string{"vcs.ref.head.revision": status.Delivery.GitCommit}
	proven := latestSpanEnd(append(syncs, gates...), pushed)
	verdict := newSpan("verdict", proven, ended)
	verdict.Failure = out.Root.Failure
	out.Spans = slices.Concat([]tracing.Span{newSpan("order", ordered, delivering), push}, syncs, gates, []tracing.Span{verdict})
}

// withEarlierSyncs adds the spans of Sites that were observed when the validation of the revision began, and that have another revision now: a revision that is
// rejected is rolled back at once.
func (s *phaseLog) withEarlierSyncs(revision int64, now []tracing.Span) []tracing.Span {
	if s.syncsOf != revision {
		return now
	}
	earlier := slices.DeleteFunc(slices.Clone(s.syncs), func(span tracing.Span) bool {
		return slices.ContainsFunc(now, func(current tracing.Span) bool { return current.Key == span.Key })
	})
	return append(earlier, now...)
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

// hasSucceededBefore reports whether the revision of a step had come to its end before, as far as the status remembers. A revision of an
// earlier epoch may have had its number, so changes before another revision's changes do not count.
func (s *phaseLog) hasSucceededBefore(transition step) bool {
	for _, c := range slices.Backward(s.seen) {
		switch {
		case c.Index >= transition.Index:
		case c.Revision != transition.Revision:
			return false
		case c.To == string(deploymentv1alpha1.PhaseSucceeded):
			return true
		}
	}
	return false
}

// ledgerEpoch returns the epoch of the deployment's ledger, in which the number of a revision is unique, or 0 if no GitDelivery has it.
func (r *Reconciler) ledgerEpoch(ctx context.Context, u *unstructured.Unstructured) int64 {
	state, err := setup.NewestLedger(ctx, r.kube, u.GroupVersionKind().Group, client.ObjectKeyFromObject(u))
	if err != nil {
		return 0
	}
	return state.Epoch
}

// A claimOf identifies one revision of a deployment.
type claimOf struct {
	group, namespace, name string
	revision               int64
}

func newRevisionClaim(u *unstructured.Unstructured, revision int64) claimOf {
	return claimOf{group: u.GroupVersionKind().Group, namespace: u.GetNamespace(), name: u.GetName(), revision: revision}
}

func (c claimOf) toClaimReference() rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: c.group, Kind: deploymentv1alpha1.Kind, Namespace: c.namespace, Name: c.name}
}

func (c claimOf) matchesClaim(ref rolloutv1alpha1.ClaimReference, revision int64) bool {
	return ref.APIGroup == c.group && ref.Kind == deploymentv1alpha1.Kind && ref.Namespace == c.namespace && ref.Name == c.name && revision == c.revision
}

// syncSpans returns a span for each Site that the revision came to: from when the repository had it until it was proven to run.
func (r *Reconciler) syncSpans(ctx context.Context, claim claimOf) []tracing.Span {
	syncs, err := usage.SyncsOfClaim(ctx, r.kube, claim.namespace, claim.toClaimReference())
	if err != nil {
		return nil
	}
	var out []tracing.Span
	for i := range syncs {
		observation := &syncs[i].Status.AtProvider
		if observation.Position == nil || !claim.matchesClaim(syncs[i].Spec.ForProvider.ClaimRef, observation.Position.Revision) {
			continue
		}
		for _, site := range observation.Sites {
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
func (r *Reconciler) gateSpans(ctx context.Context, claim claimOf) []tracing.Span {
	gates, err := usage.GatesOfClaim(ctx, r.kube, claim.toClaimReference())
	if err != nil {
		return nil
	}
	var out []tracing.Span
	for i := range gates {
		g := &gates[i]
		observation, position := &g.Status.AtProvider, g.Status.AtProvider.ObservedPosition()
		if observation.StartedAt == nil || observation.EndedAt == nil || !claim.matchesClaim(g.Spec.ForProvider.ClaimRef, position.Revision) {
			continue
		}
		s := newSpan("gate", observation.StartedAt.Time, observation.EndedAt.Time)
		s.Key += " " + g.GetName()
		s.Attributes = map[string]string{"intentplane.gate": g.GetName(), "intentplane.verdict": string(observation.Verdict), "intentplane.failed_checks": failedChecks(observation.Checks)}
		if observation.Verdict != rolloutv1alpha1.GatePassed {
			s.Failure = string(observation.Verdict)
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

func latestSpanEnd(all []tracing.Span, otherwise time.Time) time.Time {
	if len(all) == 0 {
		return otherwise
	}
	return slices.MaxFunc(all, func(a, b tracing.Span) int { return a.Ended.Compare(b.Ended) }).Ended
}
