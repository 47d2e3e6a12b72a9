package git

import (
	"bytes"
	"context"
	"iter"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/objects"
)

// FilesNamed returns the ids of all files of the branch that have a name and one of some ids, by the path of their directory. Files with a refused path and
// files in the root are left out. It returns an *Error: of class TooCostly where the branch needs more reading than one plan may do, and TooLarge where it has
// more such files than fit.
func (s *Snapshot) FilesNamed(ctx context.Context, name string, ids ...string) (map[string]string, error) {
	wanted := make([]plumbing.Hash, 0, len(ids))
	for _, id := range ids {
		wanted = append(wanted, plumbing.NewHash(id))
	}
	found, err := collectFiles(s.branch.FilesNamed(ctx, "", name, wanted...))
	delete(found, "")
	return found, err
}

// FilesNamedBelow returns the same for all files of a name in a directory of the
// branch and below it; empty if the directory does not exist. It returns an *Error of
// class TooLarge for a directory that needs more reading than one directory may.
func (s *Snapshot) FilesNamedBelow(ctx context.Context, dir, name string) (map[string]string, error) {
	return collectFiles(s.branch.Open(s.branch.Meter().ForDirectory()).FilesNamed(ctx, dir, name))
}

// collectFiles returns the ids of files, by the path of the directory that they lie in.
func collectFiles(files iter.Seq2[objects.FoundFile, error]) (map[string]string, error) {
	out := map[string]string{}
	for f, err := range files {
		if err != nil {
			return nil, err
		}
		out[f.Dir] = f.ID.String()
	}
	return out, nil
}

// A MarkedDirectory is a directory that has a file of some name.
type MarkedDirectory struct {
	// File is the id of the file, and Tree the id of the directory without the file.
	File, Tree string
}

// MarkedDirectories returns the directories of the branch that have a file of a name, in a directory and below it, by their paths. The empty path is the
// root. It returns an *Error as FilesNamed does.
func (s *Snapshot) MarkedDirectories(ctx context.Context, dir, name string) (map[string]MarkedDirectory, error) {
	out, rest := map[string]MarkedDirectory{}, map[plumbing.Hash]string{}
	for f, err := range s.branch.FilesNamed(ctx, dir, name) {
		if err != nil {
			return nil, err
		}
		if _, isKnown := rest[f.Tree]; !isKnown { // The same tree may be there under many names.
			id, err := s.branch.TreeWithout(ctx, f.Tree, name)
			if err != nil {
				return nil, err
			}
			rest[f.Tree] = id.String()
		}
		out[f.Dir] = MarkedDirectory{File: f.ID.String(), Tree: rest[f.Tree]}
	}
	return out, nil
}

// StateFilesNamed returns the files of the state that have a name, by the path of their directory, including the uncommitted edits of a draft. It returns an
// *Error as FilesNamed does.
func (s *Snapshot) StateFilesNamed(ctx context.Context, name string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for f, err := range s.state.FilesNamed(ctx, "", name) {
		if err != nil {
			return nil, err
		}
		if o, isKnown := s.state.Object(f.ID); isKnown && o.Kind == plumbing.BlobObject { // The files of retained trees were not fetched.
			out[f.Dir] = o.Data
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
