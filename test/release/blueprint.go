package release

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// perSite puts all objects into the namespace that a Site names: two Sites may be in one cluster.
const perSite = `
- source: {kind: ConfigMap, name: intent, fieldPath: data.site-namespace}
  targets:
  - {select: {kind: ConfigMap, name: web}, fieldPaths: [metadata.namespace], options: {create: true}}
  - {select: {kind: Deployment, name: web}, fieldPaths: [metadata.namespace], options: {create: true}}
  - {select: {kind: Service, name: web}, fieldPaths: [metadata.namespace], options: {create: true}}
  - {select: {kind: HTTPRoute, name: web}, fieldPaths: [metadata.namespace], options: {create: true}}
  - {select: {kind: PodDisruptionBudget, name: web}, fieldPaths: [metadata.namespace], options: {create: true}}
`

// applyBlueprints makes the Blueprint of the release, and the same without tracks.
func (r *Release) applyBlueprints(ctx context.Context, metrics []any) error {
	tracked, err := r.makeBlueprint(r.blueprintOf(Plan{}), metrics)
	if err != nil {
		return err
	}
	plain, err := r.makeBlueprint(r.blueprintOf(Plan{IsPlain: true}), nil)
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(plain.Object, "spec", "canary")
	if err := r.cp.ApplyObject(ctx, plain); err != nil {
		return err
	}
	return r.cp.ApplyObject(ctx, tracked)
}

// makeBlueprint returns the Blueprint of the examples, under another name. Each Site has a host and a namespace of its own.
func (r *Release) makeBlueprint(name string, metrics []any) (*unstructured.Unstructured, error) {
	o, err := readExample("web-canary-1.0.0.yaml")
	if err != nil {
		return nil, err
	}
	o.SetName(name + "-1.0.0")
	o.SetLabels(map[string]string{catalogv1alpha1.LabelBlueprint: name, catalogv1alpha1.LabelChannel: "stable"})
	spec, _, err := unstructured.NestedMap(o.Object, "spec")
	if err != nil {
		return nil, errors.Wrap(err, "cannot read Blueprint")
	}
	spec["blueprintName"], spec["metrics"] = name, metrics
	delete(spec, "examples")
	if len(metrics) == 0 {
		delete(spec, "metrics")
	}
	unstructured.RemoveNestedField(spec, "parametersSchema", "required")
	unstructured.RemoveNestedField(spec, "parametersSchema", "properties", "host")
	err = errors.Join(
		replaceInFile(spec, "values.yaml", "data.param-host", "data.site-host"),
		replaceInFile(spec, "values.yaml", "- source", strings.TrimPrefix(perSite, "\n")+"- source"),
		replaceInFile(spec, "intent.yaml", "param-host: web.example.org", "site-host: web.example.org\n  site-namespace: default"),
	)
	o.Object["spec"] = spec
	return o, err
}

func readExample(name string) (*unstructured.Unstructured, error) {
	root, err := toolbox.Root()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(root, "examples", "blueprints", name))
	if err != nil {
		return nil, errors.Wrap(err, "cannot read example")
	}
	objects, err := kubernetes.ParseYAML(b)
	if err != nil {
		return nil, err
	}
	return objects[0], nil
}

// replaceInFile replaces a text of a Blueprint's file where it comes first. It returns an error if it is not there.
func replaceInFile(spec map[string]any, file, old, replacement string) error {
	text, _, err := unstructured.NestedString(spec, "files", file)
	if err != nil || !strings.Contains(text, old) {
		return errors.Errorf("file %s of the Blueprint does not have %q: %v", file, old, err)
	}
	return unstructured.SetNestedField(spec, strings.Replace(text, old, replacement, 1), "files", file)
}
