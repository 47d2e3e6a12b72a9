package notification

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/notification"
)

func TestStore(t *testing.T) {
	w := newTestEnv(t)
	s, other := w.r.records, store{kube: w.kube, namespace: "crossplane-system", group: "claims.intentplane.dev"}
	first, err := s.get(t.Context(), shopKey())
	w.must(err)
	first.Deployment = notification.Deployment{Namespace: "team-a", Name: "shop", UID: "u1"}
	w.must(s.put(t.Context(), shopKey(), first))
	stale, err := s.get(t.Context(), shopKey())
	w.must(err)
	again, err := s.get(t.Context(), shopKey())
	w.must(err)
	if diff := cmp.Diff(first.Deployment, again.Deployment); diff != "" {
		t.Errorf("get(...): -want, +got:\n%s", diff)
	}
	again.Handled = []notification.Handled{{Revision: 1}}
	w.must(s.put(t.Context(), shopKey(), again))
	if err := s.put(t.Context(), shopKey(), stale); err == nil {
		t.Error("put(...): want an error for a record that was written meanwhile")
	}
	for _, tc := range []struct {
		reason string
		store  store
		want   []types.NamespacedName
	}{
		{reason: "The deployments of a group are found by their records.", store: s, want: []types.NamespacedName{shopKey()}},
		{reason: "A deployment of the other shape has a record of its own.", store: other},
	} {
		got, err := tc.store.list(t.Context())
		w.must(err)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("\n%s\nlist(...): -want, +got:\n%s", tc.reason, diff)
		}
	}
	w.must(s.remove(t.Context(), again))
	w.must(s.remove(t.Context(), &storedRecord{}))
	if n := w.records(); n != 0 {
		t.Errorf("remove(...): %d records are left", n)
	}
}

// TestBrokenRecord reads a record that another program wrote: what is pending there is lost, and the deployment goes on.
func TestBrokenRecord(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.must(w.kube.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "crossplane-system", Name: w.r.records.nameOf(shopKey()), Labels: map[string]string{LabelRecord: w.r.gvk.Group}},
		Data:       map[string]string{recordKey: "{"},
	}))
	w.restart()
	w.moveTo(1, verified()...)
	w.mustReconcile()
	w.mustReconcile()
	w.wantTaken("The outcome is posted once.", "a.example.org u1.3.1.Succeeded")
}
