package instruction

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

// worker is an object of a Blueprint.
func worker(labels, annotations map[string]string) Object {
	return Object{Object: policy.Object{Group: "apps", Kind: "Deployment", Namespace: "team-a", Name: "worker"}, Labels: labels, Annotations: annotations}
}

func annotated(key, value string) Object { return worker(nil, map[string]string{key: value}) }

func labelled(key, value string) Object { return worker(map[string]string{key: value}, nil) }

func ofKind(group, kind string) Object {
	return Object{Object: policy.Object{Group: group, Kind: kind, Namespace: "team-a", Name: "worker"}}
}

func TestOf(t *testing.T) {
	const flux, argo, sync = "kustomize.toolkit.fluxcd.io/", "argocd.argoproj.io/", "configmanagement.gke.io/"
	cases := map[string]struct {
		reason string
		object Object
		want   []string
	}{
		"Plain": {reason: "An object without instructions is applied.", object: worker(nil, nil)},
		"FluxReconcile": {
			reason: "kustomize-controller skips an object with reconcile: disabled.",
			object: annotated(flux+"reconcile", "disabled"), want: []string{"annotation " + flux + "reconcile: disabled: Flux does not apply it"},
		},
		"FluxReconcileCase": {
			reason: "kustomize-controller compares values without regard to case.",
			object: annotated(flux+"reconcile", "Disabled"), want: []string{"annotation " + flux + "reconcile: Disabled: Flux does not apply it"},
		},
		"FluxReconcileLabel": {
			reason: "kustomize-controller looks for its keys among the labels too.",
			object: labelled(flux+"reconcile", "disabled"), want: []string{"label " + flux + "reconcile: disabled: Flux does not apply it"},
		},
		"FluxReconcileOn": {reason: "Any other value of reconcile changes nothing.", object: annotated(flux+"reconcile", "enabled")},
		"FluxIgnore": {
			reason: "Server-side apply with policy Ignore skips the object.",
			object: annotated(flux+"ssa", "Ignore"), want: []string{"annotation " + flux + "ssa: Ignore: Flux does not apply it"},
		},
		"FluxIfNotPresent": {
			reason: "Policy IfNotPresent creates the object and applies no later version.",
			object: annotated(flux+"ssa", "IfNotPresent"), want: []string{"annotation " + flux + "ssa: IfNotPresent: Flux applies it only once"},
		},
		"FluxIgnoreCase": {
			reason: "The policy of server-side apply is compared without regard to case, as a label too.",
			object: labelled(flux+"ssa", "ignore"), want: []string{"label " + flux + "ssa: ignore: Flux does not apply it"},
		},
		"FluxMerge":    {reason: "Policy Merge keeps fields of other managers and applies each field of Git.", object: annotated(flux+"ssa", "Merge")},
		"FluxOverride": {reason: "Policy Override is the default.", object: annotated(flux+"ssa", "Override")},
		"FluxPrune": {
			reason: "prune: disabled leaves the object in the cluster after its removal.",
			object: annotated(flux+"prune", "disabled"),
			want:   []string{"annotation " + flux + "prune: disabled: Flux may keep it after its removal"},
		},
		"FluxForce":      {reason: "force recreates an object that cannot be changed: it is applied.", object: annotated(flux+"force", "enabled")},
		"FluxSubstitute": {reason: "Without substitution the very file is applied.", object: annotated(flux+"substitute", "disabled")},
		"Flux1": {
			reason: "Flux 1 skips an object with its ignore annotation.",
			object: annotated("fluxcd.io/ignore", "true"), want: []string{"annotation fluxcd.io/ignore: true: Flux 1 does not apply it"},
		},
		"ArgoHook": {
			reason: "A hook runs during a sync and is not compared.",
			object: annotated(argo+"hook", "PostSync"),
			want:   []string{"annotation " + argo + "hook: PostSync: ArgoCD runs it as a hook and does not compare it"},
		},
		"ArgoHooks": {
			reason: "A list of hooks is a hook.",
			object: annotated(argo+"hook", "PreSync,PostSync"),
			want:   []string{"annotation " + argo + "hook: PreSync,PostSync: ArgoCD runs it as a hook and does not compare it"},
		},
		"ArgoHookSkip": {
			reason: "Hook type Skip is never applied.",
			object: annotated(argo+"hook", "Skip"), want: []string{"annotation " + argo + "hook: Skip: ArgoCD does not apply it"},
		},
		"HelmHook": {
			reason: "Argo CD takes a hook of Helm for one of its own.",
			object: annotated("helm.sh/hook", "post-install"),
			want:   []string{"annotation helm.sh/hook: post-install: ArgoCD runs it as a hook and does not compare it"},
		},
		"ArgoHookEmpty": {
			reason: "An empty hook is a hook of no type, which Argo CD never runs.",
			object: annotated(argo+"hook", ""), want: []string{`annotation ` + argo + `hook: "": ArgoCD does not apply it`},
		},
		"HelmHookEmpty": {
			reason: "An empty hook of Helm is a hook too.",
			object: annotated("helm.sh/hook", ""), want: []string{`annotation helm.sh/hook: "": ArgoCD runs it as a hook and does not compare it`},
		},
		"HelmHookCRD": {reason: "Argo CD applies an object with Helm's crd-install as any other one.", object: annotated("helm.sh/hook", "crd-install")},
		"HelmHookCRDAndMore": {
			reason: "A list with crd-install is a hook.",
			object: annotated("helm.sh/hook", "crd-install,pre-install"),
			want:   []string{"annotation helm.sh/hook: crd-install,pre-install: ArgoCD runs it as a hook and does not compare it"},
		},
		"HelmWeight": {
			reason: "Argo CD takes the weight of a hook for the wave, also of an object that is not a hook.",
			object: annotated("helm.sh/hook-weight", "-5"),
			want:   []string{`annotation helm.sh/hook-weight: "-5": ArgoCD applies or removes it in an order of its own`},
		},
		"HelmWeightZero": {reason: "Weight 0 is the wave of objects without the annotation.", object: annotated("helm.sh/hook-weight", "0")},
		"ArgoWaveText":   {reason: "Argo CD ignores a wave that is not a number.", object: annotated(argo+"sync-wave", "first")},
		"ArgoWaveZeros":  {reason: "A wave is a number, whatever its digits.", object: annotated(argo+"sync-wave", "00")},
		"ArgoWave": {
			reason: "A wave other than 0 is applied before or after the other objects.",
			object: annotated(argo+"sync-wave", "5"),
			want:   []string{"annotation " + argo + "sync-wave: 5: ArgoCD applies or removes it in an order of its own"},
		},
		"ArgoWaveZero": {reason: "Wave 0 is the wave of objects without the annotation.", object: annotated(argo+"sync-wave", "0")},
		"ArgoNoPrune": {
			reason: "Option Prune=false keeps the object after its removal.",
			object: annotated(argo+"sync-options", "Prune=false"),
			want:   []string{"annotation " + argo + "sync-options: Prune=false: ArgoCD may keep it after its removal"},
		},
		"ArgoPruneConfirm": {
			reason: "Option Prune=confirm keeps the object until a person confirms, also as one option of several.",
			object: annotated(argo+"sync-options", "Replace=true, Prune=confirm"),
			want:   []string{"annotation " + argo + "sync-options: Replace=true, Prune=confirm: ArgoCD may keep it after its removal"},
		},
		"ArgoPruneLast": {
			reason: "Option PruneLast=true removes the object after all others, and does remove it.",
			object: annotated(argo+"sync-options", "PruneLast=true"),
			want:   []string{"annotation " + argo + "sync-options: PruneLast=true: ArgoCD applies or removes it in an order of its own"},
		},
		"ArgoPruneOptions": {
			reason: "A list of options may hold one of each kind.",
			object: annotated(argo+"sync-options", "PruneLast=true,Delete=false"),
			want: []string{
				"annotation " + argo + "sync-options: PruneLast=true,Delete=false: ArgoCD may keep it after its removal",
				"annotation " + argo + "sync-options: PruneLast=true,Delete=false: ArgoCD applies or removes it in an order of its own",
			},
		},
		"ArgoNoDelete": {
			reason: "Option Delete=false keeps the object when the Application is deleted.",
			object: annotated(argo+"sync-options", "Delete=false"),
			want:   []string{"annotation " + argo + "sync-options: Delete=false: ArgoCD may keep it after its removal"},
		},
		"ArgoDeleteConfirm": {
			reason: "Option Delete=confirm keeps the object until a person confirms the deletion of the Application.",
			object: annotated(argo+"sync-options", "Delete=confirm"),
			want:   []string{"annotation " + argo + "sync-options: Delete=confirm: ArgoCD may keep it after its removal"},
		},
		"ArgoHookPreDelete": {
			reason: "A hook that runs before the Application is deleted runs in no sync.",
			object: annotated(argo+"hook", "PreDelete"),
			want:   []string{"annotation " + argo + "hook: PreDelete: ArgoCD runs it as a hook and does not compare it"},
		},
		"ArgoReplace": {
			reason: "Options that say how an object is written leave it to no other.",
			object: annotated(argo+"sync-options", "Replace=true,ServerSideApply=true,SkipDryRunOnMissingResource=true,Validate=false"),
		},
		"ArgoExtraneous": {
			reason: "An extraneous object that is ignored stays, and the Application is in sync.",
			object: annotated(argo+"compare-options", "IgnoreExtraneous"),
			want:   []string{"annotation " + argo + "compare-options: IgnoreExtraneous: ArgoCD may keep it after its removal"},
		},
		"ArgoServerDiff": {reason: "A comparison by the server compares all that is applied.", object: annotated(argo+"compare-options", "ServerSideDiff=true")},
		"HelmKeep": {
			reason: "Argo CD keeps an object with Helm's resource policy keep.",
			object: annotated("helm.sh/resource-policy", "keep"),
			want:   []string{"annotation helm.sh/resource-policy: keep: ArgoCD may keep it after its removal"},
		},
		"ArgoIgnoreHealth": {reason: "An object whose health is ignored is applied and compared.", object: annotated(argo+"ignore-healthcheck", "true")},
		"ArgoSkipFile": {
			reason: "A directory source skips a file with this text, wherever it stands.",
			object: Object{Object: worker(nil, nil).Object, Content: []byte("data:\n  notes: +argocd:skip-file-rendering\n")},
			want:   []string{"text +argocd:skip-file-rendering: ArgoCD does not apply it"},
		},
		"ArgoEndpointSlice": {
			reason: "The installation of Argo CD excludes EndpointSlices.",
			object: ofKind("discovery.k8s.io", "EndpointSlice"), want: []string{"kind EndpointSlice.discovery.k8s.io: ArgoCD does not apply it"},
		},
		"ArgoEndpoints": {
			reason: "The installation of Argo CD excludes Endpoints.",
			object: ofKind("", "Endpoints"), want: []string{"kind Endpoints: ArgoCD does not apply it"},
		},
		"ArgoLease": {
			reason: "The controller of Argo CD never manages Leases.",
			object: ofKind("coordination.k8s.io", "Lease"), want: []string{"kind Lease.coordination.k8s.io: ArgoCD does not apply it"},
		},
		"ArgoMetrics": {
			reason: "The controller of Argo CD never manages a kind of metrics.k8s.io.",
			object: ofKind("metrics.k8s.io", "PodMetrics"), want: []string{"kind PodMetrics.metrics.k8s.io: ArgoCD does not apply it"},
		},
		"ArgoOtherGroup": {reason: "A kind of the same name in another group is managed.", object: ofKind("example.org", "Lease")},
		"ConfigSyncManaged": {
			reason: "Config Sync neither applies nor changes an object with managed: disabled.",
			object: annotated(sync+"managed", "disabled"), want: []string{"annotation " + sync + "managed: disabled: ConfigSync does not apply it"},
		},
		"ConfigSyncEnabled": {reason: "managed: enabled is the default.", object: annotated(sync+"managed", "enabled")},
		"ConfigSyncMutation": {
			reason: "mutation: ignore creates the object and changes it never.",
			object: annotated("client.lifecycle.config.k8s.io/mutation", "ignore"),
			want:   []string{"annotation client.lifecycle.config.k8s.io/mutation: ignore: ConfigSync applies it only once"},
		},
		"ConfigSyncDetach": {
			reason: "deletion: detach leaves the object in the cluster after its removal.",
			object: annotated("client.lifecycle.config.k8s.io/deletion", "detach"),
			want:   []string{"annotation client.lifecycle.config.k8s.io/deletion: detach: ConfigSync may keep it after its removal"},
		},
		"ConfigSyncOnRemove": {
			reason: "The library of Config Sync has a second annotation for that.",
			object: annotated("cli-utils.sigs.k8s.io/on-remove", "keep"),
			want:   []string{"annotation cli-utils.sigs.k8s.io/on-remove: keep: ConfigSync may keep it after its removal"},
		},
		"ConfigSyncCluster": {
			reason: "A ClusterSelector leaves the object out of clusters that it does not match.",
			object: annotated("configsync.gke.io/cluster-name-selector", "east"),
			want:   []string{"annotation configsync.gke.io/cluster-name-selector: east: ConfigSync does not apply it"},
		},
		"ConfigSyncSelector": {
			reason: "The older form of a ClusterSelector does the same.",
			object: annotated(sync+"cluster-selector", "east"),
			want:   []string{"annotation " + sync + "cluster-selector: east: ConfigSync does not apply it"},
		},
		"ConfigSyncNamespace": {
			reason: "A NamespaceSelector puts the object into the namespaces that it selects, which may be none.",
			object: annotated(sync+"namespace-selector", "dev"),
			want:   []string{"annotation " + sync + "namespace-selector: dev: ConfigSync does not apply it"},
		},
		"ConfigSyncDependsOn": {
			reason: "An object that depends on others is applied after them.",
			object: annotated("config.kubernetes.io/depends-on", "/namespaces/team-a/Secret/key"),
			want: []string{
				`annotation config.kubernetes.io/depends-on: "/namespaces/team-a/Secret/key": ConfigSync applies or removes it in an order of its own`,
			},
		},
		"ConfigSyncMutated": {
			reason: "A mutation at apply time puts values of other objects into the object, so another one than that of the file is applied.",
			object: annotated("config.kubernetes.io/apply-time-mutation", "- sourcePath: $.status.host"),
			want: []string{
				`annotation config.kubernetes.io/apply-time-mutation: "- sourcePath: $.status.host": ConfigSync changes it before it applies it`,
			},
		},
		"LocalConfig": {
			reason: "kustomize drops an object with this annotation.",
			object: annotated("config.kubernetes.io/local-config", "true"),
			want:   []string{"annotation config.kubernetes.io/local-config: true: a GitOps engine does not apply it"},
		},
		"LocalConfigEmpty": {
			reason: "kustomize drops an object with an empty annotation too.",
			object: annotated("config.kubernetes.io/local-config", ""),
			want:   []string{`annotation config.kubernetes.io/local-config: "": a GitOps engine does not apply it`},
		},
		"LocalConfigOff": {
			reason: "kustomize keeps an object whose annotation is false, and Config Sync applies it.",
			object: annotated("config.kubernetes.io/local-config", "false"),
		},
		"LongValue": {
			reason: "A value of an author is quoted and shortened unless it is a short word.",
			object: annotated("helm.sh/hook", "a\nb"),
			want:   []string{`annotation helm.sh/hook: "a\nb": ArgoCD runs it as a hook and does not compare it`},
		},
		"Flux1Earlier": {
			reason: "Flux 1 reads its keys with an earlier prefix too.", object: annotated("flux.weave.works/ignore", "true"),
			want: []string{"annotation flux.weave.works/ignore: true: Flux 1 does not apply it"},
		},
		"Flux1Off": {
			reason: "Flux 1 applies an object whose ignore annotation is not true.", object: annotated("flux.weave.works/ignore", "false"),
		},
		"FluxDecrypt": {
			reason: "An object that Flux does not decrypt is applied as the file has it.", object: annotated(flux+"decrypt", "disabled"),
		},
		"ArgoHookBlank": {
			reason: "A list of blanks is a hook of no type.", object: annotated(argo+"hook", " , "),
			want: []string{`annotation ` + argo + `hook: " , ": ArgoCD does not apply it`},
		},
		"ArgoHookSkipBlank": {
			reason: "Blanks around a type do not count.", object: annotated(argo+"hook", "Skip, "),
			want: []string{"annotation " + argo + "hook: Skip,: ArgoCD does not apply it"},
		},
		"ArgoHookSkipAndMore": {
			reason: "A list with Skip and another type is a hook of that type.", object: annotated(argo+"hook", "Skip,PostSync"),
			want: []string{"annotation " + argo + "hook: Skip,PostSync: ArgoCD runs it as a hook and does not compare it"},
		},
		"ArgoHookDeleted": {
			reason: "A policy that removes hooks does not make a hook.", object: annotated(argo+"hook-delete-policy", "HookSucceeded"),
		},
		"HelmKeepOfSeveral": {
			reason: "The resource policy of Helm is a list.", object: annotated("helm.sh/resource-policy", "other, keep"),
			want: []string{"annotation helm.sh/resource-policy: other, keep: ArgoCD may keep it after its removal"},
		},
		"HelmOtherPolicy": {
			reason: "Another resource policy keeps nothing.", object: annotated("helm.sh/resource-policy", "keeper"),
		},
		"ArgoAPIService": {
			reason: "No installation of Argo CD excludes an APIService.", object: ofKind("apiregistration.k8s.io", "APIService"),
		},
		"ArgoReview": {
			reason: "The installation of Argo CD excludes reviews of access.", object: ofKind("authorization.k8s.io", "SubjectAccessReview"),
			want: []string{"kind SubjectAccessReview.authorization.k8s.io: ArgoCD does not apply it"},
		},
		"ArgoEvent": {
			reason: "The controller of Argo CD never manages a kind of events.k8s.io.", object: ofKind("events.k8s.io", "Event"),
			want: []string{"kind Event.events.k8s.io: ArgoCD does not apply it"},
		},
		"ArgoRole": {
			reason: "A kind of a group with a similar name is managed.", object: ofKind("rbac.authorization.k8s.io", "Role"),
		},
		"ConfigSyncClusters": {
			reason: "Config Sync reads a ClusterSelector, and applies none.", object: ofKind("configmanagement.gke.io", "ClusterSelector"),
			want: []string{"kind ClusterSelector.configmanagement.gke.io: ConfigSync does not apply it"},
		},
		"ConfigSyncSpaces": {
			reason: "Config Sync reads a NamespaceSelector, and applies none.", object: ofKind("configmanagement.gke.io", "NamespaceSelector"),
			want: []string{"kind NamespaceSelector.configmanagement.gke.io: ConfigSync does not apply it"},
		},
		"ConfigSyncRegistry": {
			reason: "Config Sync reads the labels of a Cluster of the cluster registry, and applies none.",
			object: ofKind("clusterregistry.k8s.io", "Cluster"),
			want:   []string{"kind Cluster.clusterregistry.k8s.io: ConfigSync does not apply it"},
		},
		"ConfigSyncCAPI": {reason: "A Cluster of Cluster API is applied.", object: ofKind("cluster.x-k8s.io", "Cluster")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, i := range Of(tc.object) {
				got = append(got, i.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckInstructions(t *testing.T) {
	skipped, slice := annotated("kustomize.toolkit.fluxcd.io/reconcile", "disabled"), ofKind("discovery.k8s.io", "EndpointSlice")
	const declare = "declare the object in spec.unproven of the Blueprint"
	const way, wayOfKind = ", so no Site can prove it: remove the instruction, or " + declare, ", so no Site can prove it: " + declare
	retained, ordered := annotated("argocd.argoproj.io/sync-options", "Prune=false"), annotated("argocd.argoproj.io/sync-wave", "1")
	cases := map[string]struct {
		reason   string
		object   Object
		engine   catalogv1alpha1.EngineType
		declared []catalogv1alpha1.RenderedObject
		want     string
	}{
		"Refused": {
			reason: "The error names the object and the annotation.",
			object: skipped,
			want:   "Deployment team-a/worker: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled: Flux does not apply it" + way,
		},
		"Once": {
			reason: "An object that is created once is not proven.", object: annotated("kustomize.toolkit.fluxcd.io/ssa", "IfNotPresent"),
			want: "Deployment team-a/worker: annotation kustomize.toolkit.fluxcd.io/ssa: IfNotPresent: Flux applies it only once" + way,
		},
		"Kept": {
			reason: "A Site proves an object that is kept, so the error is about its removal.", object: retained,
			want: "Deployment team-a/worker: annotation argocd.argoproj.io/sync-options: Prune=false: ArgoCD may keep it after its removal, so a rollback may leave it in the cluster: remove the instruction, or " + declare,
		},
		"Mutated": {
			reason: "No Site proves an object that is changed when it is applied.", object: annotated("config.kubernetes.io/apply-time-mutation", "x"),
			want: "Deployment team-a/worker: annotation config.kubernetes.io/apply-time-mutation: x: ConfigSync changes it before it applies it" + way,
		},
		"Ordered": {
			reason: "A Site proves an object that is applied later, so the error is about the order.", object: ordered,
			want: "Deployment team-a/worker: annotation argocd.argoproj.io/sync-wave: 1: ArgoCD applies or removes it in an order of its own, so a Site runs a part of a revision first: remove the instruction, or " + declare,
		},
		"OtherEngine": {
			reason: "An annotation counts for each engine: a Blueprint serves all.",
			object: skipped, engine: catalogv1alpha1.EngineArgoCD,
			want: "Deployment team-a/worker: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled: Flux does not apply it" + way,
		},
		"Declared": {
			reason: "A declared object is rendered.",
			object: skipped, declared: []catalogv1alpha1.RenderedObject{{Group: "apps", Kind: "Deployment", Name: "worker"}},
		},
		"DeclaredKind": {
			reason: "A declaration without a name is of each object of the kind.",
			object: skipped, declared: []catalogv1alpha1.RenderedObject{{Group: "apps", Kind: "Deployment"}},
		},
		"DeclaredOther": {
			reason: "A declaration of another object allows nothing.",
			object: skipped, declared: []catalogv1alpha1.RenderedObject{{Group: "apps", Kind: "Deployment", Name: "web"}, {Kind: "Deployment"}},
			want: "Deployment team-a/worker: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled: Flux does not apply it" + way,
		},
		"DefaultHere": {
			reason: "A kind that an engine excludes is refused where that engine reads it.",
			object: slice, engine: catalogv1alpha1.EngineArgoCD,
			want: "EndpointSlice team-a/worker: kind EndpointSlice.discovery.k8s.io: ArgoCD does not apply it" + wayOfKind,
		},
		"DefaultThere": {reason: "Flux applies a kind that Argo CD excludes.", object: slice, engine: catalogv1alpha1.EngineFlux},
		"DefaultNone": {
			reason: "An engine that reports nothing may be Argo CD.",
			object: slice, engine: catalogv1alpha1.EngineNone,
			want: "EndpointSlice team-a/worker: kind EndpointSlice.discovery.k8s.io: ArgoCD does not apply it" + wayOfKind,
		},
		"DefaultSync": {
			reason: "A kind that Config Sync reads for itself is refused where it reads the object.",
			object: ofKind("configmanagement.gke.io", "ClusterSelector"), engine: catalogv1alpha1.EngineConfigSync,
			want: "ClusterSelector team-a/worker: kind ClusterSelector.configmanagement.gke.io: ConfigSync does not apply it" + wayOfKind,
		},
		"DefaultArgo": {
			reason: "Argo CD applies a kind that Config Sync reads for itself.",
			object: ofKind("configmanagement.gke.io", "ClusterSelector"), engine: catalogv1alpha1.EngineArgoCD,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Check(tc.object, tc.engine, tc.declared); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckFile(t *testing.T) {
	const skipped = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: worker, annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}\n"
	const message = "Deployment worker: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled: Flux does not apply it, so no Site can prove it: remove the instruction, or declare the object in spec.unproven of the Blueprint"
	cases := map[string]struct {
		reason   string
		name     string
		text     string
		declared []catalogv1alpha1.RenderedObject
		want     []string
	}{
		"Object":  {reason: "An object with an instruction is named.", name: "a.yaml", text: skipped, want: []string{message}},
		"Objects": {reason: "Each object with an instruction in one file is named.", name: "a.yaml", text: skipped + "---\n" + skipped, want: []string{message, message}},
		"Declared": {
			reason: "A declared object with an instruction is accepted.",
			name:   "a.yaml", text: skipped, declared: []catalogv1alpha1.RenderedObject{{Group: "apps", Kind: "Deployment"}},
		},
		"Default": {
			reason: "The Sites decide whether a default of an engine counts.",
			name:   "a.yaml", text: "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a}\n",
		},
		"Kustomization": {reason: "A kustomization is not an object.", name: "kustomization.yaml", text: "resources: [a.yaml]\n"},
		"Text":          {reason: "A text file is not an object.", name: "a.txt", text: "kustomize.toolkit.fluxcd.io/reconcile: disabled"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range CheckFile(tc.name, []byte(tc.text), tc.declared) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckFile(%s): -want, +got:\n%s", tc.reason, tc.name, diff)
			}
		})
	}
}

func TestReadHealth(t *testing.T) {
	cases := map[string]struct {
		reason, annotation string
		want               bool
	}{
		"True":    {reason: "Argo CD leaves the health of the object out.", annotation: `argocd.argoproj.io/ignore-healthcheck: "true"`, want: true},
		"False":   {reason: "The value false changes nothing.", annotation: `argocd.argoproj.io/ignore-healthcheck: "false"`},
		"Capital": {reason: "Argo CD compares the value as it is written.", annotation: `argocd.argoproj.io/ignore-healthcheck: "True"`},
		"Other":   {reason: "Another annotation says nothing about the health.", annotation: `argocd.argoproj.io/sync-wave: "1"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []bool
			for _, m := range Read("a.yaml", []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: worker, annotations: {"+tc.annotation+"}}\n")) {
				got = append(got, m.IsHealthIgnored)
			}
			if diff := cmp.Diff([]bool{tc.want}, got); diff != "" {
				t.Errorf("\n%s\nRead(...): health ignored: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
