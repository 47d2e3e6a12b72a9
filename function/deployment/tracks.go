package deployment

import (
	"fmt"
	"maps"
	"slices"
	"time"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
)

// areTracksKnown is true if the repository of a delivery was brought to the recorded position.
func (o Observed) areTracksKnown(d *deliveryv1alpha1.GitDelivery) bool {
	return o.home.IsKnown && o.home.State.Current != nil && d != nil && evidence.HasApplied(d, o.home.State.Position())
}

// isDraining is true while some directory has the track that a verified revision took the requests from.
func (o Observed) isDraining(s ledger.State) bool {
	if !s.HasTracks() || !s.IsVerified() {
		return false
	}
	for _, part := range s.Current.Parts {
		for _, site := range part.Sites {
			delivered, _ := evidence.HeldTreeAt(o.deliveries[part.Delivery], site)
			if slices.ContainsFunc(delivered.Tracks, func(t deliveryv1alpha1.DeliveredTrack) bool { return t.Name != s.Current.Folder() }) {
				return true
			}
		}
	}
	return false
}

// A trackedState is a state of a deployment in tracks, with the input for composing the trees of its directories.
type trackedState struct {
	decider
	state ledger.State
	input step.Input

	// base are the deliveries whose trees are brought to their aims. isOwn says that these are the trees of the revision, as they were rendered: else
	// they are the previously requested trees.
	base  map[string]*deliveryv1alpha1.GitDelivery
	isOwn bool
}

// requestTracks requests the trees of a deployment in tracks, as far as its stages and steps have come.
func (dr decider) requestTracks(s ledger.State) (desiredResources, error) {
	x := trackedState{decider: dr, state: s, input: stepInput(dr.in, dr.observed, dr.compiled, s)}
	a, spec := desiredResources{}, dr.deliveryConfig(s)
	switch {
	case s.Cursor.Attempt > 0:
		spec.DeliveryTimeout = spec.SyncWaitTimeout
		x.base = compose.Resume(dr.revisionParts(s), spec)
	case !s.IsRejected() && dr.isRequestOf(s) && dr.compiled.desired.Placement.Track == s.Current.Track:
		x.isOwn = true
		inherited := compose.Inherit(dr.compiled.deliveries, dr.observed.deliveries)
		x.base = compose.RetainUnreadySites(inherited, dr.observed.deliveries, dr.observed.sync, s, dr.compiled.clustered)
	default:
		parts := dr.revisionParts(s)
		x.base, a.isResumed = compose.Resume(parts, spec), true
		a.isLost = !s.IsRejected() && !compose.CanResume(parts, s)
		a.isRendererHeld = !s.IsRejected() && dr.isRendererHeld(s)
	}
	return a, x.composeDeliveries(&a, spec)
}

// composeDeliveries composes the deliveries and the SiteSync.
func (x trackedState) composeDeliveries(a *desiredResources, spec deploymentv1alpha1.DeliveryConfig) error {
	a.deliveries, a.alone = map[string]*deliveryv1alpha1.GitDelivery{}, map[string]ledger.SiteTree{}
	var sites []deliveryv1alpha1.SiteTree
	for _, name := range slices.Sorted(maps.Keys(x.base)) {
		d := x.base[name]
		out := *d
		out.Spec.ForProvider.Trees, out.Spec.ForProvider.Later = nil, nil
		for _, t := range d.Spec.ForProvider.Trees {
			from := x.directoryOf(name, t)
			composed, err := x.composeTree(from, t)
			if err != nil {
				return err
			}
			composed.After = from.TreeBefore(composed.Tree)
			out.Spec.ForProvider.Trees = append(out.Spec.ForProvider.Trees, composed.Tree)
			later := x.laterTree(d, t)
			if later != nil {
				out.Spec.ForProvider.Later = append(out.Spec.ForProvider.Later, *later)
			}
			if x.hasLostFiles(from, composed) {
				a.lostFiles = fmt.Sprintf("Site %s: no object has the files of revision %d any more, and a move from or to tracks needs them", t.Site, x.state.Current.Stable)
			}
			if alone, ok := x.compiled.tracker.Alone(from); ok {
				a.alone[t.Site] = alone
			}
			if site := x.siteToObserve(d, composed, from, later); site != nil {
				sites = append(sites, *site)
			}
		}
		if x.state.Cursor.Attempt > 0 && !x.state.Restored {
			out.Spec.ForProvider.DriftPolicy = deliveryv1alpha1.DriftRestore
		}
		a.deliveries[name] = &out
	}
	if x.state.IsRejected() && x.state.Cursor.Attempt == 0 {
		a.sync = x.observed.sync
		return nil
	}
	a.sync = compose.SyncOf(x.in.Claim, spec, x.state, sites)
	return nil
}

// laterTree returns the tree that a directory gets once its step has come, as it was rendered, or nil. The first step waits for the requests of an earlier canary.
func (x trackedState) laterTree(d *deliveryv1alpha1.GitDelivery, t deliveryv1alpha1.Tree) *deliveryv1alpha1.LaterTree {
	switch s := x.state; {
	case s.IsRejected(), s.IsMove(), s.StepOf(t.Site) < s.NextStep():
		return nil
	case !x.isOwn:
		return directories.LaterOf(d.Spec.ForProvider, t, s)
	case t.Action == deliveryv1alpha1.ActionDesired:
		return new(directories.NewLater(t, s))
	}
	return nil
}

