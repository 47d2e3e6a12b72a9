package git

import (
	"context"
	"slices"

	"github.com/intentplane/intentplane/provider/git/objects"
)

// How many entries of directories a search looks at.
const (
	maxBranchSteps    = 500_000
	maxDirectorySteps = 20_000
)

// FilesNamed returns the ids of all files of the branch that have a name and one of
// some ids, by the path of the directory that they lie in. Those whose path is
// refused are left out, and the root. It returns an *Error: of class TooLarge
// where the branch has more directories, or more such files, than are looked at.
func (s *Snapshot) FilesNamed(ctx context.Context, name string, ids ...string) (map[string]string, error) {
	wanted := func(e objects.TreeEntry) bool { return e.Name == name && slices.Contains(ids, e.ID.String()) }
	found, err := s.branch.FindFiles(ctx, s.branch.Tree, "", maxBranchSteps, wanted)
	delete(found, "")
	return found, err
}

// FilesNamedBelow returns the same for all files of a name in a directory of the
// branch and below it, none if the directory does not exist.
func (s *Snapshot) FilesNamedBelow(ctx context.Context, dir, name string) (map[string]string, error) {
	e, ok, err := s.branch.Find(dir)
	if err != nil || !ok || !e.IsDir() {
		return nil, err
	}
	return s.branch.FindFiles(ctx, e.ID, dir, maxDirectorySteps, func(e objects.TreeEntry) bool { return e.Name == name })
}
