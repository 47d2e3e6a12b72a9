package engines

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/provider/engines/coverage"
)

// TestFluxProof has a Kustomization with one more field in its spec.
func TestFluxProof(t *testing.T) {
	rules := []any{map[string]any{"paths": []any{"/spec/replicas"}, "target": map[string]any{"kind": "Deployment"}}}
	cases := map[string]struct {
		reason string
		field  string
		value  any
		want   v1alpha1.Proof

		// uncompared is true if the inventory is not compared with the files.
		uncompared bool
	}{
		"Ignore": {reason: "The paths that a rule ignores are not applied.", field: "ignore", value: rules, want: v1alpha1.ProofTransformed},
		"IgnoreAll": {
			reason: "A rule without a target is about each object.",
			field:  "ignore", value: []any{map[string]any{"paths": []any{"/spec"}}}, want: v1alpha1.ProofTransformed,
		},
		"IgnoreNone":    {reason: "A list without rules ignores nothing.", field: "ignore", value: []any{}, want: v1alpha1.ProofExact},
		"IgnoreEarlier": {reason: "An earlier name of the field means the same.", field: "driftIgnoreRules", value: rules, want: v1alpha1.ProofTransformed},
		"BuildMetadata": {
			reason: "Build metadata adds annotations to the objects.",
			field:  "buildMetadata", value: []any{"originAnnotations"}, want: v1alpha1.ProofTransformed,
		},
		"Images": {
			reason: "Other images are applied than the files have.",
			field:  "images", value: []any{map[string]any{"name": "x"}}, want: v1alpha1.ProofTransformed,
		},
		"Patches": {
			reason: "Patches may change anything, names too.",
			field:  "patches", value: []any{map[string]any{"patch": "x"}}, want: v1alpha1.ProofTransformed, uncompared: true,
		},
		"Namespace": {
			reason: "A target namespace gives the objects another namespace.",
			field:  "targetNamespace", value: "shop", want: v1alpha1.ProofTransformed, uncompared: true,
		},
		"Wait":  {reason: "A wait changes nothing that is applied.", field: "wait", value: true, want: v1alpha1.ProofExact},
		"Force": {reason: "An object that is made again is the object of the file.", field: "force", value: true, want: v1alpha1.ProofExact},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{tc.field: tc.value}
			got := fluxSourceProof(&unstructured.Unstructured{Object: map[string]any{"spec": spec}}, nil)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfluxProof(...): -want, +got:\n%s", tc.reason, diff)
			}
			r := reportOf(t, catalogv1alpha1.EngineFlux, Want{}, spec, map[string]any{"inventory": map[string]any{}}, nil)
			if diff := cmp.Diff(tc.uncompared, r.Uncompared != ""); diff != "" {
				t.Errorf("\n%s\nfluxReport(...): uncompared: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFluxCommonMetadata has a Kustomization that adds labels or annotations to each object of a directory, all of which are in its inventory.
func TestFluxCommonMetadata(t *testing.T) {
	const key, common = "kustomize.toolkit.fluxcd.io/", " in spec.commonMetadata of the Kustomization"
	const nothing = "the engine applies no object of the directory: "
	leftAlone := func(source string) coverage.Coverage {
		web := "Deployment shop/web: " + source + common
		return coverage.Coverage{Unproven: []string{web, "Service shop/web: " + source + common}, Missing: nothing + web}
	}
	cases := map[string]struct {
		reason, field, key, value string
		want                      coverage.Coverage
	}{
		"Reconcile": {
			reason: "No object with reconcile: disabled is applied.",
			field:  "annotations", key: key + "reconcile", value: "disabled", want: leftAlone("annotation " + key + "reconcile: disabled"),
		},
		"ReconcileCase": {
			reason: "Flux ignores the case of a value.",
			field:  "annotations", key: key + "reconcile", value: "Disabled", want: leftAlone("annotation " + key + "reconcile: Disabled"),
		},
		"Label": {
			reason: "Flux looks for its keys among the labels too.",
			field:  "labels", key: key + "reconcile", value: "disabled", want: leftAlone("label " + key + "reconcile: disabled"),
		},
		"Ignore": {
			reason: "No object with policy Ignore is applied.",
			field:  "annotations", key: key + "ssa", value: "Ignore", want: leftAlone("annotation " + key + "ssa: Ignore"),
		},
		"IfNotPresent": {
			reason: "No later version of an object with policy IfNotPresent is applied.",
			field:  "labels", key: key + "ssa", value: "IfNotPresent", want: leftAlone("label " + key + "ssa: IfNotPresent"),
		},
		"Prune": {
			reason: "Each object with prune: disabled is applied, and may stay after its removal.", field: "annotations", key: key + "prune", value: "disabled",
			want: coverage.Coverage{
				Unproven: []string{
					"Deployment shop/web: annotation " + key + "prune: disabled" + common,
					"Service shop/web: annotation " + key + "prune: disabled" + common,
				},
			},
		},
		"Merge":       {reason: "Policy Merge applies each field of Git.", field: "annotations", key: key + "ssa", value: "Merge"},
		"Enabled":     {reason: "Another value of reconcile leaves no object alone.", field: "annotations", key: key + "reconcile", value: "enabled"},
		"OtherKey":    {reason: "A key without an instruction leaves no object alone.", field: "labels", key: "example.org/team", value: "disabled"},
		"OtherEngine": {reason: "Flux does not follow an instruction to Argo CD.", field: "annotations", key: "argocd.argoproj.io/hook", value: "Skip"},
		"Kustomize": {
			reason: "kustomize has run before the annotation is added, so it drops no object.",
			field:  "annotations", key: "config.kubernetes.io/local-config", value: "true",
		},
		"Empty": {reason: "Common metadata without values adds nothing.", field: "labels"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			added := map[string]any{}
			if tc.key != "" {
				added[tc.key] = tc.value
			}
			spec := map[string]any{"commonMetadata": map[string]any{tc.field: added}}
			status := map[string]any{"inventory": map[string]any{"entries": []any{map[string]any{"id": "shop_web_apps_Deployment"}, map[string]any{"id": "shop_web__Service"}}}}
			manifests := []instruction.Manifest{describeManifest("apps", "Deployment", "web", nil), describeManifest("", "Service", "web", nil)}
			got := reportOf(t, catalogv1alpha1.EngineFlux, Want{}, spec, status, nil).Cover(catalogv1alpha1.EngineFlux, manifests)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(coverage.Coverage{}, "HealthGap")); diff != "" {
				t.Errorf("\n%s\nCover(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
