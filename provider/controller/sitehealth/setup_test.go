package sitehealth

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	rtfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/apiserver"
	"github.com/intentplane/intentplane/test/cacheclient"
	"github.com/intentplane/intentplane/test/patience"
)

const (
	newImage = "registry.example.org/team-a/shop@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	oldImage = "registry.example.org/team-a/shop@sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

type object = map[string]any

// A world is doubles of an API server and of a Site's cluster, and the real reconciler between them.
type world struct {
	*testing.T

	kube    client.Client
	cluster *apiserver.Server
	woken   chan types.NamespacedName
	clock   time.Time
	c       *connector
	// full is how often a quick look was not enough.
	full int
	// result of the last reconcile.
	result reconcile.Result
}

func key() types.NamespacedName { return types.NamespacedName{Namespace: "team-a", Name: "shop"} }

func apps(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
}

func httpRoutes() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"}
}

func pods() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{T: t, clock: time.Date(2031, 12, 17, 12, 0, 0, 0, time.UTC), woken: make(chan types.NamespacedName, 10_000)}
	w.cluster = apiserver.New(map[string]schema.GroupVersionResource{
		"Deployment": apps("deployments"), "ReplicaSet": apps("replicasets"), "HTTPRoute": httpRoutes(), "Pod": pods(),
	})
	b := cacheclient.Indexer{ClientBuilder: kubefake.NewClientBuilder().WithScheme(s).WithObjectTracker(apiserver.NewTracker(s)).WithStatusSubresource(&v1alpha1.SiteHealth{}).
		WithObjects(newSite("edge1"), newHealth())}
	if err := errors.Join(usage.Index(t.Context(), b), listing.AddIndexes(t.Context(), b, healthIndex(), clusters.SecretIndex())); err != nil {
		t.Fatal(err)
	}
	w.kube = b.Build()
	pool := clusters.NewPool(w.dial, account.New(account.Bounds{}), func(o types.NamespacedName) { w.woken <- o })
	t.Cleanup(func() { pool.Forget(key()) })
	w.c = &connector{kube: w.kube, pool: pool, memory: newNoteMemory(), now: func() time.Time { return w.clock }}
	return w
}

func (w *world) dial(kubeconfig []byte, _ clusters.Origin) (dynamic.Interface, func(), error) {
	if kubeconfig != nil {
		if _, err := clusters.Parse(kubeconfig, clusters.Limits{}); err != nil {
			return nil, nil, err
		}
	}
	return w.cluster, func() {}, nil
}

func newSite(name string) *catalogv1alpha1.Site {
	return &catalogv1alpha1.Site{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: catalogv1alpha1.SiteSpec{
			Cluster: catalogv1alpha1.SiteCluster{ControlPlane: &catalogv1alpha1.ControlPlaneCluster{}}, AllowedNamespaces: []string{"team-a"},
			TargetNamespaces: catalogv1alpha1.TargetNamespaces{Allowed: []string{"{claimNamespace}"}},
		},
	}
}

func newHealth() *v1alpha1.SiteHealth {
	h := &v1alpha1.SiteHealth{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop", Generation: 1}}
	h.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	h.Spec.ForProvider = v1alpha1.SiteHealthParameters{
		ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop"},
		Image:    newImage, Sites: []v1alpha1.HealthTarget{{Name: "edge1"}},
	}
	return h
}

// edit the SiteHealth, as another generation.
func (w *world) edit(fn func(*v1alpha1.SiteHealthParameters)) {
	w.Helper()
	h := w.get()
	fn(&h.Spec.ForProvider)
	h.Generation++
	w.must(w.kube.Update(w.Context(), h))
}

func (w *world) editSite(fn func(*catalogv1alpha1.Site)) {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), types.NamespacedName{Name: "edge1"}, s))
	fn(s)
	w.must(w.kube.Update(w.Context(), s))
}

