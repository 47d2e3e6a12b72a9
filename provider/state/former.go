package state

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// Limits of a record's former branches, so that a status that shows all of it has room for its own content.
const (
	maxFormer      = 500
	maxFormerBytes = 64 << 10
	// maxFormerBranches is the limit of status.atProvider.formerBranches.
	maxFormerBranches = 10
	// maxFormerAndTrees is how many directories a record has before it drops the directories of former branches.
	maxFormerAndTrees = 2 * maxNamed
)

// LimitFormer returns the directories of former branches that a record can have beside so many trees: each once, in their order. A directory
// without a branch or a path is left out.
func LimitFormer(former []Tree, trees int) []Tree {
	type place struct{ branch, path string }
	visited, branches, size, out := map[place]bool{}, map[string]bool{}, 0, []Tree(nil)
	for _, t := range former {
		key := place{t.Branch, t.Path}
		if visited[key] || t.Branch == "" || t.Path == "" {
			continue
		}
		visited[key], branches[t.Branch] = true, true
		size += len(t.Path)
		if len(out) == maxFormer || len(out)+trees >= maxFormerAndTrees || size > maxFormerBytes || len(branches) > maxFormerBranches {
			break
		}
		out = append(out, t)
	}
	return out
}

// ShownFormer returns the directories of former branches as a status holds them: the branches in the order of the record, with their
// paths sorted.
func (r RecordFile) ShownFormer() []deliveryv1alpha1.FormerBranch {
	var out []deliveryv1alpha1.FormerBranch
	places := map[string]int{}
	for _, t := range r.Former {
		i, isKnown := places[t.Branch]
		if !isKnown {
			i = len(out)
			places[t.Branch] = i
			out = append(out, deliveryv1alpha1.FormerBranch{Branch: t.Branch})
		}
		out[i].Paths = append(out[i].Paths, t.Path)
	}
	for i := range out {
		slices.Sort(out[i].Paths)
	}
	return out
}
