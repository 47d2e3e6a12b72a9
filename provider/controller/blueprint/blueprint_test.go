package blueprint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func named(name string, labels map[string]string, file string) *catalogv1alpha1.Blueprint {
	return &catalogv1alpha1.Blueprint{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       catalogv1alpha1.BlueprintSpec{Files: map[string]catalogv1alpha1.File{"kustomization.yaml": catalogv1alpha1.File(file)}},
	}
}

func TestReconcile(t *testing.T) {
	listed := map[string]string{catalogv1alpha1.LabelListed: catalogv1alpha1.ListedTrue}
	large := strings.Repeat("x", catalogv1alpha1.MaxListedBytes)
	cases := map[string]struct {
		reason string
		labels map[string]string
		file   string
		// others that have the label.
		others int
		want   map[string]string
	}{
		"Small": {
			reason: "A small Blueprint is listed, and keeps its labels.",
			labels: map[string]string{"blueprint": "web"}, want: map[string]string{"blueprint": "web", catalogv1alpha1.LabelListed: "true"},
		},
		"Large":  {reason: "A large Blueprint is not listed, since a request would hold it.", file: large},
		"Forged": {reason: "A large Blueprint that a person labelled loses the label.", labels: listed, file: large},
		"Full":   {reason: "A Blueprint beyond the number that a request may hold is not listed.", others: catalogv1alpha1.MaxListed},
		"Room":   {reason: "The last Blueprint that a request may hold is listed.", others: catalogv1alpha1.MaxListed - 1, want: listed},
		"Stays":  {reason: "A listed Blueprint stays listed when the list is full.", labels: listed, others: catalogv1alpha1.MaxListed, want: listed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := catalogv1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(named("web-1.0.0", tc.labels, tc.file))
			for i := range tc.others {
				b.WithObjects(named(fmt.Sprintf("other-%d", i), listed, ""))
			}
			kube := b.Build()
			if _, err := (&Reconciler{kube: kube, live: kube}).Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "web-1.0.0"}}); err != nil {
				t.Fatal(err)
			}
			got := &catalogv1alpha1.Blueprint{}
			if err := kube.Get(t.Context(), client.ObjectKey{Name: "web-1.0.0"}, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.GetLabels(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nlabels: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
