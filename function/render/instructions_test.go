package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestInstructions(t *testing.T) {
	const skip = "annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}"
	cases := map[string]struct {
		reason        string
		kustomization string
		objects       string
		engine        catalogv1alpha1.EngineType
		unproven      []catalogv1alpha1.RenderedObject
		files         []string
		err           string
	}{
		"Object": {
			reason:  "An annotation of an object is refused, with its name.",
			objects: object("v1", "ConfigMap", "{name: a, "+skip+"}"),
			err:     "ConfigMap team-a/a: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled: Flux does not apply it",
		},
		"Label": {
			reason:        "A label that all objects get is refused.",
			kustomization: "labels: [{pairs: {kustomize.toolkit.fluxcd.io/prune: disabled}}]\n", objects: object("v1", "ConfigMap", "{name: a}"),
			err: "ConfigMap team-a/a: label kustomize.toolkit.fluxcd.io/prune: disabled: Flux may keep it",
		},
		"Patch": {
			reason: "An annotation that a patch adds is refused.",
			kustomization: "patches: [{target: {kind: ConfigMap}, patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: " +
				"{argocd.argoproj.io/hook: PreSync}}}'}]\n",
			objects: object("v1", "ConfigMap", "{name: a}"),
			err:     "ConfigMap team-a/a: annotation argocd.argoproj.io/hook: PreSync: ArgoCD runs it as a hook",
		},
		"Generator": {
			reason: "An annotation of a generated object is refused.",
			kustomization: "configMapGenerator: [{name: b, literals: [x=y], options: {disableNameSuffixHash: true, annotations: " +
				"{configmanagement.gke.io/managed: disabled}}}]\n",
			objects: object("v1", "ConfigMap", "{name: a}"),
			err:     "ConfigMap team-a/b: annotation configmanagement.gke.io/managed: disabled: ConfigSync does not apply it",
		},
		"Text": {
			reason:  "A text because of which Argo CD skips the file is refused, wherever it stands.",
			objects: object("v1", "ConfigMap", "{name: a, annotations: {note: see +argocd:skip-file-rendering}}"),
			err:     "ConfigMap team-a/a: text +argocd:skip-file-rendering: ArgoCD does not apply it",
		},
		"LocalConfig": {
			reason: "kustomize drops an object for local use.",
			objects: object("v1", "ConfigMap", "{name: a}") + object(
				"v1", "ConfigMap", "{name: b, annotations: {config.kubernetes.io/local-config: 'true'}}",
			),
			files: []string{"configmap-a.yaml team-a"},
		},
		"Declared": {
			reason:  "A declared object is rendered.",
			objects: object("v1", "ConfigMap", "{name: a, "+skip+"}"), unproven: []catalogv1alpha1.RenderedObject{{Kind: "ConfigMap", Name: "a"}},
			files: []string{"configmap-a.yaml team-a"},
		},
		"Kind": {
			reason:  "A kind that Argo CD excludes is refused at a Site with Argo CD.",
			objects: object("v1", "Endpoints", "{name: a}"), engine: catalogv1alpha1.EngineArgoCD,
			err: "Endpoints team-a/a: kind Endpoints: ArgoCD does not apply it",
		},
		"KindElsewhere": {
			reason:  "The same kind is applied by Flux.",
			objects: object("v1", "Endpoints", "{name: a}"), engine: catalogv1alpha1.EngineFlux, files: []string{"endpoints-a.yaml team-a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := filesInput(map[string]string{"kustomization.yaml": "resources: [intent.yaml, objects.yaml]\n" + tc.kustomization, "objects.yaml": tc.objects})
			in.Site.Layout, in.Site.Engine, in.Blueprint.Spec.Unproven = catalogv1alpha1.LayoutManifests, tc.engine, tc.unproven
			got, err := NewRenderer().Build(t.Context(), in)
			if !contains(err, tc.err) {
				t.Errorf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.err, err)
			}
			if diff := cmp.Diff(tc.files, namespaces(t, got)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
