package managedcluster

import (
	"context"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
)

// madeKinds are the kinds of the objects of a cluster of CAPT.
func madeKinds() []string { return []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} }

// liveUIDs returns the UIDs of the existing objects by kind.
func (w *testEnv) liveUIDs() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, kind := range madeKinds() {
		out[kind] = string(w.getLive(kind).GetUID())
	}
	return out
}

// recordedUIDs returns the UIDs of these kinds in the status.
func (w *testEnv) recordedUIDs() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, o := range w.get().Status.AtProvider.Objects {
		if o.UID != "" && strings.Contains(strings.Join(madeKinds(), " "), o.Kind) {
			out[o.Kind] = o.UID
		}
	}
	return out
}

// serveClusterVersion serves Cluster in another version. Its definition is replaced.
func (w *testEnv) serveClusterVersion(version string) {
	w.Helper()
	w.removeObject("CustomResourceDefinition", "", "clusters.cluster.x-k8s.io")
	w.putYAML("CustomResourceDefinition", "metadata: {name: clusters.cluster.x-k8s.io}\nspec: {names: {plural: clusters}, versions: [{name: "+version+", served: true}]}")
}

// readThrough reads the management cluster through another client from now on, with nothing in the cache.
func (w *testEnv) readThrough(through dynamic.Interface) {
	w.Helper()
	w.c.pool.Forget(key())
	w.c.memory = newNoteMemory()
	w.c.pool = clusters.NewPool(func([]byte, clusters.Origin) (dynamic.Interface, func(), error) { return through, func() {}, nil }, account.New(account.Bounds{}), w.notifyOwner)
	pool := w.c.pool
	w.Cleanup(func() { pool.Forget(key()) })
}

// A deafClient does not answer one kind of request: lists, or watches, of a resource.
type deafClient struct {
	dynamic.Interface

	resource string
	list     func(ctx context.Context) error
	watch    func() watch.Interface
}

func (d deafClient) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	if r.Resource != d.resource {
		return d.Interface.Resource(r)
	}
	return deafResource{NamespaceableResourceInterface: d.Interface.Resource(r), deaf: d}
}

type deafResource struct {
	dynamic.NamespaceableResourceInterface

	deaf deafClient
}

func (d deafResource) Namespace(ns string) dynamic.ResourceInterface {
	return deafNamespace{ResourceInterface: d.NamespaceableResourceInterface.Namespace(ns), deaf: d.deaf}
}

type deafNamespace struct {
	dynamic.ResourceInterface

	deaf deafClient
}

func (d deafNamespace) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	if d.deaf.list != nil {
		return nil, d.deaf.list(ctx)
	}
	return d.ResourceInterface.List(ctx, o)
}

func (d deafNamespace) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if d.deaf.watch != nil {
		return d.deaf.watch(), nil
	}
	return d.ResourceInterface.Watch(ctx, o)
}

// unknownCases are the ways in which it is unknown whether objects exist.
func unknownCases() map[string]struct {
	reason string
	begin  func(*testEnv)
	end    func(*testEnv)
	want   xpv2.ConditionReason
} {
	blind := func(list func(context.Context) error) func(*testEnv) {
		return func(w *testEnv) {
			w.readThrough(deafClient{Interface: w.capi, resource: "customresourcedefinitions", list: list})
		}
	}
	sees := func(w *testEnv) { w.readThrough(w.capi) }
	return map[string]struct {
		reason string
		begin  func(*testEnv)
		end    func(*testEnv)
		want   xpv2.ConditionReason
	}{
		"VersionUnknown": {
			reason: "Cluster is served only in versions that are not supported.",
			begin:  func(w *testEnv) { w.serveClusterVersion("v1alpha3") }, end: func(w *testEnv) { w.serveClusterVersion("v1beta2") }, want: "VersionUnknown",
		},
		"AccessDenied": {
			reason: "The provider may not read definitions of kinds.",
			begin:  blind(func(context.Context) error { return kerrors.NewForbidden(schema.GroupResource{}, "", nil) }), end: sees, want: "AccessDenied",
		},
		"Unreachable": {
			reason: "The API server does not answer a request.",
			begin:  blind(func(context.Context) error { return kerrors.NewInternalError(context.DeadlineExceeded) }), end: sees, want: "ManagementUnreachable",
		},
		"PlaneUnknown": {
			reason: "The definition of a kind of CAPT is gone, and that of Cluster is not.",
			begin: func(w *testEnv) {
				w.removeObject("CustomResourceDefinition", "", "captcontrolplanes."+groupControlPlane)
			},
			end: func(w *testEnv) {
				w.putYAML("CustomResourceDefinition", "metadata: {name: captcontrolplanes."+groupControlPlane+", labels: {cluster.x-k8s.io/v1beta1: v1beta1}}\nspec: {names: {plural: captcontrolplanes}, versions: [{name: v1beta1, served: true}]}")
			}, want: "KindMissing",
		},
	}
}

