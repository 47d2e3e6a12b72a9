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
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/prune"
)

// awaitApproval begins to carry a plan out once an approval names it, and ends the request when none came in time.
func (r *Reconciler) awaitApproval(ctx context.Context, pr *v1alpha1.PruneRequest) (time.Duration, error) {
	waiting, err := r.waitingApprovals(ctx, client.ObjectKeyFromObject(pr))
	if err != nil {
		return 0, err
	}
	now, plan := r.now(), pr.Status.Plan
	for _, a := range waiting {
		if !isOfRequest(&a, pr) || prune.Confirm(a.Spec.Plan, plan.Digest, plan.At.Time, &prune.Plan{Digest: plan.Digest}, now) != prune.AnswerGo {
			continue
		}
		pr.Status.Phase, pr.Status.Result = v1alpha1.PhasePruning, &v1alpha1.PruneResult{Approval: a.GetName(), StartedAt: *instant.Timestamp(now)}
		setCondition(pr, now, v1alpha1.TypeApproved, corev1.ConditionTrue, v1alpha1.ReasonApproved, fmt.Sprintf("PruneApproval %s names the plan.", a.GetName()))
		setCondition(pr, now, v1alpha1.TypeCompleted, corev1.ConditionFalse, v1alpha1.ReasonPruning, fmt.Sprintf("The plan is made again, and then it removes %s.", formatItemCount(pr.Spec.Scope, int(plan.Pruned))))
		return 0, nil
	}
	if prune.Confirm(plan.Digest, plan.Digest, plan.At.Time, &prune.Plan{Digest: plan.Digest}, now) == prune.AnswerExpired {
		r.endWithoutRemoval(pr, v1alpha1.PhaseExpired, v1alpha1.ReasonExpired, "No approval came within an hour: make another PruneRequest.")
		return 0, nil
	}
	return max(plan.At.Add(prune.PlanLifetime).Sub(now), time.Second), nil
}

// waitingIndex finds PruneApprovals without an answer by the names of their requests. A tenant may create any number: each is read until it has its answer, which
// is final.
func waitingIndex() listing.Index {
	return listing.NewIndex(&v1alpha1.PruneApproval{}, "intentplane.prunerequest.waiting", func(a *v1alpha1.PruneApproval) []string {
		if a.Status.GetCondition(v1alpha1.TypeAccepted).Reason != "" {
			return nil
		}
		return []string{a.Spec.RequestRef.Name}
	})
}

// waitingApprovals returns the approvals without an answer that name a request, the oldest first.
func (r *Reconciler) waitingApprovals(ctx context.Context, key client.ObjectKey) ([]v1alpha1.PruneApproval, error) {
	l := &v1alpha1.PruneApprovalList{}
	if err := waitingIndex().List(ctx, r.kube, l, key.Name, client.InNamespace(key.Namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list PruneApprovals")
	}
	slices.SortFunc(l.Items, func(a, b v1alpha1.PruneApproval) int {
		if n := a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time); n != 0 {
			return n
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	return l.Items, nil
}

func isOfRequest(a *v1alpha1.PruneApproval, pr *v1alpha1.PruneRequest) bool {
	return a.Spec.RequestRef.UID == string(pr.GetUID())
}

// answerApprovals answers the waiting approvals of a request. An answer is final, so the request is read past the cache.
func (r *Reconciler) answerApprovals(ctx context.Context, key client.ObjectKey) error {
	waiting, err := r.waitingApprovals(ctx, key)
	if err != nil || len(waiting) == 0 {
		return err
	}
	pr := &v1alpha1.PruneRequest{}
	err = r.live.Get(ctx, key, pr)
	switch {
	case kerrors.IsNotFound(err):
		pr = nil
	case err != nil:
		return errors.Wrap(err, "cannot get PruneRequest")
	}
	for i := range waiting {
		if err := r.answerApproval(ctx, &waiting[i], pr); err != nil {
			return err
		}
	}
	return nil
}

// answerApproval writes whether an approval counts, unless that is open. The write fails if the approval has an answer that the cache does not have yet. The
// request is nil if it does not exist.
func (r *Reconciler) answerApproval(ctx context.Context, a *v1alpha1.PruneApproval, pr *v1alpha1.PruneRequest) error {
	reason, message := judgeApproval(a, pr)
	if reason == "" {
		return nil
	}
	c := xpv2.Condition{
		Type: v1alpha1.TypeAccepted, Status: corev1.ConditionFalse, Reason: reason, Message: message,
		LastTransitionTime: *instant.Timestamp(r.now()), ObservedGeneration: a.GetGeneration(),
	}
	if reason == v1alpha1.ReasonAccepted {
		c.Status = corev1.ConditionTrue
	}
	answered := a.DeepCopy()
	answered.Status.SetConditions(c)
	lock := client.MergeFromWithOptions(a, client.MergeFromWithOptimisticLock{})
	return errors.Wrap(client.IgnoreNotFound(r.kube.Status().Patch(ctx, answered, lock)), "cannot answer PruneApproval")
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
