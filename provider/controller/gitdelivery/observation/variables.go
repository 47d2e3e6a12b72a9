package observation

import (
	"context"

	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/git"
)

// deliveredVariables returns the names of the variables that directories have since their last delivery, by path, for trees with variables. An object that
// was delivered before objects declared their variables declares none: its unchanged and restored trees may use the variables that the directory already
// has.
func (g *Gatherer) deliveredVariables(ctx context.Context, f decision.Facts, s *git.Snapshot) (map[string][]string, error) {
	out := map[string][]string{}
	for _, t := range f.Spec.Trees {
		files := f.DecodedFiles(t)
		delivered := f.LastKnownTree(t.Path).Tree
		if delivered == "" || len(namesOfVariables(files)) == 0 {
			continue
		}
		if tree.ID(files) != delivered {
			var err error
			if files, _, err = g.FindTreeFiles(ctx, f, s, Lookup{ID: delivered, Path: t.Path, Commits: f.CommitsWithTree(delivered)}); err != nil {
				return nil, err
			}
		}
		out[t.Path] = namesOfVariables(files)
	}
	return out, nil
}

// namesOfVariables returns the names of the variables in files.
func namesOfVariables(files tree.Files) []string {
	texts := make([]string, 0, len(files))
	for _, content := range files {
		texts = append(texts, string(content))
	}
	return expansion.Names(texts...)
}
