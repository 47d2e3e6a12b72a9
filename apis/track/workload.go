package track

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// A Workload has the objects that a track of a directory runs.
type Workload struct {
	// Digest of the folder of the track, without the number of its pods. Two folders of the same track and of an equal digest need no canary.
	Digest string

	// HasPods is false where each Deployment of the track has 0 desired pods.
	HasPods bool

	// Deployments of the track, sorted by namespace and name.
	Deployments []Deployment
}

// Deployment is one Deployment of a track.
type Deployment struct {
	types.NamespacedName

	// MinReplicas is the minimum of pods that the autoscaler of the Deployment keeps, in the state of the files. 0 means that no autoscaler scales it.
	MinReplicas int64
}

// ReadWorkload returns the workload of a track of a directory. It returns an error that names the file for a file that is not an object.
func ReadWorkload(files tree.Files, track string) (Workload, error) {
	out, objects, scalers := Workload{}, map[string]any{}, []*unstructured.Unstructured{}
	for _, name := range files.Names() {
		if !strings.HasPrefix(name, track+"/") || IsKustomization(name) {
			continue
		}
		u, err := object.Decode(files[name])
		if err != nil {
			return out, errors.Wrap(err, name)
		}
		out.addDeployment(u)
		if isAutoscaler(u) {
			scalers = append(scalers, u)
		}
		objects[name] = withoutAnnotatedSizes(u).Object
	}
	for _, s := range scalers {
		out.recordMinReplicas(s)
	}
	slices.SortFunc(out.Deployments, func(a, b Deployment) int { return strings.Compare(a.String(), b.String()) })
	var err error
	out.Digest, err = digest.Of(objects, nil)
	return out, err
}

// addDeployment notes a Deployment and whether it has pods at full size. Another object is left out.
func (w *Workload) addDeployment(u *unstructured.Unstructured) {
	if u.GroupVersionKind().GroupKind().String() != "Deployment.apps" {
		return
	}
	w.Deployments = append(w.Deployments, Deployment{NamespacedName: types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}})
	w.HasPods = w.HasPods || u.GetAnnotations()[AnnotationReplicas] != "0"
}

// recordMinReplicas notes how many pods an autoscaler keeps of its Deployment, which is one where it does not say.
func (w *Workload) recordMinReplicas(u *unstructured.Unstructured) {
	for i, d := range w.Deployments {
		if !scalesDeployment(u, d.Namespace, d.Name) {
			continue
		}
		w.Deployments[i].MinReplicas = 1
		field, _ := sizeFieldOfKind(u)
		if n, ok := object.ParseInteger(object.MapAt(u.Object, "spec")[field]); ok {
			w.Deployments[i].MinReplicas = n
		}
	}
}

// withoutAnnotatedSizes returns an object without its size, and without the annotations that hold the full size.
func withoutAnnotatedSizes(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = withoutSizes(u)
	annotations := object.MapAt(u.Object, "metadata", "annotations")
	delete(annotations, AnnotationReplicas)
	delete(annotations, AnnotationMinReplicas)
	if annotations != nil && len(annotations) == 0 {
		delete(object.MapAt(u.Object, "metadata"), "annotations")
	}
	return u
}

// FolderID returns the id of the git tree of a track's folder. It is empty without such a folder.
func FolderID(files tree.Files, track string) string {
	folder := files.InFolder(track)
	if len(folder) == 0 {
		return ""
	}
	return tree.ID(folder)
}

// WithoutFolders returns the files of a directory without the folders of tracks.
func WithoutFolders(files tree.Files, tracks ...string) tree.Files {
	out := tree.Files{}
	for name, b := range files {
		folder, _, isFolder := strings.Cut(name, "/")
		if !isFolder || !slices.Contains(tracks, folder) {
			out[name] = b
		}
	}
	return out
}
