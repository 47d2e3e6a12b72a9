package sitesync

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/proof"
)

const (
	webAtE1  = "clusters/edge1/team-a/web"
	minutes5 = 5 * time.Minute
)

func wantedTree() string { return strings.Repeat("a", 40) }
func otherTree() string  { return strings.Repeat("b", 40) }
func noon() time.Time    { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func positionOf(revision int64, step int32) *ledger.Position {
	return &ledger.Position{Epoch: 1, Revision: revision, Step: step}
}

// testFacts are the facts about a Site a minute after noon.
func testFacts(s proof.SiteFacts) proof.Facts {
	return proof.Facts{
		Namespace: "team-a",
		Spec: v1alpha1.SiteSyncParameters{
			ClaimRef: rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "web"}, Position: positionOf(2, 0), SyncWaitTimeout: "5m", ClusterWaitTimeout: "7m",
			Sites: []v1alpha1.SiteTree{{Name: "edge1", Path: webAtE1, Tree: wantedTree()}},
		},
		Now:   noon().Add(time.Minute),
		Sites: []proof.SiteFacts{s},
	}
}

// live returns the facts of a Site that runs its tree.
func live(change ...func(*proof.SiteFacts)) proof.SiteFacts {
	site := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "edge1"}}
	site.Spec.Engine.Type = catalogv1alpha1.EngineFlux
	s := proof.SiteFacts{
		Site:    site,
		Engine:  engines.Observation{Commit: "c1", Attempted: "c1", Kind: "Kustomization", Generation: 1, Proof: v1alpha1.ProofExact, Root: webAtE1},
		Applied: proof.Subtree{ID: wantedTree()},
	}
	for _, fn := range change {
		fn(&s)
	}
	return s
}

// before is a status of a position, with one Site since noon.
func before(p *ledger.Position, state v1alpha1.SiteState) v1alpha1.SiteSyncObservation {
	timestamp := metav1.NewTime(noon())
	s := v1alpha1.SiteObservation{Name: "edge1", State: state, StartedAt: &timestamp}
	if state == v1alpha1.SiteLive {
		s.LiveSince, s.Tree, s.Proof, s.Commit = &timestamp, wantedTree(), v1alpha1.ProofExact, "c0"
	}
	return v1alpha1.SiteSyncObservation{Position: p, StartedAt: &timestamp, Sites: []v1alpha1.SiteObservation{s}}
}

