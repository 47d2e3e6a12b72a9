package evidence

import (
	"maps"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A Comparison is the desired state of a revision, beside the observed state.
type Comparison struct {
	// State of the ledger that follows from all decisions, and the state that is recorded.
	State, Recorded ledger.State

	// Desired deliveries, by the name of the composed resource.
	Desired map[string]*deliveryv1alpha1.GitDelivery

	// Observed deliveries, by the name of the composed resource.
	Observed map[string]*deliveryv1alpha1.GitDelivery

	// Sync is the SiteSync that is desired. Nil means none.
	Sync *deliveryv1alpha1.SiteSync

	// ObservedSync is the SiteSync that is observed. Nil means none.
	ObservedSync *deliveryv1alpha1.SiteSync

	// Gates that are observed, by the name of the composed resource.
	Gates map[string]*rolloutv1alpha1.Gate

	// Unobserved are the Sites without an engine, and whether a delivered tree counts as live there. It is nil while the catalog is not known.
	Unobserved map[string]bool

	// IsPartLost is true if the content of some repository of the revision is unknown: its delivery was lost, and the place of its Sites is unknown. So
	// nothing is proven.
	IsPartLost bool

	// LostFiles names the required files of the step that no object has. Empty means that objects have all files.
	LostFiles string

	// IsDraining is true if some directory still has the track that a verified revision took the requests from.
	IsDraining bool

	// RendererDeferred is true if a newer renderer would render other trees than the revision's, and has to wait.
	RendererDeferred bool
}

// Trees returns the desired trees, by the names of deliveries and then in their order.
func (c *Comparison) Trees() []*deliveryv1alpha1.Tree {
	var out []*deliveryv1alpha1.Tree
	for _, name := range slices.Sorted(maps.Keys(c.Desired)) {
		trees := c.Desired[name].Spec.ForProvider.Trees
		out = slices.Grow(out, len(trees))
		for i := range trees {
			out = append(out, &trees[i])
		}
	}
	return out
}

// Gate returns the Gate of the revision's step, or nil.
func (c *Comparison) Gate() *rolloutv1alpha1.Gate {
	if !c.State.IsGated() {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Gates)) {
		if g := c.Gates[name]; IsGateOf(g, c.State) {
			return g
		}
	}
	return nil
}

// IsMeasured is true when the revision's step was live and its Gate began to measure.
func (c *Comparison) IsMeasured() bool {
	g := c.Gate()
	return g != nil && g.Status.AtProvider.StartedAt != nil && isAboutItsPosition(g)
}

// AwaitingGate returns the Gate of the revision's step if it cannot measure now: its queries give no data, or a metrics backend does not answer.
// It is nil otherwise.
func (c *Comparison) AwaitingGate() *rolloutv1alpha1.Gate {
	g := c.Gate()
	if g == nil || c.State.Verdict != nil {
		return nil
	}
	switch CurrentReady(g).Reason {
	case rolloutv1alpha1.ReasonNoData, rolloutv1alpha1.ReasonMetricsUnavailable, rolloutv1alpha1.ReasonHeld:
		return g
	}
	return nil
}

// Blocked returns the first delivery, by name, that cannot apply the position, and its Ready condition. A condition about another position does not count.
func (c *Comparison) Blocked() (*deliveryv1alpha1.GitDelivery, xpv2.Condition) {
	for _, name := range slices.Sorted(maps.Keys(c.Desired)) {
		d := c.Observed[name]
		if d == nil || c.State.Current == nil || c.needsNothing(name) || !AsksForPosition(d, c.positionOfDelivery(name)) {
			continue
		}
		ready := d.Status.GetCondition(xpv2.TypeReady)
		if ready.Status == corev1.ConditionFalse && ready.ObservedGeneration == d.GetGeneration() && isObstacleReason(ready.Reason) {
			return d, ready
		}
	}
	return nil, xpv2.Condition{}
}

// isObstacleReason is true for the reasons that are more than a delivery in progress.
func isObstacleReason(r xpv2.ConditionReason) bool {
	return !slices.Contains([]xpv2.ConditionReason{
		"", deliveryv1alpha1.ReasonPushing, deliveryv1alpha1.ReasonConflict, deliveryv1alpha1.ReasonOrderBehind, xpv2.ReasonCreating,
	}, r)
}

// HasConflict is true while another claim delivers an object of the revision to the same Site.
func (c *Comparison) HasConflict() bool {
	d, ready := c.Blocked()
	return d != nil && ready.Reason == deliveryv1alpha1.ReasonObjectConflict
}

// AwaitsCluster is true while some Site receives no files because its cluster is not ready.
func (c *Comparison) AwaitsCluster() bool {
	for name, d := range c.Desired {
		trees := d.Spec.ForProvider.Trees
		for i := range trees {
			if c.TreeAwaitsCluster(&trees[i], c.Observed[name]) {
				return true
			}
		}
	}
	return false
}

