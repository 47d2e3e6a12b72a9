package mandate

import (
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// followStage returns the trees of the directories with tracks for the current step of a revision, or for the current stage of its rollback: the requests leave
// the track of a rejected revision first, and its pods are removed after them. The shared files and those of the revision come from the spec, and the folders
// from the repository.
func (f Facts) followStage(p v1alpha1.GitDeliveryParameters, recorded, s ledger.State) []v1alpha1.Tree {
	out, in := make([]v1alpha1.Tree, len(p.Trees)), f.newAimInput(recorded, s)
	for i, t := range p.Trees {
		out[i] = f.composeStepTree(p, t, in, s)
	}
	return out
}

// newAimInput returns the input for the aims of directories. No proof about a position changes an aim.
func (f Facts) newAimInput(recorded, s ledger.State) step.Input {
	return step.Input{Directories: f.directories(recorded, s)}
}

// composeStepTree returns the tree for the aim of a directory in a step, or in the stage of a rollback. A directory is retained if its tree cannot be composed.
func (f Facts) composeStepTree(p v1alpha1.GitDeliveryParameters, t v1alpha1.Tree, in step.Input, s ledger.State) v1alpha1.Tree {
	if s.IsRejected() && s.Cursor.Attempt == 0 {
		return directories.Retain(t)
	}
	d, dir := directories.NewDirectory(s, t), directories.DirectoryOf(in, t.Site)
	d.Asked, d.Held = t, f.Delivered[t.Path]
	d = f.trackerOrDefault().Begun(d, p, s, in.AimInStep(s, dir))
	d.Aim = in.AimAt(s, dir)
	out, err := f.composeAimTree(d.WithoutOtherFiles(), s)
	if err != nil {
		return directories.Retain(t)
	}
	out.After = ""
	return out.Tree
}

// composeAimTree returns the tree that brings a directory to its aim.
func (f Facts) composeAimTree(d directories.Directory, s ledger.State) (directories.TrackedTree, error) {
	if s.Cursor.Attempt == 0 {
		return f.trackerOrDefault().Compose(d)
	}
	return f.trackerOrDefault().RollBack(d, directories.Rollback{Target: step.TargetOf(s), IsChosen: f.isChosenSite})
}

// trackerOrDefault returns the Tracker of the facts, or one without a memory.
func (f Facts) trackerOrDefault() *directories.Tracker {
	if f.Tracker == nil {
		return directories.NewTracker(0)
	}
	return f.Tracker
}

// CanMoveRequests reports whether a spec has the files for the stages of a rollback: the shared files of two tracks move the requests off one of them. delivered
// has the directories of the repository, by their paths. The later tree of a first step has these files only once the step has begun: until then the directory
// has the shared files of an earlier revision.
func CanMoveRequests(p v1alpha1.GitDeliveryParameters, delivered map[string]v1alpha1.DeliveredTree) bool {
	return !slices.ContainsFunc(p.Trees, func(t v1alpha1.Tree) bool {
		held := delivered[t.Path]
		hasFiles := func(l v1alpha1.LaterTree) bool {
			return l.IsFor(t.Branch, t.Path) && (l.Step > 0 || hasRevision(held, l.Revision))
		}
		return len(held.Tracks) > 1 && len(t.Files) == 0 && !slices.ContainsFunc(p.Later, hasFiles)
	})
}
