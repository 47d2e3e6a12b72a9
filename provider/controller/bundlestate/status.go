package bundlestate

import (
	"cmp"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/instant"
)

// Reasons of events.
const (
	// ReasonPackageUnreferenced is the reason of the event for a package that left its bundle, and runs on.
	ReasonPackageUnreferenced event.Reason = "PackageUnreferenced"

	// ReasonPackagePruned is the reason of the event for a package that left its bundle, and is removed since the bundle prunes.
	ReasonPackagePruned event.Reason = "PackagePruned"

	// ReasonPackageHandedOver is the reason of the event for a package that belongs to another bundle from now on.
	ReasonPackageHandedOver event.Reason = "PackageHandedOver"

	// ReasonPackageConflict is the reason of the event for a package that another bundle has with another spec.
	ReasonPackageConflict event.Reason = "PackageConflict"

	// ReasonRecordLeft is the reason of the event for a record that could not be removed with its bundle.
	ReasonRecordLeft event.Reason = "RecordLeft"
)

const (
	// progressPace is how long progress waits that nothing else waits for: the next one follows soon, and each write costs the composite.
	progressPace = 5 * time.Second

	// recordInterval is how long a record that cannot be written waits for the next try, and existingInterval an existing package for the next look: its kind
	// is not watched.
	recordInterval   = 30 * time.Second
	existingInterval = 10 * time.Second
)

// updateStatus writes the decision into the status: at once if it is about another spec, or if the bundle has another status; else after a while.
func (e *external) updateStatus(bs *v1alpha1.BundleState, recording error) {
	next, ready := e.observation(bs, recording), e.currentCondition(bs)
	now, previous := e.now(), bs.Status.AtProvider
	e.note.next = e.nextReconcileTime(bs, next, now)
	if equality.Semantic.DeepEqual(previous, next) && bs.GetCondition(xpv2.TypeReady).Equal(ready) {
		e.note.pendingSince = time.Time{}
		return
	}
	if e.note.pendingSince.IsZero() {
		e.note.pendingSince = now
	}
	if due := e.note.pendingSince.Add(progressPace); !isChangeUrgent(previous, next) && now.Before(due) {
		e.note.next = instant.Earliest(e.note.next, due)
		return
	}
	if !e.quick {
		e.note.pendingSince = time.Time{}
		e.reportPackages(bs, previous, next)
	}
	bs.Status.AtProvider = next
	bs.SetConditions(ready)
}

// isChangeUrgent reports whether a change of a status may not wait.
func isChangeUrgent(previous, next v1alpha1.BundleStateObservation) bool {
	return previous.SpecDigest != next.SpecDigest || previous.Status != next.Status || previous.Unreferenced != next.Unreferenced || previous.Record != next.Record ||
		countReadyPackages(previous) != countReadyPackages(next) && next.Status == v1alpha1.StatusSuccess || !slices.Equal(packageUIDs(previous), packageUIDs(next))
}

// packageUIDs returns the UIDs of the objects that a status has. They are written at once: after a restart nothing else says which objects are the bundle's.
func packageUIDs(o v1alpha1.BundleStateObservation) []string {
	out := make([]string, 0, len(o.Packages))
	for i := range o.Packages {
		out = append(out, o.Packages[i].UID)
	}
	return out
}

func countReadyPackages(o v1alpha1.BundleStateObservation) int {
	n := 0
	for _, p := range o.Packages {
		if p.Ready {
			n++
		}
	}
	return n
}

// observation returns the desired status.
func (e *external) observation(bs *v1alpha1.BundleState, recording error) v1alpha1.BundleStateObservation {
	out := v1alpha1.BundleStateObservation{
		SpecDigest: bs.Spec.ForProvider.SpecDigest, Status: e.decision.status, Packages: e.decision.packages,
		Record: v1alpha1.BundleRecord{Secret: state.Prefix + bs.GetName()},
	}
	for _, p := range out.Packages {
		if p.Status == v1alpha1.StatusUnreferenced {
			out.Unreferenced++
		}
	}
	if recording != nil {
		out.Record.Problem = oneline.Clean(recording.Error(), maxMessage)
	}
	return out
}

// nextReconcileTime returns the time of the next reconcile of a bundle for changes without events. Zero means never.
func (e *external) nextReconcileTime(bs *v1alpha1.BundleState, next v1alpha1.BundleStateObservation, now time.Time) time.Time {
	due := e.decision.due
	if next.Record.Problem != "" {
		due = instant.Earliest(due, now.Add(recordInterval))
	}
	for i := range bs.Spec.ForProvider.Packages {
		if p := &bs.Spec.ForProvider.Packages[i]; p.IsExisting() && !isPackageDeployed(*e.decision.findObservation(p.Name)) {
			due = instant.Earliest(due, now.Add(existingInterval))
		}
	}
	return due
}

// currentCondition returns condition Ready. Of a BundleState that is deleted the managed reconciler sets it after each observation: two that say different
// things would write the status at each look.
func (e *external) currentCondition(bs *v1alpha1.BundleState) xpv2.Condition {
	if meta.WasDeleted(bs) {
		return xpv2.Deleting().WithObservedGeneration(bs.GetGeneration())
	}
	return e.readyCondition(bs)
}

// readyCondition sums the packages up. Its reason is the reason of the first package that failed.
func (e *external) readyCondition(bs *v1alpha1.BundleState) xpv2.Condition {
	c := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonDeploying, LastTransitionTime: *instant.Timestamp(e.now())}
	failed := slices.IndexFunc(e.decision.packages, func(p v1alpha1.PackageObservation) bool { return p.HasFailed() })
	troubled := slices.IndexFunc(e.decision.packages, func(p v1alpha1.PackageObservation) bool { return p.Reason == v1alpha1.PackageReasonNotReady })
	switch {
	case failed >= 0:
		p := e.decision.packages[failed]
		c.Reason, c.Message = xpv2.ConditionReason(p.Reason), "package "+p.Name+": "+p.Message
	case e.decision.status != v1alpha1.StatusSuccess && !e.isBundleIdle(bs):
	case troubled >= 0:
		p := e.decision.packages[troubled]
		c.Reason, c.Message = v1alpha1.ReasonDegraded, "package "+p.Name+": "+cmp.Or(p.Message, "it is not ready")
	default:
		c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.ReasonDeployed
	}
	return c.WithObservedGeneration(bs.GetGeneration())
}

// isBundleIdle reports whether no package is to be deployed, and none is.
func (e *external) isBundleIdle(bs *v1alpha1.BundleState) bool {
	return e.decision.status == v1alpha1.StatusNotDeployed && !slices.ContainsFunc(bs.Spec.ForProvider.Packages, func(p v1alpha1.BundlePackage) bool { return !p.Disabled })
}

// reportPackages records events for packages that left, and for packages that another bundle has with another spec.
func (e *external) reportPackages(bs *v1alpha1.BundleState, previous, next v1alpha1.BundleStateObservation) {
	previousByName := map[string]v1alpha1.PackageObservation{}
	for _, p := range previous.Packages {
		previousByName[p.Name] = p
	}
	for _, p := range next.Packages {
		switch {
		case p.Status == v1alpha1.StatusUnreferenced && previousByName[p.Name].Status != p.Status:
			e.recorder.Event(bs, event.Normal(ReasonPackageUnreferenced, "Package "+p.Name+" left the bundle, and runs on"))
		case p.Reason == v1alpha1.PackageReasonConflict && previousByName[p.Name].Reason != p.Reason:
			e.recorder.Event(bs, event.Warning(ReasonPackageConflict, errors.Errorf("package %s: %s", p.Name, p.Message)))
		}
	}
}
