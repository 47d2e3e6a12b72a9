package prunerequest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/prune"
)

const (
	// maxStateful is how many stateful objects an item lists, and maxMessage how long its message is.
	maxStateful = 20
	maxMessage  = 512

	// maxPlanBytes is how many bytes of JSON a plan may have. The API server stores an object of up to 1.5 MiB.
	maxPlanBytes = 1 << 20
)

// setCondition sets a condition. Its time changes with its status.
func setCondition(pr *v1alpha1.PruneRequest, now time.Time, typ xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) {
	previous := pr.Status.GetCondition(typ)
	c := xpv2.Condition{Type: typ, Status: status, Reason: reason, Message: message, LastTransitionTime: *instant.Timestamp(now)}
	if previous.Status == status && !previous.LastTransitionTime.IsZero() {
		c.LastTransitionTime = previous.LastTransitionTime
	}
	pr.Status.SetConditions(c.WithObservedGeneration(pr.GetGeneration()))
}

// isDeclaredReason reports whether a PruneRequest declares a reason of a GitDelivery.
func isDeclaredReason(reason xpv2.ConditionReason) bool {
	return slices.Contains([]xpv2.ConditionReason{
		v1alpha1.ReasonInvalid, v1alpha1.ReasonCredentialsGone, v1alpha1.ReasonPolicyDenied, v1alpha1.ReasonAuthFailed, v1alpha1.ReasonTrustFailed,
		v1alpha1.ReasonStateRefused, v1alpha1.ReasonTooLarge, v1alpha1.ReasonConflict, v1alpha1.ReasonUnreachable,
	}, reason)
}

// publishedPlan returns a plan as a status shows it.
func publishedPlan(p *prune.Plan, plannedAt time.Time, commit string) *v1alpha1.PrunePlan {
	pruned := len(p.Pruned())
	out := &v1alpha1.PrunePlan{
		Digest: p.Digest, At: *instant.Timestamp(plannedAt), Commit: commit, More: int32(p.More), //nolint:gosec // Repositories have fewer directories.
		Pruned: int32(pruned), Kept: int32(len(p.Items) - pruned + p.More), //nolint:gosec // Likewise.
	}
	for _, i := range p.Items {
		out.Items = append(out.Items, publishedItem(i))
	}
	return out
}

func publishedItem(i prune.Item) v1alpha1.PruneItem {
	out := v1alpha1.PruneItem{
		Kind: i.Kind, Namespace: i.Namespace, Name: i.Name, Site: i.Site, Path: i.Path, Tree: i.Tree, Commit: i.Commit, UID: i.UID,
		Verdict: string(i.Verdict), Reason: string(i.Reason), Message: oneline.Clean(i.Message, maxMessage),
		Objects: int32(i.Objects), Stateful: i.Stateful[:min(len(i.Stateful), maxStateful)], //nolint:gosec // A directory has at most 2,000 files.
	}
	if len(out.Stateful) == 0 {
		out.Stateful = nil
	}
	return out
}

// fitPlanToStatus leaves the last items out of a plan that no status has room for, and counts the omitted kept items in More. It refuses a plan whose
// pruned items have no room: users approve the items in the status, and the plan would be made again for ever.
func fitPlanToStatus(p *v1alpha1.PrunePlan, refusal prune.Refusal, message string) (prune.Refusal, string, error) {
	room, err := countFittingItems(*p)
	if err != nil {
		return "", "", err
	}
	pruned := int(p.Pruned)
	p.More += int32(len(p.Items) - max(room, pruned)) //nolint:gosec // A plan lists 500 items.
	p.Items = p.Items[:room]
	if room >= pruned {
		return refusal, message, nil
	}
	p.Digest = ""
	if refusal != "" {
		return refusal, message, nil
	}
	return prune.RefusalTooMany, fmt.Sprintf("the plan prunes %d items, and a status has room for %d of them: name some of those in only", pruned, room), nil
}

// countFittingItems returns how many items of a plan, from the first one on, a status has room for.
func countFittingItems(p v1alpha1.PrunePlan) (int, error) {
	items := p.Items
	p.Items, p.More = nil, math.MaxInt32
	b, err := json.Marshal(p)
	size := len(b) + len(`"items":[],`)
	for i := 0; i < len(items) && err == nil; i++ {
		b, err = json.Marshal(items[i])
		if size += len(b) + len(","); size > maxPlanBytes {
			return i, nil
		}
	}
	return len(items), errors.Wrap(err, "cannot encode plan")
}

