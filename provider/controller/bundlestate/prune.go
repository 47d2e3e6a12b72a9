package bundlestate

import (
	"context"
	"fmt"
	"slices"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle/inventory"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/prune"
)

// decideUnreferenced decides whether an object that left the bundle is pruned, stays, or gets another bundle as its owner. It returns the status of the
// object: none, if another object of the same name is in the status already.
func (d *decider) decideUnreferenced(key objectKey, o *object) []v1alpha1.PackageObservation {
	if next := d.nextObjectOwner(key); next != nil && !o.isDeleting {
		d.handOverObject(o, next)
		return nil
	}
	out := v1alpha1.PackageObservation{
		Name: key.name, Kind: key.kind, UID: d.was[key.name].UID, Version: d.was[key.name].Version, Digest: o.digest, Revision: o.evidence.Revision, Commit: o.evidence.Commit, Ready: o.evidence.Ready,
	}
	setPackageStatusf(&out, v1alpha1.StatusUnreferenced, v1alpha1.PackageReasonUnreferenced, "it left the Bundle, and %s", d.explainUnreferenced(o))
	switch {
	case o.removalProblem != "":
		setPackageStatusf(&out, v1alpha1.StatusFailedRemove, v1alpha1.PackageReasonRemovalBlocked, "%s", o.removalProblem)
	case o.isDeleting:
		setPackageStatusf(&out, v1alpha1.StatusRemoving, "", "")
	case o.unreferencedSince == "" && !d.isSuspended():
		d.dereference(o)
	case d.matchesRecord(o) && d.removable[string(o.live.GetUID())]:
		d.addAction(action{verb: verbRemove, object: o, unreferencedSince: o.unreferencedSince})
		setPackageStatusf(&out, v1alpha1.StatusRemoving, "", "")
	}
	if _, isDecided := d.decided[key.name]; isDecided {
		return nil
	}
	out.Message = oneline.Clean(out.Message, maxMessage)
	d.decided[key.name] = out
	return []v1alpha1.PackageObservation{out}
}

// pruneDueTime returns when an object that left the bundle may be removed. It is false for an object that stays.
func (d *decider) pruneDueTime(o *object) (time.Time, bool) {
	start, err := time.Parse(time.RFC3339, o.unreferencedSince)
	if err != nil || !d.matchesRecord(o) || d.spec.PruneAfter == nil || d.spec.Suspend || d.isDeleted || o.isDeleting {
		return time.Time{}, false
	}
	due := start.Add(d.spec.PruneAfter.Duration)
	if d.now.Before(due) {
		d.due = instant.Earliest(d.due, due)
	} else {
		d.isPruneDue = true
	}
	return due, true
}

// explainUnreferenced returns the message about an object that left the bundle: when it is pruned, or the reason of the prune plan to keep it.
func (d *decider) explainUnreferenced(o *object) string {
	due, isPruned := d.pruneDueTime(o)
	switch {
	case !isPruned:
		return "is still there: kubectl intent prune removes it"
	case d.plan == nil || d.now.Before(due):
		return fmt.Sprintf("is removed after %s, once each package runs its current spec", due.UTC().Format(time.RFC3339))
	case d.plan.Refusal != "":
		return fmt.Sprintf("stays, %s: %s", d.plan.Refusal, d.plan.Message)
	}
	i := slices.IndexFunc(d.plan.Items, func(i prune.Item) bool { return i.UID == string(o.live.GetUID()) })
	switch {
	case i < 0:
		return "stays: it is in the Bundle again, or changed just now"
	case d.plan.Items[i].Verdict == prune.VerdictKeep:
		return fmt.Sprintf("stays, %s: %s", d.plan.Items[i].Reason, d.plan.Items[i].Message)
	}
	return "is removed after its dependents"
}

// makePrunePlan makes the prune plan of the packages that left the bundle, equal to the plan of a PruneRequest without extra permissions. A list
// that the provider may not read refuses the plan.
func (c *connector) makePrunePlan(ctx context.Context, f *facts, namespace string) error {
	o := prune.Options{Namespace: namespace, Bundle: prune.BundleName{Group: f.bundle.Group, Name: f.bundle.Name}, MinAge: f.spec.PruneAfter.Duration}
	gathered, err := inventory.Gatherer{Live: c.live}.Gather(ctx, o, f.now)
	if kerrors.IsForbidden(err) {
		f.plan = &prune.Plan{Refusal: prune.RefusalUncertain, Message: err.Error()}
		return nil
	}
	if err != nil {
		return err
	}
	plan, err := prune.MakePlan(gathered)
	f.plan, f.removable = &plan, map[string]bool{}
	for _, i := range plan.Removable(gathered) {
		f.removable[i.UID] = true
	}
	return err
}

// handOverObject lets another bundle own an object.
func (d *decider) handOverObject(o *object, target *neighbour) {
	if !d.isSuspended() {
		d.addAction(action{verb: verbLabel, object: o, owner: target.bundle})
	}
}

// dereference notes since when no bundle names an object.
func (d *decider) dereference(o *object) {
	d.addAction(action{verb: verbLabel, object: o, owner: d.bundle, unreferencedSince: d.now.UTC().Format(time.RFC3339)})
}
