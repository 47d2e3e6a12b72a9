package sitesync

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// owners is the controller of the SiteSync and its home.
func owners() []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Name: "web", UID: "web-uid", Controller: new(true)}}
}

// secondRevision is a ledger of revision 2 with a plan, after revision 1 was verified with a tree.
func secondRevision(stable string, plan ...ledger.Step) ledger.State {
	return ledger.State{
		Head: ledger.Head{Ledger: "demo", Epoch: 1, Seq: 5, ID: "ordered"}, Home: "default", LastNumber: 2,
		Current: &ledger.Revision{Number: 2, Plan: plan, Parts: []ledger.Part{{Delivery: "web", ConfigRef: "default", Sites: []string{"edge1"}}}},
		History: []ledger.Past{{Number: 1, Trees: []ledger.SiteTree{{Site: "edge1", ID: stable}}, Verdict: &ledger.Verdict{Result: ledger.VerdictVerified}}},
	}
}

// record lets the status of the home show a ledger by its mandate, and the directory of a commit. Its spec stays at the first step.
func (w *world) record(s ledger.State, commit string, delivered v1alpha1.DeliveredTree) {
	w.Helper()
	d, sync := &v1alpha1.GitDelivery{}, w.get()
	err := w.kube.Get(w.Context(), key(), d)
	delivered.Site, delivered.Path = "edge1", webAtE1
	d.Status.AtProvider = v1alpha1.GitDeliveryObservation{
		Ledger: &s, Mandate: &v1alpha1.MandateStatus{Rules: step.Rules, Revision: 2, May: []step.Kind{step.KindRollBack}},
		Record: &v1alpha1.LedgerRecord{Head: s.Head, Position: s.Position()}, Remote: &v1alpha1.Remote{Commit: commit}, Trees: []v1alpha1.DeliveredTree{delivered},
	}
	if err == nil {
		w.must(w.kube.Update(w.Context(), d))
		return
	}
	d.Namespace, d.Name, d.OwnerReferences = "team-a", "web", owners()
	d.Annotations = map[string]string{xcrd.AnnotationKeyCompositionResourceName: "web"}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{
		ClaimRef: sync.Spec.ForProvider.ClaimRef, Position: sync.Spec.ForProvider.Position, Ledger: &v1alpha1.LedgerUpdate{},
		Mandate: &v1alpha1.Mandate{
			Rules: step.Rules, Ledger: "demo", Epoch: 1, Revision: 2, May: []step.Kind{step.KindRollBack},
			Rollback: v1alpha1.MandatedRollback{AttemptTimeout: "2m"}, Drain: "30s",
		},
		Trees: []v1alpha1.Tree{{Site: "edge1", Path: webAtE1, Action: v1alpha1.ActionDesired, Tree: sync.Spec.ForProvider.Sites[0].Tree}},
	}
	w.must(w.kube.Create(w.Context(), d))
}

// control sets the controller and a field of the SiteSync.
func (w *world) control(change func(*v1alpha1.SiteSyncParameters)) {
	w.Helper()
	s := w.get()
	s.OwnerReferences = owners()
	change(&s.Spec.ForProvider)
	w.must(w.kube.Update(w.Context(), s))
}

// expectPosition compares the observed position, and checks that the function wrote nothing.
func (w *world) expectPosition(description string, want ledger.Position) {
	w.Helper()
	s := w.get()
	if got := s.Status.AtProvider.ObservedPosition(); got != want {
		w.Fatalf("%s: want position %v, got %v", description, want, got)
	}
	if ready := s.GetCondition(xpv2.TypeReady); ready.ObservedGeneration != s.GetGeneration() || s.Spec.ForProvider.AskedPosition() != *positionOf(2, 0) {
		w.Fatalf("%s: the spec changed: %+v", description, s.Spec)
	}
}

