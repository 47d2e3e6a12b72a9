package gitdelivery

import (
	"context"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
)

// deliveredVariables returns the names of the variables that directories have since their last delivery, by path, for trees with variables. An object that
// was delivered before objects declared their variables declares none: its unchanged and restored trees may use the variables that the directory already
// has.
func (e *external) deliveredVariables(ctx context.Context, f facts, s *git.Snapshot) (map[string][]string, error) {
	out := map[string][]string{}
	for _, t := range f.spec.Trees {
		files := f.wholeOf(t)
		delivered := f.lastKnownTree(t.Path).Tree
		if delivered == "" || len(namesOfVariables(files)) == 0 {
			continue
		}
		if tree.ID(files) != delivered {
			var err error
			if files, _, err = e.findTreeFiles(ctx, f, s, lookup{id: delivered, path: t.Path, commits: f.commitsWithTree(delivered)}); err != nil {
				return nil, err
			}
		}
		out[t.Path] = namesOfVariables(files)
	}
	return out, nil
}

// wholeOf returns the files of a tree with its parts. They are empty for a tree that the checks refuse later.
func (f facts) wholeOf(t v1alpha1.Tree) tree.Files {
	if t.Action == v1alpha1.ActionRestore {
		return f.restored[t.Tree]
	}
	files, err := f.filesOf(t)
	if err != nil {
		return nil
	}
	return f.withParts(t, files)
}

// namesOfVariables returns the names of the variables in files.
func namesOfVariables(files tree.Files) []string {
	texts := make([]string, 0, len(files))
	for _, content := range files {
		texts = append(texts, string(content))
	}
	return expansion.Names(texts...)
}