// TestNotReleasedWhileUnknown checks that a ManagedCluster is not released while its objects may exist: the cluster would be left behind.
func TestNotReleasedWhileUnknown(t *testing.T) {
	for name, tc := range unknownCases() {
		t.Run(name, func(t *testing.T) {
			w := newReadyCluster(t)
			tc.begin(w)
			w.must(w.Delete(t.Context(), w.get()))
			for range 3 {
				w.reconcile()
			}
			if err := w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}); err != nil {
				t.Fatalf("\n%s\nit is released: %v", tc.reason, err)
			}
			tc.end(w)
			w.writes = nil
			w.reconcileUntilDeleted("delete Cluster", "Cluster")
			w.reconcileUntilDeleted("delete CAPTControlPlane", "CAPTControlPlane")
			w.reconcileUntilDeleted("delete CAPTCluster", "CAPTCluster")
			w.reconcileUntilReleased()
		})
	}
}

// reconcileUntilReleased waits until the ManagedCluster is gone.
func (w *testEnv) reconcileUntilReleased() {
	w.Helper()
	for rounds := 0; w.Get(w.Context(), key(), &v1alpha1.ManagedCluster{}) == nil; rounds++ {
		if rounds > maxRounds {
			w.Fatalf("it is not released: %+v", w.get().Status.Conditions)
		}
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
}

// TestUIDsSurviveUnknownReads checks that recorded UIDs stay while objects cannot be read, so that lost objects are not made again.
func TestUIDsSurviveUnknownReads(t *testing.T) {
	cases := unknownCases()
	cases["PolicyDenied"] = struct {
		reason string
		begin  func(*testEnv)
		end    func(*testEnv)
		want   xpv2.ConditionReason
	}{
		reason: "A limit that was lowered for a while does not drop recorded UIDs.", want: "PolicyDenied",
		begin: func(w *testEnv) { w.allowTemplates("eks") }, end: func(w *testEnv) { w.allowTemplates("eks", "vpc") },
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newReadyCluster(t)
			w.writes = nil
			uids := w.liveUIDs()
			tc.begin(w)
			w.reconcileUntil(string(tc.want))
			if diff := cmp.Diff(uids, w.recordedUIDs()); diff != "" {
				t.Errorf("\n%s\nrecorded objects: -want, +got:\n%s", tc.reason, diff)
			}
			for _, kind := range madeKinds() {
				w.removeSilently(kind)
			}
			tc.end(w)
			w.reconcileUntil("ObjectsGone")
			if diff := cmp.Diff(uids, w.recordedUIDs()); diff != "" || len(w.writes) > 0 {
				t.Errorf("\n%s\nwrites %q, and recorded objects: -want, +got:\n%s", tc.reason, w.writes, diff)
			}
		})
	}
}

// allowOnlyNamespace allows one namespace to use the configuration.
func (w *testEnv) allowOnlyNamespace(ns string) {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	c.Spec.Policy.AllowedNamespaces = []string{ns}
	w.must(w.Update(w.Context(), c))
}

// allowTemplates allows these templates of the namespace, and no others.
func (w *testEnv) allowTemplates(templates ...string) {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	c.Spec.Policy.WorkspaceTemplates = nil
	for _, name := range templates {
		c.Spec.Policy.WorkspaceTemplates = append(c.Spec.Policy.WorkspaceTemplates, configv1alpha1.NamespacedName{Namespace: "team-a", Name: name})
	}
	w.must(w.Update(w.Context(), c))
}

