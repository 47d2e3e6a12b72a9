package prunerequest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/prune"
)

// How often it is looked whether packages are gone: often at first, and the longer one hangs the less. Each look reads all that a plan is made of.
const (
	removalInterval        = 2 * time.Second
	longestRemovalInterval = time.Minute
)

// removalWait returns how long the next look at a removal waits.
func removalWait(began, now time.Time) time.Duration {
	return min(longestRemovalInterval, max(removalInterval, now.Sub(began)/10))
}

// planPackages makes the plan of a request of scope Bundle, once.
func (r *Reconciler) planPackages(ctx context.Context, pr *v1alpha1.PruneRequest) error {
	plannedAt := instant.Timestamp(r.now())
	f, err := r.gatherPackages(ctx, pr, plannedAt.Time)
	if err != nil {
		return err
	}
	p, err := prune.MakePlan(f)
	if err != nil {
		return err
	}
	return r.publishPlan(pr, &p, plannedAt.Time, "")
}

// removePackages carries an approved plan out. First it is made again: if the two differ, nothing is removed. The confirmation is recorded
// before the first package goes, since each removal changes the plan. Then each package that may still go is deleted, after its dependents.
func (r *Reconciler) removePackages(ctx context.Context, pr *v1alpha1.PruneRequest) (time.Duration, error) {
	f, err := r.gatherPackages(ctx, pr, pr.Status.Plan.At.Time)
	if err != nil {
		return 0, err
	}
	if !pr.Status.Result.Confirmed {
		return r.confirmPackages(pr, f)
	}
	return r.goOnRemoving(ctx, pr, f)
}

// confirmPackages notes that the plan is still the approved plan, or ends the request.
func (r *Reconciler) confirmPackages(pr *v1alpha1.PruneRequest, f *prune.Facts) (time.Duration, error) {
	published := pr.Status.Plan
	fresh, err := prune.MakePlan(f)
	if err != nil {
		return 0, err
	}
	if prune.Confirm(published.Digest, published.Digest, published.At.Time, &fresh, pr.Status.Result.StartedAt.Time) != prune.AnswerGo {
		r.endWithoutRemoval(pr, v1alpha1.PhasePlanChanged, v1alpha1.ReasonPlanChanged, explainPackages(published, &fresh)+" Nothing was removed: make another PruneRequest.")
		return 0, nil
	}
	pr.Status.Result.Confirmed = true
	return time.Millisecond, nil
}

// goOnRemoving removes the next packages of a confirmed plan, and ends the request when nothing is left of it.
func (r *Reconciler) goOnRemoving(ctx context.Context, pr *v1alpha1.PruneRequest, f *prune.Facts) (time.Duration, error) {
	f.Only = remainingPackages(pr.Status.Plan, f)
	fresh, err := prune.MakePlan(f)
	if err != nil {
		return 0, err
	}
	left := stepRemoval(pr.Status.Plan, f, &fresh)
	for _, p := range left.remove {
		if err := r.deletePackage(ctx, p); err != nil {
			return 0, err
		}
	}
	if left.isWaiting || len(left.remove) > 0 {
		return removalWait(pr.Status.Result.StartedAt.Time, r.now()), nil
	}
	r.endPackageRemoval(pr, len(left.kept))
	return 0, nil
}

// remainingPackages returns the packages that a request names and that still exist. A plan that names a package which this removal has removed would
// be refused.
func remainingPackages(published *v1alpha1.PrunePlan, f *prune.Facts) []string {
	isLeft := func(i v1alpha1.PruneItem) bool {
		return slices.ContainsFunc(f.Packages, func(p prune.Package) bool { return p.UID == i.UID })
	}
	left := slices.DeleteFunc(slices.Clone(f.Only), func(name string) bool {
		return !slices.ContainsFunc(published.Items, func(i v1alpha1.PruneItem) bool { return i.Name == name && isLeft(i) })
	})
	if len(left) == 0 {
		return f.Only // None would mean all.
	}
	return left
}

// endPackageRemoval ends a request whose packages are gone, except for packages that had to be kept meanwhile.
func (r *Reconciler) endPackageRemoval(pr *v1alpha1.PruneRequest, retained int) {
	pr.Status.Phase, pr.Status.Result.Pruned = v1alpha1.PhaseDone, pr.Status.Plan.Pruned-int32(retained) //nolint:gosec // A plan has at most 500 items.
	message := fmt.Sprintf("The provider removed %s.", formatItemCount(v1alpha1.ScopeBundle, int(pr.Status.Result.Pruned)))
	if retained > 0 {
		message += fmt.Sprintf(" %s had to be kept meanwhile: another PruneRequest says why.", formatItemCount(v1alpha1.ScopeBundle, retained))
	}
	setCondition(pr, r.now(), v1alpha1.TypeCompleted, corev1.ConditionTrue, v1alpha1.ReasonPruned, message)
}

