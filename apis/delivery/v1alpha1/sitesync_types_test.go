package v1alpha1_test

import (
	"strings"
	"testing"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// newSync returns a SiteSync that observes a position.
func newSync(p *ledger.Position) *v1alpha1.SiteSync {
	s := &v1alpha1.SiteSync{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "SiteSync"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"},
	}
	s.Spec.ForProvider.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
	s.Spec.ForProvider.Position = p
	return s
}

// TestSiteSyncFields checks which SiteSyncs the API server takes.
func TestSiteSyncFields(t *testing.T) {
	position := &ledger.Position{Epoch: 1, Revision: 2, Attempt: 1, Step: 3}
	cases := map[string]struct {
		reason string
		sync   *v1alpha1.SiteSync
		want   string
	}{
		"Position": {reason: "A SiteSync may observe a position.", sync: newSync(position)},
		"None":     {reason: "A SiteSync without a position is refused.", sync: newSync(nil), want: "position: Required value"},
		"TooFar":   {reason: "A plan has at most 20 steps.", sync: newSync(&ledger.Position{Step: 20}), want: "step"},
	}
	server := newServer(t, "sitesyncs")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := problemsOf(t, server, tc.sync)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// cellOf returns the cell that an API server prints for an object in a column.
func cellOf(t *testing.T, plural, column string, o any) any {
	t.Helper()
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(readDefinition(t, plural), crd); err != nil {
		t.Fatal(err)
	}
	printer, err := tableconvertor.New(crd.Spec.Versions[0].AdditionalPrinterColumns)
	if err != nil {
		t.Fatal(err)
	}
	table, err := printer.ConvertToTable(t.Context(), &unstructured.Unstructured{Object: contentOf(t, o)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range table.ColumnDefinitions {
		if c.Name == column {
			return table.Rows[0].Cells[i]
		}
	}
	t.Fatalf("%s have no column %s", plural, column)
	return nil
}

// TestRevisionColumns checks the number that users see in the column REVISION.
func TestRevisionColumns(t *testing.T) {
	position := &ledger.Position{Epoch: 1, Revision: 7}
	delivery := func(p *ledger.Position) *v1alpha1.GitDelivery {
		d := &v1alpha1.GitDelivery{TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "GitDelivery"}}
		d.Spec.ForProvider.Position = p
		return d
	}
	cases := map[string]struct {
		reason string
		plural string
		object any
		want   any
	}{
		"SyncPosition": {reason: "The revision of a SiteSync is that of its position.", plural: "sitesyncs", object: newSync(position), want: int64(7)},
		"DeliveryPosition": {
			reason: "The revision of a delivery with a position is that of the position.",
			plural: "gitdeliveries", object: delivery(position), want: int64(7),
		},
		"DeliveryNone": {reason: "A home that only opens its ledger has no revision to print.", plural: "gitdeliveries", object: delivery(nil)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := cellOf(t, tc.plural, "REVISION", tc.object); got != tc.want {
				t.Errorf("\n%s\nConvertToTable(...): want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