// TreeAwaitsCluster is true for a tree of a Site whose cluster is not ready. A tree can also be retained because its step has not come, because the
// revision was rejected, or, where a renderer is deferred, because no version that runs can render it.
func (c *Comparison) TreeAwaitsCluster(t *deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery) bool {
	if t.Action != deliveryv1alpha1.ActionKeep || c.State.IsBeforeSteps() || c.State.Current != nil && (c.State.IsRejected() || !c.State.HasReached(t.Site)) {
		return false
	}
	hasPath := func(delivered deliveryv1alpha1.DeliveredTree) bool { return delivered.Path == t.Path }
	return !c.RendererDeferred || d == nil || !slices.ContainsFunc(d.Status.AtProvider.Trees, hasPath)
}

// WatchesEveryEngine is true when the SiteSync observes each Site that has an engine.
func (c *Comparison) WatchesEveryEngine() bool {
	return c.watchesEach(func(deliveryv1alpha1.Tree) bool { return true })
}

// watchesEach is true when the SiteSync observes the Site of each desired tree for which a predicate is true, if the Site has an engine.
func (c *Comparison) watchesEach(counts func(deliveryv1alpha1.Tree) bool) bool {
	return !slices.ContainsFunc(c.Trees(), func(t *deliveryv1alpha1.Tree) bool {
		_, isUnobserved := c.Unobserved[t.Site]
		return !isUnobserved && counts(*t) && !c.watchesSite(t.Site)
	})
}

// watchesBrought is true when the SiteSync observes each Site that has an engine and is brought a tree. The Sites of a verified revision counted, even if the
// spec changed since. While the catalog is not known, UnprovenSites has the others.
func (c *Comparison) watchesBrought() bool {
	return c.Unobserved == nil || c.State.IsVerified() || c.watchesEach(isTreeBrought)
}

// WatchesDesired is true when the SiteSync that is observed looks for the trees that are desired: its spec names them, or it followed the ledger to them.
func (c *Comparison) WatchesDesired() bool {
	switch {
	case c.Sync == nil || c.ObservedSync == nil:
		return false
	case LatestPosition(c.ObservedSync) == c.ObservedSync.Spec.ForProvider.AskedPosition():
		return slices.EqualFunc(c.Sync.Spec.ForProvider.Sites, c.ObservedSync.Spec.ForProvider.Sites, isSameSiteRequest)
	}
	return followsToTrees(c.ObservedSync, c.Sync.Spec.ForProvider.Sites)
}

// followsToTrees is true for a SiteSync that looks for the trees of Sites at the position to which it followed the ledger. A Site of a later step runs the tree of an
// earlier revision until then, whatever the spec says that it will run.
func followsToTrees(s *deliveryv1alpha1.SiteSync, wanted []deliveryv1alpha1.SiteTree) bool {
	step, trees, requested := LatestPosition(s).Step, LatestTrees(s), map[string]deliveryv1alpha1.SiteTree{}
	for _, t := range s.Spec.ForProvider.Sites {
		requested[t.Name] = t
	}
	return !slices.ContainsFunc(wanted, func(want deliveryv1alpha1.SiteTree) bool {
		t := requested[want.Name]
		return t.Path != want.Path || t.RepositoryRef != want.RepositoryRef || want.Wave <= step && trees[want.Name] != want.Tree
	})
}

// isSameSiteRequest is true for two requests to observe a Site that ask for the same.
func isSameSiteRequest(a, b deliveryv1alpha1.SiteTree) bool {
	if a.Traffic == nil || b.Traffic == nil {
		return a == b
	}
	traffic, otherTraffic := a.Traffic, b.Traffic
	a.Traffic, b.Traffic = nil, nil
	return a == b && equality.Semantic.DeepEqual(traffic, otherTraffic)
}

// watchesSite is true for a Site that the desired SiteSync observes.
func (c *Comparison) watchesSite(site string) bool {
	return c.Sync != nil && slices.ContainsFunc(c.Sync.Spec.ForProvider.Sites, func(s deliveryv1alpha1.SiteTree) bool { return s.Name == site })
}

// UnprovenSites returns the Sites of the revision's step that no engine reports about, and where a delivered tree does not count as live. While the
// catalog is not known, the Sites of a verified revision counted.
func (c *Comparison) UnprovenSites() []string {
	if c.State.Current == nil || c.Unobserved != nil && len(c.Unobserved) == 0 {
		return nil
	}
	var out []string
	for _, t := range c.Trees() {
		if c.State.Cursor.Attempt > 0 && t.Action == deliveryv1alpha1.ActionKeep {
			continue // The rollback does not change it.
		}
		counts, unobserved := c.Unobserved[t.Site]
		if c.Unobserved == nil && !c.watchesSite(t.Site) {
			counts, unobserved = c.State.IsVerified(), true
		}
		if unobserved && !counts && c.State.HasReached(t.Site) {
			out = append(out, t.Site)
		}
	}
	return out
}
