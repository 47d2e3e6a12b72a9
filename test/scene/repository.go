package scene

import (
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/test/gitserver"
)

// Commits are the commits of the repository's branch, newest first, without its first commit.
func (s *Scene) Commits() []gitserver.Commit {
	s.T.Helper()
	log, err := s.Git.Log(s.T.Context(), s.Namespace, "main")
	s.Must(err)
	return log[:len(log)-1]
}

// Files are the files of the repository's branch.
func (s *Scene) Files() map[string]string {
	s.T.Helper()
	files, err := s.Git.Files(s.T.Context(), s.Namespace, "main")
	s.Must(err)
	return files
}

// FilesBelow are the files below a directory of the repository, by their path in it.
func (s *Scene) FilesBelow(dir string) map[string]string {
	s.T.Helper()
	out := map[string]string{}
	for name, content := range s.Files() {
		if rest, ok := cutDirectory(name, dir); ok {
			out[rest] = content
		}
	}
	return out
}

// Names of files, sorted.
func Names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

func cutDirectory(name, dir string) (string, bool) {
	if len(name) <= len(dir) || name[:len(dir)] != dir || name[len(dir)] != '/' {
		return "", false
	}
	return name[len(dir)+1:], true
}

// Outside are the entries of the branch's tree, with mode and id, that are in none of these directories.
func (s *Scene) Outside(directories ...string) []string {
	s.T.Helper()
	out, err := s.Git.Git(s.T.Context(), s.Namespace, "ls-tree", "-r", "-z", "main")
	s.Must(err)
	var entries []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		_, path, _ := strings.Cut(entry, "\t")
		if !isInDirectories(path, directories) {
			entries = append(entries, entry)
		}
	}
	return entries
}

func isInDirectories(path string, directories []string) bool {
	for _, d := range directories {
		if _, ok := cutDirectory(path, d); ok {
			return true
		}
	}
	return false
}

// Tree is the id of the tree at a path of the branch, or empty.
func (s *Scene) Tree(path string) string {
	s.T.Helper()
	out, err := s.Git.Git(s.T.Context(), s.Namespace, "ls-tree", "--object-only", "main", path)
	s.Must(err)
	return strings.TrimSpace(out)
}
