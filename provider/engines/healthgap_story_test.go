package engines

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
)

// TestHealthGap has a directory with the Deployments web and worker and a Service, and an engine that calls all that it checks healthy.
func TestHealthGap(t *testing.T) {
	const flux, argo, sync = catalogv1alpha1.EngineFlux, catalogv1alpha1.EngineArgoCD, catalogv1alpha1.EngineConfigSync
	const unchecked = ": the engine does not check its health"
	check := func(apiVersion, kind, namespace, name string) any {
		return map[string]any{"apiVersion": apiVersion, "kind": kind, "namespace": namespace, "name": name}
	}
	web, worker := check("apps/v1", "Deployment", "shop", "web"), check("apps/v1", "Deployment", "shop", "worker")
	cases := map[string]struct {
		reason string
		engine catalogv1alpha1.EngineType
		spec   map[string]any

		// annotations of web, and whether Argo CD ignores its health.
		annotations map[string]string
		ignored     bool

		want string
	}{
		"Wait":        {reason: "A Kustomization that waits checks each object that it applies.", engine: flux, spec: map[string]any{"wait": true}},
		"WaitAndList": {reason: "A Kustomization that waits ignores its list.", engine: flux, spec: map[string]any{"wait": true, "healthChecks": []any{worker}}},
		"List": {
			reason: "A list with each workload checks them all. A Service has no pods.",
			engine: flux, spec: map[string]any{"healthChecks": []any{web, worker}},
		},
		"NoChecks": {reason: "A Kustomization without a list leaves out each workload.", engine: flux, want: "Deployment shop/web" + unchecked},
		"NotAll": {
			reason: "A list that leaves out a workload does not cover it.",
			engine: flux, spec: map[string]any{"healthChecks": []any{web}}, want: "Deployment shop/worker" + unchecked,
		},
		"OtherObject": {
			reason: "A list of objects of others does not cover these workloads.",
			engine: flux, spec: map[string]any{"healthChecks": []any{check("helm.toolkit.fluxcd.io/v2", "HelmRelease", "flux", "base")}},
			want: "Deployment shop/web" + unchecked,
		},
		"OtherSpace": {
			reason: "A workload of the same name in another namespace is another workload.",
			engine: flux, spec: map[string]any{"healthChecks": []any{check("apps/v1", "Deployment", "bank", "web"), worker}},
			want: "Deployment shop/web" + unchecked,
		},
		"OtherKind": {
			reason: "A workload of another kind is another workload.",
			engine: flux, spec: map[string]any{"healthChecks": []any{check("apps/v1", "StatefulSet", "shop", "web"), worker}},
			want: "Deployment shop/web" + unchecked,
		},
		"OtherGroup": {
			reason: "A kind of the same name in another group is another kind.",
			engine: flux, spec: map[string]any{"healthChecks": []any{check("example.org/v1", "Deployment", "shop", "web"), worker}},
			want: "Deployment shop/web" + unchecked,
		},
		"OtherVersion": {
			reason: "The version of a kind does not matter.",
			engine: flux, spec: map[string]any{"healthChecks": []any{check("apps/v1beta1", "Deployment", "shop", "web"), worker}},
		},
		"Skipped": {
			reason: "Flux does not check the health of a skipped object, although it waits.",
			engine: flux, spec: map[string]any{"wait": true}, annotations: map[string]string{"kustomize.toolkit.fluxcd.io/reconcile": "disabled"},
			want: "Deployment shop/web: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled",
		},
		"Common": {
			reason: "Nothing is checked that common metadata makes Flux skip.", engine: flux,
			spec: map[string]any{"wait": true, "commonMetadata": map[string]any{"labels": map[string]any{"kustomize.toolkit.fluxcd.io/ssa": "Ignore"}}},
			want: "Deployment shop/web: label kustomize.toolkit.fluxcd.io/ssa: Ignore in spec.commonMetadata of the Kustomization",
		},
		"Kept": {
			reason: "An object that may be kept after its removal is checked.",
			engine: flux, spec: map[string]any{"wait": true}, annotations: map[string]string{"kustomize.toolkit.fluxcd.io/prune": "disabled"},
		},
		"Argo": {reason: "An Application has the health of all of its objects.", engine: argo},
		"ArgoIgnored": {
			reason: "An ignored object does not take part in the health of an Application.",
			engine: argo, ignored: true, want: "Deployment shop/web: its annotation makes Argo CD ignore its health",
		},
		"ArgoHook": {
			reason: "A hook does not take part in the health of an Application.",
			engine: argo, annotations: map[string]string{"argocd.argoproj.io/hook": "Sync"},
			want: "Deployment shop/web: annotation argocd.argoproj.io/hook: Sync",
		},
		"ArgoWave": {
			reason: "An object of a later wave is applied and checked.",
			engine: argo, annotations: map[string]string{"argocd.argoproj.io/sync-wave": "1"},
		},
		"FluxIgnored": {reason: "Flux does not follow the annotation of Argo CD.", engine: flux, spec: map[string]any{"wait": true}, ignored: true},
		"Sync":        {reason: "A ResourceGroup has the status of each object.", engine: sync},
		"SyncManaged": {
			reason: "Config Sync has no status of an object that it does not manage.",
			engine: sync, annotations: map[string]string{"configmanagement.gke.io/managed": "disabled"},
			want: "Deployment shop/web: annotation configmanagement.gke.io/managed: disabled",
		},
		"SyncOtherRules": {
			reason: "Config Sync does not follow an instruction to Flux.",
			engine: sync, annotations: map[string]string{"kustomize.toolkit.fluxcd.io/reconcile": "disabled"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			manifests := []instruction.Manifest{
				describeManifest("", "Service", "web", nil), describeManifest("apps", "Deployment", "web", tc.annotations),
				describeManifest("apps", "Deployment", "worker", nil),
			}
			manifests[1].IsHealthIgnored = tc.ignored
			got := reportOf(t, tc.engine, Want{}, tc.spec, nil, nil).Cover(tc.engine, manifests)
			if diff := cmp.Diff(tc.want, got.HealthGap); diff != "" {
				t.Errorf("\n%s\nCover(...): health gap: -want, +got:\n%s", tc.reason, diff)
			}
			health := "Healthy"
			if tc.want != "" {
				health = ""
			}
			proven := []string{Observation{Health: "Healthy"}.ProvenHealth(got), Observation{Health: "Degraded"}.ProvenHealth(got)}
			if diff := cmp.Diff([]string{health, "Degraded"}, proven); diff != "" {
				t.Errorf("\n%s\nProvenHealth(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