// A removalStep is the next step of a confirmed plan.
type removalStep struct {
	// remove are packages that can be deleted now.
	remove []prune.Package

	// kept are the names of packages that may not go any more.
	kept []string

	// isWaiting says that packages are being deleted, or that their owners are unknown at present.
	isWaiting bool
}

// stepRemoval decides the next step of a removal. It is pure. A package goes once nothing is left of the plan that depends on it, and if it
// still may.
func stepRemoval(published *v1alpha1.PrunePlan, f *prune.Facts, fresh *prune.Plan) removalStep {
	var out removalStep
	existing := map[string]prune.Package{}
	for _, p := range f.Packages {
		existing[p.UID] = p
	}
	pruned, planned := fresh.Pruned(), plannedPackages(published, existing)
	goes := func(p prune.Package) bool {
		return slices.ContainsFunc(pruned, func(i prune.Item) bool { return i.UID == p.UID && fresh.Refusal == "" })
	}
	for _, i := range published.Items {
		p, isThere := existing[i.UID]
		if i.Verdict != string(prune.VerdictPrune) || !isThere {
			continue
		}
		switch {
		case p.Deleting, fresh.Refusal == prune.RefusalUncertain: // A later plan knows the owners.
			out.isWaiting = true
		case goes(p) && !hasDependent(p, planned):
			out.remove = append(out.remove, p)
		case goes(p):
			out.isWaiting = true
		default:
			out.kept = append(out.kept, p.Name)
		}
	}
	return out
}

// plannedPackages returns the existing packages that a plan removes. A plan has at most 500 items, and a namespace any number of packages.
func plannedPackages(published *v1alpha1.PrunePlan, existing map[string]prune.Package) []prune.Package {
	out := []prune.Package{}
	for _, i := range published.Items {
		if p, isThere := existing[i.UID]; isThere && i.Verdict == string(prune.VerdictPrune) {
			out = append(out, p)
		}
	}
	return out
}

// hasDependent reports whether a package of the plan is still there that depends on another one.
func hasDependent(removed prune.Package, planned []prune.Package) bool {
	return slices.ContainsFunc(planned, func(p prune.Package) bool {
		return p.Namespace == removed.Namespace && slices.Contains(p.DependsOn, removed.Name) && !slices.Contains(removed.DependsOn, p.Name)
	})
}

// deletePackage deletes just the object that was seen, in the version that was seen. A bundle that came to use it meanwhile gave it another one, and the
// next look keeps the package. It is there until all that it made is gone.
func (r *Reconciler) deletePackage(ctx context.Context, p prune.Package) error {
	o := &unstructured.Unstructured{}
	for _, kind := range bundle.PackageKinds() {
		if kind.Kind == p.Kind {
			o.SetGroupVersionKind(kind)
		}
	}
	o.SetNamespace(p.Namespace)
	o.SetName(p.Name)
	uid := types.UID(p.UID)
	err := r.kube.Delete(ctx, o, client.Preconditions{UID: &uid, ResourceVersion: &p.Version}, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if kerrors.IsConflict(err) {
		return nil
	}
	return errors.Wrapf(client.IgnoreNotFound(err), "cannot delete %s %s", p.Kind, p.Name)
}

// explainPackages says in which packages two plans differ.
func explainPackages(published *v1alpha1.PrunePlan, fresh *prune.Plan) string {
	if fresh.Refusal != "" {
		return fmt.Sprintf("The plan is refused by now, %s: %s.", fresh.Refusal, fresh.Message)
	}
	now, differ := map[string]prune.Item{}, []string{}
	for _, i := range fresh.Items {
		now[i.UID] = i
	}
	for _, item := range published.Items {
		i, isThere := now[item.UID]
		isPruned := item.Verdict == string(prune.VerdictPrune)
		switch {
		case isPruned && !isThere:
			differ = append(differ, "package "+item.Name+" is gone, or in its bundle again")
		case isPruned && i.Verdict == prune.VerdictKeep:
			differ = append(differ, fmt.Sprintf("package %s is kept, %s: %s", item.Name, i.Reason, i.Message))
		case !isPruned && isThere && i.Verdict == prune.VerdictPrune:
			differ = append(differ, "package "+item.Name+" would go, too")
		}
	}
	return joinDifferences(differ, fresh.Digest)
}
