package git

import "github.com/intentplane/intentplane/provider/git/objects"

// What stands in the changes that callers make, and in the snapshots that they read.
type (
	// An Author is who a commit is from.
	Author = objects.Author
	// An Entry is what stands under a name in a directory.
	Entry = objects.Entry
	// Trees are the files of trees, by the id of each and by relative paths in it.
	Trees = objects.Trees
)
