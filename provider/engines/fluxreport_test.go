package engines

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
)

// TestFluxCommonMetadata has a Kustomization that adds labels or annotations to each object of a directory, all of which are in its inventory.
func TestFluxCommonMetadata(t *testing.T) {
	const key, common = "kustomize.toolkit.fluxcd.io/", " in spec.commonMetadata of the Kustomization"
	const nothing = "the engine applies no object of the directory: "
	leftAlone := func(source string) Coverage {
		web := "Deployment shop/web: " + source + common
		return Coverage{Unproven: []string{web, "Service shop/web: " + source + common}, Missing: nothing + web}
	}
	cases := map[string]struct {
		reason, field, key, value string
		want                      Coverage
	}{
		"Reconcile":     {reason: "No object with reconcile: disabled is applied.", field: "annotations", key: key + "reconcile", value: "disabled", want: leftAlone("annotation " + key + "reconcile: disabled")},
		"ReconcileCase": {reason: "Flux ignores the case of a value.", field: "annotations", key: key + "reconcile", value: "Disabled", want: leftAlone("annotation " + key + "reconcile: Disabled")},
		"Label":         {reason: "Flux looks for its keys among the labels too.", field: "labels", key: key + "reconcile", value: "disabled", want: leftAlone("label " + key + "reconcile: disabled")},
		"Ignore":        {reason: "No object with policy Ignore is applied.", field: "annotations", key: key + "ssa", value: "Ignore", want: leftAlone("annotation " + key + "ssa: Ignore")},
		"IfNotPresent":  {reason: "No later version of an object with policy IfNotPresent is applied.", field: "labels", key: key + "ssa", value: "IfNotPresent", want: leftAlone("label " + key + "ssa: IfNotPresent")},
		"Prune": {
			reason: "Each object with prune: disabled is applied, and may stay after its removal.", field: "annotations", key: key + "prune", value: "disabled",
			want: Coverage{Unproven: []string{"Deployment shop/web: annotation " + key + "prune: disabled" + common, "Service shop/web: annotation " + key + "prune: disabled" + common}},
		},
		"Merge":       {reason: "Policy Merge applies each field of Git.", field: "annotations", key: key + "ssa", value: "Merge"},
		"Enabled":     {reason: "Another value of reconcile leaves no object alone.", field: "annotations", key: key + "reconcile", value: "enabled"},
		"OtherKey":    {reason: "A key that is no instruction leaves no object alone.", field: "labels", key: "example.org/team", value: "disabled"},
		"OtherEngine": {reason: "Flux does not follow an instruction to Argo CD.", field: "annotations", key: "argocd.argoproj.io/hook", value: "Skip"},
		"Kustomize":   {reason: "kustomize has run before the annotation is added, so it drops no object.", field: "annotations", key: "config.kubernetes.io/local-config", value: "true"},
		"Empty":       {reason: "Common metadata without values adds nothing.", field: "labels"},
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
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCover(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
