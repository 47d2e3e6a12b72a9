package sitehealth

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// routeAt returns the HTTPRoute of the claim at a generation, whose Gateway accepted a generation.
func routeAt(generation, accepted int64) object {
	trueCondition := func(conditionType string) object {
		return object{
			"type": conditionType, "status": "True", "reason": conditionType, "message": "", "observedGeneration": accepted,
			"lastTransitionTime": "2031-12-17T13:14:15Z",
		}
	}
	parent := object{"name": "public", "namespace": "gateway-system"}
	return object{
		"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
		"metadata": object{"name": "shop", "namespace": "team-a", "generation": generation, "labels": object{"intentplane.dev/claim": "shop"}},
		"spec":     object{"parentRefs": []any{parent}},
		"status": object{
			"parents": []any{
				object{
					"parentRef": parent, "controllerName": "example.org/gateway",
					"conditions": []any{trueCondition("Accepted"), trueCondition("ResolvedRefs")},
				},
			},
		},
	}
}

// newRouteWorld returns a world whose Site has an accepted route, and no SiteSync.
func newRouteWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.edit(func(p *v1alpha1.SiteHealthParameters) { p.Route = true })
	w.deployed(newImage, 1, 2)
	w.put(httpRoutes(), routeAt(1, 1))
	w.eventually(serves, func() bool { return w.route().Accepted })
	return w
}

func (w *world) route() v1alpha1.RouteHealth {
	w.Helper()
	return *w.get().Status.AtProvider.Sites[0].Route
}

// TestRouteRevision has a Site with an accepted route, and a SiteSync in some state.
func TestRouteRevision(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.SiteSync)
		want   int64
	}{
		"Live": {
			reason: "Routes that are read after the Site was proven to run a revision are of that revision.",
			change: func(*v1alpha1.SiteSync) {}, want: 3,
		},
		"NotLive": {
			reason: "A Site that does not run the revision yet may have earlier routes.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].State = v1alpha1.SiteSyncing },
		},
		"OtherSite": {
			reason: "The proof of another Site says nothing about the routes.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Name = "edge2" },
		},
		"OtherClaim": {
			reason: "The proof of another claim says nothing about the routes.",
			change: func(s *v1alpha1.SiteSync) { s.Spec.ForProvider.ClaimRef.Name = "cart" },
		},
		"OldSpec": {reason: "A proof for an earlier spec of the SiteSync says nothing about the routes.", change: func(s *v1alpha1.SiteSync) { s.Generation = 3 }},
		"OldPosition": {
			reason: "A proof of an earlier revision says nothing about the current revision.",
			change: func(s *v1alpha1.SiteSync) { s.Status.AtProvider.Position.Revision = 2 },
		},
		"RolledBack": {
			reason: "A rollback of the revision delivers the routes of an earlier revision.",
			change: func(s *v1alpha1.SiteSync) {
				s.Spec.ForProvider.Position.Attempt, s.Status.AtProvider.Position.Attempt = 1, 1
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newRouteWorld(t)
			s := newSync()
			tc.change(s)
			w.must(w.kube.Create(t.Context(), s))
			w.reconcile()
			want := v1alpha1.RouteHealth{Accepted: true, Revision: &tc.want}
			if diff := cmp.Diff(want, w.route()); diff != "" {
				t.Errorf("\n%s\nthe route: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRouteBehind has a proven Site whose watch of routes reports the route of an earlier revision: only the API server has the edited route.
func TestRouteBehind(t *testing.T) {
	w := newRouteWorld(t)
	w.cluster.PrependReactor("list", "httproutes", func(clienttesting.Action) (bool, runtime.Object, error) {
		l := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{{Object: routeAt(2, 1)}}}
		l.SetAPIVersion("gateway.networking.k8s.io/v1")
		l.SetKind("HTTPRouteList")
		return true, l, nil
	})
	w.must(w.kube.Create(t.Context(), newSync()))
	for range 2 { // The second time, the list of the revision was read before.
		w.reconcile()
		got := w.route()
		if got.Accepted || got.Reason != "RouteNotAccepted" || *got.Revision != 3 {
			t.Fatalf("A route that the watch reports late counts at the generation of the API server: %+v", got)
		}
	}
}

// TestRouteUnlisted has a proven Site whose API server lists no routes when the revision is proven.
func TestRouteUnlisted(t *testing.T) {
	w := newRouteWorld(t)
	w.cluster.PrependReactor("list", "httproutes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the API server is overloaded")
	})
	w.must(w.kube.Create(t.Context(), newSync()))
	w.reconcile()
	w.clock = w.clock.Add(still)
	w.reconcile()
	if got := w.route(); got.Accepted || *got.Revision != 0 {
		t.Errorf("Routes that could not be read since the Site runs the revision are not of that revision: %+v", got)
	}
}

// TestRouteDeleted deletes the route of a proven Site: it is missing until the engine creates it again.
func TestRouteDeleted(t *testing.T) {
	w := newRouteWorld(t)
	w.must(w.kube.Create(t.Context(), newSync()))
	w.eventually(serves, func() bool { return *w.route().Revision == 3 })
	w.must(w.cluster.Resource(httpRoutes()).Namespace("team-a").Delete(t.Context(), "shop", metav1.DeleteOptions{}))
	w.eventually("RouteNotReady | Available() 2", func() bool { return w.route().Reason == "RouteMissing" })
	w.put(httpRoutes(), routeAt(1, 1))
	w.eventually(serves, func() bool { return w.route().Accepted && *w.route().Revision == 3 })
}

// TestRouteAfterRestart restarts the provider at a Site whose SiteSync proves nothing for a moment.
func TestRouteAfterRestart(t *testing.T) {
	w := newRouteWorld(t)
	s := newSync()
	w.must(w.kube.Create(t.Context(), s))
	w.eventually(serves, func() bool { return *w.route().Revision == 3 })
	s.Generation++
	w.must(w.kube.Update(t.Context(), s))
	w.c.memory = newNoteMemory()
	w.reconcile()
	w.clock = w.clock.Add(still)
	w.reconcile()
	if got := *w.route().Revision; got != 3 {
		t.Errorf("A SiteSync that proves nothing for a moment takes no revision from the routes: want 3, got %d", got)
	}
}

// TestRouteWithoutEngine has a Site whose revision no engine reports.
func TestRouteWithoutEngine(t *testing.T) {
	w := newRouteWorld(t)
	w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Engine.Type = catalogv1alpha1.EngineNone })
	w.eventually(serves, func() bool { return w.route().Revision == nil })
}

