package site

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestReconcile(t *testing.T) {
	cases := map[string]struct {
		reason  string
		labels  map[string]string
		allowed []string
		want    map[string]string
	}{
		"New": {reason: "A Site without labels is labelled.", allowed: []string{"team-a"}, want: map[string]string{catalogv1alpha1.LabelUsableFrom: "team-a"}},
		"Changed": {
			reason: "A Site that more namespaces may use now is labelled again.",
			labels: map[string]string{catalogv1alpha1.LabelUsableFrom: "team-a"}, allowed: []string{"team-a", "team-b"},
			want: map[string]string{catalogv1alpha1.LabelUsableFrom: "Several"},
		},
		"Others": {
			reason: "Labels that users wrote on a Site stay.",
			labels: map[string]string{"region": "north"}, allowed: []string{"*"},
			want: map[string]string{catalogv1alpha1.LabelUsableFrom: "Several", "region": "north"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := catalogv1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "edge1", Labels: tc.labels}, Spec: catalogv1alpha1.SiteSpec{AllowedNamespaces: tc.allowed}}
			kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(s).Build()
			request := reconcile.Request{NamespacedName: types.NamespacedName{Name: "edge1"}}
			r := &Reconciler{kube: kube}
			if _, err := r.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			stored := &catalogv1alpha1.Site{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(s), stored); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, stored.GetLabels()); diff != "" {
				t.Errorf("\n%s\nlabels: -want, +got:\n%s", tc.reason, diff)
			}
			if _, err := r.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			twice := &catalogv1alpha1.Site{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(s), twice); err != nil || twice.GetResourceVersion() != stored.GetResourceVersion() {
				t.Errorf("\n%s\nA Site that carries the label is written again: %v", tc.reason, err)
			}
		})
	}
}
