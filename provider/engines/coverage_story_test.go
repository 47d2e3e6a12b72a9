package engines

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/engines/coverage"
)

// describeManifest is an object of a directory, with the instructions that its annotations give.
func describeManifest(group, kind, name string, annotations map[string]string) instruction.Manifest {
	o := policy.Object{Group: group, Kind: kind, Namespace: "shop", Name: name}
	return instruction.Manifest{Object: o, Instructions: instruction.Of(instruction.Object{Object: o, Annotations: annotations})}
}

func resourceOf(group, kind, name, status string, hook bool) map[string]any {
	return map[string]any{"group": group, "kind": kind, "namespace": "shop", "name": name, "status": status, "hook": hook}
}

func TestCover(t *testing.T) {
	web, lease := describeManifest("apps", "Deployment", "web", nil), describeManifest("coordination.k8s.io", "Lease", "web", nil)
	service, issuer := describeManifest("", "Service", "web", nil), describeManifest("cert-manager.io", "ClusterIssuer", "letsencrypt", nil)
	retained := describeManifest("apps", "Deployment", "web", map[string]string{"kustomize.toolkit.fluxcd.io/prune": "disabled"})
	inventory := func(ids ...string) map[string]any {
		entries := []any{}
		for _, id := range ids {
			entries = append(entries, map[string]any{"id": id, "v": "v1"})
		}
		return map[string]any{"inventory": map[string]any{"entries": entries}}
	}
	const added = " in kustomize.commonAnnotations of the Application's source"
	const renamed = "all objects: Application flux/edge has spec.source.kustomize.commonAnnotations, so its inventory is not compared"
	annotates := func(annotations map[string]any) map[string]any {
		return map[string]any{"source": map[string]any{"kustomize": map[string]any{"commonAnnotations": annotations}}}
	}
	warning := func(kind, message string) []any { return []any{map[string]any{"type": kind, "message": message}} }
	cases := map[string]struct {
		reason    string
		engine    catalogv1alpha1.EngineType
		spec      map[string]any
		status    map[string]any
		second    map[string]any
		want      coverage.Coverage
		manifests []instruction.Manifest

		// claimDir is the claim's directory. The engine reads the root of the repository.
		claimDir string
	}{
		"FluxAll": {
			reason: "Each object is in the inventory.", engine: catalogv1alpha1.EngineFlux,
			status: inventory("shop_web_apps_Deployment", "shop_web__Service"), manifests: []instruction.Manifest{web, service},
		},
		"FluxSkippedInCluster": {
			reason: "An object that Flux skipped, because of an annotation in the cluster, is not in the inventory.", engine: catalogv1alpha1.EngineFlux,
			status: inventory("shop_web__Service"), manifests: []instruction.Manifest{web, service},
			want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"FluxEmptyInventory": {
			reason: "An empty inventory lists nothing.", engine: catalogv1alpha1.EngineFlux,
			status: inventory(), manifests: []instruction.Manifest{service},
			want: coverage.Coverage{Missing: "the engine does not report that it applied Service shop/web"},
		},
		"FluxDeclared": {
			reason: "A declared object is named, and the other objects are proven.", engine: catalogv1alpha1.EngineFlux, status: inventory("shop_web__Service"),
			manifests: []instruction.Manifest{
				describeManifest("apps", "Deployment", "web", map[string]string{"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}), service,
			},
			want: coverage.Coverage{Unproven: []string{"Deployment shop/web: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled"}},
		},
		"FluxKept": {
			reason: "An object that is kept after its removal is applied, and still has to be in the inventory.",
			engine: catalogv1alpha1.EngineFlux, status: inventory("shop_web__Service"),
			manifests: []instruction.Manifest{retained, service},
			want: coverage.Coverage{
				Unproven: []string{"Deployment shop/web: annotation kustomize.toolkit.fluxcd.io/prune: disabled"},
				Missing:  "the engine does not report that it applied Deployment shop/web",
			},
		},
		"FluxNothingLeft": {
			reason: "Where each object is left alone nothing is proven.", engine: catalogv1alpha1.EngineFlux, status: inventory(),
			manifests: []instruction.Manifest{describeManifest("apps", "Deployment", "web", map[string]string{"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"})},
			want: coverage.Coverage{
				Unproven: []string{"Deployment shop/web: annotation kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"},
				Missing:  "the engine applies no object of the directory: Deployment shop/web: annotation kustomize.toolkit.fluxcd.io/ssa: IfNotPresent",
			},
		},
		"FluxOthersAnnotation": {
			reason: "Flux does not follow an annotation of Argo CD.", engine: catalogv1alpha1.EngineFlux, status: inventory("shop_web_apps_Deployment"),
			manifests: []instruction.Manifest{describeManifest("apps", "Deployment", "web", map[string]string{"argocd.argoproj.io/hook": "Sync"})},
		},
		"FluxKeepsRemoved": {
			reason: "A Kustomization without pruning removes nothing.", engine: catalogv1alpha1.EngineFlux, spec: map[string]any{"prune": false},
			status: inventory("shop_web__Service"), manifests: []instruction.Manifest{service},
			want: coverage.Coverage{Unproven: []string{"removed objects: spec.prune of Kustomization flux/edge is false"}},
		},
		"FluxRenames": {
			reason: "An inventory with other names proves nothing about these.", engine: catalogv1alpha1.EngineFlux, spec: map[string]any{"namePrefix": "a-"},
			status: inventory("shop_a-web__Service"), manifests: []instruction.Manifest{service},
			want: coverage.Coverage{Unproven: []string{"all objects: Kustomization flux/edge has spec.namePrefix, so its inventory is not compared"}},
		},
		"FluxColon": {
			reason: "A colon in a name is two underscores in the inventory.",
			engine: catalogv1alpha1.EngineFlux, status: inventory("shop_a__b_rbac.authorization.k8s.io_Role"),
			manifests: []instruction.Manifest{describeManifest("rbac.authorization.k8s.io", "Role", "a:b", nil)},
		},
		"FluxClusterScoped": {
			reason: "A cluster-scoped object has no namespace in the inventory, whatever its file names.", engine: catalogv1alpha1.EngineFlux,
			status: inventory("_letsencrypt_cert-manager.io_ClusterIssuer"), manifests: []instruction.Manifest{issuer},
		},
		"FluxOtherNamespace": {
			reason: "An object of the same name in another namespace is another object.", engine: catalogv1alpha1.EngineFlux,
			status: inventory("bank_web_apps_Deployment"), manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"FluxNoInventory": {
			reason: "A Kustomization without an inventory lists no objects, and the status reports it.",
			engine: catalogv1alpha1.EngineFlux, manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Unproven: []string{"all objects: Kustomization flux/edge has no status.inventory, so its inventory is not compared"}},
		},
		"FluxPatches": {
			reason: "Patches may rename objects, so no object is compared, and the status reports it.", engine: catalogv1alpha1.EngineFlux,
			spec: map[string]any{"patches": []any{map[string]any{"patch": "x"}}}, status: inventory("shop_other_apps_Deployment"),
			manifests: []instruction.Manifest{web},
			want:      coverage.Coverage{Unproven: []string{"all objects: Kustomization flux/edge has spec.patches, so its inventory is not compared"}},
		},
		"FluxPostBuild": {
			reason: "The line about all objects comes before the lines about single objects.", engine: catalogv1alpha1.EngineFlux,
			spec: map[string]any{"postBuild": map[string]any{"substitute": map[string]any{"a": "b"}}, "prune": false}, status: inventory(),
			manifests: []instruction.Manifest{retained},
			want: coverage.Coverage{Unproven: []string{
				"all objects: Kustomization flux/edge has spec.postBuild, so its inventory is not compared",
				"Deployment shop/web: annotation kustomize.toolkit.fluxcd.io/prune: disabled", "removed objects: spec.prune of Kustomization flux/edge is false",
			}},
		},
		"FluxImages": {
			reason: "Other images change no name, so each object is compared.", engine: catalogv1alpha1.EngineFlux,
			spec: map[string]any{"images": []any{map[string]any{"name": "x"}}}, status: inventory("shop_web_apps_Deployment"), manifests: []instruction.Manifest{web},
		},
		"ArgoAll": {
			reason: "Each object was compared and is in sync.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{"resources": []any{resourceOf("apps", "Deployment", "web", "Synced", false)}}, manifests: []instruction.Manifest{web},
		},
		"ArgoExcluded": {
			reason: "An object that the settings exclude is missing, and a warning reports it.", engine: catalogv1alpha1.EngineArgoCD,
			status:    map[string]any{"conditions": warning("ExcludedResourceWarning", "Resource apps/Deployment web is excluded in the settings")},
			manifests: []instruction.Manifest{web},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web: Resource apps/Deployment web is excluded in the settings"},
		},
		"ArgoExcludedByDefault": {
			reason: "A kind that each installation excludes was declared.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{"resources": []any{resourceOf("apps", "Deployment", "web", "Synced", false)}}, manifests: []instruction.Manifest{web, lease},
			want: coverage.Coverage{Unproven: []string{"Lease shop/web: kind Lease.coordination.k8s.io"}},
		},
		"ArgoHook": {
			reason: "A hook of the cluster's copy is not compared.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{"resources": []any{resourceOf("apps", "Deployment", "web", "", true)}}, manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"ArgoForeign": {
			reason: "An object that another Application owns has no sync status.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{
				"resources":  []any{resourceOf("apps", "Deployment", "web", "", false)},
				"conditions": warning("SharedResourceWarning", "apps/Deployment/shop/web is part of applications a and b"),
			},
			manifests: []instruction.Manifest{web},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web: apps/Deployment/shop/web is part of applications a and b"},
		},
		"ArgoRepeated": {
			reason: "Which of two files with one object was applied cannot be known.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{
				"resources":  []any{resourceOf("apps", "Deployment", "web", "Synced", false)},
				"conditions": warning("RepeatedResourceWarning", "Resource apps/Deployment/shop/web appeared 2 times among application resources."),
			},
			manifests: []instruction.Manifest{web},
			want: coverage.Coverage{
				Missing: "the engine does not report that it applied Deployment shop/web: Resource apps/Deployment/shop/web appeared 2 times among " +
					"application resources.",
			},
		},
		"ArgoClusterScoped": {
			reason: "A cluster-scoped object has no namespace among the resources, whatever its file names.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{
				"resources": []any{map[string]any{"group": "cert-manager.io", "kind": "ClusterIssuer", "name": "letsencrypt", "status": "Synced"}},
			},
			manifests: []instruction.Manifest{issuer},
		},
		"ArgoClusterScopedRepeated": {
			reason: "A warning about a cluster-scoped object names no namespace.", engine: catalogv1alpha1.EngineArgoCD, claimDir: "clusters/edge1/shop/web",
			status: map[string]any{
				"resources":  []any{map[string]any{"group": "cert-manager.io", "kind": "ClusterIssuer", "name": "letsencrypt", "status": "Synced"}},
				"conditions": warning("RepeatedResourceWarning", "Resource cert-manager.io/ClusterIssuer//letsencrypt appeared 2 times among application resources."),
			},
			manifests: []instruction.Manifest{issuer},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied ClusterIssuer shop/letsencrypt: several files hold it"},
		},
		"ArgoNoResources": {
			reason: "An Application that lists no resources applied none, as with directory.exclude.",
			engine: catalogv1alpha1.EngineArgoCD, manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"ArgoRepeatedElsewhere": {
			reason: "A repeated object of another namespace is another object.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{
				"resources":  []any{resourceOf("apps", "Deployment", "web", "Synced", false)},
				"conditions": warning("RepeatedResourceWarning", "Resource apps/Deployment/team-b/web appeared 2 times among application resources."),
			},
			manifests: []instruction.Manifest{web},
		},
		"ArgoRepeatedWord": {
			reason: "An object whose name is a word of the message is not its subject.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{
				"resources":  []any{resourceOf("apps", "Deployment", "times", "Synced", false)},
				"conditions": warning("RepeatedResourceWarning", "Resource apps/Deployment/shop/web appeared 2 times among application resources."),
			},
			manifests: []instruction.Manifest{describeManifest("apps", "Deployment", "times", nil)},
		},
		"ArgoRepeatedGroup": {
			reason: "A repeated object of another group is another object.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{
				"resources":  []any{resourceOf("apps", "Deployment", "web", "Synced", false)},
				"conditions": warning("RepeatedResourceWarning", "Resource example.org/Deployment/shop/web appeared 2 times among application resources."),
			},
			manifests: []instruction.Manifest{web},
		},
		"ArgoRepeatedShared": {
			reason: "An Application that reads more than the claim's directory shows no text of its own.",
			engine: catalogv1alpha1.EngineArgoCD, claimDir: "clusters/edge1/shop/web",
			status: map[string]any{
				"resources":  []any{resourceOf("", "Service", "web", "Synced", false)},
				"conditions": warning("RepeatedResourceWarning", "Resource /Service/shop/web appeared 2 times among application resources."),
			},
			manifests: []instruction.Manifest{service},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied Service shop/web: several files hold it"},
		},
		"ArgoForeignShared": {
			reason: "A warning that names the Applications of other tenants is hidden from the claim.",
			engine: catalogv1alpha1.EngineArgoCD, claimDir: "clusters/edge1/shop/web",
			status: map[string]any{
				"resources":  []any{resourceOf("apps", "Deployment", "web", "", false)},
				"conditions": warning("SharedResourceWarning", "Deployment/web is part of applications argocd/edge1 and team-b/billing"),
			},
			manifests: []instruction.Manifest{web},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web: another Application owns it"},
		},
		"ArgoExcludedShared": {
			reason: "The settings that exclude an object are named in fixed words.", engine: catalogv1alpha1.EngineArgoCD, claimDir: "clusters/edge1/shop/web",
			status:    map[string]any{"conditions": warning("ExcludedResourceWarning", "Resource apps/Deployment web is excluded in the settings")},
			manifests: []instruction.Manifest{web},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web: the settings exclude it"},
		},
		"ArgoExcludedOther": {
			reason: "A warning about an excluded object of another name is not about this object.", engine: catalogv1alpha1.EngineArgoCD,
			status:    map[string]any{"conditions": warning("ExcludedResourceWarning", "Resource apps/Deployment web is excluded in the settings")},
			manifests: []instruction.Manifest{describeManifest("apps", "Deployment", "settings", nil)},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/settings"},
		},
		"ArgoKustomize": {
			reason: "Settings of kustomize may rename objects, so no object is compared, and the status reports it.", engine: catalogv1alpha1.EngineArgoCD,
			spec: annotates(map[string]any{"a": "b"}), manifests: []instruction.Manifest{web}, want: coverage.Coverage{Unproven: []string{renamed}},
		},
		"ArgoKustomizeHook": {
			reason: "An annotation that kustomize adds to each object makes a hook of it.", engine: catalogv1alpha1.EngineArgoCD,
			spec: annotates(map[string]any{"argocd.argoproj.io/hook": "PostSync"}), manifests: []instruction.Manifest{web},
			want: coverage.Coverage{
				Unproven: []string{renamed, "Deployment shop/web: annotation argocd.argoproj.io/hook: PostSync" + added},
				Missing:  "the engine applies no object of the directory: Deployment shop/web: annotation argocd.argoproj.io/hook: PostSync" + added,
			},
		},
		"ArgoKustomizeKeeps": {
			reason: "An annotation that keeps each object leaves it a part of the proof.", engine: catalogv1alpha1.EngineArgoCD,
			spec: annotates(map[string]any{"argocd.argoproj.io/sync-options": "Prune=false"}), manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Unproven: []string{renamed, "Deployment shop/web: annotation argocd.argoproj.io/sync-options: Prune=false" + added}},
		},
		"ArgoKustomizeOther": {
			reason: "Argo CD follows no annotation for Flux or kustomize that it adds.", engine: catalogv1alpha1.EngineArgoCD,
			spec:      annotates(map[string]any{"kustomize.toolkit.fluxcd.io/reconcile": "disabled", "config.kubernetes.io/local-config": "true"}),
			manifests: []instruction.Manifest{web}, want: coverage.Coverage{Unproven: []string{renamed}},
		},
		"ArgoHydrator": {
			reason: "A source hydrator makes other files, so no object is compared, and the status reports it.", engine: catalogv1alpha1.EngineArgoCD,
			spec: map[string]any{"sourceHydrator": map[string]any{}}, manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Unproven: []string{"all objects: Application flux/edge has spec.sourceHydrator, so its inventory is not compared"}},
		},
		"ArgoOtherWarning": {
			reason: "A warning about another object changes nothing.", engine: catalogv1alpha1.EngineArgoCD,
			status: map[string]any{
				"resources":  []any{resourceOf("apps", "Deployment", "web", "Synced", false)},
				"conditions": warning("ExcludedResourceWarning", "Resource /Endpoints other is excluded in the settings"),
			},
			manifests: []instruction.Manifest{web},
		},
		"ConfigSyncAll": {
			reason: "Each object was applied.", engine: catalogv1alpha1.EngineConfigSync,
			second: map[string]any{
				"resourceStatuses": []any{
					map[string]any{
						"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web", "status": "Current", "actuation": "Succeeded",
					},
				},
			},
			manifests: []instruction.Manifest{web},
		},
		"ConfigSyncClusterScoped": {
			reason: "A cluster-scoped object has no namespace in the ResourceGroup, whatever its file names.", engine: catalogv1alpha1.EngineConfigSync,
			second: map[string]any{
				"resourceStatuses": []any{
					map[string]any{"group": "cert-manager.io", "kind": "ClusterIssuer", "name": "letsencrypt", "status": "Current"},
				},
			},
			manifests: []instruction.Manifest{issuer},
		},
		"ConfigSyncNothing": {
			reason: "A ResourceGroup without objects lists none that was applied.", engine: catalogv1alpha1.EngineConfigSync, manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"ConfigSyncNoStatus": {
			reason: "Config Sync with disabled statuses lists the objects only, and the status reports it.", engine: catalogv1alpha1.EngineConfigSync,
			spec:      map[string]any{"resources": []any{map[string]any{"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"}}},
			manifests: []instruction.Manifest{web},
			want:      coverage.Coverage{Unproven: []string{"all objects: ResourceGroup flux/edge has no status.resourceStatuses, so its inventory is not compared"}},
		},
		"ConfigSyncSkipped": {
			reason: "An object whose apply was skipped was not applied.", engine: catalogv1alpha1.EngineConfigSync,
			second: map[string]any{
				"resourceStatuses": []any{
					map[string]any{"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web", "status": "Current", "actuation": "Skipped"},
				},
			},
			manifests: []instruction.Manifest{web},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"ConfigSyncOverlap": {
			reason: "An object that another ResourceGroup owns has the content of that.", engine: catalogv1alpha1.EngineConfigSync,
			second:    resourceStatusWith("conditions", []any{map[string]any{"type": "OwnershipOverlap", "status": "True", "reason": "Overlap"}}),
			manifests: []instruction.Manifest{web}, want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"ConfigSyncUnowned": {
			reason: "An object that no ResourceGroup owns was there before, and has its own content.", engine: catalogv1alpha1.EngineConfigSync,
			second:    resourceStatusWith("conditions", []any{map[string]any{"type": "OwnershipOverlap", "status": "Unknown", "reason": "Unknown"}}),
			manifests: []instruction.Manifest{web}, want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"ConfigSyncDeletes": {
			reason: "An object that Config Sync deletes is not applied.", engine: catalogv1alpha1.EngineConfigSync,
			second: resourceStatusWith("strategy", "Delete"), manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"ConfigSyncApplies": {
			reason: "Another condition of an applied object does not change its owner.", engine: catalogv1alpha1.EngineConfigSync,
			second:    resourceStatusWith("conditions", []any{map[string]any{"type": "Reconciling", "status": "True"}}),
			manifests: []instruction.Manifest{web},
		},
		"ConfigSyncCommit": {
			reason: "An object at the synced commit was applied.", engine: catalogv1alpha1.EngineConfigSync,
			second: resourceStatusWith("sourceHash", readCommit[:7]), manifests: []instruction.Manifest{web},
		},
		"ConfigSyncEarlierCommit": {
			reason: "An object at an earlier commit has the content of that, whatever the RootSync says.", engine: catalogv1alpha1.EngineConfigSync,
			second: resourceStatusWith("sourceHash", "fedcba9"), manifests: []instruction.Manifest{web},
			want: coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
		"ConfigSyncElsewhere": {
			reason: "An object that a selector left out is not in the ResourceGroup.", engine: catalogv1alpha1.EngineConfigSync,
			second: map[string]any{
				"resourceStatuses": []any{
					map[string]any{"kind": "Service", "namespace": "shop", "name": "web", "status": "Current", "actuation": "Succeeded"},
				},
			},
			manifests: []instruction.Manifest{web, service},
			want:      coverage.Coverage{Missing: "the engine does not report that it applied Deployment shop/web"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := reportOf(t, tc.engine, Want{ClaimDir: tc.claimDir}, tc.spec, tc.status, tc.second).Cover(tc.engine, tc.manifests)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(coverage.Coverage{}, "HealthGap")); diff != "" {
				t.Errorf("\n%s\nCover(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// resourceStatusWith returns the status of a ResourceGroup that applied Deployment shop/web, with one more field of its entry.
func resourceStatusWith(key string, value any) map[string]any {
	entry := map[string]any{
		"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web", "status": "Current", "strategy": "Apply", "actuation": "Succeeded",
	}
	entry[key] = value
	return map[string]any{"resourceStatuses": []any{entry}}
}

// reportOf is the report of an engine's objects.
func reportOf(t *testing.T, e catalogv1alpha1.EngineType, w Want, spec, status, second map[string]any) coverage.Report {
	t.Helper()
	main := &unstructured.Unstructured{Object: map[string]any{"kind": "Kustomization", "metadata": map[string]any{"namespace": "flux", "name": "edge"}, "spec": spec, "status": status}}
	switch e {
	case catalogv1alpha1.EngineFlux:
		k := fluxKustomization{}
		if err := DecodeObject(main, &k); err != nil {
			t.Fatal(err)
		}
		return newFluxReport(k, main)
	case catalogv1alpha1.EngineArgoCD:
		a := argoApplication{}
		if err := DecodeObject(main, &a); err != nil {
			t.Fatal(err)
		}
		source := argoSource{}
		if a.Spec.Source != nil {
			source = *a.Spec.Source
		}
		return a.newArgoReport(w, source, main)
	}
	return inventoryReport(inventoryOf(main), &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": second}}, readCommit)
}

// TestCoverAllocates compares the memory that two inventories take, of which one lists the objects of many claims.
func TestCoverAllocates(t *testing.T) {
	entry := func(e catalogv1alpha1.EngineType, name string) map[string]any {
		if e == catalogv1alpha1.EngineFlux {
			return map[string]any{"id": "shop_" + name + "_apps_Deployment", "v": "v1"}
		}
		return resourceOf("apps", "Deployment", name, "Synced", false)
	}
	observe := func(e catalogv1alpha1.EngineType, length int) float64 {
		entries := []any{}
		for i := range length {
			entries = append(entries, entry(e, fmt.Sprintf("web-%d", i)))
		}
		main := &unstructured.Unstructured{Object: map[string]any{
			"kind": "Kustomization", "metadata": map[string]any{"namespace": "flux", "name": "edge"},
			"spec":   map[string]any{"source": map[string]any{"path": "", "targetRevision": "main"}},
			"status": map[string]any{"inventory": map[string]any{"entries": entries}, "resources": entries},
		}}
		manifests := []instruction.Manifest{describeManifest("apps", "Deployment", "web-1", nil)}
		return testing.AllocsPerRun(10, func() {
			if got := observeEngine(e, Want{Branch: "main"}, main, nil).Report.Cover(e, manifests); got.Missing != "" {
				t.Error(got.Missing)
			}
		})
	}
	for _, e := range []catalogv1alpha1.EngineType{catalogv1alpha1.EngineFlux, catalogv1alpha1.EngineArgoCD} {
		t.Run(string(e), func(t *testing.T) {
			smallCost, largeCost := observe(e, 10), observe(e, 1000)
			if largeCost > smallCost+10 {
				t.Errorf("\nObjects of other claims take no memory of their own.\nObserve(...).Cover(...): %.0f allocations with 10 entries, %.0f with 1000", smallCost, largeCost)
			}
		})
	}
}
