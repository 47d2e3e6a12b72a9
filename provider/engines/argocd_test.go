package engines

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// syncedApplication returns an Application that applied a commit with success, from a directory with settings.
func syncedApplication(dir, settings string) json.RawMessage {
	const source = `{"repoURL": "https://git.example.org/fleet.git", "targetRevision": "main", "path": "DIR"DIRECTORY}`
	const application = `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "o", "namespace": "n"},
		"spec": {"destination": {"name": "in-cluster"}, "source": SOURCE},
		"status": {"health": {"status": "Healthy"}, "sync": {"status": "Synced", "revision": "0123456789abcdef0123456789abcdef01234567",
			"comparedTo": {"destination": {"name": "in-cluster"}, "source": SOURCE}}}}`
	if settings != "" {
		settings = `, "directory": ` + settings
	}
	return json.RawMessage(strings.ReplaceAll(application, "SOURCE", strings.NewReplacer("DIRECTORY", settings, "DIR", dir).Replace(source)))
}

// hydratedApplication is syncedApplication with a source hydrator.
func hydratedApplication(dir, settings string) json.RawMessage {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	synced := string(syncedApplication(dir, settings))
	_, source, _ := strings.Cut(synced, `"source": `)
	source, _, _ = strings.Cut(source, "},\n")
	synced = strings.Replace(synced, `"source": {`, `"sourceHydrator": {"drySource": {`, 1)
	synced = strings.Replace(synced, `}},
		"status": {`, `}}},
		"status": {"sourceHydrator": {"lastSuccessfulOperation": {"drySHA": "`+commit+`", "hydratedSHA": "`+commit+`",
			"sourceHydrator": {"drySource": `+source+`}}}, `, 1)
	return json.RawMessage(synced)
}

