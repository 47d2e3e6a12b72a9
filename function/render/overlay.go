package render

import (
	"maps"
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/render/guard"
)

// addIntentOverlay puts our kustomization on top of the Blueprint's files.
func addIntentOverlay(in Input, files, data map[string]string, u guard.Uses, clusterScoped []schema.GroupKind) (tree.Files, error) {
	for label, v := range map[string]string{"the claim's namespace": in.Claim.Namespace, "the claim's name": in.Claim.Name} {
		if v == "" || len(v) > 63 {
			return nil, errors.Errorf("%s must have 1 to 63 characters", label)
		}
	}
	out := tree.Files{}
	for name, text := range files {
		out[folder+"/"+name] = []byte(text)
	}
	overlay := map[string]any{namespaceFile: namespaceTransformer(in)}
	transformers := []string{namespaceFile}
	if len(clusterScoped) > 0 {
		overlay[clusterScopedFile] = clusterScopedTransformers(clusterScoped)
		transformers = append(transformers, clusterScopedFile)
	}
	images, workloads, err := intentTransformers(data, u)
	if err != nil {
		return nil, err
	}
	if workloads != nil {
		overlay[workloadFile] = workloads
		transformers = append(transformers, workloadFile)
	}
	transformers = addSubstituteTransformer(in, overlay, transformers)
	overlay[kustomizationFile] = overlayKustomization(in, transformers, images)
	for name, content := range overlay {
		b, err := yaml.Marshal(content)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot encode %s", name)
		}
		out[name] = b
	}
	return out, nil
}

// addSubstituteTransformer adds the transformer that annotates every object where the engine is to replace nothing. The pods of a workload are not
// annotated: they would be replaced.
func addSubstituteTransformer(in Input, overlay map[string]any, transformers []string) []string {
	if in.Site.Expansion != expansion.ModeDisabled {
		return transformers
	}
	overlay[substituteFile] = builtinTransformer("AnnotationsTransformer", "substitution", map[string]any{
		"annotations": map[string]string{expansion.AnnotationSubstitute: expansion.SubstituteDisabled},
		"fieldSpecs":  []map[string]any{{"path": "metadata/annotations", "create": true}},
	})
	return append(transformers, substituteFile)
}

func overlayKustomization(in Input, transformers []string, images []map[string]string) map[string]any {
	k := map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1",
		"kind":       "Kustomization",
		"resources":  []string{folder},
		"labels": []map[string]any{{
			"includeSelectors": false,
			"includeTemplates": false,
			"pairs":            map[string]string{LabelManagedBy: ManagedBy, LabelName: in.Intent.Service, LabelClaim: in.Claim.Name},
		}},
		"transformers": transformers,
	}
	if len(images) > 0 {
		k["images"] = images
	}
	return k
}

// namespaceTransformer gives a namespace to objects that have none, and to nothing else.
func namespaceTransformer(in Input) map[string]any {
	return map[string]any{
		"apiVersion": "builtin", "kind": "NamespaceTransformer",
		"metadata":  map[string]string{"name": "namespace", "namespace": in.Claim.Namespace},
		"unsetOnly": true, "setRoleBindingSubjects": "none",
	}
}

// clusterScopedTransformers returns transformers that remove the namespace from kinds that a definition of the Blueprint calls cluster-scoped: kustomize
// takes every kind that it does not know for a namespaced one.
func clusterScopedTransformers(kinds []schema.GroupKind) map[string]any {
	items := make([]map[string]any, 0, len(kinds))
	for _, gk := range kinds {
		items = append(items, namespaceRemover(gk))
	}
	return transformerList(items)
}

// namespaceRemover takes the namespace off each object of a kind.
func namespaceRemover(gk schema.GroupKind) map[string]any {
	return builtinTransformer("PatchTransformer", strings.ToLower(gk.String()), map[string]any{
		"target": map[string]string{"group": regexp.QuoteMeta(gk.Group), "kind": regexp.QuoteMeta(gk.Kind)},
		"patch":  `[{"op": "remove", "path": "/metadata/namespace"}]`,
	})
}

// builtinTransformer configures one of kustomize's own transformers.
func builtinTransformer(kind, name string, fields map[string]any) map[string]any {
	out := map[string]any{"apiVersion": "builtin", "kind": kind, "metadata": map[string]string{"name": name}}
	maps.Copy(out, fields)
	return out
}

// transformerList returns a file of several transformers.
func transformerList(items []map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
}
