package failure

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// maxRevisions is how many rejected revisions wait for their report at once. What a process does not remember is in Git.
const maxRevisions = 64

// A subject is one revision of a deployment.
type subject struct {
	group    string
	key      types.NamespacedName
	revision int64
}

func subjectOf(d *deliveryv1alpha1.GitDelivery) subject {
	p := d.Spec.ForProvider
	return subject{
		group: p.ClaimRef.APIGroup, key: types.NamespacedName{Namespace: d.GetNamespace(), Name: p.ClaimRef.Name}, revision: p.Order.Revision,
	}
}

// A shelf has the trees of revisions that were just rejected: a delivery that goes back does not carry them any more.
type shelf struct {
	mu    sync.Mutex
	trees map[subject][]deliveryv1alpha1.Tree
	order []subject
}

func newShelf() *shelf { return &shelf{trees: map[subject][]deliveryv1alpha1.Tree{}} }

// put the trees of a delivery whose revision was rejected between two looks.
func (s *shelf) put(before, after *deliveryv1alpha1.GitDelivery) {
	of := subjectOf(before)
	if before.Spec.ForProvider.Order.Rejected() || !after.Spec.ForProvider.Order.Rejected() || of != subjectOf(after) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.trees[of]; !ok {
		s.order = append(s.order, of)
	}
	s.trees[of] = append(s.trees[of], desired(before)...)
	for len(s.order) > maxRevisions {
		delete(s.trees, s.order[0])
		s.order = s.order[1:]
	}
}

// get the trees of a revision, by Site.
func (s *shelf) get(of subject) []deliveryv1alpha1.Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bySite(slices.Clone(s.trees[of]))
}

// desired are the trees that a delivery carries.
func desired(d *deliveryv1alpha1.GitDelivery) []deliveryv1alpha1.Tree {
	keeps := func(t deliveryv1alpha1.Tree) bool { return t.Action != deliveryv1alpha1.ActionDesired }
	return slices.DeleteFunc(slices.Clone(d.Spec.ForProvider.Trees), keeps)
}

func bySite(trees []deliveryv1alpha1.Tree) []deliveryv1alpha1.Tree {
	slices.SortStableFunc(trees, func(a, b deliveryv1alpha1.Tree) int { return cmp.Compare(a.Site, b.Site) })
	return trees
}

// trees of a revision, one for each Site: those that were seen, or that a delivery still carries, and else what the deliveries remember.
func trees(seen []deliveryv1alpha1.Tree, of subject, parts []deliveryv1alpha1.GitDelivery) []deliveryv1alpha1.Tree {
	for i := range parts {
		if subjectOf(&parts[i]) == of {
			seen = append(seen, desired(&parts[i])...)
		}
	}
	for i := range parts {
		seen = append(seen, remembered(&parts[i], of.revision)...)
	}
	return slices.CompactFunc(bySite(seen), func(a, b deliveryv1alpha1.Tree) bool { return a.Site == b.Site })
}

// remembered are the trees of a revision as a delivery has them in its history: their ids, without files. A Site whose step never came kept
// what it had.
func remembered(d *deliveryv1alpha1.GitDelivery, revision int64) []deliveryv1alpha1.Tree {
	p, out := d.Spec.ForProvider, []deliveryv1alpha1.Tree{}
	paths := map[string]string{}
	for _, t := range p.Trees {
		paths[t.Site] = t.Path
	}
	for _, h := range d.Status.AtProvider.History {
		for _, t := range h.Trees {
			if h.Revision == revision && (p.Order.Revision != revision || !awaits(p.Order, t.Site)) {
				out = append(out, deliveryv1alpha1.Tree{Site: t.Site, Path: paths[t.Site], Tree: t.Tree})
			}
		}
	}
	return out
}

// awaits is true for a Site of a later step.
func awaits(o rolloutv1alpha1.Order, site string) bool {
	step := slices.IndexFunc(o.Plan, func(s rolloutv1alpha1.Step) bool { return slices.Contains(s.Sites, site) })
	if step < 0 {
		step = int(o.Steps) - 1 // Those that no step names come last.
	}
	return step > int(o.Step)
}

// ordered is true when some delivery is told of a revision.
func ordered(parts []deliveryv1alpha1.GitDelivery, revision int64) bool {
	return slices.ContainsFunc(parts, func(d deliveryv1alpha1.GitDelivery) bool { return d.Spec.ForProvider.Order.Revision >= revision })
}

// withdraws is true for a revision that a person ordered to take back others.
func withdraws(parts []deliveryv1alpha1.GitDelivery, revision int64) bool {
	return slices.ContainsFunc(parts, func(d deliveryv1alpha1.GitDelivery) bool {
		o := d.Spec.ForProvider.Order
		return o.Revision == revision && o.Withdraws != nil
	})
}

// drop the trees of a deployment up to a revision.
func (s *shelf) drop(of subject) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = slices.DeleteFunc(s.order, func(other subject) bool {
		gone := other.group == of.group && other.key == of.key && other.revision <= of.revision
		if gone {
			delete(s.trees, other)
		}
		return gone
	})
}
