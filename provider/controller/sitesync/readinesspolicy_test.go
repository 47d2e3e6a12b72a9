package sitesync

import (
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/event"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/test/patience"
)

func running() string {
	return strings.Replace(goodKubeconfig, `{"token":"t"}`, `{"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"aws","interactiveMode":"Never","provideClusterInfo":false}}`, 1)
}

// own makes the Site a Site of a ManagedCluster.
func (w *world) own(change ...func(*clusterv1alpha1.ManagedCluster)) {
	w.Helper()
	mc := &clusterv1alpha1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "prod", UID: "mc-1", Generation: 3}}
	mc.Spec.ForProvider.Cluster.Name = "c1"
	mc.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: "True", Reason: clusterv1alpha1.ReasonReady, ObservedGeneration: 3})
	for _, fn := range change {
		fn(mc)
	}
	w.must(w.kube.Create(w.Context(), mc))
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), keyOf("edge1"), s))
	s.Spec.Owner = &catalogv1alpha1.SiteOwner{APIGroup: clusterv1alpha1.Group, Kind: "ManagedCluster", Namespace: "infra", Name: "prod", UID: "mc-1"}
	w.must(w.kube.Update(w.Context(), s))
}

func allowsExec(mc *clusterv1alpha1.ManagedCluster) { mc.Spec.ForProvider.Readiness.AllowExec = true }

// TestTermsOfAPublishedSite checks that the terms of the publishing ManagedCluster apply, and no other terms.
func TestTermsOfAPublishedSite(t *testing.T) {
	const passed = "Waiting | Pending | NotDelivered"
	cases := map[string]struct {
		reason     string
		owner      func(*clusterv1alpha1.ManagedCluster)
		unowned    bool
		kubeconfig string
		wait       time.Duration
		want       string
	}{
		"Exec": {
			reason: "A kubeconfig that runs a program passes, and is not asked with, where the owner allows it.",
			owner:  allowsExec, kubeconfig: running(), wait: readiness.Stabilization, want: passed,
		},
		"NoExec": {
			reason: "A ManagedCluster that does not allow exec refuses a kubeconfig with exec.",
			owner:  func(*clusterv1alpha1.ManagedCluster) {}, kubeconfig: running(), want: "Waiting | WaitingForCluster | KubeconfigRefused",
		},
		"NoOwner": {
			reason: "A Site of the administrators does not allow exec.",
			owner:  allowsExec, unowned: true, kubeconfig: running(), want: "Waiting | WaitingForCluster | KubeconfigRefused",
		},
		"OtherOwner": {reason: "A recreated ManagedCluster of the publisher's name is another object.", owner: func(mc *clusterv1alpha1.ManagedCluster) { allowsExec(mc); mc.UID = "mc-2" }, kubeconfig: running(), want: "Waiting | WaitingForCluster | KubeconfigRefused"},
		"OtherCluster": {reason: "The policy of a ManagedCluster is for its own cluster.", owner: func(mc *clusterv1alpha1.ManagedCluster) {
			allowsExec(mc)
			mc.Spec.ForProvider.Cluster.Name = "c2"
		}, kubeconfig: running(), want: "Waiting | WaitingForCluster | KubeconfigRefused"},
		"Denied": {reason: "A limit of an administrator overrides the spec of a ManagedCluster.", owner: func(mc *clusterv1alpha1.ManagedCluster) {
			allowsExec(mc)
			mc.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: "False", Reason: clusterv1alpha1.ReasonPolicyDenied, ObservedGeneration: 3})
		}, kubeconfig: running(), want: "Waiting | WaitingForCluster | KubeconfigRefused"},
		"Unjudged": {reason: "A ManagedCluster with an unobserved generation allows nothing.", owner: func(mc *clusterv1alpha1.ManagedCluster) { allowsExec(mc); mc.Generation = 4 }, kubeconfig: running(), want: "Waiting | WaitingForCluster | KubeconfigRefused"},
		"Workers": {
			reason: "A cluster waits for the nodes that its owner asks for.",
			owner:  func(mc *clusterv1alpha1.ManagedCluster) { mc.Spec.ForProvider.Readiness.MinReadyWorkers = 1 }, kubeconfig: goodKubeconfig,
			want: "Waiting | WaitingForCluster | TooFewWorkers",
		},
		"Short": {reason: "A cluster is ready after the shorter time that its owner asks for.", owner: func(mc *clusterv1alpha1.ManagedCluster) {
			mc.Spec.ForProvider.Readiness.StabilizationSeconds = new(int32(0))
		}, kubeconfig: goodKubeconfig, want: passed},
		"Long": {reason: "A cluster is ready after the longer time that its owner asks for.", owner: func(mc *clusterv1alpha1.ManagedCluster) {
			mc.Spec.ForProvider.Readiness.StabilizationSeconds = new(int32(3600))
		}, kubeconfig: goodKubeconfig, wait: time.Hour - time.Second, want: "Waiting | WaitingForCluster | Stabilizing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.clusterSite()
			if tc.owner != nil {
				w.own(tc.owner)
			}
			if tc.unowned {
				w.clusterSite()
				s := &catalogv1alpha1.Site{}
				w.must(w.kube.Get(w.Context(), keyOf("edge1"), s))
				s.Spec.Owner = nil
				w.must(w.kube.Update(w.Context(), s))
			}
			w.flux(w.deliver("new"), false)
			w.askFor(1)
			w.patient()
			w.delivery("")
			w.capi("u1", true)
			w.kubeconfigOf(tc.kubeconfig)
			w.found()
			w.reconcile()
			w.clock = w.clock.Add(tc.wait)
			w.later(tc.want)
		})
	}
}

