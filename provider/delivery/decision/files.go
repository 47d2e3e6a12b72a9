package decision

import (
	"maps"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// CommitsWithTree returns the commits of the history that delivered a tree.
func (f Facts) CommitsWithTree(id string) []string {
	out := []string{}
	for _, h := range append(f.BaseRecord().Revisions, f.LastStatus.History...) {
		for _, t := range h.Trees {
			if (t.Tree == id || t.Part == id) && h.Commit != "" {
				out = append(out, h.Commit)
				break
			}
		}
	}
	return out
}

// DecodedFiles returns the files of a tree of the spec, or nil for invalid files.
func (f Facts) DecodedFiles(t v1alpha1.Tree) tree.Files {
	if t.Action == v1alpha1.ActionRestore {
		return f.Restored[t.Tree]
	}
	files, err := f.filesOf(t)
	if err != nil {
		return nil
	}
	return f.withParts(t, files)
}

// MarkedFiles returns the files of a tree with the claim's marker, and their common id.
func (f Facts) MarkedFiles(t v1alpha1.Tree) (tree.Files, string) {
	files := tree.Files{tree.Marker: f.MarkerContent}
	maps.Copy(files, f.DecodedFiles(t))
	return files, tree.ID(files)
}

// hasUnretainedTree is true if the state does not retain a delivered tree whose files are available.
func (f Facts) hasUnretainedTree() bool {
	for _, t := range f.Spec.Trees {
		if t.Action != v1alpha1.ActionKeep && !f.Retained[t.Tree] && len(f.DecodedFiles(t)) > 0 {
			return true
		}
	}
	return false
}

// RetainedDir returns the directory of the state that retains the claim's trees.
func (f Facts) RetainedDir() string { return state.TreesPath(f.Spec.ClaimRef) }

// FilesByTree returns the files that the facts already have, by the id of their tree.
func (f Facts) FilesByTree() map[string]tree.Files {
	out := map[string]tree.Files{}
	for _, t := range f.Spec.Trees {
		if t.Action == v1alpha1.ActionKeep {
			continue
		}
		out[t.Tree] = f.DecodedFiles(t)
		for _, treeTrack := range t.Tracks {
			folder := out[t.Tree].InFolder(treeTrack.Name)
			out[tree.ID(folder)] = folder
		}
	}
	return out
}
