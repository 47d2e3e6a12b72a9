package git

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

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

// MarkedDirectories returns the directories of the branch that have a file of a name, in a directory and below it, by their paths. The empty path is the
// root. It returns an *Error: of class TooLarge where there are more than are looked at.
func (s *Snapshot) MarkedDirectories(ctx context.Context, dir, name string) (map[string]MarkedDirectory, error) {
	tree := s.branch.Tree
	if dir != "" {
		e, ok, err := s.branch.Find(dir)
		if err != nil || !ok || !e.IsDir() {
			return nil, err
		}
		tree = e.ID
	}
	return s.branch.FindDirectories(ctx, tree, dir, maxBranchSteps, name)
}

// StateFilesNamed returns the files of the state that have a name, by the path of the directory that they lie in, as they are with what a draft will
// commit. It returns an *Error as FilesNamed does.
func (s *Snapshot) StateFilesNamed(ctx context.Context, name string) (map[string][]byte, error) {
	found, err := s.state.FindFiles(ctx, s.state.Tree, "", maxBranchSteps, func(e objects.TreeEntry) bool { return e.Name == name })
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(found))
	for dir, id := range found {
		if content, err := s.state.Read(plumbing.BlobObject, plumbing.NewHash(id)); err == nil { // The files of retained trees were not fetched.
			out[dir] = content
		}
	}
	for path, content := range s.pending {
		dir, isNamed := strings.CutSuffix(path, "/"+name)
		if !isNamed {
			continue
		}
		out[dir] = bytes.Clone(content)
		if content == nil {
			delete(out, dir)
		}
	}
	return out, nil
}
