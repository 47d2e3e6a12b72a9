package prunerequest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/prune"
)

// awaitApproval begins to carry a plan out once an approval names it, and ends the request when none came in time.
func (r *Reconciler) awaitApproval(ctx context.Context, pr *v1alpha1.PruneRequest) (time.Duration, error) {
	all, err := r.approvalsOf(ctx, client.ObjectKeyFromObject(pr))
	if err != nil {
		return 0, err
	}
	now, plan := r.now(), pr.Status.Plan
	for _, a := range all {
		if !isOfRequest(&a, pr) || prune.Confirm(a.Spec.Plan, plan.Digest, plan.At.Time, &prune.Plan{Digest: plan.Digest}, now) != prune.AnswerGo {
			continue
		}
		pr.Status.Phase, pr.Status.Result = v1alpha1.PhasePruning, &v1alpha1.PruneResult{Approval: a.GetName(), StartedAt: *setup.Timestamp(now)}
		setCondition(pr, now, v1alpha1.TypeApproved, corev1.ConditionTrue, v1alpha1.ReasonApproved, fmt.Sprintf("PruneApproval %s names the plan.", a.GetName()))
		setCondition(pr, now, v1alpha1.TypeCompleted, corev1.ConditionFalse, v1alpha1.ReasonPruning, fmt.Sprintf("The plan is made again, and then it removes %s.", countItems(pr.Spec.Scope, int(plan.Pruned))))
		return 0, nil
	}
	if prune.Confirm(plan.Digest, plan.Digest, plan.At.Time, &prune.Plan{Digest: plan.Digest}, now) == prune.AnswerExpired {
		r.endRequest(pr, v1alpha1.PhaseExpired, v1alpha1.ReasonExpired, "No approval came within an hour: make another PruneRequest.")
		return 0, nil
	}
	return max(plan.At.Add(prune.PlanLifetime).Sub(now), time.Second), nil
}

// approvalsOf returns the approvals that name a request, the oldest first.
func (r *Reconciler) approvalsOf(ctx context.Context, key client.ObjectKey) ([]v1alpha1.PruneApproval, error) {
	l := &v1alpha1.PruneApprovalList{}
	if err := listing.Cached(ctx, r.kube, l, client.InNamespace(key.Namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list PruneApprovals")
	}
	out := slices.DeleteFunc(l.Items, func(a v1alpha1.PruneApproval) bool { return a.Spec.RequestRef.Name != key.Name })
	slices.SortFunc(out, func(a, b v1alpha1.PruneApproval) int {
		if n := a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time); n != 0 {
			return n
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	return out, nil
}

func isOfRequest(a *v1alpha1.PruneApproval, pr *v1alpha1.PruneRequest) bool {
	return a.Spec.RequestRef.UID == string(pr.GetUID())
}

// answerApprovals says of each approval of a request whether it counts. The request is nil if it does not exist.
func (r *Reconciler) answerApprovals(ctx context.Context, key client.ObjectKey, pr *v1alpha1.PruneRequest) error {
	all, err := r.approvalsOf(ctx, key)
	if err != nil {
		return err
	}
	for i := range all {
		if err := r.answerApproval(ctx, &all[i], pr); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) answerApproval(ctx context.Context, a *v1alpha1.PruneApproval, pr *v1alpha1.PruneRequest) error {
	reason, message := judgeApproval(a, pr)
	previous := a.Status.GetCondition(v1alpha1.TypeAccepted)
	if reason == "" || previous.Reason == reason || previous.Reason == v1alpha1.ReasonAccepted {
		return nil
	}
	c := xpv2.Condition{
		Type: v1alpha1.TypeAccepted, Status: corev1.ConditionFalse, Reason: reason, Message: message,
		LastTransitionTime: *setup.Timestamp(r.now()), ObservedGeneration: a.GetGeneration(),
	}
	if reason == v1alpha1.ReasonAccepted {
		c.Status = corev1.ConditionTrue
	}
	answered := a.DeepCopy()
	answered.Status.SetConditions(c)
	return errors.Wrap(client.IgnoreNotFound(r.kube.Status().Patch(ctx, answered, client.MergeFrom(a))), "cannot answer PruneApproval")
}

// judgeApproval returns the result of an approval, or nothing while that is unknown.
func judgeApproval(a *v1alpha1.PruneApproval, pr *v1alpha1.PruneRequest) (xpv2.ConditionReason, string) {
	switch {
	case pr == nil:
		return v1alpha1.ReasonUnknownRequest, fmt.Sprintf("PruneRequest %s does not exist in the namespace.", a.Spec.RequestRef.Name)
	case !isOfRequest(a, pr):
		return v1alpha1.ReasonOtherRequest, fmt.Sprintf("PruneRequest %s has UID %s: it was made again.", pr.GetName(), pr.GetUID())
	case pr.Status.Phase == "":
		return "", ""
	case pr.Status.Plan == nil || a.Spec.Plan != pr.Status.Plan.Digest:
		return v1alpha1.ReasonOtherPlan, fmt.Sprintf("PruneRequest %s shows another plan.", pr.GetName())
	case pr.Status.Result != nil && pr.Status.Result.Approval == a.GetName():
		return v1alpha1.ReasonAccepted, "The plan is made again, and carried out if it is still the same."
	case pr.Status.Phase == v1alpha1.PhasePlanned:
		return "", ""
	}
	return v1alpha1.ReasonTooLate, fmt.Sprintf("PruneRequest %s is %s already.", pr.GetName(), pr.Status.Phase)
}