// TestArgoFolders observes Applications of directories that have a folder for each track and no kustomization.
func TestArgoFolders(t *testing.T) {
	w := Want{URL: "https://git.example.org/fleet.git", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web", HasFolders: true}
	const message = "it does not read folders, and the claim has one for each track: set directory.recurse of the source to true"
	flat := w
	flat.HasFolders = false
	cases := map[string]struct {
		reason      string
		want        Want
		application json.RawMessage
		message     string
	}{
		"Flat": {
			reason: "A directory without folders is read whole by a source that does not recurse.",
			want:   flat, application: syncedApplication(w.ClaimDir, ""),
		},
		"Recursive": {reason: "A source that recurses reads the folders.", want: w, application: syncedApplication(w.ClaimDir, `{"recurse": true}`)},
		"Shallow": {
			reason: "A source that does not recurse applies nothing of a track.",
			want:   w, application: syncedApplication(w.ClaimDir, ""), message: message,
		},
		"ShallowSite": {
			reason: "A source of the Site's directory has to recurse too.",
			want:   w, application: syncedApplication(w.SiteDir, `{"include": "*.yaml"}`), message: message,
		},
		"HydratedFlat": {reason: "A hydrator renders a directory without folders whole.", want: flat, application: hydratedApplication(w.ClaimDir, "")},
		"HydratedDepth": {
			reason: "A hydrator that does not recurse renders nothing of a track.",
			want:   w, application: hydratedApplication(w.ClaimDir, ""), message: message,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reason := ""
			if tc.message != "" {
				reason = v1alpha1.SiteReasonWrongSource
			}
			got := observeEngine(catalogv1alpha1.EngineArgoCD, tc.want, decodeJSONObject(t, tc.application), nil)
			if diff := cmp.Diff([]string{reason, tc.message}, []string{got.Reason, got.Message}); diff != "" {
				t.Errorf("\n%s\nobserveEngine(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoProof observes an Application that applied a commit with success, from sources that leave out no file or some
// files.
func TestArgoProof(t *testing.T) {
	w := Want{URL: "https://git.example.org/fleet.git", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
	cases := map[string]struct {
		reason    string
		dir       string
		directory string
		want      v1alpha1.Proof
	}{
		"All": {reason: "A source that reads all files of the claim proves exactly the applied files.", dir: w.ClaimDir, want: v1alpha1.ProofExact},
		"Include": {
			reason: "A source with include leaves out the files that do not match.",
			dir:    w.ClaimDir, directory: `{"include": "*.yaml"}`, want: v1alpha1.ProofTransformed,
		},
		"Exclude": {
			reason: "A source with exclude leaves out the files that match.",
			dir:    w.ClaimDir, directory: `{"exclude": "secrets/*"}`, want: v1alpha1.ProofTransformed,
		},
		"Shallow": {
			reason: "A source of a directory above the claim's that does not recurse leaves out the claim's files.",
			dir:    w.SiteDir, want: v1alpha1.ProofTransformed,
		},
		"Recursive": {
			reason: "A source of a directory above the claim's that recurses reads the claim's files.",
			dir:    w.SiteDir, directory: `{"recurse": true}`, want: v1alpha1.ProofExact,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := observeEngine(catalogv1alpha1.EngineArgoCD, w, decodeJSONObject(t, syncedApplication(tc.dir, tc.directory)), nil)
			if got.Reason != "" {
				t.Fatalf("\n%s\nobserveEngine(): want no reason, got %s: %s", tc.reason, got.Reason, got.Message)
			}
			if diff := cmp.Diff(tc.want, got.Proof); diff != "" {
				t.Errorf("\n%s\nobserveEngine(): proof: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoSyncReason observes an Application with a policy of syncs, a status and an operation that ended.
func TestArgoSyncReason(t *testing.T) {
	const off = "spec.syncPolicy.automated is off: sync it by hand"
	progresses := [2]string{v1alpha1.SiteReasonProgressing, "sync status OutOfSync"}
	cases := map[string]struct {
		reason                    string
		policy, sync, phase, note string
		owner                     string
		want                      [2]string
	}{
		"Automated": {reason: "An automated Application is synced soon.", policy: `{"automated": {}}`, sync: "OutOfSync", want: progresses},
		"Prunes": {
			reason: "Other fields of the policy do not turn it off.",
			policy: `{"automated": {"prune": true, "selfHeal": false}}`, sync: "OutOfSync", want: progresses,
		},
		"Enabled": {reason: "A policy may say that it is enabled.", policy: `{"automated": {"enabled": true}}`, sync: "OutOfSync", want: progresses},
		"Disabled": {
			reason: "A policy that is not enabled waits for a user.",
			policy: `{"automated": {"enabled": false, "prune": true}}`, sync: "OutOfSync", want: [2]string{v1alpha1.SiteReasonSuspended, off},
		},
		"NoAutomated": {
			reason: "A policy without automated syncs waits for a user.",
			policy: `{"syncOptions": ["CreateNamespace=true"]}`, sync: "OutOfSync", want: [2]string{v1alpha1.SiteReasonSuspended, off},
		},
		"Null": {
			reason: "A policy that is null turns nothing on.",
			policy: `{"automated": null}`, sync: "OutOfSync", want: [2]string{v1alpha1.SiteReasonSuspended, off},
		},
		"NoPolicy": {reason: "Without a policy a user syncs.", policy: `{}`, sync: "OutOfSync", want: [2]string{v1alpha1.SiteReasonSuspended, off}},
		"Running": {
			reason: "A sync that a user started is under way.",
			policy: `{}`, sync: "OutOfSync", phase: "Running", want: [2]string{v1alpha1.SiteReasonProgressing, "an operation is running"},
		},
		"Failed": {
			reason: "A failed sync reports its error, also if a user started it.",
			policy: `{}`, sync: "OutOfSync", phase: "Failed", note: "no rights", want: [2]string{v1alpha1.SiteReasonEngineFailed, "no rights"},
		},
		"NotCompared": {
			reason: "An unknown sync status does not show a user's sync.",
			policy: `{}`, sync: "Unknown", want: [2]string{v1alpha1.SiteReasonProgressing, "sync status Unknown"},
		},
		"Generated": {
			reason: "The ApplicationSet syncs an Application that it made.",
			policy: `{}`, sync: "OutOfSync", owner: "argoproj.io/v1alpha1 ApplicationSet", want: progresses,
		},
		"AppOfApps": {
			reason: "An Application in another Application waits for a user.",
			policy: `{}`, sync: "OutOfSync", owner: "argoproj.io/v1alpha1 Application", want: [2]string{v1alpha1.SiteReasonSuspended, off},
		},
		"OtherGroup": {
			reason: "An ApplicationSet of another group syncs nothing.",
			policy: `{}`, sync: "OutOfSync", owner: "example.org/v1 ApplicationSet", want: [2]string{v1alpha1.SiteReasonSuspended, off},
		},
		"SyncedByHand": {reason: "A sync by a user is proven.", policy: `{}`, sync: "Synced"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			operation := ""
			if tc.phase != "" {
				operation = `"operationState": {"phase": "` + tc.phase + `", "message": "` + tc.note + `"}, `
			}
			text := strings.NewReplacer(`"spec": {`, `"spec": {"syncPolicy": `+tc.policy+`, `, `"sync": {"status": "Synced"`, operation+`"sync": {"status": "`+tc.sync+`"`).Replace(string(syncedApplication("clusters/edge1", "")))
			w := Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1"}
			application := decodeJSONObject(t, json.RawMessage(text))
			if version, kind, isOwned := strings.Cut(tc.owner, " "); isOwned {
				application.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "fleet", UID: "fleet-uid", Controller: new(true)}})
			}
			got := Observe(catalogv1alpha1.EngineArgoCD, w, application, nil)
			if diff := cmp.Diff(tc.want, [2]string{got.Reason, got.Message}); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoSkip has an Application with a value of the annotation that makes Argo CD leave it alone.
func TestArgoSkip(t *testing.T) {
	cases := map[string]struct {
		reason, value string
		want          bool
	}{
		"True":      {reason: "The value of the documentation skips.", value: "true", want: true},
		"Capital":   {reason: "A value with a capital skips.", value: "True", want: true},
		"Capitals":  {reason: "A value in capitals skips.", value: "TRUE", want: true},
		"Letter":    {reason: "The initial t is enough.", value: "t", want: true},
		"LetterBig": {reason: "The capital initial T is enough, too.", value: "T", want: true},
		"One":       {reason: "The number one is true.", value: "1", want: true},
		"False":     {reason: "The value false skips nothing.", value: "false"},
		"Zero":      {reason: "Zero is false.", value: "0"},
		"Mixed":     {reason: "Go does not read a value of mixed case.", value: "tRUE"},
		"Yes":       {reason: "A word of YAML is not a truth value of Go.", value: "yes"},
		"Blank":     {reason: "Argo CD does not trim a value.", value: " true"},
		"Empty":     {reason: "An empty value skips nothing.", value: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			main := decodeJSONObject(t, syncedApplication("clusters/edge1", ""))
			main.SetAnnotations(map[string]string{argoSkipKey: tc.value})
			got := observeEngine(catalogv1alpha1.EngineArgoCD, Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1"}, main, nil)
			_, isRefreshed := RefreshAnnotation(catalogv1alpha1.EngineArgoCD, main, nil, "now")
			if diff := cmp.Diff([]bool{tc.want, !tc.want}, []bool{got.Reason == v1alpha1.SiteReasonSuspended, isRefreshed}); diff != "" {
				t.Errorf("\n%s\nsuspended, refreshed: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoIgnoreDifferences has an Application that ignores differences, and a comparison that ignored some.
func TestArgoIgnoreDifferences(t *testing.T) {
	const replicas, image = `[{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}]`, `[{"kind": "Deployment", "jqPathExpressions": [".spec.image"]}]`
	older := [2]string{v1alpha1.SiteReasonProgressing, "the last comparison was made with an older spec"}
	cases := map[string]struct {
		reason, spec, compared string
		want                   [2]string
		proof                  v1alpha1.Proof
	}{
		"Same": {
			reason: "A comparison with the present rules proves the remaining fields.",
			spec:   replicas, compared: replicas, proof: v1alpha1.ProofTransformed,
		},
		"Empty": {
			reason:   "An empty field of a rule does not make a difference.",
			spec:     replicas,
			compared: `[{"group": "apps", "kind": "Deployment", "name": "", "jsonPointers": ["/spec/replicas"], "managedFieldsManagers": null}]`,
			proof:    v1alpha1.ProofTransformed,
		},
		"Removed": {
			reason: "A comparison that ignored more than the spec does now proves nothing.",
			spec:   `null`, compared: replicas, want: older, proof: v1alpha1.ProofExact,
		},
		"Emptied": {reason: "A list without rules ignores nothing now.", spec: `[]`, compared: replicas, want: older, proof: v1alpha1.ProofExact},
		"Changed": {reason: "A comparison with other rules proves nothing.", spec: image, compared: replicas, want: older, proof: v1alpha1.ProofTransformed},
		"Added": {
			reason: "A comparison that ignored nothing proves more than the rules of now ask for.",
			spec:   replicas, compared: `null`, proof: v1alpha1.ProofTransformed,
		},
		"Recorded": {reason: "A comparison that records an empty list ignored nothing.", spec: `null`, compared: `[]`, proof: v1alpha1.ProofExact},
		"None":     {reason: "A comparison that ignores nothing proves the files.", spec: `null`, compared: `null`, proof: v1alpha1.ProofExact},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer(`"spec": {`, `"spec": {"ignoreDifferences": `+tc.spec+`, `, `"comparedTo": {`, `"comparedTo": {"ignoreDifferences": `+tc.compared+`, `).Replace(string(syncedApplication("clusters/edge1", "")))
			got := observeEngine(catalogv1alpha1.EngineArgoCD, Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1"}, decodeJSONObject(t, json.RawMessage(text)), nil)
			if diff := cmp.Diff(tc.want, [2]string{got.Reason, got.Message}); diff != "" {
				t.Errorf("\n%s\nobserveEngine(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.proof, got.Proof); diff != "" {
				t.Errorf("\n%s\nobserveEngine(...): proof: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoHealth observes an Application that is in sync, with the health of its worst object.
func TestArgoHealth(t *testing.T) {
	cases := map[string]struct {
		reason, health string
		want           Observation
	}{
		"Healthy": {reason: "A healthy Application proves its commit.", health: `{"status": "Healthy"}`, want: Observation{Health: "Healthy"}},
		"Suspended": {
			reason: "A suspended object makes an Application neither healthy nor broken.",
			health: `{"status": "Suspended"}`,
			want:   Observation{Reason: v1alpha1.SiteReasonProgressing, Message: "health Suspended", Health: "Suspended", StillApplied: true},
		},
		"Progressing": {
			reason: "An object that starts has not failed.",
			health: `{"status": "Progressing"}`,
			want:   Observation{Reason: v1alpha1.SiteReasonProgressing, Message: "health Progressing", Health: "Progressing", StillApplied: true},
		},
		"Missing": {
			reason: "A missing object is unhealthy.",
			health: `{"status": "Missing"}`, want: Observation{Reason: v1alpha1.SiteReasonUnhealthy, Message: "Missing", Health: "Missing"},
		},
		"Degraded": {
			reason: "A degraded object is unhealthy.",
			health: `{"status": "Degraded", "message": "no pods"}`,
			want:   Observation{Reason: v1alpha1.SiteReasonUnhealthy, Message: "Degraded: no pods", Health: "Degraded"},
		},
		"Unknown": {
			reason: "An object that cannot be assessed hides a degraded object.", health: `{"status": "Unknown", "message": "no such field"}`,
			want: Observation{
				Reason: v1alpha1.SiteReasonProgressing, Message: "health Unknown: no such field", Health: "Unknown", StillApplied: true,
				MayHideFailure: true,
			},
		},
		"None": {
			reason: "An Application without a health has not been assessed.",
			health: `{}`, want: Observation{Reason: v1alpha1.SiteReasonProgressing, Message: "health", StillApplied: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(syncedApplication("clusters/edge1", "")), `"health": {"status": "Healthy"}`, `"health": `+tc.health, 1)
			got := Observe(catalogv1alpha1.EngineArgoCD, Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1"}, decodeJSONObject(t, json.RawMessage(text)), nil)
			part := Observation{Reason: got.Reason, Message: got.Message, Health: got.Health, StillApplied: got.StillApplied, MayHideFailure: got.MayHideFailure}
			if diff := cmp.Diff(tc.want, part); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoDetectedType observes Applications whose sources name no tool, and of which the last comparison reports a type.
func TestArgoDetectedType(t *testing.T) {
	const byHelm = "its source is rendered by Helm, so that it applies other objects than the files have"
	const byPlugin = "its source is rendered by a plugin, so that it applies other objects than the files have"
	cases := map[string]struct {
		reason, types string
		isListed      bool
		message       string
	}{
		"Directory":    {reason: "A directory is applied as it is.", types: `"sourceType": "Directory"`},
		"Kustomize":    {reason: "kustomize reads the kustomization of the directory.", types: `"sourceType": "Kustomize"`},
		"Helm":         {reason: "A Chart.yaml in the directory makes it a chart.", types: `"sourceType": "Helm"`, message: byHelm},
		"Plugin":       {reason: "A plugin that claims the directory may apply anything.", types: `"sourceType": "Plugin"`, message: byPlugin},
		"None":         {reason: "An Application without a comparison has no type.", types: `"sourceType": ""`},
		"Listed":       {reason: "Each of several sources has a type of its own.", types: `"sourceTypes": ["Plugin", "Directory"]`, isListed: true},
		"ListedShort":  {reason: "A source that was added since the comparison has no type.", types: `"sourceTypes": ["Helm"]`, isListed: true},
		"ListedSingle": {reason: "The type of a single source says nothing about several.", types: `"sourceType": "Helm"`, isListed: true},
		"ListedPlugin": {
			reason: "The type of the Site's source counts.",
			types:  `"sourceTypes": ["Directory", "Plugin"]`, isListed: true, message: byPlugin,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(syncedApplication("clusters/edge1", "")), `"status": {`, `"status": {`+tc.types+`, `, 1)
			if tc.isListed {
				const values = `{"repoURL": "https://git.example.org/values.git", "targetRevision": "main", "path": "values"}`
				text = strings.ReplaceAll(text, `"source": {`, `"sources": [`+values+`, {`)
				text = strings.NewReplacer(
					`"path": "clusters/edge1"}`, `"path": "clusters/edge1"}]`, `"revision": "`, `"revisions": ["", "`, `abcdef01234567",`, `abcdef01234567"],`,
				).Replace(text)
			}
			w := Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1"}
			got := observeEngine(catalogv1alpha1.EngineArgoCD, w, decodeJSONObject(t, json.RawMessage(text)), nil)
			reason := ""
			if tc.message != "" {
				reason = v1alpha1.SiteReasonEngineNotProvable
			}
			if diff := cmp.Diff([2]string{reason, tc.message}, [2]string{got.Reason, got.Message}); diff != "" {
				t.Errorf("\n%s\nobserveEngine(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoAwaitsPruning observes an Application that is out of sync, with the resources of the last comparison.
func TestArgoAwaitsPruning(t *testing.T) {
	const (
		synced   = `{"kind": "Service", "name": "web", "status": "Synced"}`
		changed  = `{"kind": "Service", "name": "api", "status": "OutOfSync"}`
		removed  = `{"kind": "Service", "name": "old", "status": "OutOfSync", "requiresPruning": true}`
		job      = `{"kind": "Job", "name": "migrate", "hook": true}`
		message  = "only objects that Git does not have differ, and spec.syncPolicy.automated.prune is off: prune them by hand"
		progress = "sync status OutOfSync"
	)
	const automated, byHand = `{"automated": {}}`, "spec.syncPolicy.automated is off: sync it by hand"
	cases := map[string]struct{ reason, policy, resources, want string }{
		"Removed": {
			reason: "Argo CD removes nothing by itself without prune.",
			policy: automated, resources: synced + ", " + removed, want: message,
		},
		"Off": {
			reason: "A policy may say that prune is off.",
			policy: `{"automated": {"prune": false, "selfHeal": true}}`, resources: removed, want: message,
		},
		"On":      {reason: "With prune Argo CD removes the object soon.", policy: `{"automated": {"prune": true}}`, resources: removed, want: progress},
		"Changed": {reason: "A changed object is synced first.", policy: automated, resources: removed + ", " + changed, want: progress},
		"Hook": {
			reason: "A hook has no sync status, so Argo CD starts a sync.",
			policy: automated, resources: job + ", " + removed, want: progress,
		},
		"Synced":   {reason: "An Application whose objects are all in sync awaits no removal.", policy: automated, resources: synced, want: progress},
		"Nothing":  {reason: "An Application without resources waits for no removal.", policy: automated, want: progress},
		"ByAUser":  {reason: "Without automated syncs the user syncs.", policy: `{}`, resources: removed, want: byHand},
		"Disabled": {reason: "A disabled policy is off as a whole.", policy: `{"automated": {"enabled": false}}`, resources: removed, want: byHand},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer(
				`"spec": {`, `"spec": {"syncPolicy": `+tc.policy+`, `,
				`"sync": {"status": "Synced"`, `"resources": [`+tc.resources+`], "sync": {"status": "OutOfSync"`,
			).Replace(string(syncedApplication("clusters/edge1", "")))
			w := Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1"}
			got := Observe(catalogv1alpha1.EngineArgoCD, w, decodeJSONObject(t, json.RawMessage(text)), nil)
			reason := v1alpha1.SiteReasonSuspended
			if tc.want == progress {
				reason = v1alpha1.SiteReasonProgressing
			}
			if diff := cmp.Diff([2]string{reason, tc.want}, [2]string{got.Reason, got.Message}); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestArgoDestinationMoved observes an Application that is in sync with the destination of its last comparison, while its spec names a destination.
func TestArgoDestinationMoved(t *testing.T) {
	cases := map[string]struct {
		reason, destination string
		want                bool
	}{
		"Same":      {reason: "The objects of an Application that is compared again are still applied.", destination: `{"name": "edge1"}`, want: true},
		"Cluster":   {reason: "The objects in one cluster are not applied to another cluster.", destination: `{"name": "edge2"}`},
		"Namespace": {reason: "The objects in one namespace are not applied to another namespace.", destination: `{"name": "edge1", "namespace": "web"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer(
				`"spec": {"destination": {"name": "in-cluster"}`, `"spec": {"destination": `+tc.destination,
				`"comparedTo": {"destination": {"name": "in-cluster"}`, `"comparedTo": {"destination": {"name": "edge1"}`,
			).Replace(string(syncedApplication("clusters/edge1", "")))
			main := decodeJSONObject(t, json.RawMessage(text))
			main.SetAnnotations(map[string]string{argoRefreshKey: "normal"})
			w := Want{Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1", Elsewhere: true}
			got := observeEngine(catalogv1alpha1.EngineArgoCD, w, main, nil)
			if got.Reason != v1alpha1.SiteReasonProgressing || got.StillApplied != tc.want {
				t.Errorf("\n%s\nobserveEngine(...): want stillApplied %t, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}
