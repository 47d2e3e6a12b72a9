package ledgerhome

import (
	"maps"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// RecordingTime is the recording time of proposed events: the provider sets the time when it records them.
func RecordingTime() time.Time { return time.Time{} }

// Begins is true for a home in which the ledger is to be opened, or to continue from elsewhere.
func Begins(h step.Home) bool {
	return len(h.Events) > 0 && (h.Events[0].Opened != nil || h.Events[0].Recovered != nil)
}

// PendingEvents returns the events that a delivery asks to record on top of the head that its repository has.
func PendingEvents(d *deliveryv1alpha1.GitDelivery) []ledger.Event {
	requested, recorded := d.Spec.ForProvider.Ledger, ptr.Deref(d.Status.AtProvider.Ledger, ledger.State{})
	ready := d.GetCondition(xpv2.TypeReady)
	if requested == nil || requested.After != recorded.Head || ready.Reason == deliveryv1alpha1.ReasonIllegal {
		return nil
	}
	if _, err := ledger.Append(recorded, RecordingTime(), requested.Events...); err != nil {
		return nil
	}
	return requested.Events
}

// isOpeningLedger is true for a delivery that never reported, and that asks to open a ledger. Its proposed events may change: if it has a ledger, it
// refuses.
func isOpeningLedger(d *deliveryv1alpha1.GitDelivery) bool {
	requested := d.Spec.ForProvider.Ledger
	return d.Status.AtProvider.Ledger == nil && requested != nil && requested.After == (ledger.Head{}) && len(requested.Events) > 0
}

// hasEventPrefix is true for a list of events that begins with a prefix.
func hasEventPrefix(events, prefix []ledger.Event) bool {
	if len(events) < len(prefix) {
		return false
	}
	id, err := ledger.NextID("", events[:len(prefix)]...)
	want, wantErr := ledger.NextID("", prefix...)
	return err == nil && wantErr == nil && id == want
}

// WithoutDropped returns deliveries without the position of a home that asks for events which were refused, or are not proposed any more: its trees
// belong to no revision.
func WithoutDropped(ds map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	out := maps.Clone(ds)
	for name, d := range ds {
		p := d.Spec.ForProvider
		if IsRefused(d) || p.Ledger != nil && p.Position != nil && !isSamePlace(*p.Position, s.Position()) {
			dropped := *d
			dropped.Spec.ForProvider.Position = nil
			out[name] = &dropped
		}
	}
	return out
}

// isSamePlace is true for two positions that differ in nothing but the epoch: the same trees belong to them.
func isSamePlace(a, b ledger.Position) bool {
	a.Epoch = b.Epoch
	return a == b
}

// IsRefused is true for a delivery whose events follow another head than that of its repository, and led neither to it nor to the head that the provider
// went on from: its trees belong to no revision.
func IsRefused(d *deliveryv1alpha1.GitDelivery) bool {
	requested, observation := d.Spec.ForProvider.Ledger, d.Status.AtProvider
	if requested == nil || observation.Ledger == nil || requested.After == observation.Ledger.Head || observation.HasRecorded(*requested) {
		return false
	}
	return !hasLedThrough(*requested, observation.Ledger.Head) && (observation.Taken == nil || !hasLedThrough(*requested, *observation.Taken))
}

// hasLedThrough reports whether the first events of an update led to a head: the update was written before its writer saw them recorded.
func hasLedThrough(u deliveryv1alpha1.LedgerUpdate, h ledger.Head) bool {
	for i := range u.Events {
		if (deliveryv1alpha1.LedgerUpdate{After: u.After, Events: u.Events[:i+1]}).LedTo(h) {
			return true
		}
	}
	return false
}

// MayRecord is true for a delivery that asks to record events which its repository did not report yet. It may record them at any time.
func MayRecord(d *deliveryv1alpha1.GitDelivery) bool {
	requested := d.Spec.ForProvider.Ledger
	return requested != nil && len(requested.Events) > 0 && !d.Status.AtProvider.HasRecorded(*requested)
}
