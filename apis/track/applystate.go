package track

import (
	"bytes"
	"encoding/json"
	"path"
	"reflect"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// At returns the files of a directory in a state: the weights in its routes, the selectors of its fronts, the sizes of the tracks whose folders are among the
// files, and the kustomization of the directory. The result does not depend on the state that the files had, and each other byte is as it was. Where a track is
// alone, the result has neither the files of the other track nor the shared files that leave. It returns an error, which names the file, for files that do not
// form a directory with tracks.
func At(files tree.Files, s State) (tree.Files, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	f, err := readSharedFronts(files)
	if err != nil {
		return nil, err
	}
	out := tree.Files{}
	for _, name := range files.Names() {
		if folder, _, _ := strings.Cut(name, "/"); s.Alone && IsTrack(folder) && folder != s.Serving {
			continue
		}
		b, leaves, err := contentInState(name, files[name], f, s)
		if err != nil {
			return nil, errors.Wrap(err, name)
		}
		if !leaves {
			out[name] = b
		}
	}
	return out, updateKustomizations(out, s)
}

// updateKustomizations lists the folders of a directory that has kustomizations, and the files that are left in the shared folder.
func updateKustomizations(files tree.Files, s State) error {
	if _, ok := files[kustomizationFile]; !ok {
		return nil
	}
	if err := kustomizeFolder(files, FolderShared); err != nil {
		return err
	}
	return writeKustomization(files, kustomizationFile, append(s.routedTracks(), FolderShared))
}

// readSharedFronts returns the Services of a directory of which each track has a copy: the shared Services that select the pods of a track.
func readSharedFronts(files tree.Files) (fronts, error) {
	out := fronts{}
	for name, b := range files {
		if !isSharedFile(name) || !bytes.Contains(b, []byte(LabelTrack)) && !bytes.Contains(b, []byte(AnnotationFront)) {
			continue
		}
		u, err := object.Decode(b)
		if err != nil {
			return nil, errors.Wrap(err, name)
		}
		if IsFront(u) {
			out[types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}] = true
		}
	}
	return out, nil
}

// IsKustomization reports whether a file of a directory lists others, and has no object.
func IsKustomization(name string) bool { return path.Base(name) == kustomizationFile }

func isSharedFile(name string) bool { return strings.HasPrefix(name, FolderShared+"/") }

// IsFront reports whether an object is a Service of which each track has a copy: it selects the pods of a track, or of both during a move.
func IsFront(u *unstructured.Unstructured) bool {
	if u.GroupVersionKind().Group != "" || u.GetKind() != "Service" {
		return false
	}
	return u.GetAnnotations()[AnnotationFront] != "" || IsTrack(object.TextAt(object.MapAt(u.Object, "spec", "selector"), LabelTrack))
}

// setFrontSelector has a front select the pods of the track that gets the requests.
func setFrontSelector(u *unstructured.Unstructured, s State) {
	selector := object.MapAt(u.Object, "spec", "selector")
	selector[LabelTrack] = s.receivingTrack()
	if s.receivingTrack() == Plain && !s.IsLabelled {
		delete(selector, LabelTrack)
	}
	if s.isPlainMove() {
		object.MakeMap(u.Object, "metadata", "annotations")[AnnotationFront] = "true"
		return
	}
	annotations := object.MapAt(u.Object, "metadata", "annotations")
	if delete(annotations, AnnotationFront); annotations != nil && len(annotations) == 0 {
		delete(object.MapAt(u.Object, "metadata"), "annotations")
	}
}

// contentInState returns the content of a file in a state, or that the file leaves.
func contentInState(name string, b []byte, f fronts, s State) (content []byte, leaves bool, err error) {
	if !mentionsState(b) || IsKustomization(name) {
		return b, false, nil
	}
	u, err := object.Decode(b)
	if err != nil {
		return nil, false, err
	}
	if s.Alone && isSharedFile(name) && u.GetAnnotations()[AnnotationLeaves] != "" {
		return nil, true, nil
	}
	original := u.DeepCopy()
	if err := setObjectState(name, u, f, s); err != nil {
		return nil, false, err
	}
	if reflect.DeepEqual(original.Object, u.Object) {
		return b, false, nil
	}
	content, err = object.Encode(u)
	return content, false, err
}

// setObjectState applies a state to the object of a file.
func setObjectState(name string, u *unstructured.Unstructured, f fronts, s State) error {
	folder, _, _ := strings.Cut(name, "/")
	if IsTrack(folder) {
		return setTrackSize(u, folder, s)
	}
	if IsFront(u) {
		setFrontSelector(u, s)
	}
	if !isGatewayRoute(u) {
		return nil
	}
	for i, rule := range rulesOfRoute(u) {
		if err := setRuleWeights(u.GetNamespace(), rule, f, s); err != nil {
			return errors.Wrapf(err, "spec.rules[%d]", i)
		}
	}
	return nil
}

func setRuleWeights(namespace string, rule map[string]any, f fronts, s State) error {
	shares, err := readRuleShares(namespace, rule, f)
	if err != nil {
		return err
	}
	refs := []any{}
	for i := range shares {
		entries, err := shares[i].weightedEntries(s)
		if err != nil {
			return err
		}
		refs = append(refs, entries...)
	}
	if len(refs) > 0 {
		rule["backendRefs"] = refs
	}
	return nil
}

// setTrackSize gives an object of a track the size for its share of the requests.
func setTrackSize(u *unstructured.Unstructured, track string, s State) error {
	field, annotation := sizeFieldOfKind(u)
	text, ok := u.GetAnnotations()[annotation]
	if field == "" || !ok {
		return nil
	}
	full, ok := object.ParseInteger(json.Number(text))
	if !ok || full < 0 {
		return errors.Errorf("annotation %s: %q is not a number of pods", annotation, text)
	}
	object.MakeMap(u.Object, "spec")[field] = object.Number(s.sizeOfTrack(track, full))
	return nil
}

// mentionsState is false for content that no state changes, which need not be decoded.
func mentionsState(b []byte) bool {
	for _, text := range []string{LabelTrack, AnnotationReplicas, AnnotationMinReplicas, AnnotationLeaves, AnnotationFront, GatewayGroup} {
		if bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}
