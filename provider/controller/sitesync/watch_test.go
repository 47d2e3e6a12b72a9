package sitesync

import (
	"context"
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func TestDeliveryWakes(t *testing.T) {
	cases := map[string]struct {
		reason          string
		namespace       string
		group, claimant string
		want            []reconcile.Request
	}{
		"SameClaim": {
			reason:    "The SiteSync of the claim waits for its delivery.",
			namespace: "team-a", group: "claims.intentplane.dev", claimant: "web", want: []reconcile.Request{{NamespacedName: key()}},
		},
		"OtherClaim": {
			reason:    "A SiteSync of another claim is not woken.",
			namespace: "team-a", group: "claims.intentplane.dev", claimant: "shop", want: []reconcile.Request{},
		},
		"OtherShape": {
			reason:    "A claim of the other shape is another claim.",
			namespace: "team-a", group: "intentplane.dev", claimant: "web", want: []reconcile.Request{},
		},
		"OtherNamespace": {
			reason:    "A claim of the same name in another namespace wakes no SiteSync.",
			namespace: "team-b", group: "claims.intentplane.dev", claimant: "web", want: []reconcile.Request{},
		},
	}
	w := newWorld(t)
	w.askFor(1)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &v1alpha1.GitDelivery{}
			d.SetNamespace(tc.namespace)
			d.Spec.ForProvider.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: tc.group, Kind: "IntentDeployment", Namespace: tc.namespace, Name: tc.claimant}
			got := waker{kube: w.kube, log: logging.NewNopLogger()}.requestsForDelivery(t.Context(), d)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ndelivery(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEventReadsItsSyncs has a SiteSync, and a hundred SiteSyncs of other Sites and configurations, and a hundred Sites that no event is about.
func TestEventReadsItsSyncs(t *testing.T) {
	w := newWorld(t)
	w.askFor(1)
	for i := range 100 {
		s := w.get()
		s.SetName(fmt.Sprintf("other-%d", i))
		s.SetUID("")
		s.SetResourceVersion("")
		s.Spec.ForProvider.Sites[0].Name, s.Spec.ForProvider.Sites[0].RepositoryRef.Name = s.GetName(), s.GetName()
		w.must(w.kube.Create(t.Context(), s))
		w.must(w.kube.Create(t.Context(), site(s.GetName())))
	}
	edge := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(t.Context(), client.ObjectKey{Name: "edge1"}, edge))
	edge.Spec.Owner = &catalogv1alpha1.SiteOwner{Kind: "ManagedCluster", Namespace: "team-a", Name: "edge1", UID: "cluster-uid"}
	edge.Spec.Cluster = catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{Namespace: "team-a", Name: "edge1"}}
	w.must(w.kube.Update(t.Context(), edge))
	counter := &cacheclient.Counter{Client: w.kube}
	wake := waker{kube: counter, log: logging.NewNopLogger()}
	ours := []reconcile.Request{{NamespacedName: key()}}
	cases := map[string]struct {
		reason string
		wake   func(ctx context.Context, o client.Object) []reconcile.Request
		object client.Object
		want   []reconcile.Request
	}{
		"Site":   {reason: "A Site wakes the SiteSyncs that name it.", wake: wake.requestsForSite, object: edge, want: ours},
		"Config": {reason: "A configuration wakes the SiteSyncs that name it.", wake: wake.requestsForConfig, object: w.config(), want: ours},
		"Kind": {
			reason: "A ProviderConfig with the name of a ClusterProviderConfig wakes no SiteSync.", wake: wake.requestsForConfig,
			object: &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}},
		},
		"Secret": {
			reason: "A Secret wakes the SiteSyncs of the Sites whose kubeconfig it holds.", wake: wake.requestsForSecret,
			object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "edge1-kubeconfig"}}, want: ours,
		},
		"Owner": {
			reason: "A ManagedCluster wakes the SiteSyncs of the Site that it published.", wake: wake.requestsForOwner,
			object: &clusterv1alpha1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "edge1", UID: "cluster-uid"}}, want: ours,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			counter.Listed = 0
			if diff := cmp.Diff(tc.want, tc.wake(t.Context(), tc.object)); diff != "" || counter.Listed > 2 {
				t.Errorf("\n%s It reads no other object.\n%d objects, -want, +got:\n%s", tc.reason, counter.Listed, diff)
			}
		})
	}
}

// TestPositionApplied changes the status of a delivery.
func TestPositionApplied(t *testing.T) {
	home := func(change func(*v1alpha1.GitDeliveryObservation)) *v1alpha1.GitDelivery {
		d := &v1alpha1.GitDelivery{}
		d.Status.AtProvider = v1alpha1.GitDeliveryObservation{
			Ledger: &ledger.State{Head: ledger.Head{ID: "ordered"}}, Mandate: &v1alpha1.MandateStatus{Revision: 2},
			Record: &v1alpha1.LedgerRecord{Position: *positionOf(2, 0)}, Remote: &v1alpha1.Remote{Commit: "a"},
		}
		change(&d.Status.AtProvider)
		return d
	}
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.GitDeliveryObservation)
		want   bool
	}{
		"Same": {reason: "A status that says the same wakes no SiteSync.", change: func(*v1alpha1.GitDeliveryObservation) {}},
		"Attempt": {
			reason: "An attempt that begins wakes no SiteSync.",
			change: func(o *v1alpha1.GitDeliveryObservation) { o.Attempt = &rolloutv1alpha1.Attempt{} },
		},
		"Position": {
			reason: "A repository at a later position wakes the SiteSync.",
			change: func(o *v1alpha1.GitDeliveryObservation) { o.Record.Position.Step = 1 },
			want:   true,
		},
		"Commit": {
			reason: "Another commit wakes the SiteSync.",
			change: func(o *v1alpha1.GitDeliveryObservation) { o.Remote.Commit = "b" },
			want:   true,
		},
		"Event": {
			reason: "An event of the ledger wakes the SiteSync.",
			change: func(o *v1alpha1.GitDeliveryObservation) { o.Ledger.ID = "promoted" },
			want:   true,
		},
		"Ledger": {
			reason: "A home that shows its ledger wakes the SiteSync.",
			change: func(o *v1alpha1.GitDeliveryObservation) { o.Ledger = nil },
			want:   true,
		},
		"Mandate": {
			reason: "A home that acts by its mandate no more wakes the SiteSync.",
			change: func(o *v1alpha1.GitDeliveryObservation) { o.Mandate = nil },
			want:   true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			previous := home(func(*v1alpha1.GitDeliveryObservation) {})
			if got := positionApplied().Update(event.UpdateEvent{ObjectOld: previous, ObjectNew: home(tc.change)}); got != tc.want {
				t.Errorf("\n%s\nUpdate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
