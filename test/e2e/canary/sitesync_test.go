package canary

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/test/kubelet"
)

// catalog is what the control plane has of a shop: its Site, and where its repository is.
const catalog = `
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: config.intentplane.dev/v1alpha1
kind: ProviderConfig
metadata: {name: repo, namespace: %[1]s}
spec: {controlPlane: test, git: {url: "%[2]s", interval: 10s}}
---
apiVersion: catalog.intentplane.dev/v1alpha1
kind: Site
metadata: {name: %[1]s}
spec:
  cluster: {kubeconfigSecretRef: {namespace: %[1]s, name: edge, key: value}}
  engine: {type: Flux, objectRef: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, namespace: flux-system, name: "{claimNamespace}"}}
  repository: {path: %[3]s}
  allowedNamespaces: [%[1]s]
`

// TestSiteSync holds what a SiteSync says of the tracks of a Site against real requests. It reads the Site with no more rights than the examples give.
func TestSiteSync(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.must(cp.ApplyYAML(t.Context(), fmt.Appendf(nil, catalog, s.namespace, cp.Git.URL(s.namespace), sitePath)))
	account, err := s.Account(t.Context())
	s.must(err)
	s.must(cp.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "edge"}, Data: map[string][]byte{"value": account}}))

	files := s.beside(track.Blue, 1, 2, 20)
	s.commit(files)
	position := ledger.Position{Epoch: 1, Revision: 2, Stage: 3}
	s.ask(files, position, nil)
	green := s.awaitGreen("idle", func(o deliveryv1alpha1.TrackObservation) bool { return o.Idle })
	if green.ProvenAt == nil || *green.ProvenAt != position || green.AvailableTree != track.FolderID(files, track.Green) {
		t.Errorf("a track without requests is proven by the position that was asked for: got %+v", green)
	}
	if got := s.target.Send(t.Context(), 200, atOnce); got.Share(track.Green) > 0 {
		t.Errorf("a track that is idle gets requests: %s", got)
	}

	files = s.at(files, track.State{Serving: track.Blue, Weight: 20, Ahead: 20})
	position.Step = 1
	s.ask(files, position, nil)
	s.awaitSite(string(deliveryv1alpha1.SiteSyncing) + " " + deliveryv1alpha1.SiteReasonOtherTree)
	s.commit(files)
	s.awaitSite(string(deliveryv1alpha1.SiteLive) + " ")
	if green := s.green(); green.Weight == nil || *green.Weight != 20 || green.Idle || green.IdleSince != nil {
		t.Errorf("a track with requests is not idle: got %+v", green)
	}

	// The provider makes Flux look, which takes weights back at once.
	s.awaitSite(string(deliveryv1alpha1.SiteSyncing)+" "+engines.ReasonTrafficDiffers, func() { s.patchWeights(track.Green) })

	files = annotated(files, kubelet.AnnotationReadyAfter, time.Hour)
	position.Revision, position.Step = 3, 0
	s.commit(files)
	s.ask(files, position, &position)
	s.awaitSite(string(deliveryv1alpha1.SiteSyncing) + " " + engines.ReasonCanaryNotAvailable)
	if green := s.green(); green.AvailableTree != "" {
		t.Errorf("pods that changed are not available by what was proven before: got %+v", green)
	}
}

// ask makes the SiteSync ask for a directory at a position, as the function would. The folder of track green has changed at a position, if there is one.
func (s *shop) ask(files tree.Files, at ledger.Position, changed *ledger.Position) {
	s.Helper()
	weights, err := track.Weights(files)
	s.must(err)
	routes, err := track.Routes(files)
	s.must(err)
	want := &deliveryv1alpha1.SiteTraffic{Drain: drain.String()}
	for _, name := range []string{track.Blue, track.Green} {
		want.Tracks = append(want.Tracks, deliveryv1alpha1.TrackTraffic{
			Name: name, Weight: int32(weights[name]), Tree: track.FolderID(files, name), Awaited: name == track.Green,
			Workloads: []deliveryv1alpha1.TrafficWorkload{{Namespace: s.namespace, Name: "web-" + name}},
		})
	}
	want.Tracks[1].ChangedAt = changed
	for _, r := range routes {
		one := deliveryv1alpha1.TrafficRoute{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		for _, b := range r.Backends {
			one.Backends = append(one.Backends, deliveryv1alpha1.TrafficBackend{Rule: int32(b.Rule), Service: b.Service, Weight: b.Weight})
		}
		want.Routes = append(want.Routes, one)
	}
	y := &deliveryv1alpha1.SiteSync{}
	y.Spec.ForProvider = deliveryv1alpha1.SiteSyncParameters{
		ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: s.namespace, Name: claim},
		Position: &at, SyncWaitTimeout: "10m",
		Sites: []deliveryv1alpha1.SiteTree{{
			Name: s.namespace, Path: s.directory(), Tree: tree.ID(files), Traffic: want,
			RepositoryRef: deliveryv1alpha1.RepositoryReference{Kind: "ProviderConfig", Name: "repo"},
		}},
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(y)
	s.must(err)
	o := &unstructured.Unstructured{Object: map[string]any{"spec": m["spec"]}}
	o.SetGroupVersionKind(deliveryv1alpha1.GroupVersion.WithKind("SiteSync"))
	o.SetNamespace(s.namespace)
	o.SetName(claim)
	s.must(cp.ApplyObject(s.Context(), o))
}

// observed is the Site as the SiteSync has it, for the position that it is asked for.
func (s *shop) observed() deliveryv1alpha1.SiteObservation {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(deliveryv1alpha1.GroupVersion.WithKind("SiteSync"))
	s.must(cp.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: claim}, o))
	y := &deliveryv1alpha1.SiteSync{}
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, y))
	at := y.Status.AtProvider
	if at.Position == nil || *at.Position != *y.Spec.ForProvider.Position || len(at.Sites) == 0 {
		return deliveryv1alpha1.SiteObservation{}
	}
	return at.Sites[0]
}

func (s *shop) green() deliveryv1alpha1.TrackObservation {
	s.Helper()
	return s.observed().TrackOf(track.Green)
}

func (s *shop) awaitGreen(what string, is func(deliveryv1alpha1.TrackObservation) bool) deliveryv1alpha1.TrackObservation {
	s.Helper()
	var last deliveryv1alpha1.TrackObservation
	s.await("track green is "+what, func() bool {
		last = s.green()
		return is(last)
	})
	return last
}

// awaitSite waits until the SiteSync says a state and a reason of the Site. Before each look it does what another user does.
func (s *shop) awaitSite(want string, meanwhile ...func()) {
	s.Helper()
	last := deliveryv1alpha1.SiteObservation{}
	s.Cleanup(func() {
		if s.Failed() {
			s.Logf("wanted %q; the SiteSync said %+v", want, last)
		}
	})
	s.await("the SiteSync says "+want, func() bool {
		for _, do := range meanwhile {
			do()
		}
		last = s.observed()
		return string(last.State)+" "+last.Reason == want
	})
}