// publishPlan writes a plan into a request. An empty plan needs no approval.
func (r *Reconciler) publishPlan(pr *v1alpha1.PruneRequest, p *prune.Plan, plannedAt time.Time, commit string) error {
	pr.Status.Plan = publishedPlan(p, plannedAt, commit)
	refusal, message, err := fitPlanToStatus(pr.Status.Plan, p.Refusal, p.Message)
	if err != nil {
		return err
	}
	for i := range pr.Status.Plan.Items {
		r.count.Pruned(pr.Status.Plan.Items[i].Verdict, pr.Status.Plan.Items[i].Reason)
	}
	now := r.now()
	switch n := len(p.Pruned()); {
	case refusal != "":
		pr.Status.Phase = v1alpha1.PhaseRefused
		setCondition(pr, now, v1alpha1.TypePlanned, corev1.ConditionFalse, refusalReason(refusal), message)
	case n == 0:
		pr.Status.Phase = v1alpha1.PhaseDone
		setCondition(pr, now, v1alpha1.TypePlanned, corev1.ConditionTrue, v1alpha1.ReasonPlanned, "The plan removes nothing.")
		setCondition(pr, now, v1alpha1.TypeCompleted, corev1.ConditionTrue, v1alpha1.ReasonNothingToPrune, "The plan removes nothing.")
	default:
		pr.Status.Phase = v1alpha1.PhasePlanned
		setCondition(pr, now, v1alpha1.TypePlanned, corev1.ConditionTrue, v1alpha1.ReasonPlanned, fmt.Sprintf("The plan removes %s, and keeps %d.", formatItemCount(pr.Spec.Scope, n), pr.Status.Plan.Kept))
		setCondition(pr, now, v1alpha1.TypeApproved, corev1.ConditionFalse, v1alpha1.ReasonAwaitingApproval, "No PruneApproval names the plan yet.")
	}
	return nil
}

// refusalReason returns the reason of the condition for a plan that is refused.
func refusalReason(r prune.Refusal) xpv2.ConditionReason {
	return map[prune.Refusal]xpv2.ConditionReason{
		prune.RefusalUncertain: v1alpha1.ReasonUncertain, prune.RefusalStateUntrusted: v1alpha1.ReasonStateUntrusted, prune.RefusalNotInPlan: v1alpha1.ReasonNotInPlan,
		prune.RefusalMostOfRepository: v1alpha1.ReasonMostOfRepository, prune.RefusalTooMany: v1alpha1.ReasonTooMany,
	}[r]
}

func countDirectories(n int) string { return formatItemCount(v1alpha1.ScopeDirectories, n) }

// formatItemCount says how many items of a scope there are.
func formatItemCount(scope v1alpha1.Scope, n int) string {
	singular, plural := "directory", "directories"
	if scope == v1alpha1.ScopeBundle {
		singular, plural = "package", "packages"
	}
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// endWithoutRemoval ends a request without a removal.
func (r *Reconciler) endWithoutRemoval(pr *v1alpha1.PruneRequest, phase v1alpha1.Phase, reason xpv2.ConditionReason, message string) {
	pr.Status.Phase = phase
	setCondition(pr, r.now(), v1alpha1.TypeCompleted, corev1.ConditionFalse, reason, message)
}

// reportPhase records the event of a phase that was written.
func (r *Reconciler) reportPhase(pr *v1alpha1.PruneRequest) {
	planned, completed := pr.Status.GetCondition(v1alpha1.TypePlanned), pr.Status.GetCondition(v1alpha1.TypeCompleted)
	switch pr.Status.Phase {
	case v1alpha1.PhasePlanned:
		r.recorder.Event(pr, xpevent.Normal(xpevent.Reason(v1alpha1.ReasonPlanned), planned.Message))
	case v1alpha1.PhaseRefused:
		r.recorder.Event(pr, xpevent.Warning(xpevent.Reason(ReasonPlanRefused), errors.Errorf("%s: %s", planned.Reason, planned.Message)))
	case v1alpha1.PhaseDone:
		if pr.Status.Result == nil {
			return // Nothing was removed.
		}
		r.recorder.Event(pr, xpevent.Normal(xpevent.Reason(v1alpha1.ReasonPruned), completed.Message))
	case v1alpha1.PhasePlanChanged:
		r.recorder.Event(pr, xpevent.Warning(xpevent.Reason(v1alpha1.ReasonPlanChanged), errors.New(completed.Message)))
	case v1alpha1.PhaseExpired, v1alpha1.PhasePruning:
	}
}

// ReasonPlanRefused is the reason of the event for a plan of which nothing may be done.
const ReasonPlanRefused = "PlanRefused"
