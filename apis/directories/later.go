package directories

import (
	"cmp"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// NewLater returns the later tree of a directory in the current revision of a state: it gets the tree at the step of its Site.
func NewLater(t deliveryv1alpha1.Tree, s ledger.State) deliveryv1alpha1.LaterTree {
	return deliveryv1alpha1.LaterTree{Tree: t, Revision: s.Current.Number, Request: s.Current.Request.Digest(), Step: s.StepOf(t.Site)}
}

// LaterTrees returns the later trees of a delivery for the current revision of a state. The number of a revision alone does not identify it: after a loss of
// the ledger another one may get it again.
func LaterTrees(p deliveryv1alpha1.GitDeliveryParameters, s ledger.State) []deliveryv1alpha1.LaterTree {
	if s.Current == nil || len(p.Later) == 0 {
		return nil
	}
	request := s.Current.Request.Digest()
	return slices.DeleteFunc(slices.Clone(p.Later), func(l deliveryv1alpha1.LaterTree) bool {
		return l.Revision != s.Current.Number || l.Request != request
	})
}

// LaterOf returns the later tree of a delivery for the directory of a tree in the current revision of a state, or nil.
func LaterOf(p deliveryv1alpha1.GitDeliveryParameters, t deliveryv1alpha1.Tree, s ledger.State) *deliveryv1alpha1.LaterTree {
	i := slices.IndexFunc(p.Later, func(l deliveryv1alpha1.LaterTree) bool {
		return l.Revision == s.Current.Number && l.IsFor(t.Branch, t.Path)
	})
	if i < 0 || p.Later[i].Request != s.Current.Request.Digest() {
		return nil
	}
	return &p.Later[i]
}

// At returns the parameters of a delivery without tracks at a state, at whose position its spec is or was: a later tree whose step has come takes the place of
// the present tree. Trees of an earlier revision have no part in it. A delivery without later trees of the revision stays unchanged.
func At(p deliveryv1alpha1.GitDeliveryParameters, s ledger.State) deliveryv1alpha1.GitDeliveryParameters {
	carried := LaterTrees(p, s)
	if len(carried) == 0 {
		return p
	}
	out, indexes := p, map[string]int{}
	out.Trees, out.Later = presentTrees(p, s, carried), nil
	for i, t := range out.Trees {
		indexes[t.Branch+" "+t.Path] = i
	}
	for _, l := range carried {
		next, isReached := l.Tree, l.Step < s.NextStep()
		if !isReached {
			next, out.Later = Retain(next), append(out.Later, l)
		}
		i, isNamed := indexes[l.Branch+" "+l.Path]
		switch {
		case !isNamed:
			out.Trees = append(out.Trees, next)
		case isReached:
			out.Trees[i] = next
		}
	}
	slices.SortStableFunc(out.Trees, func(a, b deliveryv1alpha1.Tree) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// presentTrees returns the trees of a delivery with later trees of a revision before their steps. Of the trees of an earlier revision, the directories of Sites
// that have no later tree stay as they are: the clusters of these Sites are not ready.
func presentTrees(p deliveryv1alpha1.GitDeliveryParameters, s ledger.State, carried []deliveryv1alpha1.LaterTree) []deliveryv1alpha1.Tree {
	if p.AskedPosition().Revision == s.Current.Number {
		return slices.Clone(p.Trees)
	}
	var out []deliveryv1alpha1.Tree
	sites := sitesBeside(carried[0].Site, *s.Current)
	for _, t := range p.Trees {
		isCarried := slices.ContainsFunc(carried, func(l deliveryv1alpha1.LaterTree) bool { return l.Site == t.Site })
		if !isCarried && slices.Contains(sites, t.Site) {
			out = append(out, Retain(t))
		}
	}
	return out
}

// sitesBeside returns the Sites of a revision that the repository of a Site delivers to.
func sitesBeside(site string, r ledger.Revision) []string {
	for _, part := range r.Parts {
		if slices.Contains(part.Sites, site) {
			return part.Sites
		}
	}
	return nil
}

// HoldFiles is true if the objects of deliveries carry the files of the current revision to each Site of its next step. In a stage before the steps that is the
// present step, and at the last step the last one. A move needs files of a revision without tracks as well, which is a question of its own.
func HoldFiles(s ledger.State, deliveries ...*deliveryv1alpha1.GitDelivery) bool {
	if s.IsMove() {
		return false
	}
	return CarryStep(s, min(s.NextStep(), int32(len(s.Current.Plan))-1), deliveries...) //nolint:gosec // A plan has at most 20 steps.
}

// CarryStep is true if the objects of deliveries carry the files of the current revision to each Site of a step.
func CarryStep(s ledger.State, index int32, deliveries ...*deliveryv1alpha1.GitDelivery) bool {
	if !s.HasTracks() && len(s.Current.Plan) < 2 { //nolint:mnd // One step.
		return true // No step follows, and the present one has begun.
	}
	carried := map[string]bool{}
	for _, d := range deliveries {
		p := d.Spec.ForProvider
		for _, t := range p.Trees {
			carried[t.Site] = carried[t.Site] || carriesRevision(p, t, s)
		}
		for _, l := range LaterTrees(p, s) {
			carried[l.Site] = true
		}
	}
	return !slices.ContainsFunc(s.Current.SitesAt(index), func(site string) bool { return !carried[site] })
}

// carriesRevision is true for a tree of a delivery with the files of the current revision.
func carriesRevision(p deliveryv1alpha1.GitDeliveryParameters, t deliveryv1alpha1.Tree, s ledger.State) bool {
	if s.HasTracks() {
		return CarriesTrack(t, s.Current.Folder(), s.Current.Number)
	}
	return t.Action == deliveryv1alpha1.ActionDesired && p.AskedPosition().Revision == s.Current.Number
}

// Begun returns a directory with tracks whose step has begun while the spec of its delivery has the tree of an earlier step: with the files that it got at its
// step, which are among the later trees. aim is the aim of the directory in its step. It stays unchanged if the spec has these files.
func (c *Tracker) Begun(d Directory, p deliveryv1alpha1.GitDeliveryParameters, s ledger.State, aim step.Aim) Directory {
	later := LaterOf(p, d.Own, s)
	if later == nil || !d.hasStepBegun(s) || CarriesTrack(d.Own, d.Track, d.Revision) {
		return d
	}
	begun := d
	begun.Own, begun.Aim = later.Tree, aim
	composed, err := c.Compose(begun)
	if err != nil || composed.Action != deliveryv1alpha1.ActionDesired {
		return d
	}
	d.Own, d.Asked = composed.Tree, composed.Tree
	return d
}

// hasStepBegun is true for a directory whose step has come. The directories of a revision that was rejected before its first step have no folder of it, and the
// shared files of the revision before.
func (d Directory) hasStepBegun(s ledger.State) bool {
	if s.Current.StepOf(d.Own.Site) > s.Cursor.Step || s.Verdict == nil && s.IsBeforeSteps() {
		return false
	}
	isOfRevision := func(t deliveryv1alpha1.DeliveredTrack) bool { return t.Revision == s.Current.Number }
	return !s.IsRejected() || s.Cursor.Step > 0 || slices.ContainsFunc(d.Held.Tracks, isOfRevision)
}

// TreeAt returns the present tree of a directory on a branch, and whether the delivery names the directory.
func TreeAt(p deliveryv1alpha1.GitDeliveryParameters, branch, path string) (deliveryv1alpha1.Tree, bool) {
	for _, t := range p.Trees {
		if t.IsFor(branch, path) {
			return t, true
		}
	}
	return deliveryv1alpha1.Tree{}, false
}

// HasLater is true if a delivery has a tree of a later step for the directory of a tree.
func HasLater(p deliveryv1alpha1.GitDeliveryParameters, t deliveryv1alpha1.Tree) bool {
	for _, l := range p.Later {
		if l.IsFor(t.Branch, t.Path) {
			return true
		}
	}
	return false
}
