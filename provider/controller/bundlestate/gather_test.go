package bundlestate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// large is a text as long as objects of tenants may hold.
func large() string { return strings.Repeat("x", 1<<20) }

// TestFactsHoldNoContent adds a bundle and an object of a megabyte each, of which a namespace may have any number.
func TestFactsHoldNoContent(t *testing.T) {
	f, own, other := &facts{objects: map[objectKey]*object{{"intentplane.dev", "Application", "net"}: {}}}, &v1alpha1.BundleState{}, &v1alpha1.BundleState{}
	f.spec.Packages = []v1alpha1.BundlePackage{{Name: "db", Group: "intentplane.dev", Kind: "Application"}}
	own.SetName("own")
	other.SetName("other")
	other.Spec.ForProvider.Packages = []v1alpha1.BundlePackage{
		{Name: "db", Group: "intentplane.dev", Kind: "Application", Digest: "d1", DependsOn: []string{"net"}, Spec: &runtime.RawExtension{Raw: []byte(large())}},
		{Name: "net", Group: "intentplane.dev", Kind: "IntentDeployment"},
		{Name: "theirs", Group: "intentplane.dev", Kind: "Application"},
	}
	unrelated := other.DeepCopy()
	unrelated.SetName("unrelated")
	unrelated.Spec.ForProvider.Packages = other.Spec.ForProvider.Packages[2:]
	f.addNeighbour(own, other)
	f.addNeighbour(own, unrelated)
	want := []v1alpha1.BundlePackage{
		{Name: "db", Group: "intentplane.dev", Kind: "Application", Digest: "d1", Spec: &runtime.RawExtension{}},
		{Name: "net", Group: "intentplane.dev", Kind: "IntentDeployment"},
	}
	if diff := cmp.Diff(want, f.neighbours[0].packages); diff != "" || len(f.neighbours) > 1 {
		t.Errorf("\nOf other bundles the facts hold names and digests of packages that share an object.\naddNeighbour(...): %d bundles, -want, +got:\n%s",
			len(f.neighbours), diff)
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

// TestLabelledObjectsAreBounded has more objects with the labels of a bundle than a status can list.
func TestLabelledObjectsAreBounded(t *testing.T) {
	f := &facts{bundle: platform, objects: map[objectKey]*object{}, was: map[string]v1alpha1.PackageObservation{"p-9000": {UID: "recorded"}}}
	f.spec.Packages = []v1alpha1.BundlePackage{{Name: "p-9001", Group: "intentplane.dev", Kind: "Application"}}
	add := func(name, label, uid string) {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "intentplane.dev/v1alpha1", "kind": "Application"}}
		u.SetName(name)
		u.SetUID(types.UID(uid))
		u.SetLabels(map[string]string{v1alpha1.LabelBundle: platform.Name, v1alpha1.LabelBundleGroup: platform.Group, v1alpha1.LabelPackage: label})
		f.addLabelled(u)
	}
	for n := range 2 * maxLeft {
		name := fmt.Sprintf("p-%d", 1000+n)
		add(name, name, "theirs")
	}
	add("p-9000", "p-9000", "recorded")
	add("p-9001", "p-9001", "theirs")
	add("p-9002", "another", "theirs")
	got := []bool{}
	for _, name := range []string{"p-1000", "p-9000", "p-9001", "p-9002"} {
		got = append(got, f.objects[objectKey{"intentplane.dev", "Application", name}] != nil)
	}
	if diff := cmp.Diff([]bool{true, true, true, false}, got); diff != "" || len(f.objects) != maxLeft+2 {
		t.Errorf("\nThe facts hold recorded objects, objects of the spec, and some others.\naddLabelled(...): %d objects, -want, +got:\n%s", len(f.objects), diff)
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
