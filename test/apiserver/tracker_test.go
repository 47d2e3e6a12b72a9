package apiserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestNewTracker(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjectTracker(NewTracker(clientgoscheme.Scheme)).Build()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}, Data: map[string]string{"replicas": "1"}}
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	stale := o.DeepCopy()
	o.Data["replicas"] = "2"
	if err := c.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(t.Context(), stale); err == nil {
		t.Error("\nAn update of an earlier version is refused.\nUpdate(...): want an error, got none")
	}
	got := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o, got); diff != "" {
		t.Errorf("\nA client reads its last write.\nGet(...): -want, +got:\n%s", diff)
	}
}
