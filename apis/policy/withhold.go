package policy

import (
	"path"
	"slices"

	"github.com/intentplane/intentplane/apis/tree"
)

// WithoutSecrets returns the files of a tree that hold no Secret, and the names of files that hold a Secret or cannot be decoded.
func WithoutSecrets(files tree.Files) (tree.Files, []string) {
	out, withheld := tree.Files{}, []string(nil)
	for _, name := range files.Names() {
		if isReadableWithoutSecret(name, files[name]) {
			out[name] = files[name]
			continue
		}
		withheld = append(withheld, name)
	}
	return out, withheld
}

func isReadableWithoutSecret(name string, content []byte) bool {
	if path.Base(name) == kustomizationRef {
		return true
	}
	objects, err := decodeObjects(name, content)
	return err == nil && !slices.ContainsFunc(objects, isSecret)
}
