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
)

// made are the kinds of what CAPT's clusters are made of.
func madeKinds() []string { return []string{"CAPTCluster", "CAPTControlPlane", "Cluster"} }

// uids of what is there, by kind.
func (w *world) uids() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, kind := range madeKinds() {
		out[kind] = string(w.live(kind).GetUID())
	}
	return out
}

// remembers says which uids of these kinds are in the status.
func (w *world) remembers() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, o := range w.get().Status.AtProvider.Objects {
		if o.UID != "" && strings.Contains(strings.Join(madeKinds(), " "), o.Kind) {
			out[o.Kind] = o.UID
		}
	}
	return out
}

// servesCluster in a version. Its definition is another one than before.
func (w *world) servesCluster(version string) {
	w.Helper()
	w.remove("CustomResourceDefinition", "", "clusters.cluster.x-k8s.io")
	w.yaml("CustomResourceDefinition", "metadata: {name: clusters.cluster.x-k8s.io}\nspec: {names: {plural: clusters}, versions: [{name: "+version+", served: true}]}")
}

// reads the management cluster through another client, and knows nothing of what was read before.
func (w *world) reads(through dynamic.Interface) {
	w.Helper()
	w.c.pool.Forget(key())
	w.c.memory = newMemory()
	w.c.pool = clusters.NewPool(func([]byte, clusters.Origin) (dynamic.Interface, func(), error) { return through, func() {}, nil }, clusters.Bounds{}, w.wake)
	pool := w.c.pool
	w.Cleanup(func() { pool.Forget(key()) })
}

// A deaf management cluster does not answer one request: a list, or a watch, of a resource.
type deaf struct {
	dynamic.Interface

	resource string
	list     func(ctx context.Context) error
	watch    func() watch.Interface
}

func (d deaf) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	if r.Resource != d.resource {
		return d.Interface.Resource(r)
	}
	return deafResource{NamespaceableResourceInterface: d.Interface.Resource(r), deaf: d}
}

type deafResource struct {
	dynamic.NamespaceableResourceInterface

	deaf deaf
}

func (d deafResource) Namespace(ns string) dynamic.ResourceInterface {
	return deafNamespace{ResourceInterface: d.NamespaceableResourceInterface.Namespace(ns), deaf: d.deaf}
}

