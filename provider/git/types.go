package git

import "github.com/intentplane/intentplane/provider/git/objects"

// Types of the changes that callers make, and of the snapshots that they read.
type (
	// An Author is the author of a commit.
	Author = objects.Author
	// An Entry has the mode and the object id of a name in a directory.
	Entry = objects.Entry
	// Trees are the files of trees, by the id of each and by relative paths in it.
	Trees = objects.Trees
)
