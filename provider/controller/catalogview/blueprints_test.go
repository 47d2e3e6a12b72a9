package catalogview

import (
	"context"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// TestDocumentAfterError lets one Blueprint change while another Blueprint cannot be read, and then go: the change must not be
// forgotten.
func TestDocumentAfterError(t *testing.T) {
	s := runtime.NewScheme()
	if err := catalogv1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	newBlueprint := func(name, channel string) *catalogv1alpha1.Blueprint {
		return &catalogv1alpha1.Blueprint{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{catalogv1alpha1.LabelChannel: channel}}}
	}
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(newBlueprint("a", "stable")).Build()
	live := interceptor.NewClient(kube, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if key.Name == "unreadable" {
			return errors.New("the API server does not answer")
		}
		return c.Get(ctx, key, o, opts...)
	}})
	views := newBlueprintViews(kube, live)
	if _, err := views.blueprintDocument(t.Context()); err != nil {
		t.Fatal(err)
	}
	changed := &catalogv1alpha1.Blueprint{}
	if err := errors.Join(kube.Get(t.Context(), types.NamespacedName{Name: "a"}, changed), kube.Create(t.Context(), newBlueprint("unreadable", ""))); err != nil {
		t.Fatal(err)
	}
	changed.Labels[catalogv1alpha1.LabelChannel] = "canary"
	if err := kube.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if _, err := views.blueprintDocument(t.Context()); err == nil {
		t.Fatal("A Blueprint that cannot be read is an error.")
	}
	if err := kube.Delete(t.Context(), newBlueprint("unreadable", "")); err != nil {
		t.Fatal(err)
	}
	if got, err := views.blueprintDocument(t.Context()); err != nil || !strings.Contains(got, "canary") {
		t.Errorf("A change is published although another Blueprint could not be read meanwhile, got %s, %v", got, err)
	}
}
