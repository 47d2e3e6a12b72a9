package directories

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// LaterOf returns the later tree of a delivery for the directory of a tree in a revision, or nil.
func LaterOf(p deliveryv1alpha1.GitDeliveryParameters, t deliveryv1alpha1.Tree, revision int64) *deliveryv1alpha1.LaterTree {
	i := slices.IndexFunc(p.Later, func(l deliveryv1alpha1.LaterTree) bool {
		return l.Revision == revision && l.IsFor(t.Branch, t.Path)
	})
	if i < 0 {
		return nil
	}
	return &p.Later[i]
}

// CarriesLater is true for a delivery with the files of a later step of a revision.
func CarriesLater(p deliveryv1alpha1.GitDeliveryParameters, revision int64) bool {
	return slices.ContainsFunc(p.Later, func(l deliveryv1alpha1.LaterTree) bool { return l.Revision == revision })
}

// At returns the parameters of a delivery without tracks at a position of its plan, that of its spec or a later one: a later tree whose step has come takes the
// place of the present tree. Trees of an earlier revision have no part in it. A delivery without later trees of the revision stays unchanged.
func At(p deliveryv1alpha1.GitDeliveryParameters, position ledger.Position) deliveryv1alpha1.GitDeliveryParameters {
	if !CarriesLater(p, position.Revision) {
		return p
	}
	out, indexes := p, map[string]int{}
	out.Trees, out.Later = nil, nil
	if p.AskedPosition().Revision == position.Revision {
		out.Trees = slices.Clone(p.Trees)
	}
	for i, t := range out.Trees {
		indexes[t.Branch+" "+t.Path] = i
	}
	for _, l := range p.Later {
		if l.Revision != position.Revision {
			continue
		}
		next, isReached := l.Tree, l.Step <= position.Step
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
	return out
}

// HoldFiles is true if the objects of deliveries carry the files of the current revision to each Site of its next step. In a stage before the steps that is the
// present step, and at the last step the last one. A move needs files of a revision without tracks as well, which is a question of its own.
func HoldFiles(s ledger.State, deliveries ...*deliveryv1alpha1.GitDelivery) bool {
	if s.IsMove() {
		return false
	}
	index := s.Cursor.Step
	if !s.IsBeforeSteps() {
		index = min(index+1, int32(len(s.Current.Plan))-1) //nolint:gosec // A plan has at most 20 steps.
	}
	return CarryStep(s, index, deliveries...)
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
		for _, l := range p.Later {
			carried[l.Site] = carried[l.Site] || l.Revision == s.Current.Number
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
	later := LaterOf(p, d.Own, s.Current.Number)
	if later == nil || s.Current.StepOf(later.Site) > s.Cursor.Step || CarriesTrack(d.Own, d.Track, d.Revision) {
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
