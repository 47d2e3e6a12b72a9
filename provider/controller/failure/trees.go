package failure

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// maxRevisions bounds how many rejected revisions wait for their report. The trees of the others are in Git.
const maxRevisions = 64

// A revisionKey identifies one revision of a deployment.
type revisionKey struct {
	group    string
	key      types.NamespacedName
	revision int64
}

func (k revisionKey) isSameDeployment(otherKey revisionKey) bool {
	return k.group == otherKey.group && k.key == otherKey.key
}

func revisionKeyOf(d *deliveryv1alpha1.GitDelivery) revisionKey {
	p := d.Spec.ForProvider
	return revisionKey{
		group: p.ClaimRef.APIGroup, key: types.NamespacedName{Namespace: d.GetNamespace(), Name: p.ClaimRef.Name}, revision: askedRevisionOf(d).number,
	}
}

// A treeCache holds the trees of revisions that were just rejected: a delivery that is rolled back does not carry them any more.
type treeCache struct {
	mu    sync.Mutex
	trees map[revisionKey][]deliveryv1alpha1.Tree
	order []revisionKey
}

func newTreeCache() *treeCache { return &treeCache{trees: map[revisionKey][]deliveryv1alpha1.Tree{}} }

// putRejected keeps the trees of a delivery whose revision was rejected by this update.
func (s *treeCache) putRejected(previous, current *deliveryv1alpha1.GitDelivery) {
	key := revisionKeyOf(previous)
	if askedRevisionOf(previous).isRejected || !askedRevisionOf(current).isRejected || key != revisionKeyOf(current) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.trees[key]; !ok {
		s.order = append(s.order, key)
	}
	s.trees[key] = append(s.trees[key], desiredTrees(previous)...)
	for len(s.order) > maxRevisions {
		delete(s.trees, s.order[0])
		s.order = s.order[1:]
	}
}

// treesOf returns the trees of a revision, sorted by Site.
func (s *treeCache) treesOf(key revisionKey) []deliveryv1alpha1.Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sortBySite(slices.Clone(s.trees[key]))
}

// desiredTrees returns the trees that a delivery carries.
func desiredTrees(d *deliveryv1alpha1.GitDelivery) []deliveryv1alpha1.Tree {
	keeps := func(t deliveryv1alpha1.Tree) bool { return t.Action != deliveryv1alpha1.ActionDesired }
	return slices.DeleteFunc(slices.Clone(d.Spec.ForProvider.Trees), keeps)
}

func sortBySite(trees []deliveryv1alpha1.Tree) []deliveryv1alpha1.Tree {
	slices.SortStableFunc(trees, func(a, b deliveryv1alpha1.Tree) int { return cmp.Compare(a.Site, b.Site) })
	return trees
}

// treesOfRevision returns the trees of a revision, one for each Site: from the cache, then from a delivery that still carries them, then from
// the history of the deliveries.
func treesOfRevision(trees []deliveryv1alpha1.Tree, key revisionKey, parts []deliveryv1alpha1.GitDelivery) []deliveryv1alpha1.Tree {
	for i := range parts {
		if revisionKeyOf(&parts[i]) == key {
			trees = append(trees, desiredTrees(&parts[i])...)
		}
	}
	for i := range parts {
		trees = append(trees, treesFromHistory(&parts[i], key.revision)...)
	}
	return slices.CompactFunc(sortBySite(trees), func(a, b deliveryv1alpha1.Tree) bool { return a.Site == b.Site })
}

// treesFromHistory returns the trees of a revision in the history of a delivery: their ids, without files. A Site whose step was not
// reached still has its previous tree, and is left out.
func treesFromHistory(d *deliveryv1alpha1.GitDelivery, revision int64) []deliveryv1alpha1.Tree {
	requested, out := askedRevisionOf(d), []deliveryv1alpha1.Tree{}
	paths := map[string]string{}
	for _, t := range d.Spec.ForProvider.Trees {
		paths[t.Site] = t.Path
	}
	for _, h := range d.Status.AtProvider.History {
		for _, t := range h.Trees {
			if h.Revision == revision && (requested.number != revision || !requested.isAwaitingStep(t.Site)) {
				out = append(out, deliveryv1alpha1.Tree{Site: t.Site, Path: paths[t.Site], Tree: t.Tree})
			}
		}
	}
	return out
}

// isRevisionOrdered reports whether a delivery was ordered to deliver a revision.
func isRevisionOrdered(parts []deliveryv1alpha1.GitDelivery, revision int64) bool {
	return slices.ContainsFunc(parts, func(d deliveryv1alpha1.GitDelivery) bool { return askedRevisionOf(&d).number >= revision })
}

// isWithdrawal reports whether a revision is a rollback that a user ordered.
func isWithdrawal(parts []deliveryv1alpha1.GitDelivery, revision int64) bool {
	return slices.ContainsFunc(parts, func(d deliveryv1alpha1.GitDelivery) bool {
		requested := askedRevisionOf(&d)
		return requested.number == revision && requested.isWithdrawal
	})
}

// dropUpTo drops the trees of a deployment up to a revision.
func (s *treeCache) dropUpTo(key revisionKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = slices.DeleteFunc(s.order, func(candidate revisionKey) bool {
		isOutdated := candidate.isSameDeployment(key) && candidate.revision <= key.revision
		if isOutdated {
			delete(s.trees, candidate)
		}
		return isOutdated
	})
}
