package failure

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/provider/tenantcache"
)

// maxRejectedBytes bounds the trees of rejected revisions that wait for their reports, of all deployments of one API group. The trees of the others are in Git.
const maxRejectedBytes = 16 << 20

// treeOverhead is the approximate memory of a tree beside its files, in bytes.
const treeOverhead = 512

// A revisionKey identifies one revision of a deployment.
type revisionKey struct {
	group    string
	key      types.NamespacedName
	revision int64
}

// deploymentKey returns a text that is the same for all revisions of a deployment, and for no other deployment.
func (k revisionKey) deploymentKey() string { return k.group + "/" + k.key.String() }

func revisionKeyOf(d *deliveryv1alpha1.GitDelivery) revisionKey {
	p := d.Spec.ForProvider
	return revisionKey{
		group: p.ClaimRef.APIGroup, key: types.NamespacedName{Namespace: d.GetNamespace(), Name: p.ClaimRef.Name}, revision: desiredRevisionOf(d).number,
	}
}

// A treeCache holds the trees of revisions that were just rejected: a delivery that is rolled back does not carry them any more. The namespace with the most of
// them loses its own first.
type treeCache struct {
	mu sync.Mutex
	// trees of the rejected revisions of each deployment.
	trees *tenantcache.Cache[[]rejectedTrees]
}

// rejectedTrees are the trees of one rejected revision.
type rejectedTrees struct {
	revision int64
	trees    []deliveryv1alpha1.Tree
}

func newTreeCache() *treeCache {
	return &treeCache{trees: tenantcache.New[[]rejectedTrees](maxRejectedBytes)}
}

// putRejected keeps the trees of a delivery whose revision was rejected by this update.
func (s *treeCache) putRejected(previous, current *deliveryv1alpha1.GitDelivery) {
	key := revisionKeyOf(previous)
	if desiredRevisionOf(previous).isRejected || !desiredRevisionOf(current).isRejected || key != revisionKeyOf(current) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.rejectedRevisions(key)
	i := slices.IndexFunc(all, func(r rejectedTrees) bool { return r.revision == key.revision })
	if i < 0 {
		i, all = len(all), append(all, rejectedTrees{revision: key.revision})
	}
	all[i].trees = append(all[i].trees, desiredTrees(previous)...)
	s.putRejectedTrees(key, all)
}

// rejectedRevisions returns the rejected revisions of a deployment. The caller has the lock.
func (s *treeCache) rejectedRevisions(key revisionKey) []rejectedTrees {
	all, _ := s.trees.Get(key.deploymentKey())
	return slices.Clone(all)
}

// putRejectedTrees replaces the rejected revisions of a deployment. The caller has the lock.
func (s *treeCache) putRejectedTrees(key revisionKey, all []rejectedTrees) {
	size := 0
	for _, r := range all {
		for _, t := range r.trees {
			size += len(t.Files) + treeOverhead
		}
	}
	if len(all) == 0 {
		s.trees.Drop(key.deploymentKey())
		return
	}
	s.trees.Put(key.key.Namespace, key.deploymentKey(), all, size)
}

// cachedTrees returns the trees of a revision, sorted by Site.
func (s *treeCache) cachedTrees(key revisionKey) []deliveryv1alpha1.Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rejectedRevisions(key) {
		if r.revision == key.revision {
			return sortTreesBySite(slices.Clone(r.trees))
		}
	}
	return nil
}

// desiredTrees returns the trees that a delivery carries for the steps that its repository applied.
func desiredTrees(d *deliveryv1alpha1.GitDelivery) []deliveryv1alpha1.Tree {
	keeps := func(t deliveryv1alpha1.Tree) bool { return t.Action != deliveryv1alpha1.ActionDesired }
	reached := directories.At(d.Spec.ForProvider, d.Status.AtProvider.RecordedState())
	return slices.DeleteFunc(slices.Clone(reached.Trees), keeps)
}

func sortTreesBySite(trees []deliveryv1alpha1.Tree) []deliveryv1alpha1.Tree {
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
	return slices.CompactFunc(sortTreesBySite(trees), func(a, b deliveryv1alpha1.Tree) bool { return a.Site == b.Site })
}

// treesFromHistory returns the trees of a revision in the history of a delivery: their ids, without files. A Site whose step was not
// reached still has its previous tree, and is left out.
func treesFromHistory(d *deliveryv1alpha1.GitDelivery, revision int64) []deliveryv1alpha1.Tree {
	requested, out := desiredRevisionOf(d), []deliveryv1alpha1.Tree{}
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
	return slices.ContainsFunc(parts, func(d deliveryv1alpha1.GitDelivery) bool { return desiredRevisionOf(&d).number >= revision })
}

// isWithdrawal reports whether a revision is a rollback that a user ordered.
func isWithdrawal(parts []deliveryv1alpha1.GitDelivery, revision int64) bool {
	return slices.ContainsFunc(parts, func(d deliveryv1alpha1.GitDelivery) bool {
		requested := desiredRevisionOf(&d)
		return requested.number == revision && requested.isWithdrawal
	})
}

// dropRevisionsUpTo drops the trees of a deployment up to a revision.
func (s *treeCache) dropRevisionsUpTo(key revisionKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putRejectedTrees(key, slices.DeleteFunc(s.rejectedRevisions(key), func(r rejectedTrees) bool { return r.revision <= key.revision }))
}
