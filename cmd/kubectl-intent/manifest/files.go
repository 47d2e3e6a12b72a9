package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// FilesIn returns the files that a path of the command line stands for: the manifests of a directory and of all directories below it, in
// the order of their names, and any other path as it is. It returns an error for a directory that cannot be read.
func FilesIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if isDirectory := err == nil && info.IsDir(); !isDirectory {
		return []string{path}, nil
	}
	out := []string{}
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != path && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case !e.IsDir() && isManifestFile(name):
			out = append(out, name)
		}
		return nil
	})
	return out, errors.Wrap(err, "cannot read directory")
}

// isManifestFile reports whether a file of a directory is read. kubectl reads the same ones.
func isManifestFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}