// directoryOf returns the input for composing the tree of a directory.
func (x trackedState) directoryOf(delivery string, t deliveryv1alpha1.Tree) directories.Directory {
	observed := x.observed.deliveries[delivery]
	out := directories.NewDirectory(x.state, t)
	out.Held, _ = evidence.HeldTree(observed, t.Path)
	if observed != nil {
		recorded := x.observed.home.State.Position()
		out.IsAskedAgain = observed.Spec.ForProvider.AskedPosition() == x.state.Position()
		out.IsAskedInPosition = recorded == x.state.Position() && out.IsAskedAgain
		out.Asked, _ = observed.Spec.ForProvider.TreeAt(t.Branch, t.Path)
	}
	dir := directories.DirectoryOf(x.input, t.Site)
	if !x.isOwn && observed != nil {
		out = x.compiled.tracker.Begun(out, observed.Spec.ForProvider, x.state, x.input.AimInStep(x.state, dir))
	}
	if !x.isOwn {
		out = out.WithoutOtherFiles()
	}
	out.Aim = x.input.AimAt(x.state, dir)
	return x.withRenderedFiles(out)
}

// composeTree returns the tree of a directory. A directory that stays is asked for as before, so that its files are not lost.
func (x trackedState) composeTree(from directories.Directory, base deliveryv1alpha1.Tree) (directories.TrackedTree, error) {
	switch {
	case x.isOwn && base.Action == deliveryv1alpha1.ActionKeep:
		return directories.TrackedTree{Tree: base}, nil // The cluster of the Site is not ready.
	case from.Aim.Keeps:
		return directories.KeepTracked(from), nil
	case x.state.Cursor.Attempt > 0:
		r := directories.Rollback{Target: step.TargetOf(x.state), IsChosen: x.compiled.isChosen, AwaitsFiles: x.awaitsRendering()}
		return x.compiled.tracker.RollBack(from, r)
	case !x.isOwn && from.NeedsRendering():
		return directories.KeepTracked(from), nil
	}
	return x.compiled.tracker.Compose(from)
}

// siteToObserve returns the tree and tracks that the SiteSync has to observe in a directory, or nil. The SiteSync names each directory from the start of a
// revision, since it comes to later positions by the ledger: a directory that has no tree before has the tree of its step.
func (x trackedState) siteToObserve(
	d *deliveryv1alpha1.GitDelivery, t directories.TrackedTree, from directories.Directory, later *deliveryv1alpha1.LaterTree,
) *deliveryv1alpha1.SiteTree {
	if _, isUnobserved := x.compiled.unobserved[t.Site]; isUnobserved {
		return nil
	}
	wave := directories.WaveToObserve(x.state, t.Site, from.Held)
	if t.Action == deliveryv1alpha1.ActionKeep {
		if t.Tree.Tree = x.treeToObserve(from, later, wave); t.Tree.Tree == "" {
			return nil
		}
		out := directories.SiteToObserve(d, t.Tree, wave)
		out.Traffic = directories.DeliveredTraffic(x.state, from.Held, drainOf(x.in))
		return &out
	}
	out := directories.SiteToObserve(d, t.Tree, wave)
	out.Traffic = directories.TrafficOf(t, from.Held, directories.Traffic{
		Awaited: directories.AwaitedRevision(x.state, from.Held), Position: x.state.Position(), Drain: drainOf(x.in),
	})
	return &out
}

// treeToObserve returns the tree that the Site of a retained directory has to run, or "" for a Site that is not observed: the delivered tree, or from a later
// step on the tree that the directory gets then.
func (x trackedState) treeToObserve(from directories.Directory, later *deliveryv1alpha1.LaterTree, wave int32) string {
	requested := x.observed.sitesAsked[from.Own.Site].Tree
	switch {
	case len(from.Held.Tracks) > 0, from.Held.Tree != "" && requested == from.Held.Tree:
		return from.Held.Tree
	case wave <= x.state.Cursor.Step, x.state.IsMove():
		return ""
	case later != nil:
		return later.Tree.Tree
	case x.isOwn:
		return from.Own.Tree
	}
	return requested
}

// drainOf returns how long pods stay after they lost their requests.
func drainOf(in Input) string {
	if c := in.Spec.DeliveryConfig.Canary; c != nil {
		if _, err := time.ParseDuration(string(c.Drain)); err == nil {
			return string(c.Drain)
		}
	}
	return defaultDrain
}

// defaultDrain is the default of the schema for the time that pods stay after they lost their requests.
const defaultDrain = "30s"

// withProof adds to the proof about a deployment in tracks the trees in which its revision is alone.
func (p proposedState) withProof(proof step.Proof) step.Proof {
	if !p.state.HasTracks() || p.state.Cursor.Attempt > 0 || !p.state.IsAtLastStep() {
		return proof
	}
	for i, t := range proof.Trees {
		alone, ok := p.asked.alone[t.Site]
		if !ok {
			proof.IsLive = false // A rollback could not go to the revision.
			continue
		}
		proof.Trees[i] = alone
	}
	return proof
}
