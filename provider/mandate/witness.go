package mandate

import (
	"cmp"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// IsWitness is true for an object about a claim that may be evidence for a delivery: both have one controller, one namespace and the same claim, and the
// object is not being deleted.
func IsWitness(o metav1.Object, claim rolloutv1alpha1.ClaimReference, d *v1alpha1.GitDelivery) bool {
	return o.GetDeletionTimestamp() == nil && isSiblingObject(o, claim, d)
}

// isSiblingObject is true for an object with the same controller, namespace and claim as a delivery.
func isSiblingObject(o metav1.Object, claim rolloutv1alpha1.ClaimReference, d *v1alpha1.GitDelivery) bool {
	owner, otherOwner := metav1.GetControllerOfNoCopy(d), metav1.GetControllerOfNoCopy(o)
	if owner == nil || otherOwner == nil || owner.UID == "" || owner.UID != otherOwner.UID || owner.Kind != otherOwner.Kind {
		return false
	}
	return o.GetNamespace() == d.GetNamespace() && claim == d.Spec.ForProvider.ClaimRef
}

// positionProof returns the evidence about the position of a state. Nothing proves that a step has come to its end in a push that brings other files for it.
func (f Facts) positionProof(recorded, s ledger.State) step.Proof {
	failure := f.rejectionVerdict(s)
	switch {
	case s.Cursor.Attempt > 0:
		return step.Proof{Failure: failure, IsLive: f.areTreesRestored(s)}
	case s.Verdict != nil || failure != nil || s.Cursor.Full != recorded.Cursor.Full:
		return step.Proof{Failure: failure}
	}
	return f.forwardProof(s)
}

// rejectionVerdict returns the first reason to reject the revision, or to fail its rollback attempt, or nil.
func (f Facts) rejectionVerdict(s ledger.State) *ledger.Verdict {
	if v := f.deliveryFailure(s); v != nil {
		return v
	}
	if sync := f.deploymentSync(); sync != nil && f.expectsTreesOfSpecs(sync, s) {
		if v := evidence.SyncFailure(sync, s); v != nil {
			return v
		}
	}
	if g := f.currentGate(s); g != nil {
		return evidence.GateFailure(g)
	}
	return nil
}

// deliveryFailure returns the rejection for a failure that a delivery of the revision reports, the home first, or nil.
func (f Facts) deliveryFailure(s ledger.State) *ledger.Verdict {
	if v := evidence.DeliveryFailure(f.homeAtPosition(s), s.Position()); v != nil {
		return v
	}
	for _, d := range f.followersOf(s) {
		if v := followerFailure(d, s); v != nil {
			return v
		}
	}
	return nil
}

// homeAtPosition returns the home with a spec that names the position that its ledger reached by the mandate, and the trees that the repository has. A status of
// another position does not count.
func (f Facts) homeAtPosition(s ledger.State) *v1alpha1.GitDelivery {
	if !isEarlierPosition(f.Home.Spec.ForProvider.AskedPosition(), s) {
		return f.Home
	}
	return withDelivered(f.Home, s, s.Position(), f.Delivered)
}

// deploymentSync returns the SiteSync of the deployment, or nil.
func (f Facts) deploymentSync() *v1alpha1.SiteSync {
	var all []*v1alpha1.SiteSync
	for i := range f.Syncs {
		if s := &f.Syncs[i]; IsWitness(s, s.Spec.ForProvider.ClaimRef, f.Home) {
			all = append(all, s)
		}
	}
	return firstComposed(all, func(*v1alpha1.SiteSync) bool { return true })
}

// observedSites returns the observations of the deployment's SiteSync, by Site.
func (f Facts) observedSites() map[string]v1alpha1.SiteObservation {
	out := map[string]v1alpha1.SiteObservation{}
	if sync := f.deploymentSync(); sync != nil {
		for _, o := range sync.Status.AtProvider.Sites {
			out[o.Name] = o
		}
	}
	return out
}

// currentGate returns the Gate of the step of a state, or nil.
func (f Facts) currentGate(s ledger.State) *rolloutv1alpha1.Gate {
	return firstComposed(f.gatesOfStep(s), func(*rolloutv1alpha1.Gate) bool { return true })
}

// gatesOfStep returns all Gates of the step of a state. A composition has one.
func (f Facts) gatesOfStep(s ledger.State) []*rolloutv1alpha1.Gate {
	var out []*rolloutv1alpha1.Gate
	for i := range f.Gates {
		g := &f.Gates[i]
		if s.IsGated() && IsWitness(g, g.Spec.ForProvider.ClaimRef, f.Home) && evidence.IsGateOf(g, s) {
			out = append(out, g)
		}
	}
	return out
}

// firstComposed returns the first object, by its name in the composition, for which a predicate is true. The zero value means none.
func firstComposed[T metav1.Object](all []T, matches func(T) bool) T {
	slices.SortFunc(all, func(a, b T) int {
		return cmp.Or(cmp.Compare(xcrd.GetCompositionResourceName(a), xcrd.GetCompositionResourceName(b)), cmp.Compare(a.GetName(), b.GetName()))
	})
	var zero T
	if i := slices.IndexFunc(all, matches); i >= 0 {
		return all[i]
	}
	return zero
}

// expectsTreesOfSpecs is true for a SiteSync whose expected trees match the specs of the home and of each follower that the revision has reached.
// A follower of a later wave still has the trees of an earlier revision in its spec. A SiteSync that followed the ledger expects the delivered trees.
func (f Facts) expectsTreesOfSpecs(sync *v1alpha1.SiteSync, s ledger.State) bool {
	if evidence.LatestPosition(sync) != sync.Spec.ForProvider.AskedPosition() {
		return true
	}
	return expectsTrees(sync, f.Home.Spec.ForProvider.Trees) && !slices.ContainsFunc(f.followersOf(s), func(d *v1alpha1.GitDelivery) bool {
		p := d.Spec.ForProvider.Position
		return p != nil && s.Position().HasReached(*p) && !expectsTrees(sync, d.Spec.ForProvider.Trees)
	})
}

// expectsTrees is true for a SiteSync that expects, at each of its Sites, the tree that a delivery writes there.
func expectsTrees(sync *v1alpha1.SiteSync, trees []v1alpha1.Tree) bool {
	for _, t := range trees {
		if expected := expectedSyncTree(sync, t.Site); t.Action != v1alpha1.ActionKeep && expected != nil && !isExpectedTree(*expected, t) {
			return false
		}
	}
	return true
}

// areTreesRestored is true if the specs request the position of a rollback, the repositories have it, and each Site with a tree is proven to run the tree.
func (f Facts) areTreesRestored(s ledger.State) bool {
	position := s.Position()
	return evidence.IsDelivered(f.Home, position) && f.runsDeliveredTrees(f.Home, position) && f.areFollowersRestored(s)
}

// runsDeliveredTrees is true if each Site with a tree of a delivery is proven to run the tree at a position.
func (f Facts) runsDeliveredTrees(d *v1alpha1.GitDelivery, position ledger.Position) bool {
	return !slices.ContainsFunc(d.Spec.ForProvider.Trees, func(t v1alpha1.Tree) bool {
		return t.Action != v1alpha1.ActionKeep && !f.isTreeProvenLive(t, position)
	})
}

// isTreeProvenLive is true for a tree that its Site is proven to run at a position, or that counts as live since it was delivered.
func (f Facts) isTreeProvenLive(t v1alpha1.Tree, position ledger.Position) bool {
	if counts, isUnobserved := f.Unobserved[t.Site]; isUnobserved {
		return counts
	}
	sync := f.deploymentSync()
	if sync == nil || !evidence.AreSitesLive(sync, position) {
		return false
	}
	expected := expectedSyncTree(sync, t.Site)
	return expected != nil && isExpectedTree(*expected, t)
}

// expectedSyncTree returns the tree that a SiteSync expects at a Site, or nil.
func expectedSyncTree(sync *v1alpha1.SiteSync, site string) *v1alpha1.SiteTree {
	sites := sync.Spec.ForProvider.Sites
	i := slices.IndexFunc(sites, func(t v1alpha1.SiteTree) bool { return t.Name == site })
	if i < 0 {
		return nil
	}
	out := sites[i]
	out.Tree = evidence.LatestTrees(sync)[site]
	return &out
}

// isExpectedTree is true if the expected tree of a Site has the directory and the Git ID of a delivered tree.
func isExpectedTree(expected v1alpha1.SiteTree, t v1alpha1.Tree) bool {
	return expected.Path == t.Path && expected.Tree == t.Tree
}
