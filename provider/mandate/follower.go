package mandate

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// HomeOf returns the home whose mandate a delivery to another repository follows, among the deliveries of its claim, or nil. The status of the home has
// the recorded ledger, and the spec of the delivery has an older copy of it. The result is nil if another delivery shows a ledger that supersedes the
// ledger of the home.
func HomeOf(d *v1alpha1.GitDelivery, all []v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
	var home *v1alpha1.GitDelivery
	for i := range all {
		o := &all[i]
		if leadsFollower(o, d) && (home == nil || o.Status.AtProvider.Ledger.Compare(home.Status.AtProvider.Ledger.Head) > 0) {
			home = o
		}
	}
	if home == nil || slices.ContainsFunc(all, func(o v1alpha1.GitDelivery) bool { return hasSuperseded(&o, home) }) {
		return nil
	}
	return home
}

// leadsFollower is true for a home that acts by its mandate, and whose status shows a revision with a part of the other delivery: a rejected revision, or one that goes
// through its steps.
func leadsFollower(o, d *v1alpha1.GitDelivery) bool {
	spec, observation := o.Spec.ForProvider, o.Status.AtProvider
	if spec.Ledger == nil || observation.Ledger == nil || observation.Mandate == nil || !IsWitness(o, spec.ClaimRef, d) {
		return false
	}
	s := *observation.Ledger
	recorded := Status(spec.Mandate, s)
	if recorded == nil || recorded.Revision != observation.Mandate.Revision || !hasOlderCopy(d.Spec.ForProvider, s) || partOfDelivery(d, s) == nil {
		return false
	}
	if !s.IsRejected() {
		return slices.Contains(recorded.May, step.KindAdvance)
	}
	hasCome := d.Spec.ForProvider.Position != nil || isRecordedIn(d, s)
	return hasCome && slices.Contains(observation.Mandate.May, step.KindRollBack)
}

// isRecordedIn is true for a delivery whose repository came to the current revision of a state, or to the revision that a user rolls back by it.
func isRecordedIn(d *v1alpha1.GitDelivery, s ledger.State) bool {
	r := d.Status.AtProvider.Record
	return r != nil && isOfRevision(r.Position, s)
}

// hasOlderCopy is true for a follower whose spec has an older copy of the ledger of a state, or the same copy while requests go back in tracks.
func hasOlderCopy(p v1alpha1.GitDeliveryParameters, s ledger.State) bool {
	recorded := p.Copy
	return recorded != nil && recorded.Ledger == s.Ledger && recorded.Epoch == s.Epoch &&
		(recorded.Compare(s.Head) < 0 || recorded.Head == s.Head && returnsRequests(s))
}

// returnsRequests is true for a rollback in tracks that moves requests. A function that may not run may have requested its position with the trees that each
// repository had: until a repository has reported the position, the function leaves its directories unchanged.
func returnsRequests(s ledger.State) bool { return s.Cursor.Attempt > 0 && s.IsBeforeSteps() }

// partOfDelivery returns the part of a follower in the current revision of a state, or nil.
func partOfDelivery(d *v1alpha1.GitDelivery, s ledger.State) *ledger.Part {
	name := xcrd.GetCompositionResourceName(d)
	i := slices.IndexFunc(s.Current.Parts, func(p ledger.Part) bool { return p.Delivery == name })
	if name == "" || i < 0 {
		return nil
	}
	return &s.Current.Parts[i]
}

// partWithSite returns the part of the current revision of a state that delivers to a Site, or nil.
func partWithSite(site string, s ledger.State) *ledger.Part {
	i := slices.IndexFunc(s.Current.Parts, func(p ledger.Part) bool { return slices.Contains(p.Sites, site) })
	if i < 0 {
		return nil
	}
	return &s.Current.Parts[i]
}

// hasSuperseded is true for a delivery of the same controller whose ledger supersedes the ledger of a home.
func hasSuperseded(o, home *v1alpha1.GitDelivery) bool {
	return isSiblingObject(o, o.Spec.ForProvider.ClaimRef, home) && evidence.Supersedes(o, home)
}