// TestRecreateAllObjects loses all objects, which is normal with CAPT since they are deleted with the Cluster. One annotation lets all be
// made again.
func TestRecreateAllObjects(t *testing.T) {
	w := newReadyCluster(t)
	w.writes = nil
	previous := w.liveUIDs()
	for _, kind := range madeKinds() {
		w.removeSilently(kind)
	}
	// The Workspaces of Terraform still exist, and belong to this cluster.
	for _, name := range []string{"c1-vpc", "c1-eks-controlplane", "c1-kubeconfig"} {
		w.putYAML("Workspace", "metadata: {name: "+name+"}")
	}
	value := strings.Join([]string{previous["CAPTCluster"], previous["CAPTControlPlane"], previous["Cluster"]}, ",")
	m := w.reconcileUntil("ObjectsGone").GetCondition(xpv2.TypeReady).Message
	for _, part := range []string{"CAPTCluster c1 with uid " + previous["CAPTCluster"], "CAPTControlPlane c1 with uid ", "Cluster c1 with uid " + previous["Cluster"], v1alpha1.AnnotationRecreate + "=" + value} {
		if !strings.Contains(m, part) {
			t.Errorf("the message does not say %q: %q", part, m)
		}
	}
	annotate := func(value string) {
		w.change(func(mc *v1alpha1.ManagedCluster) {
			mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: value})
		})
		for range 5 {
			w.clock = w.clock.Add(progressInterval)
			w.reconcile()
		}
	}
	annotate(previous["Cluster"])
	if m := w.get().GetCondition(xpv2.TypeReady).Message; len(w.writes) > 0 || !strings.Contains(m, "="+value) {
		t.Errorf("one of three is not all: writes %q, message %q", w.writes, m)
	}
	annotate(strings.ReplaceAll(value, ",", ", "))
	if diff := cmp.Diff([]string{"apply CAPTCluster", "apply CAPTControlPlane", "apply Cluster"}, w.writes); diff != "" {
		t.Errorf("after the user allowed all: -want, +got:\n%s", diff)
	}
	current := w.liveUIDs()
	if diff := cmp.Diff(current, w.recordedUIDs()); diff != "" {
		t.Errorf("recorded objects at the end: -want, +got:\n%s", diff)
	}
	// The annotation counts for the objects that were gone then.
	w.writes = nil
	w.removeSilently("Cluster")
	if m := w.reconcileUntil("ObjectsGone").GetCondition(xpv2.TypeReady).Message; len(w.writes) > 0 || !strings.HasSuffix(m, "="+current["Cluster"]) {
		t.Errorf("writes %q, message %q", w.writes, m)
	}
}

// TestDeletionReadsPastTheCache checks that a deletion asks the API server for remaining objects, since the cache may be stale.
func TestDeletionReadsPastTheCache(t *testing.T) {
	for name, resource := range map[string]string{"Cluster": "clusters", "Plane": "captcontrolplanes"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.installClusterAPI()
			w.readThrough(deafClient{Interface: w.capi, resource: resource, watch: func() watch.Interface { return watch.NewFake() }})
			w.create(captParameters())
			for range 3 {
				w.reconcile()
			}
			w.must(w.Delete(t.Context(), w.get()))
			w.writes = nil
			w.reconcileUntilDeleted("delete Cluster", "Cluster")
			w.reconcileUntilDeleted("delete CAPTControlPlane", "CAPTControlPlane")
			w.reconcileUntilDeleted("delete CAPTCluster", "CAPTCluster")
			w.reconcileUntilReleased()
		})
	}
}

// TestReadySurvivesRestart checks that a restart of the provider changes nothing in the status of a ready cluster.
func TestReadySurvivesRestart(t *testing.T) {
	w := newReadyCluster(t)
	w.clock = w.clock.Add(24 * time.Hour)
	w.reconcile()
	previous := w.get().Status
	w.readThrough(w.capi)
	w.reconcile()
	if diff := cmp.Diff(previous, w.get().Status); diff != "" {
		t.Errorf("the provider begins: -before, +after:\n%s", diff)
	}
	// Another Cluster of that name is not trusted because of the status.
	w.removeSilently("Cluster")
	w.readThrough(w.capi)
	w.reconcileUntil("ObjectsGone")
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: previous.AtProvider.UID})
	})
	w.reconcile()
	w.reportBuilt()
	w.reconcile()
	if c := w.get().GetCondition(xpv2.TypeReady); c.Reason == ready {
		t.Errorf("another Cluster is trusted at once: %+v", c)
	}
}

// TestWorkspaceOfOurNewObject checks that a Workspace that CAPT made for a part that is not in the cache yet is not another owner's.
func TestWorkspaceOfOurNewObject(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.readThrough(deafClient{Interface: w.capi, resource: "captclusters", watch: func() watch.Interface { return watch.NewFake() }})
	w.create(captParameters())
	w.reconcileUntil("ObjectMissing")
	w.putYAML("Workspace", "metadata: {name: c1-vpc}")
	w.writes = nil
	for range 3 {
		w.clock = w.clock.Add(progressInterval)
		w.reconcile()
	}
	if c := w.get().GetCondition(xpv2.TypeReady); c.Reason == v1alpha1.ReasonNameTaken || len(w.writes) > 0 {
		t.Errorf("%+v, writes %q", c, w.writes)
	}
}
