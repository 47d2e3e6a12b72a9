package rollout

import (
	"fmt"
	"slices"
	"strconv"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Standing is what RolloutRequests are judged by.
type Standing struct {
	// Order that is carried out. Nil means that nothing was ordered.
	Order *rolloutv1alpha1.Order

	// Remembered says that a repository reported what it recorded, so that the order is not behind it.
	Remembered bool

	// Free says that nothing holds the deployment back: no problem, no suspend.
	Free bool

	// Waits says that there is an update to approve.
	Waits bool

	// Ended says that the order came to its end.
	Ended bool

	// Targets are the revisions that a rollback may restore, and Known all that some repository recorded.
	Targets, Known []int64

	// InPlace are those Targets whose trees the directories of all Sites hold already.
	InPlace []int64

	// Other is the uid of the request that names another update than the one that waits. Empty means none.
	Other string

	// Failed is the uid of the request whose update cannot be delivered. Empty means none.
	Failed string
}

// Remembered is true when some repository reported what it recorded: the status of a delivery is written after that.
func Remembered(ds []*deliveryv1alpha1.GitDelivery) bool {
	return slices.ContainsFunc(ds, func(d *deliveryv1alpha1.GitDelivery) bool { return d.Status.AtProvider.Order != nil })
}

// Of returns the requests for a deployment, oldest first, and of more than rolloutv1alpha1.MaxOpen those whose turn comes first. Labels can be
// forged, and say nothing.
func Of(c rolloutv1alpha1.ClaimReference, all []rolloutv1alpha1.RolloutRequest) []rolloutv1alpha1.RolloutRequest {
	out := slices.DeleteFunc(slices.Clone(all), func(r rolloutv1alpha1.RolloutRequest) bool {
		ref := r.Spec.DeploymentRef
		return ref.APIGroup != c.APIGroup || ref.Kind != c.Kind || ref.Name != c.Name || r.GetNamespace() != c.Namespace
	})
	slices.SortFunc(out, rolloutv1alpha1.CompareTurn)
	out = out[:min(len(out), rolloutv1alpha1.MaxOpen)]
	slices.SortFunc(out, rolloutv1alpha1.CompareAge)
	return out
}

// Approves is true for a request that names no update, or the one that waits.
func Approves(r *rolloutv1alpha1.RolloutRequest, waits Request) bool {
	saw, b := r.Spec.Update, waits.Blueprint
	if saw == nil || b == nil {
		return true
	}
	named := func(saw, is string) bool { return saw == "" || saw == is }
	return named(saw.Blueprint, b.Name) && named(saw.Digest, b.Digest) && named(saw.Renderer, strconv.Itoa(int(waits.RendererVersion)))
}

// Choice returns the request that is taken now, or nil when none is: the first in the order of actions, and of two alike the older one.
func Choice(requests []rolloutv1alpha1.RolloutRequest, s Standing) *rolloutv1alpha1.RolloutRequest {
	for _, action := range rolloutv1alpha1.Actions() {
		for i := range requests {
			r := &requests[i]
			if result, open := resultNow(r, s); open && r.Spec.Action == action && result == rolloutv1alpha1.ResultTaken {
				return r
			}
		}
	}
	return nil
}

// ResultOf returns what became of a request. A request that could be taken now, and was not, waits.
func ResultOf(r *rolloutv1alpha1.RolloutRequest, s Standing) rolloutv1alpha1.Result {
	result, open := resultNow(r, s)
	if open {
		return rolloutv1alpha1.ResultWaiting
	}
	return result
}

// resultNow says what becomes of a request, and whether that is still to happen. That an order names the request is how it is known to
// be taken. A request makes a revision that is greater than the one that it names, or gives it what it cannot get twice, so that none is
// taken twice.
func resultNow(r *rolloutv1alpha1.RolloutRequest, s Standing) (result rolloutv1alpha1.Result, open bool) {
	switch o := s.Order; {
	case o == nil:
		return rolloutv1alpha1.ResultWaiting, false
	case o.RequestRef != nil && o.RequestRef.UID == string(r.GetUID()):
		return takenResult(s), false
	case r.Spec.Revision < o.Revision:
		return rolloutv1alpha1.ResultStale, false
	case !s.Remembered:
		return rolloutv1alpha1.ResultWaiting, false
	case r.Spec.Revision > o.Revision:
		return rolloutv1alpha1.ResultUnknownRevision, false
	case r.Spec.Request != "" && r.Spec.Request != o.Request, isOutdated(r, *o):
		return rolloutv1alpha1.ResultStale, false
	}
	if refused := s.refuseRequest(r); refused != "" {
		return refused, false
	}
	if !s.Free && !isAlwaysPossible(r.Spec.Action) {
		return rolloutv1alpha1.ResultWaiting, false
	}
	if r.Spec.Action == rolloutv1alpha1.ActionApproveUpdate && !s.Waits {
		return rolloutv1alpha1.ResultNoUpdate, false
	}
	return rolloutv1alpha1.ResultTaken, true
}

// isOutdated is true for a request about a revision that another one changed which was made no earlier: who asked did not see that.
func isOutdated(r *rolloutv1alpha1.RolloutRequest, o rolloutv1alpha1.Order) bool {
	ref := o.RequestRef
	changed := o.Promoted > 0 || o.Rejected() && o.Verdict.Reason == rolloutv1alpha1.RejectedRequested && o.Withdraws == nil
	created := r.GetCreationTimestamp()
	return changed && ref != nil && ref.At != nil && !ref.At.Before(&created) && r.Spec.Action != rolloutv1alpha1.ActionAbort
}

// isAlwaysPossible is true for what works although something holds the deployment back: nothing new is delivered for it.
func isAlwaysPossible(a rolloutv1alpha1.Action) bool {
	return a == rolloutv1alpha1.ActionAbort || a == rolloutv1alpha1.ActionRollbackTo
}

// refuseRequest is why the order does not let a request through, or empty.
func (s Standing) refuseRequest(r *rolloutv1alpha1.RolloutRequest) rolloutv1alpha1.Result {
	switch r.Spec.Action {
	case rolloutv1alpha1.ActionAbort:
		if s.Order.Verdict != nil {
			return rolloutv1alpha1.ResultAlreadyJudged
		}
		return ""
	case rolloutv1alpha1.ActionRollbackTo:
		return s.refuseTarget(r.Spec.ToRevision)
	case rolloutv1alpha1.ActionPromote:
		return s.refuseStep(r.Spec.Step)
	case rolloutv1alpha1.ActionApproveUpdate:
		return s.refuseUpdate(string(r.GetUID()))
	case rolloutv1alpha1.ActionRetry:
		return ""
	}
	return rolloutv1alpha1.ResultNotSupported
}

func (s Standing) refuseTarget(to *int64) rolloutv1alpha1.Result {
	switch {
	case to == nil || !slices.Contains(s.Known, *to) && *to != s.Order.Revision:
		return rolloutv1alpha1.ResultUnknownRevision
	case *to == s.Order.Revision || !slices.Contains(s.Targets, *to):
		return rolloutv1alpha1.ResultNoTarget
	case s.Order.GoesBackTo(*to), slices.Contains(s.InPlace, *to):
		return rolloutv1alpha1.ResultNothingToRestore
	}
	return ""
}

func (s Standing) refuseStep(step *int32) rolloutv1alpha1.Result {
	switch o := s.Order; {
	case o.Verdict != nil:
		return rolloutv1alpha1.ResultAlreadyJudged
	case step == nil || !hasPauseBefore(*o, *step):
		return rolloutv1alpha1.ResultUnknownStep
	case *step <= max(o.Step, o.Promoted):
		return rolloutv1alpha1.ResultStale
	}
	return ""
}

func (s Standing) refuseUpdate(uid string) rolloutv1alpha1.Result {
	switch uid {
	case s.Other:
		return rolloutv1alpha1.ResultStale
	case s.Failed:
		return rolloutv1alpha1.ResultUpdateFailed
	}
	return ""
}

func takenResult(s Standing) rolloutv1alpha1.Result {
	if s.Ended {
		return rolloutv1alpha1.ResultDone
	}
	return rolloutv1alpha1.ResultTaken
}

// Known are the revisions before the present one that some repository remembers.
func Known(ds []*deliveryv1alpha1.GitDelivery) []int64 {
	var out []int64
	for _, d := range ds {
		for _, h := range d.Status.AtProvider.History {
			out = append(out, h.Revision)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Ref is how an order names the request that made or changed it.
func Ref(r *rolloutv1alpha1.RolloutRequest) *rolloutv1alpha1.RequestReference {
	ref := &rolloutv1alpha1.RequestReference{
		Name: r.GetName(), UID: string(r.GetUID()), By: r.Spec.RequestedBy, Reason: oneline.Clean(r.Spec.Reason, rolloutv1alpha1.MaxReason),
	}
	if created := r.GetCreationTimestamp(); !created.IsZero() {
		ref.At = &created
	}
	return ref
}

// Meant is true for an order that is the one which a request is about: what is asked for now may just have started another.
func Meant(o rolloutv1alpha1.Order, r *rolloutv1alpha1.RolloutRequest) bool {
	return r.Spec.Revision == o.Revision && (r.Spec.Request == "" || r.Spec.Request == o.Request)
}

// Obey is the order that follows from one of the requests that need no plan: Abort, RollbackTo and Promote.
func Obey(o rolloutv1alpha1.Order, r *rolloutv1alpha1.RolloutRequest) rolloutv1alpha1.Order {
	was := o
	switch r.Spec.Action {
	case rolloutv1alpha1.ActionAbort:
		o.Verdict = requestedVerdict(r)
	case rolloutv1alpha1.ActionRollbackTo:
		o.Revision, o.Step, o.Promoted, o.Attempt = o.Revision+1, 0, 0, 0
		o.Verdict, o.Target, o.Withdraws, o.Restored = requestedVerdict(r), r.Spec.ToRevision, &was.Revision, nil
	case rolloutv1alpha1.ActionPromote:
		o.Promoted = *r.Spec.Step
	case rolloutv1alpha1.ActionApproveUpdate, rolloutv1alpha1.ActionRetry:
		return o
	}
	o.RequestRef = Ref(r)
	return o
}

func requestedVerdict(r *rolloutv1alpha1.RolloutRequest) *rolloutv1alpha1.Verdict {
	said := fmt.Sprintf("RolloutRequest %s", r.GetName())
	if r.Spec.RequestedBy != "" {
		said += " of " + r.Spec.RequestedBy
	}
	if r.Spec.Reason != "" {
		said += ": " + r.Spec.Reason
	}
	return Rejection(rolloutv1alpha1.RejectedRequested, said)
}