// patient has the cluster waited for as long as any of these tests takes.
func (w *world) patient() {
	w.Helper()
	s := w.get()
	s.Spec.ForProvider.ClusterWaitTimeout = "24h"
	w.must(w.kube.Update(w.Context(), s))
}

// found returns when the watches have reported the Cluster.
func (w *world) found() {
	w.Helper()
	for w.reconcile(); ; w.reconcile() {
		if r := w.get().Status.AtProvider; len(r.Sites) > 0 && r.Sites[0].Cluster != nil && r.Sites[0].Cluster.UID == "u1" {
			return
		}
		select {
		case <-w.woken:
		case <-time.After(patience.Limit):
			w.Fatal("no SiteSync is woken")
		}
		w.clock = w.clock.Add(maxProgressDelay)
		w.reconcile()
		w.clock = w.clock.Add(-maxProgressDelay)
	}
}

func TestPolicyChanged(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*clusterv1alpha1.ManagedCluster)
		want   bool
	}{
		"Nothing": {
			reason: "A flap of the cluster is reported by the cluster.",
			change: func(mc *clusterv1alpha1.ManagedCluster) { mc.Status.AtProvider.Phase = "Provisioned" },
		},
		"Readiness": {
			reason: "A changed readiness policy wakes the SiteSyncs.",
			change: func(mc *clusterv1alpha1.ManagedCluster) { mc.Spec.ForProvider.Readiness.MinReadyWorkers = 2 }, want: true,
		},
		"Latch": {reason: "A cluster that is recorded as initialized wakes the SiteSyncs.", change: func(mc *clusterv1alpha1.ManagedCluster) {
			mc.Status.AtProvider.Initialized = &clusterv1alpha1.Latch{UID: "u1", At: metav1.NewTime(noon())}
		}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			previous := &clusterv1alpha1.ManagedCluster{}
			current := previous.DeepCopy()
			tc.change(current)
			if got := policyChanged().Update(event.UpdateEvent{ObjectOld: previous, ObjectNew: current}); got != tc.want {
				t.Errorf("\n%s\notherTerms(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestInitializedStays while the provider begins again, though who built the cluster unset it.
func TestInitializedStays(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(w *world)
		after  func(w *world)
	}{
		"Published": {reason: "A ManagedCluster remembers the readiness of its cluster.", before: func(w *world) {
			w.own(func(mc *clusterv1alpha1.ManagedCluster) {
				mc.Status.AtProvider.Initialized = &clusterv1alpha1.Latch{UID: "u1", At: metav1.NewTime(noon())}
			})
		}, after: func(w *world) {
			s := w.get()
			s.Status.AtProvider.Sites[0].Cluster.InitializedAt = nil
			w.must(w.kube.Status().Update(w.Context(), s))
		}},
		"Administrators": {reason: "A SiteSync remembers the readiness of an administrator's cluster.", before: func(*world) {}, after: func(*world) {}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.clusterSite()
			tc.before(w)
			w.runs()
			w.capi("u1", false)
			w.seesInitialized(false)
			tc.after(w)
			w.c.readiness = newReadinessCache()
			w.askFor(2)
			w.later("Waiting | WaitingForCluster | Stabilizing")
			w.clock = w.clock.Add(readiness.Stabilization)
			w.delivery(w.tree)
			w.later(isLiveNow)
			if got := w.get().Status.AtProvider.Position.Revision; got != 2 {
				t.Errorf("\n%s\nthe status speaks of revision %d", tc.reason, got)
			}
			w.c.readiness = newReadinessCache()
			w.capi("u2", false)
			w.later("Waiting | WaitingForCluster | NotInitialized")
		})
	}
}

// seesInitialized returns when the watch has reported the control plane status of Cluster API's core.
func (w *world) seesInitialized(want bool) {
	w.Helper()
	ref := engines.Ref{Resource: capiClusters(), Kind: "Cluster", Namespace: "infra", Name: "c1"}
	w.sees(fmt.Sprintf("initialized %t", want), ref, func(o *unstructured.Unstructured) bool {
		got, _, _ := unstructured.NestedBool(o.Object, "status", "initialization", "controlPlaneInitialized")
		return got == want
	})
}

// runs lets the Site of a cluster run the requested revision.
func (w *world) runs() {
	w.Helper()
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.delivery("")
	w.capi("u1", true)
	w.kubeconfig()
	w.later("Waiting | WaitingForCluster | Stabilizing")
	w.clock = w.clock.Add(readiness.Stabilization)
	w.reconcile()
	w.delivery(w.tree)
	w.until(isLiveNow)
}
