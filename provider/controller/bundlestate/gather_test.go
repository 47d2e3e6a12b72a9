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
	"github.com/intentplane/intentplane/bundles/state"
)

// large is a text as long as objects of tenants may hold.
func large() string { return strings.Repeat("x", 1<<20) }

// TestFactsHoldNoContent adds a bundle and an object of a megabyte each, of which a namespace may have any number.
func TestFactsHoldNoContent(t *testing.T) {
	f := &facts{objects: map[objectKey]*object{{"intentplane.dev", "Application", "net"}: {}}, usages: map[objectKey]usage{}, records: map[string]bool{}}
	own, other := &v1alpha1.BundleState{}, &v1alpha1.BundleState{}
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
	deployer, waiting := neighbour{age: age{name: "other"}, digest: "d1"}, neighbour{age: age{name: "other"}}
	want := map[objectKey]usage{
		{"intentplane.dev", "Application", "db"}:       {oldest: []neighbour{deployer}, deployer: &deployer},
		{"intentplane.dev", "IntentDeployment", "net"}: {oldest: []neighbour{waiting}},
	}
	if diff := cmp.Diff(want, f.usages, allowUsages()); diff != "" {
		t.Errorf("\nOf other bundles the facts hold names and digests of packages that share an object.\naddNeighbour(...): -want, +got:\n%s", diff)
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

func allowUsages() cmp.Option { return cmp.AllowUnexported(objectKey{}, usage{}, neighbour{}, age{}) }

// TestUsersAreBounded has more bundles, Bundles and records that use a package than a status names.
func TestUsersAreBounded(t *testing.T) {
	f := scene{deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)}}.facts()
	f.namers, f.recordUsers = map[string][]string{}, map[string][]string{}
	key, names := packageObjectKey(&f.spec.Packages[0]), f.namesToRemove()
	f.objects[key].owner = v1alpha1.BundleReference{Name: "user-0"}
	for n := range 10 * maxUsers {
		user := beside(n, pkg("db@d1"))
		if n == 10*maxUsers-1 {
			user = beside(n, pkg("db@d1", existing))
		}
		user.SetName(fmt.Sprintf("user-%d", n))
		user.Spec.ForProvider.BundleRef.Name, user.Spec.ForProvider.BundleRef.Group = user.GetName(), ""
		f.addNeighbour(newBundle(), &user)
		namer := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"packages": []any{map[string]any{"name": "db"}, map[string]any{"name": "another"}}}}}
		namer.SetName(user.GetName())
		f.addNamingBundle(namer, names)
		f.addRecordUser(&state.BundleState{Name: user.GetName(), PkgStatuses: []state.PkgStatus{
			{Name: "another", Status: state.Success}, {Name: "db", Status: state.Success},
		}}, names)
	}
	u := f.usages[key]
	if diff := cmp.Diff([]string{"user-159", "user-158", "user-0"}, []string{u.oldest[0].name, u.deployer.name, u.owner.name}); diff != "" {
		t.Errorf("\nThe facts have the oldest user, the oldest deployer, and the deployer that the labels name.\naddNeighbour(...): -want, +got:\n%s", diff)
	}
	want := map[string]int{"neighbours": maxUsers, "namers": maxUsers, "records": maxUsers, "named packages": 1, "recorded packages": 1}
	got := map[string]int{
		"neighbours": len(u.oldest), "namers": len(f.namers["db"]), "records": len(f.recordUsers["db"]),
		"named packages": len(f.namers), "recorded packages": len(f.recordUsers),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nThe facts hold as many users of a package to remove as a status names, and none of other packages.\nusers: -want, +got:\n%s", diff)
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
		_, err := e.readCurrentObject(t.Context(), &object{live: u})
		if kerrors.IsConflict(err) != wantsConflict || !wantsConflict && err != nil {
			t.Errorf("\nA decision changes the version that it is about, and no other.\nreadObject(...) of version %s: %v", version, err)
		}
	}
}
