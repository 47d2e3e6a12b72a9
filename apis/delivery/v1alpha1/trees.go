package v1alpha1

import "iter"

// EachTree yields the trees of a delivery: those for the present step of the plan, then those for later steps. A directory with a later tree may have both.
func (p GitDeliveryParameters) EachTree() iter.Seq[Tree] {
	return func(yield func(Tree) bool) {
		for _, t := range p.Trees {
			if !yield(t) {
				return
			}
		}
		for _, l := range p.Later {
			if !yield(l.Tree) {
				return
			}
		}
	}
}

// IsFor is true for a tree of a directory of a branch.
func (t Tree) IsFor(branch, path string) bool { return t.Branch == branch && t.Path == path }

// FileBytes returns the size of the files that the object carries, in bytes as the trees encode them.
func (p GitDeliveryParameters) FileBytes() int {
	total := 0
	for t := range p.EachTree() {
		total += len(t.Files)
	}
	return total
}