func TestBringing(t *testing.T) {
	deliveryTo := func(config, path string) v1alpha1.GitDelivery {
		d := v1alpha1.GitDelivery{}
		d.SetName(config + path)
		d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: config}
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{{Site: "edge1", Path: path}}
		return d
	}
	later := func(d v1alpha1.GitDelivery) v1alpha1.GitDelivery {
		p := &d.Spec.ForProvider
		p.Trees, p.Later = nil, []v1alpha1.LaterTree{{Tree: p.Trees[0]}}
		return d
	}
	want := v1alpha1.SiteTree{Name: "edge1", Path: "/x", RepositoryRef: v1alpha1.RepositoryReference{Kind: "ProviderConfig", Name: "new"}}
	cases := map[string]struct {
		reason string
		ds     []v1alpha1.GitDelivery
		want   []string
	}{
		"None":  {reason: "A SiteSync that was made by hand has no delivery.", want: []string{}},
		"Other": {reason: "A delivery to another directory does not count.", ds: []v1alpha1.GitDelivery{deliveryTo("new", "/y")}, want: []string{}},
		"Moved": {
			reason: "The previous repository of a Site does not count for its new repository.",
			ds:     []v1alpha1.GitDelivery{deliveryTo("old", "/x"), deliveryTo("new", "/x")}, want: []string{"new/x"},
		},
		"Later": {
			reason: "A delivery that follows the ledger to its first wave at the Site counts.",
			ds:     []v1alpha1.GitDelivery{deliveryTo("old", "/x"), later(deliveryTo("new", "/x"))}, want: []string{"new/x"},
		},
		"Renamed": {
			reason: "A delivery of another configuration counts if the named configuration has none.",
			ds:     []v1alpha1.GitDelivery{deliveryTo("old", "/x")}, want: []string{"old/x"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := []string{}
			for _, d := range deliveriesFor(tc.ds, want) {
				got = append(got, d.GetName())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nbringing(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHasBrought compares positions of a repository with the desired tree of a SiteSync at a Site of the second wave.
func TestHasBrought(t *testing.T) {
	want := v1alpha1.SiteTree{Name: "edge1", Path: "/x", Tree: "wanted", Wave: 1}
	cases := map[string]struct {
		reason  string
		applied ledger.Position
		tree    string
		want    bool
	}{
		"Same": {
			reason:  "A repository at the position has brought the tree, or was to retain another tree.",
			applied: ledger.Position{Epoch: 1, Revision: 2, Step: 2}, want: true,
		},
		"EarlierStep": {reason: "A step elsewhere changes no record.", applied: ledger.Position{Epoch: 1, Revision: 2, Step: 1}, tree: "wanted", want: true},
		"OtherTree": {
			reason:  "A repository that holds another tree since an earlier step has not brought it.",
			applied: ledger.Position{Epoch: 1, Revision: 2, Step: 1}, tree: "other",
		},
		"BeforeWave": {
			reason:  "A repository that was brought to no step of the Site has not brought its tree.",
			applied: ledger.Position{Epoch: 1, Revision: 2}, tree: "wanted",
		},
		"Attempt": {
			reason:  "A repository that did not begin a rollback has not applied the restored trees.",
			applied: ledger.Position{Epoch: 1, Revision: 2, Attempt: 1, Step: 2}, tree: "wanted",
		},
		"Revision": {
			reason:  "A repository at the previous revision has not brought the present revision.",
			applied: ledger.Position{Epoch: 1, Revision: 1, Step: 2}, tree: "wanted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := v1alpha1.GitDelivery{}
			d.Spec.ForProvider.Trees = []v1alpha1.Tree{{Site: "edge1", Path: "/x"}}
			d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Position: tc.applied}
			d.Status.AtProvider.Trees = []v1alpha1.DeliveredTree{{Site: "edge1", Path: "/x", Tree: tc.tree}}
			if got := hasDeliveredTree(d, ledger.Position{Epoch: 1, Revision: 2, Step: 2}, want); got != tc.want {
				t.Errorf("\n%s\nhasBrought(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestEngineWant says whether the files of a claim are in folders that no kustomization lists.
func TestEngineWant(t *testing.T) {
	cases := map[string]struct {
		reason  string
		layout  catalogv1alpha1.Layout
		traffic *v1alpha1.SiteTraffic
		want    bool
	}{
		"Flat":          {reason: "A directory without tracks has no folders.", layout: catalogv1alpha1.LayoutManifests},
		"Kustomization": {reason: "A kustomization lists the folders of tracks.", layout: catalogv1alpha1.LayoutKustomization, traffic: &v1alpha1.SiteTraffic{}},
		"Manifests": {
			reason: "Nothing lists the folders of tracks in plain manifests.",
			layout: catalogv1alpha1.LayoutManifests, traffic: &v1alpha1.SiteTraffic{}, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site := &catalogv1alpha1.Site{}
			site.Spec.Repository.Layout = tc.layout
			got := newEngineWant(repository{spec: &configv1alpha1.ProviderConfigSpec{}}, site, v1alpha1.SiteTree{Traffic: tc.traffic})
			if got.HasFolders != tc.want {
				t.Errorf("\n%s\nengineWant(...): want folders %t, got %t", tc.reason, tc.want, got.HasFolders)
			}
		})
	}
}

const (
	workerFile = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: team-a}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: team-a}
`
	skipWorker = `, annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}`
)

// takeStock writes the inventory of Flux.
func (w *world) takeStock(ids []string) {
	w.Helper()
	entries := []string{}
	for _, id := range ids {
		entries = append(entries, `{"id":"`+id+`","v":"v1"}`)
	}
	_, err := w.cluster.Resource(kustomizations()).Namespace("flux").Patch(w.Context(), "team-a-web-edge1", types.MergePatchType,
		[]byte(`{"status":{"inventory":{"entries":[`+strings.Join(entries, ",")+`]}}}`), metav1.PatchOptions{})
	w.must(err)
}

func TestUnproven(t *testing.T) {
	cases := map[string]struct {
		reason    string
		file      string
		inventory []string
		says      string
		unproven  []string
		message   string
	}{
		"Applied": {
			reason: "Each object is in the inventory of Flux.", file: workerFile,
			inventory: []string{"team-a_web__Service", "team-a_worker_apps_Deployment"}, says: isLiveNow,
		},
		"LeftAlone": {
			reason: "A Site where Flux skipped an object is not live.", file: workerFile, inventory: []string{"team-a_web__Service"},
			says: "Syncing | Syncing | NotApplied", message: "the engine does not report that it applied Deployment team-a/worker",
		},
		"Declared": {
			reason:    "An object that is left alone on purpose does not take part in the proof, and the status names it.",
			file:      strings.Replace(workerFile, "{name: worker, namespace: team-a", "{name: worker, namespace: team-a"+skipWorker, 1),
			inventory: []string{"team-a_web__Service"},
			says:      isLiveNow, unproven: []string{"Deployment team-a/worker: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.flux(w.deliver(tc.file), false)
			w.takeStock(tc.inventory)
			w.askFor(1)
			w.until(tc.says)
			site := w.get().Status.AtProvider.Sites[0]
			if diff := cmp.Diff(tc.unproven, site.Unproven); diff != "" {
				t.Errorf("\n%s\nunproven: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.message, site.Message); diff != "" {
				t.Errorf("\n%s\nmessage: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
