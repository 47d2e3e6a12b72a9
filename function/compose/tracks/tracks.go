// Package tracks composes the deliveries and the SiteSync of a revision in tracks. It is pure.
package tracks

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
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
)

// A Composer composes the trees of the directories of a deployment in tracks for a state of its ledger.
type Composer struct {
	// Claim of the deployment, and the part of its spec about deliveries. In a rollback attempt the Sites have the time of the attempt.
	Claim  rolloutv1alpha1.ClaimReference
	Config deploymentv1alpha1.DeliveryConfig

	// State of the ledger, and the input for its next event.
	State ledger.State
	Step  step.Input

	// Base are the deliveries whose trees are brought to their aims. IsOwn says that these are the trees of the revision, as they were rendered: else
	// they are the previously requested trees.
	Base  map[string]*deliveryv1alpha1.GitDelivery
	IsOwn bool

	// Observed deliveries, and the position that the home of the ledger has recorded.
	Observed map[string]*deliveryv1alpha1.GitDelivery
	Recorded ledger.Position

	// Sync is the observed SiteSync, or nil. SitesAsked are the trees that it looks for, by the name of the Site.
	Sync       *deliveryv1alpha1.SiteSync
	SitesAsked map[string]deliveryv1alpha1.SiteTree

	// Rendered are the compiled deliveries. IsRendered is true if they have the files of the revision, and AwaitsFiles while the files are unknown, since
	// rendering is retried.
	Rendered    map[string]*deliveryv1alpha1.GitDelivery
	IsRendered  bool
	AwaitsFiles bool

	// Unobserved are the Sites without an engine. IsChosen is true for a Site of the deployment, as far as its Sites are known.
	Unobserved map[string]bool
	IsChosen   func(site string) bool

	// Tracker composes directories.
	Tracker *directories.Tracker
}

// Composed are the resources of a revision in tracks.
type Composed struct {
	// Deliveries by their names in the composition.
	Deliveries map[string]*deliveryv1alpha1.GitDelivery

	// Sync is the SiteSync. Nil means that there is none.
	Sync *deliveryv1alpha1.SiteSync

	// Alone are the trees in which the revision is alone, by Site.
	Alone map[string]ledger.SiteTree

	// LostFiles says which files a move from or to tracks needs that are in no object any more. Empty means that it has all.
	LostFiles string
}

// Compose composes the deliveries and the SiteSync. It returns an error for files that cannot be composed.
func (c Composer) Compose() (Composed, error) {
	a := Composed{Deliveries: map[string]*deliveryv1alpha1.GitDelivery{}, Alone: map[string]ledger.SiteTree{}}
	var sites []deliveryv1alpha1.SiteTree
	for _, name := range slices.Sorted(maps.Keys(c.Base)) {
		d := c.Base[name]
		out := *d
		out.Spec.ForProvider.Trees, out.Spec.ForProvider.Later = nil, nil
		for _, t := range d.Spec.ForProvider.Trees {
			from := c.directoryOf(name, t)
			composed, err := c.composeTree(from, t)
			if err != nil {
				return a, err
			}
			composed.After = from.TreeBefore(composed.Tree)
			out.Spec.ForProvider.Trees = append(out.Spec.ForProvider.Trees, composed.Tree)
			later := c.treeOfLaterStep(d, t)
			if later != nil {
				out.Spec.ForProvider.Later = append(out.Spec.ForProvider.Later, *later)
			}
			if c.hasLostFiles(from, composed) {
				a.LostFiles = fmt.Sprintf("Site %s: no object has the files of revision %d any more, and a move from or to tracks needs them", t.Site, c.State.Current.Stable)
			}
			if alone, ok := c.Tracker.Alone(from); ok {
				a.Alone[t.Site] = alone
			}
			if site := c.siteToObserve(d, composed, from, later); site != nil {
				sites = append(sites, *site)
			}
		}
		if c.State.Cursor.Attempt > 0 && !c.State.Restored {
			out.Spec.ForProvider.DriftPolicy = deliveryv1alpha1.DriftRestore
		}
		a.Deliveries[name] = &out
	}
	if c.State.IsRejected() && c.State.Cursor.Attempt == 0 {
		a.Sync = c.Sync
		return a, nil
	}
	a.Sync = compose.SyncOf(c.Claim, c.Config, c.State, sites)
	return a, nil
}

// treeOfLaterStep returns the tree that a directory gets once its step has come, as it was rendered, or nil. The first step waits for the requests of an earlier canary.
func (c Composer) treeOfLaterStep(d *deliveryv1alpha1.GitDelivery, t deliveryv1alpha1.Tree) *deliveryv1alpha1.LaterTree {
	switch s := c.State; {
	case s.IsRejected(), s.IsMove(), s.StepOf(t.Site) < s.NextStep():
		return nil
	case !c.IsOwn:
		return directories.LaterOf(d.Spec.ForProvider, t, s)
	case t.Action == deliveryv1alpha1.ActionDesired:
		return new(directories.NewLater(t, s))
	}
	return nil
}

