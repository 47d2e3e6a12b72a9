package sitehealth

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/test/patience"
)

const (
	serves = "Serving | Available() 2"
	starts = "Progressing | Progressing(Progressing) 0"
)

// TestImages delivers an image and then another image. Each change of the Deployment or its ReplicaSet wakes the SiteHealth, without a
// timer.
func TestImages(t *testing.T) {
	w := newWorld(t)
	w.until("WorkloadMissing | Missing(WorkloadMissing) 0")
	w.deployed(newImage, 1, 2)
	w.until(serves)
	// The next image is requested: the serving pods have the previous image. Nothing is written about the next image before one of its pods is available,
	// or for a while.
	full := w.full
	w.edit(func(p *v1alpha1.SiteHealthParameters) { p.Image = oldImage })
	w.reconcile()
	if w.says() != serves || w.get().Status.AtProvider.Image != newImage || w.full != full || w.result.RequeueAfter != still {
		t.Errorf("%s of %s after %d reconciles, again in %s", w.says(), w.get().Status.AtProvider.Image, w.full-full, w.result.RequeueAfter)
	}
	w.clock = w.clock.Add(still)
	w.reconcile()
	w.expect("then", "OtherImage | OtherImage(OtherImage) 0")
	if got := w.get().Status.AtProvider.Sites[0].AvailableOther; got != 2 {
		t.Errorf("pods of the image before: %d", got)
	}
	w.deployed(oldImage, 2, 1)
	w.until("Serving | Available() 1")
	if f := w.get().GetFinalizers(); len(f) > 0 {
		t.Errorf("finalizers: %v", f)
	}
}

// TestNextImage has an image whose first pod is available a second later, and an image whose pods are lost before.
func TestNextImage(t *testing.T) {
	w := newWorld(t)
	w.deployed(newImage, 1, 2)
	w.until(serves)
	full := w.full
	w.edit(func(p *v1alpha1.SiteHealthParameters) { p.Image = oldImage })
	w.reconcile()
	w.clock = w.clock.Add(time.Second)
	w.deployed(oldImage, 2, 1)
	w.until("Serving | Available() 1")
	if w.full != full+1 {
		t.Errorf("The next image was written %d times, want once: when its first pod was available", w.full-full)
	}
	w.edit(func(p *v1alpha1.SiteHealthParameters) { p.Image = newImage })
	w.reconcile()
	w.expect("the next image has no pod", "Serving | Available() 1")
	w.deployed(newImage, 3, 0)
	w.until(starts)
}

// TestLastPod loses the last pod and finds it again: both are written at once.
func TestLastPod(t *testing.T) {
	w := newWorld(t)
	w.deployed(newImage, 1, 2)
	w.until(serves)
	w.deployed(newImage, 1, 0)
	w.until(starts)
	w.deployed(newImage, 1, 2)
	w.until(serves)
}

// TestCrashLoop names the reason of pods that are not available for a while, and writes nothing while it stays the same.
func TestCrashLoop(t *testing.T) {
	w := newWorld(t)
	w.deployed(newImage, 1, 0)
	w.until(starts)
	if diff := cmp.Diff(podDelay, w.result.RequeueAfter); diff != "" {
		t.Errorf("when the pods are listed: -want, +got:\n%s", diff)
	}
	w.put(pods(), object{
		"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "shop-1", "namespace": "team-a", "labels": object{"pod-template-hash": "h1"}},
		"status": object{
			"containerStatuses": []any{
				object{
					"name": "shop", "state": object{"waiting": object{"reason": "CrashLoopBackOff"}},
					"lastState": object{"terminated": object{"exitCode": int64(1), "reason": "Error"}},
				},
			},
		},
	})
	w.clock = w.clock.Add(podDelay)
	w.reconcile()
	w.expect("a change of the reason is put off", starts)
	w.clock = w.clock.Add(still)
	w.reconcile()
	w.expect("then", "CrashLoopBackOff | Unavailable(CrashLoopBackOff) 0")
	if got := w.get().Status.AtProvider.Sites[0].Message; got != "container shop ends again and again: exit code 1, Error" {
		t.Errorf("message: %q", got)
	}
	previous, full := w.get(), w.full
	for range 20 {
		w.clock = w.clock.Add(podInterval)
		w.reconcile()
	}
	if diff := cmp.Diff(previous.Status, w.get().Status); diff != "" || w.full != full {
		t.Errorf("%d reconciles for an unchanged status: -before, +after:\n%s", w.full-full, diff)
	}
	w.deployed(newImage, 1, 2)
	w.until(serves)
}

