package policy

import (
	"maps"
	"path"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// Kustomization has the only allowed fields of the kustomization.yaml in a delivered directory: an engine that builds it must get the objects which were
// checked, and nothing from elsewhere.
type Kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
}

// checkKustomizations returns an error unless the files are in the directory itself, or in the folders of its tracks, and the kustomization.yaml of the
// directory and of each folder lists exactly the other files in it.
func checkKustomizations(in Input) error {
	folders := filesByFolder(in.Files)
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		if folder != directoryItself && !slices.Contains(append(track.Names(), track.FolderShared), folder) {
			return errors.Errorf("Site %q: %s is not the folder of a track", in.Site.GetName(), folder)
		}
	}
	if len(folders) > 1 && len(folders[directoryItself]) > 0 {
		return errors.Errorf("Site %q: a directory with tracks has no files beside its folders: %s", in.Site.GetName(), folders[directoryItself][0])
	}
	if in.Layout == catalogv1alpha1.LayoutManifests {
		return nil
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		want := folders[folder]
		if folder == directoryItself && len(folders) > 1 {
			want = slices.DeleteFunc(slices.Sorted(maps.Keys(folders)), func(name string) bool { return name == directoryItself })
		}
		if err := checkKustomization(in, path.Join(folder, kustomizationRef), want); err != nil {
			return err
		}
	}
	return nil
}

// directoryItself is the name in path.Dir for the directory of a file that is in no folder.
const directoryItself = "."

// filesByFolder returns the names of the files in a directory and in each of its folders, without their kustomizations.
func filesByFolder(files tree.Files) map[string][]string {
	out := map[string][]string{directoryItself: nil}
	for _, name := range files.Names() {
		folder, file := path.Dir(name), path.Base(name)
		out[folder] = slices.Clone(out[folder])
		if file != kustomizationRef {
			out[folder] = append(out[folder], file)
		}
	}
	return out
}

// checkKustomization returns an error unless a kustomization.yaml lists just these resources.
func checkKustomization(in Input, name string, want []string) error {
	b, ok := in.Files[name]
	if !ok {
		return errors.Errorf("Site %q: %s is missing", in.Site.GetName(), name)
	}
	k := Kustomization{}
	if err := decodeSingleDocument(b, &k); err != nil {
		return errors.Wrapf(err, "Site %q: %s may only hold apiVersion, kind and resources", in.Site.GetName(), name)
	}
	if got := slices.Sorted(slices.Values(k.Resources)); !slices.Equal(got, want) {
		return errors.Errorf("Site %q: resources of %s must be the directory's other files, each once, or the folders of its tracks", in.Site.GetName(), name)
	}
	return nil
}