// TestFollowsRollback has a home that rolls back by its mandate while the function is silent.
func TestFollowsRollback(t *testing.T) {
	w := newWorld(t)
	w.deliver("old")
	stable := w.tree
	current := w.deliver("new")
	w.flux(current, false)
	w.askFor(2)
	w.control(func(*v1alpha1.SiteSyncParameters) {})
	s := secondRevision(stable, ledger.Step{Sites: []string{"edge1"}})
	w.record(s, current, v1alpha1.DeliveredTree{Tree: w.tree, Revision: 2})
	w.until(isLiveNow)
	w.expectPosition("before the rollback", s.Position())

	restored := w.deliver("old")
	s.ID, s.Seq, s.Target, s.Verdict = "rolled-back", 7, 1, &ledger.Verdict{Result: ledger.VerdictRejected}
	s.Cursor.Attempt = 1
	w.record(s, restored, v1alpha1.DeliveredTree{Tree: stable, Revision: 2})
	w.clock = w.clock.Add(time.Minute)
	w.reconcile()
	w.expect("before the engine has synced", "Syncing | Syncing | OtherTree")
	w.expectPosition("before the engine has synced", s.Position())
	if got := w.get().Status.AtProvider.Sites[0].DesiredTree; got != stable {
		t.Errorf("a Site has to run the restored tree: want %s, got %q", stable, got)
	}
	g, err := w.cluster.Resource(repositories()).Namespace("flux").Get(t.Context(), "g", metav1.GetOptions{})
	w.must(err)
	if token := g.GetAnnotations()[requestedAt]; !strings.HasPrefix(token, "intentplane-") {
		t.Errorf("the engine syncs the rollback at once: want a request, got %q", token)
	}
	w.flux(restored, false)
	w.until(isLiveNow)
	w.expectPosition("after the engine has synced", s.Position())
	if got := w.get().Status.AtProvider.Sites[0].DesiredTree; got != "" {
		t.Errorf("a Site that runs its tree has no other desired tree: got %q", got)
	}
	version := w.get().GetResourceVersion()
	for range 3 {
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
	if got := w.get().GetResourceVersion(); got != version {
		t.Errorf("a SiteSync at rest writes nothing: want version %s, got %s", version, got)
	}
}

// shopIn returns the files of a shop that is alone in a track.
func shopIn(t *testing.T, name string) tree.Files {
	t.Helper()
	parts, err := track.Split(tree.Files{
		"deployment-web.yaml": []byte(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a, labels: {intentplane.dev/workload: main}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
`),
		"service-web.yaml": []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: team-a}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"),
		"httproute-web.yaml": []byte(`apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: team-a}
spec: {parentRefs: [{name: gateway}], rules: [{backendRefs: [{name: web, port: 80}]}]}
`),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := parts.Files(name, track.Layout{Kustomizations: true})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// deliverFiles pushes files to the claim's directory, and returns the commit.
func (w *world) deliverFiles(files tree.Files) string {
	w.Helper()
	out := map[string]string{webAtE1 + "/.intentplane": "ours"}
	for name, content := range files {
		out[webAtE1+"/"+name] = string(content)
	}
	return w.push(out)
}

// inventoryOf returns the inventory of Flux for the objects in files.
func inventoryOf(files tree.Files) []string {
	var out []string
	for _, name := range files.Names() {
		for _, m := range instruction.Read(name, files[name]) {
			out = append(out, fmt.Sprintf("%s_%s_%s_%s", m.Object.Namespace, m.Object.Name, m.Object.Group, m.Object.Kind))
		}
	}
	return out
}

// acceptRoute creates the route of a shop in the cluster, where a controller has accepted it.
func (w *world) acceptRoute(files tree.Files) {
	w.Helper()
	u := &unstructured.Unstructured{}
	route, err := yaml.YAMLToJSON(files["shared/httproute-web.yaml"])
	w.must(err)
	w.must(u.UnmarshalJSON(route))
	u.SetGeneration(1)
	conditions := []any{}
	for _, name := range []string{"Accepted", "ResolvedRefs"} {
		c := map[string]any{"type": name, "status": "True", "reason": name, "observedGeneration": int64(1), "lastTransitionTime": "2026-11-01T12:00:00Z"}
		conditions = append(conditions, c)
	}
	parent := map[string]any{"parentRef": map[string]any{"name": "gateway"}, "controllerName": "example.org/a", "conditions": conditions}
	w.must(unstructured.SetNestedSlice(u.Object, []any{parent}, "status", "parents"))
	routes := schema.GroupVersionResource{Group: track.GatewayGroup, Version: "v1", Resource: "httproutes"}
	_, err = w.cluster.Resource(routes).Namespace("team-a").Create(w.Context(), u, metav1.CreateOptions{})
	w.must(err)
}

// TestFollowsStep has a home that gives a canary all requests by its mandate while the function is silent. The files of the directory alone name its route and
// its Deployment.
func TestFollowsStep(t *testing.T) {
	w := newWorld(t)
	files := shopIn(t, track.Green)
	current := w.deliverFiles(files)
	green := v1alpha1.DeliveredTrack{Name: track.Green, Revision: 2, Tree: track.FolderID(files, track.Green), Weight: 100}
	delivered := v1alpha1.DeliveredTree{Tree: tree.ID(files), Revision: 2, Tracks: []v1alpha1.DeliveredTrack{green}}
	w.tree = delivered.Tree
	w.flux(current, false)
	w.takeStock(inventoryOf(files))
	w.askFor(2)
	w.control(func(p *v1alpha1.SiteSyncParameters) {
		p.Sites[0].Traffic = &v1alpha1.SiteTraffic{Drain: "30s", Tracks: []v1alpha1.TrackTraffic{{Name: track.Green, Weight: 100, Tree: green.Tree}}}
	})
	s := secondRevision("", ledger.Step{Sites: []string{"edge1"}, Weight: new(int32(0))}, ledger.Step{Weight: new(int32(100)), Pause: "10m"})
	s.Current.Track = track.Green
	w.record(s, current, delivered)
	w.until("Syncing | Syncing | RouteMissing")
	w.acceptRoute(files)
	w.until(isLiveNow)

	s.ID, s.Seq, s.Cursor.Step, s.Cursor.Stage = "advanced", 6, 1, ledger.StageSteps
	w.record(s, current, delivered)
	w.reconcile()
	w.expect("the first observation of a step waits for its result", isLiveNow)
	w.expectPosition("the first observation of a step waits for its result", *positionOf(2, 0))
	w.clock = w.clock.Add(progressQuietTime)
	w.reconcile()
	w.expect("before the pods of the canary", "Syncing | Syncing | CanaryNotAvailable")
	w.expectPosition("before the pods of the canary", s.Position())
	if c := w.get().GetCondition(v1alpha1.TypeReleased); c.Reason != v1alpha1.ReasonPauseAwaited {
		t.Errorf("the pause of the later step has not begun: got %q", c.Reason)
	}
	_, err := w.cluster.Resource(deployments()).Namespace("team-a").Create(t.Context(), deploymentWith(4), metav1.CreateOptions{})
	w.must(err)
	w.until(isLiveNow)
	w.expectPosition("with the pods of the canary", s.Position())
	if c := w.get().GetCondition(v1alpha1.TypeReleased); c.Reason != v1alpha1.ReasonPausing {
		t.Errorf("the pause of the later step has begun: got %q", c.Reason)
	}
}

// TestAddTrackFiles reads the routes and the Deployments of a directory with tracks from a commit.
func TestAddTrackFiles(t *testing.T) {
	w := newWorld(t)
	files := shopIn(t, track.Green)
	commit := w.deliverFiles(files)
	opened, _, err := repositoryOf(t.Context(), w.kube, v1alpha1.RepositoryReference{Name: "default"}, "team-a")
	w.must(err)
	cases := map[string]struct {
		reason, tree, commit string
		want                 string
		unknown              bool
	}{
		"Other": {
			reason:  "The files of another tree have no traffic of the directory.",
			tree:    otherTree(),
			commit:  commit,
			unknown: true,
			want:    "0 routes",
		},
		"Gone": {
			reason:  "A commit that the repository lacks has no files.",
			tree:    wantedTree(),
			commit:  strings.Repeat("c", 40),
			unknown: true,
			want:    "0 routes",
		},
		"None": {reason: "Without a delivered commit the files are unknown.", tree: wantedTree(), unknown: true, want: "0 routes"},
		"Commit": {
			reason: "The files of the delivered tree name the routes and the Deployments.",
			tree:   tree.ID(files),
			commit: commit,
			want:   "1 routes, to web-green, web-green",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := v1alpha1.SiteTree{Name: "edge1", Path: webAtE1, Tree: tc.tree, Traffic: &v1alpha1.SiteTraffic{Tracks: []v1alpha1.TrackTraffic{{Name: track.Green}}}}
			unknown := w.c.prover.addTrackFiles(t.Context(), opened, want, tc.commit)
			files := []string{fmt.Sprintf("%d routes", len(want.Traffic.Routes))}
			for _, r := range want.Traffic.Routes {
				files = append(files, "to "+r.Backends[0].Service)
			}
			for _, d := range want.Traffic.Tracks[0].Workloads {
				files = append(files, d.Name)
			}
			got := strings.Join(files, ", ")
			if got != tc.want || (unknown != "") != tc.unknown {
				t.Errorf("\n%s\naddTrackFiles(...): want %q, got %q, unknown since %q", tc.reason, tc.want, got, unknown)
			}
		})
	}
}