// FollowHome returns the parameters of a follower for the state in the status of its home, and whether its directories get trees there that the spec does not
// request yet: those of the next wave, or of a rollback. A rejected revision delivers no more trees. Without trees to restore, the follower stays at its position,
// unless its repository is at a later position than the spec.
func (f Facts) FollowHome(p v1alpha1.GitDeliveryParameters) (v1alpha1.GitDeliveryParameters, bool) {
	s := *f.Home.Status.AtProvider.Ledger
	switch isRolledBack := s.Cursor.Attempt > 0; {
	case s.HasTracks() && (isRolledBack || !s.IsRejected()):
		return f.followTracks(p, s)
	case !s.IsRejected():
		return f.followedParameters(p, s)
	}
	requested, hasFollowed := p.AskedPosition(), f.hasFollowed(p, s)
	if !isOvertaken(requested, s) || p.Position == nil && !hasFollowed {
		return p, false
	}
	if hasFollowed {
		p = followerSpecAt(p, *f.Copy, f.Delivered) // The spec may not name the directories of the wave.
	}
	out := f.Follow(p, s, s)
	if evidence.AsksForNothing(&v1alpha1.GitDelivery{Spec: v1alpha1.GitDeliverySpec{ForProvider: out}}) && !hasFollowed {
		if isOfRevision(requested, s) {
			p.Trees, p.Settled = out.Trees, false
		}
		return p, false
	}
	essentials := s.Essentials()
	out.Copy = &essentials
	return out, true
}

// followTracks returns the parameters of a follower with tracks at the position of a state, and whether its directories get the trees of that position. Each
// position counts, also with unchanged trees: the content of a directory in tracks is known at a position alone. The spec has to be of the revision, since no
// other spec has its files, and the function has the files of a rollback that a user requested. A record that is newer than the state stays: the status of the
// home was read before. An event at the same position changes no record. A repository without a record records its directories first, as they are: the spec has
// the trees of a step, which would give requests to a rejected revision.
func (f Facts) followTracks(p v1alpha1.GitDeliveryParameters, s ledger.State) (v1alpha1.GitDeliveryParameters, bool) {
	requested := p.AskedPosition()
	isDue := isEarlierPosition(requested, s) || requested == s.Position() && returnsRequests(s)
	switch {
	case !isDue || s.Withdraws != 0:
		return p, false
	case f.Copy == nil && s.IsRejected():
		p.Trees, p.Settled = retainTrees(p.Trees), false
		return p, false
	case f.Copy == nil || f.Copy.Compare(s.Head) > 0:
		return p, false
	}
	out, reached := f.Follow(p, s, s), s.Essentials()
	if f.Copy.Position() == s.Position() {
		reached = *f.Copy
	}
	out.Copy = &reached
	return out, true
}

// retainTrees returns the trees of directories that stay as they are.
func retainTrees(trees []v1alpha1.Tree) []v1alpha1.Tree {
	out := make([]v1alpha1.Tree, len(trees))
	for i, t := range trees {
		out[i] = directories.Retain(t)
	}
	return out
}

// followedParameters returns the parameters of a follower at the step of a revision that is not rejected, and whether directories get trees there that the spec has for a
// later step. A step that brings nothing new to the repository changes nothing there: a push that only moves a record helps no Site.
func (f Facts) followedParameters(p v1alpha1.GitDeliveryParameters, s ledger.State) (v1alpha1.GitDeliveryParameters, bool) {
	isDue, isNew := false, f.Copy == nil || !isOfRevision(f.Copy.Position(), s)
	for _, l := range directories.LaterTrees(p, s) {
		if l.Step <= s.Cursor.Step {
			isDue, isNew = true, isNew || l.Step > f.Copy.Cursor.Step
		}
	}
	if !isDue {
		return p, false
	}
	if !isNew {
		s = *f.Copy
	}
	out, essentials := f.Follow(p, s, s), s.Essentials()
	out.Copy = &essentials
	return out, true
}