type deafNamespace struct {
	dynamic.ResourceInterface

	deaf deaf
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

// unknowns are ways in which nobody can tell what there is.
func unknowns() map[string]struct {
	reason string
	begin  func(*world)
	end    func(*world)
	want   xpv2.ConditionReason
} {
	blind := func(list func(context.Context) error) func(*world) {
		return func(w *world) { w.reads(deaf{Interface: w.capi, resource: "customresourcedefinitions", list: list}) }
	}
	sees := func(w *world) { w.reads(w.capi) }
	return map[string]struct {
		reason string
		begin  func(*world)
		end    func(*world)
		want   xpv2.ConditionReason
	}{
		"VersionUnknown": {
			reason: "Cluster is served in a version that nobody knows here",
			begin:  func(w *world) { w.servesCluster("v1alpha3") }, end: func(w *world) { w.servesCluster("v1beta2") }, want: "VersionUnknown",
		},
		"AccessDenied": {
			reason: "The provider may not read definitions",
			begin:  blind(func(context.Context) error { return kerrors.NewForbidden(schema.GroupResource{}, "", nil) }), end: sees, want: "AccessDenied",
		},
		"Unreachable": {
			reason: "The API server does not answer",
			begin:  blind(func(context.Context) error { return kerrors.NewInternalError(context.DeadlineExceeded) }), end: sees, want: "ManagementUnreachable",
		},
		"PlaneUnknown": {
			reason: "The definition of a kind of CAPT is gone, and not that of Cluster",
			begin:  func(w *world) { w.remove("CustomResourceDefinition", "", "captcontrolplanes."+groupControlPlane) },
			end: func(w *world) {
				w.yaml("CustomResourceDefinition", "metadata: {name: captcontrolplanes."+groupControlPlane+", labels: {cluster.x-k8s.io/v1beta1: v1beta1}}\nspec: {names: {plural: captcontrolplanes}, versions: [{name: v1beta1, served: true}]}")
			}, want: "KindMissing",
		},
	}
}

// TestNotReleased while nobody can tell what is left: whoever releases it leaves a cluster behind that nobody deletes.
func TestNotReleased(t *testing.T) {
	for name, tc := range unknowns() {
		t.Run(name, func(t *testing.T) {
			w := settled(t)
			tc.begin(w)
			w.must(w.Delete(t.Context(), w.get()))
			for range 3 {
				w.reconcile()
			}
			if err := w.Get(t.Context(), key(), &v1alpha1.ManagedCluster{}); err != nil {
				t.Fatalf("\n%s\nit is released: %v", tc.reason, err)
			}
			tc.end(w)
			w.did = nil
			w.gone("delete Cluster", "Cluster")
			w.gone("delete CAPTControlPlane", "CAPTControlPlane")
			w.gone("delete CAPTCluster", "CAPTCluster")
			w.released()
		})
	}
}

// released waits until the ManagedCluster is gone.
func (w *world) released() {
	w.Helper()
	for rounds := 0; w.Get(w.Context(), key(), &v1alpha1.ManagedCluster{}) == nil; rounds++ {
		if rounds > maxRounds {
			w.Fatalf("it is not released: %+v", w.get().Status.Conditions)
		}
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
}

// TestRemembered is what was there, whatever cannot be told in between: it is not made again.
func TestRemembered(t *testing.T) {
	cases := unknowns()
	cases["PolicyDenied"] = struct {
		reason string
		begin  func(*world)
		end    func(*world)
		want   xpv2.ConditionReason
	}{
		reason: "A limit was lowered for a while", want: "PolicyDenied",
		begin: func(w *world) { w.allow("eks") }, end: func(w *world) { w.allow("eks", "vpc") },
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := settled(t)
			w.did = nil
			uids := w.uids()
			tc.begin(w)
			w.until(string(tc.want))
			if diff := cmp.Diff(uids, w.remembers()); diff != "" {
				t.Errorf("\n%s\nwhat is remembered: -want, +got:\n%s", tc.reason, diff)
			}
			for _, kind := range madeKinds() {
				w.vanish(kind)
			}
			tc.end(w)
			w.until("ObjectsGone")
			if diff := cmp.Diff(uids, w.remembers()); diff != "" || len(w.did) > 0 {
				t.Errorf("\n%s\nwrites %q, and what is remembered: -want, +got:\n%s", tc.reason, w.did, diff)
			}
		})
	}
}

// only a namespace may use the configuration.
func (w *world) only(ns string) {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	c.Spec.Policy.AllowedNamespaces = []string{ns}
	w.must(w.Update(w.Context(), c))
}

// allow templates of the namespace, and no others.
func (w *world) allow(templates ...string) {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	c.Spec.Policy.WorkspaceTemplates = nil
	for _, name := range templates {
		c.Spec.Policy.WorkspaceTemplates = append(c.Spec.Policy.WorkspaceTemplates, configv1alpha1.NamespacedName{Namespace: "team-a", Name: name})
	}
	w.must(w.Update(w.Context(), c))
}

