package usage

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// indexer adds indexes to a fake client.
type indexer struct {
	*fake.ClientBuilder
}

// IndexField adds an index.
func (i indexer) IndexField(_ context.Context, o client.Object, field string, fn client.IndexerFunc) error {
	i.WithIndex(o, field, fn)
	return nil
}

func claim(group, namespace, name string) rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: group, Kind: "IntentDeployment", Namespace: namespace, Name: name}
}

func delivery(namespace, name string, c rolloutv1alpha1.ClaimReference) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.SetNamespace(namespace)
	d.SetName(name)
	d.Spec.ForProvider.ClaimRef = c
	return d
}

func TestOfClaim(t *testing.T) {
	s := runtime.NewScheme()
	if err := deliveryv1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b := indexer{fake.NewClientBuilder().WithScheme(s).WithObjects(
		delivery("team-a", "web-fleet", claim("intentplane.dev", "team-a", "web")),
		delivery("team-a", "web-other", claim("intentplane.dev", "team-a", "web")),
		delivery("team-a", "shop", claim("intentplane.dev", "team-a", "shop")),
		delivery("team-a", "shape", claim("claims.intentplane.dev", "team-a", "web")),
		delivery("team-b", "namesake", claim("intentplane.dev", "team-b", "web")),
		delivery("team-b", "liar", claim("intentplane.dev", "team-a", "web")),
	)}
	if err := Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	ds, err := OfClaim(t.Context(), b.Build(), claim("intentplane.dev", "team-a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, d := range ds {
		got = append(got, d.GetName())
	}
	if diff := cmp.Diff([]string{"web-fleet", "web-other"}, got); diff != "" {
		t.Errorf("\nThe deliveries of the claim, of its shape, in its namespace\nOfClaim(...): -want, +got:\n%s", diff)
	}
}
