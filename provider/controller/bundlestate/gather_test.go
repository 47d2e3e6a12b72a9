package bundlestate

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// large is a text as long as objects of tenants may hold.
func large() string { return strings.Repeat("x", 1<<20) }

// TestFactsHoldNoContent adds a bundle and an object of a megabyte each, of which a namespace may have any number.
func TestFactsHoldNoContent(t *testing.T) {
	f, own, other := &facts{objects: map[objectKey]*object{}}, &v1alpha1.BundleState{}, &v1alpha1.BundleState{}
	own.SetName("own")
	other.SetName("other")
	other.Spec.ForProvider.Packages = []v1alpha1.BundlePackage{
		{Name: "db", Group: "intentplane.dev", Kind: "Application", Digest: "d1", DependsOn: []string{"net"}, Spec: &runtime.RawExtension{Raw: []byte(large())}},
		{Name: "net", Group: "intentplane.dev", Kind: "Application"},
	}
	f.addNeighbour(own, other)
	want := []v1alpha1.BundlePackage{
		{Name: "db", Group: "intentplane.dev", Kind: "Application", Digest: "d1", Spec: &runtime.RawExtension{}},
		{Name: "net", Group: "intentplane.dev", Kind: "Application"},
	}
	if diff := cmp.Diff(want, f.neighbours[0].packages); diff != "" {
		t.Errorf("\nOf the packages of another bundle the facts hold names and digests.\naddNeighbour(...): -want, +got:\n%s", diff)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "intentplane.dev/v1alpha1", "kind": "Application", "spec": map[string]any{"text": large()}}}
	u.SetName("db")
	u.SetAnnotations(map[string]string{"text": large()})
	f.addObject(u)
	held, err := json.Marshal(f.objects[objectKey{"intentplane.dev", "Application", "db"}].live.Object)
	if err != nil || len(held) > 1000 {
		t.Errorf("\nOf an object the facts hold its name and its version.\naddObject(...): %d bytes, %v", len(held), err)
	}
}

// A versionReader has each object in one version.
type versionReader struct {
	client.Reader

	version string
}

func (r versionReader) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	o.SetUID("u1")
	o.SetResourceVersion(r.version)
	return nil
}

// TestReadObject reads an object that was decided about, and that another writer may have changed since.
func TestReadObject(t *testing.T) {
	u := &unstructured.Unstructured{}
	u.SetKind("Application")
	u.SetUID("u1")
	u.SetResourceVersion("7")
	for version, wantsConflict := range map[string]bool{"7": false, "8": true} {
		e := &external{connector: &connector{live: versionReader{version: version}}}
		_, err := e.readObject(t.Context(), &object{live: u})
		if kerrors.IsConflict(err) != wantsConflict || !wantsConflict && err != nil {
			t.Errorf("\nA decision changes the version that it is about, and no other.\nreadObject(...) of version %s: %v", version, err)
		}
	}
}
