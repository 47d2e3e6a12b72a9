package rollout

import (
	"slices"
	"strconv"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Standing is what RolloutRequests are judged by.
type Standing struct {
	// Order that is carried out. Nil means that nothing was ordered.
	Order *rolloutv1alpha1.Order

	// Remembered says that a repository told what it remembers, so that the order is not behind it.
	Remembered bool

	// Free says that nothing holds the deployment back: no problem, no suspend.
	Free bool

	// Waits says that there is an update to approve.
	Waits bool

	// Ended says that the order came to its end.
	Ended bool

	// Other is the uid of the request that names another update than the one that waits. Empty means none.
	Other string

	// Failed is the uid of the request whose update cannot be delivered. Empty means none.
	Failed string
}

// Remembered is true when some repository told what it remembers: a delivery's status is written after that.
func Remembered(ds []*deliveryv1alpha1.GitDelivery) bool {
	return slices.ContainsFunc(ds, func(d *deliveryv1alpha1.GitDelivery) bool { return d.Status.AtProvider.Order != nil })
}

// Of returns the requests for a deployment, oldest first, and no more than rolloutv1alpha1.MaxOpen. Labels can be forged, and say nothing.
func Of(c rolloutv1alpha1.ClaimReference, all []rolloutv1alpha1.RolloutRequest) []rolloutv1alpha1.RolloutRequest {
	out := slices.DeleteFunc(slices.Clone(all), func(r rolloutv1alpha1.RolloutRequest) bool {
		ref := r.Spec.DeploymentRef
		return ref.APIGroup != c.APIGroup || ref.Kind != c.Kind || ref.Name != c.Name || r.GetNamespace() != c.Namespace
	})
	slices.SortFunc(out, rolloutv1alpha1.CompareAge)
	return out[:min(len(out), rolloutv1alpha1.MaxOpen)]
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

// Approval returns the first request that approves the update which waits, or nil when none does.
func Approval(requests []rolloutv1alpha1.RolloutRequest, s Standing) *rolloutv1alpha1.RolloutRequest {
	for i := range requests {
		if result, open := judge(&requests[i], s); open && result == rolloutv1alpha1.ResultTaken {
			return &requests[i]
		}
	}
	return nil
}

// ResultOf returns what became of a request. A request that could be taken now, and was not, waits.
func ResultOf(r *rolloutv1alpha1.RolloutRequest, s Standing) rolloutv1alpha1.Result {
	result, open := judge(r, s)
	if open {
		return rolloutv1alpha1.ResultWaiting
	}
	return result
}

// judge says what becomes of a request, and whether that is still to happen. That an order names the request is how it is known to
// be taken. Each revision is greater than the one that its request names, so that none is taken twice.
func judge(r *rolloutv1alpha1.RolloutRequest, s Standing) (result rolloutv1alpha1.Result, open bool) {
	switch o := s.Order; {
	case o == nil:
		return rolloutv1alpha1.ResultWaiting, false
	case o.RequestRef != nil && o.RequestRef.UID == string(r.GetUID()):
		return taken(s), false
	case r.Spec.Revision < o.Revision:
		return rolloutv1alpha1.ResultStale, false
	case !s.Remembered:
		return rolloutv1alpha1.ResultWaiting, false
	case r.Spec.Revision > o.Revision:
		return rolloutv1alpha1.ResultUnknownRevision, false
	case r.Spec.Request != "" && r.Spec.Request != o.Request:
		return rolloutv1alpha1.ResultStale, false
	case r.Spec.Action != rolloutv1alpha1.ActionApproveUpdate:
		return rolloutv1alpha1.ResultNotSupported, false
	case s.Other == string(r.GetUID()):
		return rolloutv1alpha1.ResultStale, false
	case s.Failed == string(r.GetUID()):
		return rolloutv1alpha1.ResultUpdateFailed, false
	case !s.Free:
		return rolloutv1alpha1.ResultWaiting, false
	case !s.Waits:
		return rolloutv1alpha1.ResultNoUpdate, false
	}
	return rolloutv1alpha1.ResultTaken, true
}

func taken(s Standing) rolloutv1alpha1.Result {
	if s.Ended {
		return rolloutv1alpha1.ResultDone
	}
	return rolloutv1alpha1.ResultTaken
}