// hasFollowed is true for a repository that came to the rejected revision of a state although the spec of its delivery has the trees of an earlier revision, or
// requests no position.
func (f Facts) hasFollowed(p v1alpha1.GitDeliveryParameters, s ledger.State) bool {
	isRequested := p.Position != nil && isOfRevision(*p.Position, s)
	return f.Copy != nil && !isRequested && isOfRevision(f.Copy.Position(), s)
}

// isOvertaken is true for the position of a spec without the verdict: the rejected revision has passed it, in the same epoch.
func isOvertaken(p ledger.Position, s ledger.State) bool {
	position := s.Position()
	return p.Epoch == position.Epoch && (p.Compare(position) < 0 || p == position && position.Attempt == 0)
}

// EffectiveDelivery returns a delivery with the desired position of its repository in the spec.
func EffectiveDelivery(d *v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
	position := Position(d)
	if position == d.Spec.ForProvider.AskedPosition() {
		return d
	}
	out := *d
	out.Spec.ForProvider.Position = &position
	return &out
}

// effectiveAt returns a delivery with the desired position of its repository in the spec, and with the trees that the repository has there: those of the wave
// that it followed to, whose directories the spec may not name.
func effectiveAt(d *v1alpha1.GitDelivery, s ledger.State) *v1alpha1.GitDelivery {
	position := Position(d)
	switch {
	case position == d.Spec.ForProvider.AskedPosition():
		return d
	case s.HasTracks():
		s.Cursor.Attempt, s.Cursor.Step, s.Cursor.Stage = position.Attempt, position.Step, position.Stage
		return withDelivered(d, s, position, deliveredTrees(d))
	}
	out, reached := *d, s
	if r := d.Status.AtProvider.Record; r != nil && r.Copy != nil && r.Copy.Position().Revision == position.Revision {
		reached = *r.Copy
	}
	reached.Cursor.Step = position.Step
	out.Spec.ForProvider = followerSpecAt(out.Spec.ForProvider, reached, deliveredTrees(d))
	out.Spec.ForProvider.Position = &position
	return &out
}

// followerSpecAt returns the parameters of a follower with the trees of the steps that its repository came to, by a state of the ledger and the delivered directories. A
// revision by which a user rolls another revision back takes no step: the repository came to the later trees in the directories that the other revision wrote.
func followerSpecAt(p v1alpha1.GitDeliveryParameters, s ledger.State, delivered map[string]v1alpha1.DeliveredTree) v1alpha1.GitDeliveryParameters {
	if s.Withdraws == 0 {
		return directories.At(p, s)
	}
	withdrawn := *s.Current
	withdrawn.Number = s.Withdraws
	s.Current, s.Cursor.Step = &withdrawn, ledger.MaxSteps
	p.Later = slices.DeleteFunc(slices.Clone(p.Later), func(l v1alpha1.LaterTree) bool { return delivered[l.Path].Revision < l.Revision })
	return directories.At(p, s)
}

// withDelivered returns a delivery with a spec that names a position which its repository reached by the ledger, and the trees that the repository has in the
// directories that the revision has come to.
func withDelivered(d *v1alpha1.GitDelivery, s ledger.State, position ledger.Position, delivered map[string]v1alpha1.DeliveredTree) *v1alpha1.GitDelivery {
	out := *d
	p := &out.Spec.ForProvider
	*p = directories.At(*p, s)
	p.Position, p.Trees = &position, slices.Clone(p.Trees)
	for i, t := range p.Trees {
		if t.Action != v1alpha1.ActionKeep {
			p.Trees[i].Tree = delivered[t.Path].Tree
		}
	}
	return &out
}

// deliveredTrees returns the directories in the status of a delivery, by their paths.
func deliveredTrees(d *v1alpha1.GitDelivery) map[string]v1alpha1.DeliveredTree {
	out := make(map[string]v1alpha1.DeliveredTree, len(d.Status.AtProvider.Trees))
	for _, t := range d.Status.AtProvider.Trees {
		out[t.Path] = t
	}
	return out
}

