package sitesync

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
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
