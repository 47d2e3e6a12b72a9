package mandate

import (
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// followStage returns what the directories of a deployment in tracks get in the stage of a rollback that its ledger came to: the requests leave the track of the
// rejected revision first, and its pods go after them. The shared files are those of the spec, and the folders those of the repository.
func (f Facts) followStage(trees []v1alpha1.Tree, recorded, s ledger.State) []v1alpha1.Tree {
	out, in := make([]v1alpha1.Tree, len(trees)), f.input(recorded, s)
	for i, t := range trees {
		out[i] = f.followAim(t, in, s)
	}
	return out
}

// followAim returns the tree that brings a directory to its aim in the stage of a rollback. A directory whose tree cannot be composed stays.
func (f Facts) followAim(t v1alpha1.Tree, in step.Input, s ledger.State) v1alpha1.Tree {
	if s.Cursor.Attempt == 0 {
		return directories.Retain(t)
	}
	d := directories.NewDirectory(s, t)
	d.Asked, d.Held, d.Aim = t, f.Delivered[t.Path], in.AimAt(s, directoryOf(in, t.Site))
	out, err := directories.NewTracker(0).RollBack(d.WithoutOtherFiles(), directories.Rollback{Target: step.TargetOf(s), IsChosen: f.isChosen})
	if err != nil {
		return directories.Retain(t)
	}
	out.After = ""
	return out.Tree
}

// directoryOf returns the directory of a Site, as an event is decided by it. Nothing is known of a Site that the revision does not have.
func directoryOf(in step.Input, site string) step.Directory {
	i := slices.IndexFunc(in.Directories, func(d step.Directory) bool { return d.Site == site })
	if i < 0 {
		return step.Directory{Site: site}
	}
	return in.Directories[i]
}

// CanMoveRequests reports whether the trees of a spec have all that the stages of a rollback need: requests leave one of two tracks by the files that the tracks
// share. Delivered are the directories of the repository, by their paths.
func CanMoveRequests(trees []v1alpha1.Tree, delivered map[string]v1alpha1.DeliveredTree) bool {
	return !slices.ContainsFunc(trees, func(t v1alpha1.Tree) bool { return len(delivered[t.Path].Tracks) > 1 && len(t.Files) == 0 })
}