// TestAllAreGone is what is normal with CAPT, whose objects go with the Cluster: one annotation lets all be made again.
func TestAllAreGone(t *testing.T) {
	w := settled(t)
	w.did = nil
	before := w.uids()
	for _, kind := range madeKinds() {
		w.vanish(kind)
	}
	// What Terraform made is still there, and its own.
	for _, name := range []string{"c1-vpc", "c1-eks-controlplane", "c1-kubeconfig"} {
		w.yaml("Workspace", "metadata: {name: "+name+"}")
	}
	value := strings.Join([]string{before["CAPTCluster"], before["CAPTControlPlane"], before["Cluster"]}, ",")
	m := w.until("ObjectsGone").GetCondition(xpv2.TypeReady).Message
	for _, part := range []string{"CAPTCluster c1 with uid " + before["CAPTCluster"], "CAPTControlPlane c1 with uid ", "Cluster c1 with uid " + before["Cluster"], v1alpha1.AnnotationRecreate + "=" + value} {
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
	annotate(before["Cluster"])
	if m := w.get().GetCondition(xpv2.TypeReady).Message; len(w.did) > 0 || !strings.Contains(m, "="+value) {
		t.Errorf("one of three is not all: writes %q, message %q", w.did, m)
	}
	annotate(strings.ReplaceAll(value, ",", ", "))
	if diff := cmp.Diff([]string{"apply CAPTCluster", "apply CAPTControlPlane", "apply Cluster"}, w.did); diff != "" {
		t.Errorf("a person wants all of it: -want, +got:\n%s", diff)
	}
	after := w.uids()
	if diff := cmp.Diff(after, w.remembers()); diff != "" {
		t.Errorf("what is remembered now: -want, +got:\n%s", diff)
	}
	// The annotation is for what was gone then.
	w.did = nil
	w.vanish("Cluster")
	if m := w.until("ObjectsGone").GetCondition(xpv2.TypeReady).Message; len(w.did) > 0 || !strings.HasSuffix(m, "="+after["Cluster"]) {
		t.Errorf("writes %q, message %q", w.did, m)
	}
}

// TestDeletionLooksItself whether something is left, since what watches told may be old.
func TestDeletionLooksItself(t *testing.T) {
	for name, resource := range map[string]string{"Cluster": "clusters", "Plane": "captcontrolplanes"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			w.reads(deaf{Interface: w.capi, resource: resource, watch: func() watch.Interface { return watch.NewFake() }})
			w.create(captSpec())
			for range 3 {
				w.reconcile()
			}
			w.must(w.Delete(t.Context(), w.get()))
			w.did = nil
			w.gone("delete Cluster", "Cluster")
			w.gone("delete CAPTControlPlane", "CAPTControlPlane")
			w.gone("delete CAPTCluster", "CAPTCluster")
			w.released()
		})
	}
}

// TestRestart of the provider changes nothing that is said of a cluster.
func TestRestart(t *testing.T) {
	w := settled(t)
	w.clock = w.clock.Add(24 * time.Hour)
	w.reconcile()
	before := w.get().Status
	w.reads(w.capi)
	w.reconcile()
	if diff := cmp.Diff(before, w.get().Status); diff != "" {
		t.Errorf("the provider begins: -before, +after:\n%s", diff)
	}
	// Another Cluster under that name is not trusted because of that.
	w.vanish("Cluster")
	w.reads(w.capi)
	w.until("ObjectsGone")
	w.change(func(mc *v1alpha1.ManagedCluster) {
		mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: before.AtProvider.UID})
	})
	w.reconcile()
	w.built()
	w.reconcile()
	if c := w.get().GetCondition(xpv2.TypeReady); c.Reason == ready {
		t.Errorf("another one is trusted at once: %+v", c)
	}
}

// TestJustMade is a part that CAPT saw before we did: its Workspace is no other's.
func TestJustMade(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.reads(deaf{Interface: w.capi, resource: "captclusters", watch: func() watch.Interface { return watch.NewFake() }})
	w.create(captSpec())
	w.until("ObjectMissing")
	w.yaml("Workspace", "metadata: {name: c1-vpc}")
	w.did = nil
	for range 3 {
		w.clock = w.clock.Add(progressInterval)
		w.reconcile()
	}
	if c := w.get().GetCondition(xpv2.TypeReady); c.Reason == v1alpha1.ReasonNameTaken || len(w.did) > 0 {
		t.Errorf("%+v, writes %q", c, w.did)
	}
}