// deployed has the cluster report a Deployment for an image with its ReplicaSet, of which so many pods are available.
func (w *world) deployed(image string, revision int, available int64) {
	w.Helper()
	r := fmt.Sprint(revision)
	containers := object{"spec": object{"containers": []any{object{"name": "shop", "image": image}}}}
	w.put(apps("deployments"), object{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": object{
			"name": "shop", "namespace": "team-a", "uid": "d1", "generation": int64(revision), "annotations": object{"deployment.kubernetes.io/revision": r},
			"labels": object{"intentplane.dev/claim": "shop", "intentplane.dev/workload": "main"},
		},
		"spec":   object{"replicas": int64(2), "template": containers},
		"status": object{"observedGeneration": int64(revision), "updatedReplicas": int64(2), "availableReplicas": available},
	})
	w.put(apps("replicasets"), object{
		"apiVersion": "apps/v1", "kind": "ReplicaSet",
		"metadata": object{
			"name": "shop-" + r, "namespace": "team-a", "annotations": object{"deployment.kubernetes.io/revision": r}, "labels": object{"pod-template-hash": "h" + r},
			"ownerReferences": []any{object{"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop", "uid": "d1", "controller": true}},
		},
		"spec": object{"template": containers}, "status": object{"replicas": int64(2), "availableReplicas": available},
	})
}

// put an object into the cluster, or replace it.
func (w *world) put(r schema.GroupVersionResource, o object) {
	w.Helper()
	u := &unstructured.Unstructured{Object: o}
	resourceClient := w.cluster.Resource(r).Namespace(u.GetNamespace())
	if _, err := resourceClient.Update(w.Context(), u, metav1.UpdateOptions{}); err == nil {
		return
	}
	_, err := resourceClient.Create(w.Context(), u, metav1.CreateOptions{})
	w.must(err)
}

// reconcile once.
func (w *world) reconcile() {
	w.Helper()
	r := managed.NewReconciler(&rtfake.Manager{Client: w.kube, Scheme: w.kube.Scheme()}, resource.ManagedKind(Kind()),
		managed.WithTypedExternalConnector[*v1alpha1.SiteHealth](w.c), managed.WithInitializers(), setup.WithoutFinalizer(),
		managed.WithPollInterval(time.Hour), managed.WithPollIntervalHook(w.c.requeueInterval), managed.WithManagementPolicies(),
	)
	inner := &setup.Forgetful{Reconciler: r, Kube: w.kube, New: func() client.Object { return &v1alpha1.SiteHealth{} }, Forget: w.c.forgetHealth}
	var err error
	w.result, err = w.c.newQuickReconciler(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		w.full++
		return inner.Reconcile(ctx, req)
	}), time.Hour).Reconcile(w.Context(), reconcile.Request{NamespacedName: key()})
	w.must(err)
}

func (w *world) get() *v1alpha1.SiteHealth {
	w.Helper()
	h := &v1alpha1.SiteHealth{}
	w.must(w.kube.Get(w.Context(), key(), h))
	return h
}

// says returns the reason of Ready, and the state, reason and available pods of each Site.
func (w *world) says() string {
	w.Helper()
	h := w.get()
	parts := []string{string(h.GetCondition(xpv2.TypeReady).Reason)}
	for _, s := range h.Status.AtProvider.Sites {
		parts = append(parts, fmt.Sprintf("%s(%s) %d", s.State, s.Reason, s.Available))
	}
	return strings.Join(parts, " | ")
}

func (w *world) expect(reason, want string) {
	w.Helper()
	if diff := cmp.Diff(want, w.says()); diff != "" {
		w.Fatalf("%s: -want, +got:\n%s", reason, diff)
	}
}

// until reconciles each time that the cluster wakes the SiteHealth, until it has a state.
func (w *world) until(want string) {
	w.Helper()
	for w.reconcile(); w.says() != want; w.reconcile() {
		select {
		case <-w.woken:
		case <-time.After(patience.Limit):
			w.Fatalf("want %q, got %q, and the cluster wakes it no more", want, w.says())
		}
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