// directoryOf returns the input for composing the tree of a directory.
func (c Composer) directoryOf(delivery string, t deliveryv1alpha1.Tree) directories.Directory {
	observed := c.Observed[delivery]
	out := directories.NewDirectory(c.State, t)
	out.Held, _ = evidence.HeldTree(observed, t.Path)
	if observed != nil {
		out.IsAskedAgain = observed.Spec.ForProvider.AskedPosition() == c.State.Position()
		out.IsAskedInPosition = c.Recorded == c.State.Position() && out.IsAskedAgain
		out.Asked, _ = directories.TreeAt(observed.Spec.ForProvider, t.Branch, t.Path)
	}
	dir := directories.DirectoryOf(c.Step, t.Site)
	if !c.IsOwn && observed != nil {
		out = c.Tracker.Begun(out, observed.Spec.ForProvider, c.State, c.Step.AimInStep(c.State, dir))
	}
	if !c.IsOwn {
		out = out.WithoutOtherFiles()
	}
	out.Aim = c.Step.AimAt(c.State, dir)
	return c.withRenderedFiles(out)
}

// composeTree returns the tree of a directory. A directory that stays is asked for as before, so that its files are not lost.
func (c Composer) composeTree(from directories.Directory, base deliveryv1alpha1.Tree) (directories.TrackedTree, error) {
	switch {
	case c.IsOwn && base.Action == deliveryv1alpha1.ActionKeep:
		return directories.TrackedTree{Tree: base}, nil // The cluster of the Site is not ready.
	case from.Aim.Keeps:
		return directories.KeepTracked(from), nil
	case c.State.Cursor.Attempt > 0:
		r := directories.Rollback{Target: step.TargetOf(c.State), IsChosen: c.IsChosen, AwaitsFiles: c.AwaitsFiles}
		return c.Tracker.RollBack(from, r)
	case !c.IsOwn && from.NeedsRendering():
		return directories.KeepTracked(from), nil
	}
	return c.Tracker.Compose(from)
}

// siteToObserve returns the tree and tracks that the SiteSync has to observe in a directory, or nil. The SiteSync names each directory from the start of a
// revision, since it comes to later positions by the ledger: a directory that has no tree before has the tree of its step.
func (c Composer) siteToObserve(
	d *deliveryv1alpha1.GitDelivery, t directories.TrackedTree, from directories.Directory, later *deliveryv1alpha1.LaterTree,
) *deliveryv1alpha1.SiteTree {
	if _, isUnobserved := c.Unobserved[t.Site]; isUnobserved {
		return nil
	}
	wave := directories.WaveToObserve(c.State, t.Site, from.Held)
	if t.Action == deliveryv1alpha1.ActionKeep {
		if t.Tree.Tree = c.treeToObserve(from, later, wave); t.Tree.Tree == "" {
			return nil
		}
		out := directories.SiteToObserve(d, t.Tree, wave)
		out.Traffic = directories.DeliveredTraffic(c.State, from.Held, Drain(c.Config))
		return &out
	}
	out := directories.SiteToObserve(d, t.Tree, wave)
	out.Traffic = directories.TrafficOf(t, from.Held, directories.Traffic{
		Awaited: directories.AwaitedRevision(c.State, from.Held), Position: c.State.Position(), Drain: Drain(c.Config),
	})
	return &out
}

// treeToObserve returns the tree that the Site of a retained directory has to run, or "" for a Site that is not observed: the delivered tree, or from a later
// step on the tree that the directory gets then.
func (c Composer) treeToObserve(from directories.Directory, later *deliveryv1alpha1.LaterTree, wave int32) string {
	requested := c.SitesAsked[from.Own.Site].Tree
	switch {
	case len(from.Held.Tracks) > 0, from.Held.Tree != "" && requested == from.Held.Tree:
		return from.Held.Tree
	case wave <= c.State.Cursor.Step, c.State.IsMove():
		return ""
	case later != nil:
		return later.Tree.Tree
	case c.IsOwn:
		return from.Own.Tree
	}
	return requested
}

// Drain returns how long pods stay after they lost their requests. An invalid duration is a problem of the spec, and the default counts.
func Drain(config deploymentv1alpha1.DeliveryConfig) string {
	if c := config.Canary; c != nil {
		if _, err := time.ParseDuration(string(c.Drain)); err == nil {
			return string(c.Drain)
		}
	}
	return defaultDrain
}

// defaultDrain is the default of the schema for the time that pods stay after they lost their requests.
const defaultDrain = "30s"

// withRenderedFiles returns the inputs of a directory, with the files of the revision as it is rendered now if no object has any: requests leave a track
// before its pods are removed only by a tree with the shared objects of the tracks. A move needs files that are not rendered any more.
func (c Composer) withRenderedFiles(d directories.Directory) directories.Directory {
	if len(d.Own.Files)+len(d.Asked.Files) > 0 || c.IsOwn || c.State.IsMove() || !c.IsRendered {
		return d
	}
	for _, delivery := range c.Rendered {
		if t, ok := directories.TreeAt(delivery.Spec.ForProvider, d.Own.Branch, d.Own.Path); ok && t.Site == d.Own.Site {
			d.Own.Tree, d.Own.Files, d.Own.Encoding = t.Tree, t.Files, t.Encoding
		}
	}
	return d
}

// hasLostFiles is true for a directory that a move cannot bring to its aim: the object that had its files was lost.
func (c Composer) hasLostFiles(from directories.Directory, composed directories.TrackedTree) bool {
	stays := from.Aim.Keeps || from.Aim.IsUnknown || from.Held.Tree == "" || from.Own.Action == deliveryv1alpha1.ActionKeep
	return c.IsOwn && c.State.IsMove() && c.State.Verdict == nil && !stays && composed.Action == deliveryv1alpha1.ActionKeep
}
