package setup

import (
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// deliveryOf returns a delivery of a deployment of team-a.
func deliveryOf(deployment, name string) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	d.Spec.ForProvider.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: deployment}
	return d
}

// stateWith returns a state of a ledger with so many events.
func stateWith(events int64) *ledger.State {
	return &ledger.State{Head: ledger.Head{Epoch: 1, Seq: events}}
}

// TestNewestLedger reads the ledger of a deployment in a namespace with a hundred deliveries of other deployments.
func TestNewestLedger(t *testing.T) {
	cases := map[string]struct {
		reason     string
		deliveries func() []client.Object
		want       int64
		listed     int
	}{
		"None": {reason: "A deployment without deliveries has an empty ledger.", deliveries: func() []client.Object { return nil }},
		"Home": {reason: "The home of a ledger shows it in its status.", deliveries: func() []client.Object {
			d := deliveryOf("shop", "shop-home")
			d.Status.AtProvider.Ledger = stateWith(3)
			return []client.Object{d}
		}, want: 3, listed: 1},
		"Copy": {reason: "A follower may have a newer state than the home shows.", deliveries: func() []client.Object {
			home, follower := deliveryOf("shop", "shop-home"), deliveryOf("shop", "shop-follower")
			home.Status.AtProvider.Ledger, follower.Spec.ForProvider.Copy = stateWith(3), stateWith(4)
			return []client.Object{home, follower}
		}, want: 4, listed: 2},
	}
	s := runtime.NewScheme()
	if err := errors.Join(configv1alpha1.AddToScheme(s), deliveryv1alpha1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithObjects(tc.deliveries()...)}
			for i := range 100 {
				d := deliveryOf(fmt.Sprintf("other-%d", i), fmt.Sprintf("other-%d", i))
				d.Status.AtProvider.Ledger = stateWith(9)
				b.WithObjects(d)
			}
			if err := usage.Index(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			kube := &cacheclient.Counter{Client: b.Build()}
			got, err := NewestLedger(t.Context(), kube, "intentplane.dev", types.NamespacedName{Namespace: "team-a", Name: "shop"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Seq); diff != "" {
				t.Errorf("\n%s\nNewestLedger(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.listed, kube.Listed); diff != "" {
				t.Errorf("\nThe deliveries of other deployments are not read.\nNewestLedger(...): objects -want, +got:\n%s", diff)
			}
		})
	}
}
