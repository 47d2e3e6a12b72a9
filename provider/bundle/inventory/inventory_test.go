package inventory

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/prune"
)

func TestBundleOfSecret(t *testing.T) {
	for secret, want := range map[string]prune.BundleName{
		"intentplane-bundle-platform":    {Group: "claims.intentplane.dev", Name: "platform"},
		"intentplane-bundle-platform.ns": {Group: "intentplane.dev", Name: "platform"},
		"theirs-platform":                {Name: "theirs-platform"},
	} {
		if diff := cmp.Diff(want, bundleOfSecret(secret)); diff != "" {
			t.Errorf("bundleOfSecret(%q): -want, +got:\n%s", secret, diff)
		}
	}
}

// TestMadeByBundle believes who wrote an object, and not its labels alone.
func TestMadeByBundle(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetLabels(map[string]string{v1alpha1.LabelBundle: "platform"})
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl-edit"}})
	if isMadeByBundle(u) {
		t.Error("An object with labels of a user counts as an object of a bundle.")
	}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl-edit"}, {Manager: "intentplane-bundlestate"}})
	if !isMadeByBundle(u) {
		t.Error("An object that a bundle made counts as that of a user.")
	}
}

// TestRecordsHoldNamesOfPackages reads a small Secret whose record has megabytes of names.
func TestRecordsHoldNamesOfPackages(t *testing.T) {
	g := &packageGatherer{packages: map[[2]string]bool{{"team-a", "db"}: true, {"team-a", "shop"}: true}, needs: map[[2]string]map[string][]string{}}
	record := &state.BundleState{Schema: state.Schema, Name: "platform", Version: "1", Status: state.Success}
	for _, name := range []string{"db", "shop", "other-" + strings.Repeat("x", 1000)} {
		record.PkgStatuses = append(record.PkgStatuses, state.PkgStatus{Name: name, Version: "1", Status: state.Success, DependsOn: []string{"unknown", "shop", "shop"}})
	}
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "theirs"}, Type: state.SecretType, Data: map[string][]byte{"data": text}}
	got := g.readBundleRecord(secret)
	want := prune.Record{BundleName: prune.BundleName{Name: "theirs"}, Namespace: "team-a", Uses: []string{"db", "shop"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nOf a record the facts hold the names of gathered packages, each once.\nreadBundleRecord(...): -want, +got:\n%s", diff)
	}
	wantNeeds := map[string][]string{"db": {"shop"}, "shop": {"shop"}}
	if diff := cmp.Diff(wantNeeds, g.needs[[2]string{"team-a", "/theirs"}]); diff != "" {
		t.Errorf("\nOf the dependencies the facts hold those of gathered packages.\nreadBundleRecord(...): -want, +got:\n%s", diff)
	}
}

// TestAddDelivered has a delivery with a Site in the present step, and a Site whose directory waits for a later step.
func TestAddDelivered(t *testing.T) {
	encoded := func(name string) []byte {
		b, err := tree.Encode(tree.Files{name + ".yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n")})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := deliveryv1alpha1.Tree{Site: "edge1", Branch: "main", Path: "edge1", Action: deliveryv1alpha1.ActionDesired, Files: encoded("first")}
	second := deliveryv1alpha1.Tree{Site: "edge2", Branch: "main", Path: "edge2", Action: deliveryv1alpha1.ActionDesired, Files: encoded("second")}
	waiting := deliveryv1alpha1.Tree{Site: "edge2", Branch: "main", Path: "edge2", Action: deliveryv1alpha1.ActionKeep}
	cases := map[string]struct {
		reason string
		later  []deliveryv1alpha1.LaterTree
		want   []string
		unread bool
	}{
		"Later": {
			reason: "A package holds the objects that it delivers in later steps.",
			later:  []deliveryv1alpha1.LaterTree{{Tree: second, Revision: 2, Step: 1}}, want: []string{"first", "second"},
		},
		"Unknown": {reason: "The objects of a directory that stays are unknown without a later tree.", want: []string{"first"}, unread: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, p := &deliveryv1alpha1.GitDelivery{}, &prune.Package{}
			d.Spec.ForProvider.Trees, d.Spec.ForProvider.Later = []deliveryv1alpha1.Tree{first, waiting}, tc.later
			addDelivered(p, d, nil)
			var got []string
			for _, o := range p.Objects {
				got = append(got, o.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || p.Unread != tc.unread {
				t.Errorf("\n%s\naddDelivered(...): -want, +got:\n%s\nunread %t", tc.reason, diff, p.Unread)
			}
		})
	}
}

// TestUndelivered has packages without a GitDelivery, which may have delivered objects before, and a package with one.
func TestUndelivered(t *testing.T) {
	cases := map[string]struct {
		reason   string
		revision any
		claims   []string
		want     bool
	}{
		"Never":      {reason: "A package without a revision has delivered nothing.", revision: int64(0)},
		"Lost":       {reason: "The objects of a delivered package are unknown without a GitDelivery.", revision: int64(2), want: true},
		"Unreadable": {reason: "An object that cannot be read may have delivered objects.", revision: "two", want: true},
		"Delivered":  {reason: "The GitDelivery of a package shows its objects.", revision: int64(2), claims: []string{"shop"}},
		"Other":      {reason: "The GitDelivery of another package shows nothing of a package.", revision: int64(2), claims: []string{"blog"}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{"kind": "IntentDeployment", "status": map[string]any{"revision": tc.revision}}}
			u.SetNamespace("team-a")
			u.SetName("shop")
			g := &packageGatherer{facts: &prune.Facts{}, packages: map[[2]string]bool{}, undelivered: map[[2]string]bool{}}
			g.addPackageObject(u)
			g.Live = deliveryReader{claims: tc.claims}
			if err := g.readDeliveries(t.Context(), "team-a", g.facts.Packages, nil); err != nil {
				t.Fatal(err)
			}
			if got := g.facts.Packages[0].Unread; got != tc.want {
				t.Errorf("\n%s\nreadDeliveries(...): want unread %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// A deliveryReader lists a GitDelivery without trees for each of some claims, and nothing else.
type deliveryReader struct {
	client.Reader

	claims []string
}

// List returns the GitDeliveries.
func (r deliveryReader) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	deliveries, _ := l.(*deliveryv1alpha1.GitDeliveryList)
	for _, claim := range r.claims {
		d := deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: claim}}
		d.Spec.ForProvider.ClaimRef.APIGroup, d.Spec.ForProvider.ClaimRef.Name = "intentplane.dev", claim
		deliveries.Items = append(deliveries.Items, d)
	}
	return nil
}
