package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// newGate returns a Gate with one check that a change says more about.
func newGate(change func(*v1alpha1.GateParameters)) *v1alpha1.Gate {
	g := &v1alpha1.Gate{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Gate"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-r1-s0"},
	}
	g.Spec.ForProvider = v1alpha1.GateParameters{
		ClaimRef: v1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop"},
		Checks: []v1alpha1.GateCheck{{Check: deploymentv1alpha1.Check{
			Name: "p99", Site: "edge1", Type: "Prometheus", Threshold: "< 100", Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: "up"},
		}}},
	}
	change(&g.Spec.ForProvider)
	return g
}

func withPosition(p *v1alpha1.GateParameters) {
	p.Position = &ledger.Position{Epoch: 1, Revision: 7, Step: 4}
}

// TestGateFields checks which Gates the API server takes.
func TestGateFields(t *testing.T) {
	named := func(p *v1alpha1.GateParameters) { p.Blueprint = &ledger.BlueprintReference{Name: "web-1.0.0"} }
	cases := map[string]struct {
		reason  string
		changes []func(*v1alpha1.GateParameters)
		want    string
	}{
		"Position":  {reason: "A Gate judges a position.", changes: []func(*v1alpha1.GateParameters){withPosition}},
		"Blueprint": {reason: "A Gate names the Blueprint of its revision.", changes: []func(*v1alpha1.GateParameters){withPosition, named}},
		"None":      {reason: "A Gate without a position is refused.", want: "position: Required value"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := problemsOf(t, "gates", newGate(func(p *v1alpha1.GateParameters) {
				for _, change := range tc.changes {
					change(p)
				}
			}))
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestGateColumns checks the numbers that users see in the columns REVISION and STEP.
func TestGateColumns(t *testing.T) {
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(readDefinition(t, "gates"), crd); err != nil {
		t.Fatal(err)
	}
	printer, err := tableconvertor.New(crd.Spec.Versions[0].AdditionalPrinterColumns)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.GateParameters)
		want   map[string]any
	}{
		"Position": {reason: "The numbers of a Gate come from its position.", change: withPosition, want: map[string]any{"REVISION": int64(7), "INDEX": int64(4)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			table, err := printer.ConvertToTable(t.Context(), &unstructured.Unstructured{Object: contentOf(t, newGate(tc.change))}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{}
			for i, c := range table.ColumnDefinitions {
				if _, ok := tc.want[c.Name]; ok {
					got[c.Name] = table.Rows[0].Cells[i]
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nConvertToTable(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
