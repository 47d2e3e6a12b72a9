package canary

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// catalog has the control plane's objects of a shop: its Site, and its repository.
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

// askForDirectory makes the SiteSync ask for a directory at a position, as the function would. The folder of track green has changed at a position, if there is one.
func (s *shop) askForDirectory(files tree.Files, position ledger.Position, changed *ledger.Position) {
	s.Helper()
	weights, err := track.Weights(files)
	s.requireNoError(err)
	routes, err := track.Routes(files)
	s.requireNoError(err)
	want := &deliveryv1alpha1.SiteTraffic{Drain: drain.String()}
	for _, name := range []string{track.Blue, track.Green} {
		want.Tracks = append(want.Tracks, deliveryv1alpha1.TrackTraffic{
			Name: name, Weight: int32(weights[name]), Tree: track.FolderID(files, name), Awaited: name == track.Green,
			Workloads: []deliveryv1alpha1.TrafficWorkload{{Namespace: s.namespace, Name: "web-" + name}},
		})
	}
	want.Tracks[1].ChangedAt = changed
	for _, r := range routes {
		trafficRoute := deliveryv1alpha1.TrafficRoute{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		for _, b := range r.Backends {
			trafficRoute.Backends = append(trafficRoute.Backends, deliveryv1alpha1.TrafficBackend{Rule: int32(b.Rule), Service: b.Service, Weight: b.Weight})
		}
		want.Routes = append(want.Routes, trafficRoute)
	}
	y := &deliveryv1alpha1.SiteSync{}
	y.Spec.ForProvider = deliveryv1alpha1.SiteSyncParameters{
		ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: s.namespace, Name: claim},
		Position: &position, SyncWaitTimeout: "10m",
		Sites: []deliveryv1alpha1.SiteTree{{
			Name: s.namespace, Path: s.directoryOf(), Tree: tree.ID(files), Traffic: want,
			RepositoryRef: deliveryv1alpha1.RepositoryReference{Kind: "ProviderConfig", Name: "repo"},
		}},
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(y)
	s.requireNoError(err)
	o := &unstructured.Unstructured{Object: map[string]any{"spec": m["spec"]}}
	o.SetGroupVersionKind(deliveryv1alpha1.GroupVersion.WithKind("SiteSync"))
	o.SetNamespace(s.namespace)
	o.SetName(claim)
	s.requireNoError(cp.ApplyObject(s.Context(), o))
}

// observedSite is the Site in the SiteSync, for the requested position.
func (s *shop) observedSite() deliveryv1alpha1.SiteObservation {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(deliveryv1alpha1.GroupVersion.WithKind("SiteSync"))
	s.requireNoError(cp.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: claim}, o))
	y := &deliveryv1alpha1.SiteSync{}
	s.requireNoError(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, y))
	observation := y.Status.AtProvider
	if observation.Position == nil || *observation.Position != *y.Spec.ForProvider.Position || len(observation.Sites) == 0 {
		return deliveryv1alpha1.SiteObservation{}
	}
	return observation.Sites[0]
}

func (s *shop) observedGreen() deliveryv1alpha1.TrackObservation {
	s.Helper()
	return evidence.TrackOf(s.observedSite(), track.Green)
}

func (s *shop) awaitGreenTrack(description string, condition func(deliveryv1alpha1.TrackObservation) bool) deliveryv1alpha1.TrackObservation {
	s.Helper()
	var last deliveryv1alpha1.TrackObservation
	s.pollUntilTrue("track green is "+description, func() bool {
		last = s.observedGreen()
		return condition(last)
	})
	return last
}

// awaitSiteState waits until the SiteSync says a state and a reason of the Site. Before each look it does the work of another user.
func (s *shop) awaitSiteState(want string, meanwhile ...func()) {
	s.Helper()
	last := deliveryv1alpha1.SiteObservation{}
	s.Cleanup(func() {
		if s.Failed() {
			s.Logf("wanted %q; the SiteSync said %+v", want, last)
		}
	})
	s.pollUntilTrue("the SiteSync says "+want, func() bool {
		for _, do := range meanwhile {
			do()
		}
		last = s.observedSite()
		return string(last.State)+" "+last.Reason == want
	})
}
