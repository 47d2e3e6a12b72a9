package track

import (
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// Retain returns the files of a revision together with the shared files that only its directory has. These get an annotation, by
// which At finds them: the pods of the old track may need them until it goes.
func Retain(files, observed tree.Files) (tree.Files, error) {
	out := maps.Clone(files)
	for _, name := range observed.Names() {
		if _, ok := files[name]; ok || !isSharedFile(name) || IsKustomization(name) {
			continue
		}
		u, err := object.Decode(observed[name])
		if err != nil {
			return nil, errors.Wrap(err, name)
		}
		object.MakeMap(u.Object, "metadata", "annotations")[AnnotationLeaves] = "true"
		if out[name], err = object.Encode(u); err != nil {
			return nil, errors.Wrap(err, name)
		}
	}
	if _, ok := files[kustomizationFile]; !ok {
		return out, nil
	}
	return out, kustomizeFolder(out, FolderShared)
}