// isHomePart is true for the part of a revision that the home delivers. Its name in the composition identifies it: a user may replace its configuration.
func (f Facts) isHomePart(part ledger.Part) bool {
	return part.Delivery == xcrd.GetCompositionResourceName(f.Home)
}

// deliveryOfPart returns the delivery of a part of the revision, or nil if it was lost.
func (f Facts) deliveryOfPart(part ledger.Part) *v1alpha1.GitDelivery {
	switch self := f.ownDelivery(); {
	case part.Delivery == xcrd.GetCompositionResourceName(self):
		return self
	case f.isHomePart(part):
		return f.Home
	}
	return f.followerOfPart(part)
}

// followerOfPart returns the delivery of a part of the revision to another repository than the home, or nil if it was lost.
func (f Facts) followerOfPart(part ledger.Part) *v1alpha1.GitDelivery {
	for i := range f.Followers {
		if xcrd.GetCompositionResourceName(&f.Followers[i]) == part.Delivery {
			return &f.Followers[i]
		}
	}
	return nil
}

// followersOf returns the deliveries to other repositories than the home that take part in the current revision of a state, in the order of its parts.
func (f Facts) followersOf(s ledger.State) []*v1alpha1.GitDelivery {
	var out []*v1alpha1.GitDelivery
	for _, part := range s.Current.Parts {
		if d := f.followerOfPart(part); d != nil && !f.isHomePart(part) {
			out = append(out, d)
		}
	}
	return out
}

// haveAllReported is true once each repository of the current revision has reported its directories at the current position.
func (f Facts) haveAllReported(s ledger.State) bool {
	return f.Applied == s.Position() && !slices.ContainsFunc(s.Current.Parts, func(part ledger.Part) bool {
		d := f.followerOfPart(part)
		return !f.isHomePart(part) && (d == nil || !evidence.HasReported(effectiveAt(d, s), s, part.Sites))
	})
}

// followerFailure returns the rejection for a failure that a follower reports of the current attempt, or nil.
func followerFailure(d *v1alpha1.GitDelivery, s ledger.State) *ledger.Verdict {
	requested := effectiveAt(d, s)
	p := requested.Spec.ForProvider.Position
	if p == nil || !s.Position().HasReached(*p) || evidence.AsksForNothing(requested) {
		return nil
	}
	return evidence.DeliveryFailure(requested, *p)
}

// areFollowersRestored is true once each follower of the revision has delivered the trees of the rollback in its spec, and its Sites run them.
func (f Facts) areFollowersRestored(s ledger.State) bool {
	return !slices.ContainsFunc(s.Current.Parts, func(part ledger.Part) bool { return !f.isHomePart(part) && !f.isPartRestored(part, s) })
}

// isPartRestored is true for a part of a revision whose Sites run the trees of the rollback, or that has no tree to restore. In tracks each spec requests the
// position.
func (f Facts) isPartRestored(part ledger.Part, s ledger.State) bool {
	d, position := f.followerOfPart(part), s.Position()
	switch {
	case d == nil:
		return s.Withdraws == 0 && !evidence.IsReached(part.Delivery, &v1alpha1.GitDelivery{}, s)
	case evidence.IsDelivered(d, position):
		return f.runsDeliveredTrees(d, position)
	case s.HasTracks():
		return false
	}
	followed := f.followedDelivery(d, s)
	return evidence.AsksForNothing(followed) && evidence.IsSeen(d) && evidence.IsLeftAlone(part.Delivery, followed, d, s)
}

// followedDelivery returns a follower with the spec that follows from a state.
func (f Facts) followedDelivery(d *v1alpha1.GitDelivery, s ledger.State) *v1alpha1.GitDelivery {
	f.Delivered = deliveredTrees(d)
	out := *d
	out.Spec.ForProvider = f.Follow(effectiveAt(d, s).Spec.ForProvider, s, s)
	return &out
}