// TestRouteWakes has the SiteSync of a claim with a route wake its SiteHealth, which waits for the proof.
func TestRouteWakes(t *testing.T) {
	w := newRouteWorld(t)
	if got := (waker{kube: w.kube}).requestsForSync(t.Context(), newSync()); len(got) != 1 {
		t.Errorf("A SiteSync wakes the SiteHealth of its claim that observes routes: %v", got)
	}
}

// TestFlappingRoutes has a Site with a proven route whose cluster can be read and cannot, in turn: the status is written as seldom as without a route.
func TestFlappingRoutes(t *testing.T) {
	w := newRouteWorld(t)
	w.must(w.kube.Create(t.Context(), newSync()))
	w.eventually(serves, func() bool { return *w.route().Revision == 3 })
	turns := []catalogv1alpha1.SiteCluster{kubeconfigIn("none"), newSite("edge1").Spec.Cluster}
	writes, began, version := 0, w.clock, w.get().GetResourceVersion()
	for i := 0; w.clock.Sub(began) < 10*writeInterval; i++ {
		w.editSite(func(s *catalogv1alpha1.Site) { s.Spec.Cluster = turns[i%len(turns)] })
		for range 2 { // The second time, a change that may wait is due.
			w.reconcile()
			if current := w.get().GetResourceVersion(); current != version {
				version, writes = current, writes+1
			}
			w.clock = w.clock.Add(still)
		}
	}
	if limit := writeBurst + 10; writes > limit || writes < writeBurst {
		t.Errorf("A Site that flaps costs at most %d writes in ten minutes, and then one per minute: got %d", limit, writes)
	}
}
