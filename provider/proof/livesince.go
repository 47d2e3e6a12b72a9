package proof

import (
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// isStillLive is true for a Site that was live with this tree, and whose engine is at work on a newer revision with the same tree: the last applied tree still
// runs. An earlier tree of the attempt proves nothing: the engine may be about to apply this tree.
func (f Facts) isStillLive(want v1alpha1.SiteTree, s SiteFacts) bool {
	last := f.lastObservation(want.Name)
	isSame := last.State == v1alpha1.SiteLive && last.Tree == want.Tree && !IsOtherTarget(last.Engine, &v1alpha1.EngineObservation{Target: s.Engine.Target})
	return isSame && s.Engine.StillApplied && s.Applied.ID == want.Tree
}

// withLiveSince keeps the commit that proved the Site, so that later commits of other writers do not change it. The engine's report is always the
// present one: Gates judge by its health. A Site whose engine is another object, or applies to another cluster, is live since now.
func (f Facts) withLiveSince(last, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	if o.StartedAt = last.StartedAt.DeepCopy(); o.StartedAt == nil {
		o.StartedAt = f.waitStartTime(o.Name)
	}
	if last.State != v1alpha1.SiteLive || last.Proof != o.Proof || last.Tree != o.Tree || IsOtherTarget(last.Engine, o.Engine) {
		o.LiveSince = f.nowTimestamp()
		return o
	}
	last.Unproven, last.Engine = o.Unproven, o.Engine
	return last
}

// IsOtherTarget reports whether two observations are about different objects of an engine, or about different destinations of one. It is false while one of
// them is unknown.
func IsOtherTarget(a, b *v1alpha1.EngineObservation) bool {
	return a != nil && b != nil && a.Target != "" && b.Target != "" && a.Target != b.Target
}
