package prune

import (
	"path"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
)

// ObjectsOf returns the objects in the files of a directory, or nil if they are not all known.
func ObjectsOf(files map[string][]byte) []Object {
	if files == nil {
		return nil
	}
	out := []Object{}
	for name, content := range files {
		if name == tree.Marker || path.Base(name) == kustomization {
			continue
		}
		all := policy.ObjectsIn(name, content)
		if len(all) == 0 {
			return nil
		}
		for _, o := range all {
			out = append(out, Object{Kind: o.Kind, Name: o.Name})
		}
	}
	return out
}

// kustomization is the file by which an engine builds a directory. It has no object of a cluster.
const kustomization = "kustomization.yaml"

// IrreversibleKinds returns the kinds of which a Blueprint marks whole objects as irreversible. Which Blueprint something was rendered from is not
// remembered, so that each counts.
func IrreversibleKinds(blueprints []catalogv1alpha1.Blueprint) map[string]bool {
	out := map[string]bool{}
	for _, b := range blueprints {
		for _, k := range b.Spec.Irreversible {
			if len(k.FieldPaths) == 0 {
				out[k.Kind] = true
			}
		}
	}
	return out
}
