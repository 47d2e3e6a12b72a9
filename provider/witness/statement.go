package witness

import (
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/provider/mandate"
)

// HasNewStatement returns a predicate that passes a Gate, a SiteSync or a GitDelivery with new evidence.
func HasNewStatement() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return statementOf(e.Object) != "" },
		UpdateFunc:  func(e event.UpdateEvent) bool { return statementOf(e.ObjectOld) != statementOf(e.ObjectNew) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// statementOf returns the evidence of a Gate, a SiteSync or a GitDelivery as text: the verdict, or the reason why the Sites of a position are ready or not, and
// the proven state of the tracks of each Site. It is empty for an object without evidence.
func statementOf(o client.Object) string {
	switch o := o.(type) {
	case *rolloutv1alpha1.Gate:
		return string(evidence.GateVerdict(o))
	case *v1alpha1.GitDelivery:
		return statementOfDelivery(o)
	case *v1alpha1.SiteSync:
		return statementOfSites(o) + statementOfTracks(o.Status.AtProvider.Sites)
	}
	return ""
}

// statementOfDelivery returns the evidence of a delivery for the other deliveries of its deployment, as text: for a home, the position of its ledger, or the head
// with a rejected revision; for a follower, the position with its delivery or failure. It is empty without evidence.
func statementOfDelivery(d *v1alpha1.GitDelivery) string {
	observed := d.Status.AtProvider
	if d.Spec.ForProvider.Ledger != nil {
		switch s := observed.Ledger; {
		case observed.Mandate == nil || s == nil:
			return ""
		case s.IsRejected():
			return s.ID
		}
		return fmt.Sprint(observed.Ledger.Position())
	}
	requested, position := mandate.EffectiveDelivery(d), mandate.Position(d)
	if v := evidence.DeliveryFailure(requested, position); v != nil {
		return fmt.Sprint(position, v.Reason)
	}
	if evidence.IsDelivered(requested, position) {
		return fmt.Sprint(position)
	}
	return ""
}

// statementOfSites returns the position, status and reason of a SiteSync's Ready condition. It is empty if the condition is about an earlier generation.
func statementOfSites(s *v1alpha1.SiteSync) string {
	ready := s.GetCondition(xpv2.TypeReady)
	if ready.Reason == "" || ready.ObservedGeneration != s.GetGeneration() {
		return ""
	}
	return fmt.Sprint(s.Status.AtProvider.ObservedPosition(), ready.Status, ready.Reason)
}

// statementOfTracks returns the tracks that are proven to be without requests, and the folders with available pods: this evidence ends a stage of a
// rollback.
func statementOfTracks(sites []v1alpha1.SiteObservation) string {
	out := []string{}
	for _, o := range sites {
		if o.Traffic == nil {
			continue
		}
		for _, t := range o.Traffic.Tracks {
			out = append(out, fmt.Sprintln(o.Name, t.Name, t.Idle, ptr.Deref(t.ProvenAt, ledger.Position{}), t.AvailableTree, ptr.Deref(t.AvailableAt, ledger.Position{})))
		}
	}
	return strings.Join(out, "")
}

// PositionDelivered returns a predicate that passes the status update which reports the trees of a position as delivered. By the mandate the next event may
// follow without a further change of a SiteSync: the Sites ran the trees before, or have no engine.
func PositionDelivered() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*v1alpha1.GitDelivery)
		current, ok2 := e.ObjectNew.(*v1alpha1.GitDelivery)
		if !ok || !ok2 {
			return false
		}
		progress := mandateProgress(current)
		return progress != "" && progress != mandateProgress(previous)
	}}
}

// mandateProgress returns, as text, the delivered position of a home with a mandate, and whether its revision has a verdict. It is empty if the repository does not
// have the trees of the position, or if nothing follows by the mandate.
func mandateProgress(d *v1alpha1.GitDelivery) string {
	observed := d.Status.AtProvider
	if observed.Mandate == nil || observed.Ledger == nil {
		return ""
	}
	s, requested := *observed.Ledger, d
	switch {
	case s.IsRejected() && (s.Cursor.Attempt == 0 || s.Restored):
		return ""
	case s.IsVerified() && (!s.HasTracks() || s.Cursor.Stage >= ledger.StageAlone):
		return ""
	case !s.IsRejected() && !slices.ContainsFunc(observed.Mandate.May, step.Kind.GoesForward):
		return ""
	case !s.IsRejected():
		requested = mandate.EffectiveDelivery(d)
	}
	if !evidence.IsDelivered(requested, s.Position()) {
		return ""
	}
	return fmt.Sprint(s.Position(), s.Verdict != nil)
}

// isNewRequest passes new RolloutRequests: their spec never changes, and the provider's own status updates request nothing.
func isNewRequest() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return isOpenRequest(e.Object) },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func isOpenRequest(o client.Object) bool {
	r, ok := o.(*rolloutv1alpha1.RolloutRequest)
	return ok && !r.IsClosed()
}