// sees returns when the watch has reported so many available pods.
func (w *world) sees(available int64) {
	w.Helper()
	for {
		c, err := w.c.pool.Look(key()).Home()
		w.must(err)
		set, err := c.Get(w.Context(), named("replicasets", "ReplicaSet", "shop-1"))
		w.must(err)
		d, err := c.Get(w.Context(), named("deployments", "Deployment", "shop"))
		w.must(err)
		if availableOf(set) == available && availableOf(d) == available {
			return
		}
		select {
		case <-w.woken:
		case <-time.After(patience.Limit):
			w.Fatal("the watch does not report the change")
		}
	}
}

func named(resource, kind, name string) engines.Ref {
	ref := setup.NamespacedRef("apps", resource, kind, "team-a")
	ref.Name = name
	return ref
}

func availableOf(u *unstructured.Unstructured) int64 {
	n, _, _ := unstructured.NestedInt64(u.Object, "status", "availableReplicas")
	return n
}

// TestRoute has the HTTPRoute accepted by its Gateway.
func TestRoute(t *testing.T) {
	w := newWorld(t)
	w.edit(func(p *v1alpha1.SiteHealthParameters) { p.Route = true })
	w.deployed(newImage, 1, 2)
	w.until("RouteNotReady | Available() 2")
	missing := v1alpha1.RouteHealth{Reason: "RouteMissing", Message: "no HTTPRoute has the label intentplane.dev/claim", Revision: new(int64)}
	if diff := cmp.Diff(missing, w.route()); diff != "" {
		t.Errorf("the route: -want, +got:\n%s", diff)
	}
	w.put(httpRoutes(), routeAt(2, 1))
	w.eventually("RouteNotReady | Available() 2", func() bool { return w.route().Reason == "RouteNotAccepted" })
	w.put(httpRoutes(), routeAt(2, 2))
	w.eventually(serves, func() bool { return w.route().Accepted })
}

// eventually reconciles each time that the cluster wakes the SiteHealth, or that a status is due, until it has a state.
func (w *world) eventually(want string, condition func() bool) {
	w.Helper()
	for w.reconcile(); w.says() != want || !condition(); w.reconcile() {
		if w.result.RequeueAfter <= writeInterval {
			w.clock = w.clock.Add(w.result.RequeueAfter)
			continue
		}
		select {
		case <-w.woken:
		case <-time.After(patience.Limit):
			w.Fatalf("want %q, got %q, and the cluster wakes it no more", want, w.says())
		}
	}
}

// TestSteadyState writes nothing while nothing changes, and forgets deleted objects.
func TestSteadyState(t *testing.T) {
	w := newWorld(t)
	w.deployed(newImage, 1, 2)
	w.until(serves)
	previous := w.get()
	for range 5 {
		w.clock = w.clock.Add(time.Hour)
		w.reconcile()
	}
	if diff := cmp.Diff(previous.Status, w.get().Status); diff != "" {
		t.Errorf("the status was written: -before, +after:\n%s", diff)
	}
	w.must(w.kube.Delete(t.Context(), w.get()))
	w.reconcile()
	if links, watches := w.c.pool.Size(); links+watches+w.c.memory.Size() != 0 {
		t.Errorf("after the deletion: %d connections, %d watches, %d notes", links, watches, w.c.memory.Size())
	}
}
