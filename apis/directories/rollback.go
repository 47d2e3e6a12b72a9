package directories

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
)

// NewDirectory returns the input for composing the tree of a Site in a state, by the tree of its delivery. It has no aim yet.
func NewDirectory(s ledger.State, t deliveryv1alpha1.Tree) Directory {
	return Directory{Own: t, Track: s.Current.Folder(), Revision: s.Current.Number, IsPlainLabelled: hasLabelledPods(s), FolderOf: pastFoldersOfSite(s, t.Site)}
}

// WithoutOtherFiles returns the directory with the files of the revision's track only.
func (d Directory) WithoutOtherFiles() Directory {
	if !CarriesTrack(d.Own, d.Track, d.Revision) {
		d.Own.Files = nil
	}
	return d
}

// hasLabelledPods is true if the pods of the revision without tracks that takes part have a label of their own.
func hasLabelledPods(s ledger.State) bool {
	if stable := s.PastRevision(s.Current.Stable); !ledger.IsPlain(s.Current.Track) && stable != nil {
		return stable.Track == ledger.TrackPlain
	}
	return s.Current.Track == ledger.TrackPlain
}

// pastFoldersOfSite returns the ids of the folders of past revisions at a Site.
func pastFoldersOfSite(s ledger.State, site string) func(int64) string {
	return func(revision int64) string {
		for _, p := range s.History {
			for _, t := range p.Trees {
				if p.Number == revision && t.Site == site {
					return t.Part
				}
			}
		}
		return ""
	}
}

// NeedsRendering is true for a directory without tracks that gets a folder: no object has the files of its revision as they were rendered.
func (d Directory) NeedsRendering() bool { return d.Track == track.Plain && len(d.Aim.Put) > 0 }

// A Rollback is the target of an attempt to roll back, and its Sites.
type Rollback struct {
	// Target of the attempt. Nil means that the ledger does not remember it.
	Target *ledger.Past

	// IsChosen is true for a Site that the deployment is still for.
	IsChosen func(site string) bool

	// AwaitsFiles is true if files which are in no object now may be rendered later: a directory stays until then.
	AwaitsFiles bool
}

// RollBack returns the tree that brings a directory to its aim in an attempt to roll back. A directory whose requests cannot be moved first, since the shared files
// are in no object, gets the tree of the target at once. It returns an error for files without the folders of a directory with tracks.
func (c *Tracker) RollBack(d Directory, r Rollback) (TrackedTree, error) {
	switch {
	case d.Aim.Keeps, !d.Aim.Restores && d.NeedsRendering():
		return KeepTracked(d), nil
	case d.Aim.Restores:
		return c.restoreTarget(d, r), nil
	}
	out, err := c.Compose(d)
	if err == nil && out.Action == deliveryv1alpha1.ActionKeep && !r.AwaitsFiles {
		return c.restoreTarget(d, r), nil
	}
	return out, err
}

// restoreTarget returns the tree of the target of a rollback. A directory that the target did not have, or that the deployment is not for any more, stays.
func (c *Tracker) restoreTarget(d Directory, r Rollback) TrackedTree {
	if r.Target == nil || !r.IsChosen(d.Own.Site) {
		return KeepTracked(d)
	}
	for _, t := range r.Target.Trees {
		if t.Site == d.Own.Site {
			return c.RestoreTracked(d, t, *r.Target)
		}
	}
	return KeepTracked(d)
}
