package managedcluster

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	rtfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/controller/composite"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/apiserver"
	"github.com/intentplane/intentplane/test/cacheclient"
	"github.com/intentplane/intentplane/test/patience"
)

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// observerKey is the owner by which the test reads the management cluster.
func observerKey() types.NamespacedName { return types.NamespacedName{Name: "witness"} }

func key() types.NamespacedName { return types.NamespacedName{Namespace: "team-a", Name: "prod"} }

// A testEnv holds doubles of the API server, and the real reconciler. Objects of Cluster API are in the first double, which is watched,
// and the other objects in the second double. Patches go to the first double.
type testEnv struct {
	*testing.T
	client.Client

	capi *apiserver.Server
	// management is how the test reads the first double.
	management managementCluster
	kinds      map[string]schema.GroupVersionResource
	woken      chan types.NamespacedName
	settled    chan types.NamespacedName
	clock      time.Time
	c          *connector
	result     reconcile.Result
	// fullReconciles counts the reconciles for which a quick observation was not enough.
	fullReconciles int
	// writes lists the writes to objects of Cluster API.
	writes []string
	uid    int
}

func newWorld(t *testing.T) *testEnv {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, coordinationv1.AddToScheme, deliveryv1alpha1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w := &testEnv{T: t, clock: noon(), woken: make(chan types.NamespacedName, 1000), settled: make(chan types.NamespacedName, 1000), kinds: map[string]schema.GroupVersionResource{}}
	for kind, gvr := range map[string]string{
		"CustomResourceDefinition": "apiextensions.k8s.io/v1/customresourcedefinitions", "Cluster": "cluster.x-k8s.io/v1beta2/clusters", "Secret": "/v1/secrets",
		"CAPTCluster": groupInfrastructure + "/v1beta1/captclusters", "CAPTControlPlane": groupControlPlane + "/v1beta1/captcontrolplanes",
		"WorkspaceTemplate": groupInfrastructure + "/v1beta1/workspacetemplates", "WorkspaceTemplateApply": groupInfrastructure + "/v1beta1/workspacetemplateapplies",
		"Workspace": "tf.upbound.io/v1beta1/workspaces",
	} {
		p := strings.Split(gvr, "/")
		w.kinds[kind] = schema.GroupVersionResource{Group: p[0], Version: p[1], Resource: p[2]}
	}
	w.capi = apiserver.New(w.kinds)
	b := kubefake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&v1alpha1.ManagedCluster{})
	indexer := cacheclient.Indexer{ClientBuilder: b}
	w.must(listing.AddIndexes(t.Context(), indexer, clusterIndex()))
	w.must(usage.Index(t.Context(), indexer))
	w.Client = b.Build()
	pool := clusters.NewPool(func([]byte, clusters.Origin) (dynamic.Interface, func(), error) { return w.capi, func() {}, nil }, account.New(account.Bounds{}), w.notifyOwner)
	look := pool.Look(observerKey())
	t.Cleanup(func() { look.Done(); pool.Forget(observerKey()); pool.Forget(key()) })
	var err error
	w.management, err = look.Home()
	w.must(err)
	w.c = &connector{kube: w, live: w, metadata: w, namespace: "crossplane-system", usage: resource.NewProviderConfigUsageTracker(w, &configv1alpha1.ProviderConfigUsage{}), pool: pool, prober: w, memory: newNoteMemory(), log: logging.NewNopLogger(), now: func() time.Time { return w.clock }}
	w.must(w.Create(t.Context(), &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: configv1alpha1.ProviderConfigSpec{
		Policy: configv1alpha1.Policy{
			WorkspaceTemplates: []configv1alpha1.NamespacedName{
				{Namespace: "team-a", Name: "eks"},
				{Namespace: "team-a", Name: "vpc"},
				{Namespace: "team-b", Name: "eks"},
				{Namespace: "team-b", Name: "vpc"},
			},
		},
	}}))
	return w
}

// notifyOwner passes a wake-up of the pool to the reconciler or to the test.
func (w *testEnv) notifyOwner(owner types.NamespacedName) {
	if owner == observerKey() {
		w.settled <- owner
		return
	}
	w.woken <- owner
}

// Ask answers as the API server of a healthy cluster.
func (w *testEnv) Ask(context.Context, []byte) (readiness.Answer, time.Time) {
	return readiness.Answer{Asked: true, Version: "v1.34.2"}, w.clock.Add(time.Hour)
}

// Patch applies objects of Cluster API.
func (w *testEnv) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return w.Client.Patch(ctx, o, p, opts...)
	}
	w.writes = append(w.writes, "apply "+u.GetKind())
	w.putObject(u)
	return nil
}

// List lists the objects of Cluster API of one name.
func (w *testEnv) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	u, ok := l.(*unstructured.UnstructuredList)
	if !ok {
		return w.Client.List(ctx, l, opts...)
	}
	o := &client.ListOptions{}
	o.ApplyOptions(opts)
	all, err := w.capi.Resource(w.kinds[strings.TrimSuffix(u.GetKind(), "List")]).Namespace(o.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, item := range all.Items {
		if o.FieldSelector.Matches(fields.Set{"metadata.name": item.GetName()}) {
			u.Items = append(u.Items, item)
		}
	}
	return nil
}

// Delete deletes objects of Cluster API.
func (w *testEnv) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return w.Client.Delete(ctx, o, opts...)
	}
	d := &client.DeleteOptions{}
	d.ApplyOptions(opts)
	if d.Preconditions == nil || d.Preconditions.UID == nil || *d.Preconditions.UID != u.GetUID() {
		w.Fatalf("%s is deleted whatever its uid", u.GetKind())
	}
	w.writes = append(w.writes, "delete "+u.GetKind())
	return nil
}

// putObject creates an object, or merges it with the existing one, as server-side apply does.
func (w *testEnv) putObject(u *unstructured.Unstructured) {
	w.Helper()
	resourceClient := w.capi.Resource(w.kinds[u.GetKind()]).Namespace(u.GetNamespace())
	w.uid++
	current, err := resourceClient.Get(w.Context(), u.GetName(), metav1.GetOptions{})
	if kerrors.IsNotFound(err) {
		u = u.DeepCopy()
		if u.GetUID() == "" {
			u.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uid)))
		}
		_, err = resourceClient.Create(w.Context(), u, metav1.CreateOptions{})
		w.must(err)
		w.waitForWatches(u)
		return
	}
	w.must(err)
	mergeMaps(current.Object, u.DeepCopy().Object)
	_, err = resourceClient.Update(w.Context(), current, metav1.UpdateOptions{})
	w.must(err)
	w.waitForWatches(current)
}

func mergeMaps(into, from map[string]any) {
	for k, v := range from {
		a, ok := into[k].(map[string]any)
		b, ok2 := v.(map[string]any)
		if ok && ok2 {
			mergeMaps(a, b)
			continue
		}
		into[k] = v
	}
}

// putYAML puts an object of the namespace, with the cluster's name unless the text has another name.
func (w *testEnv) putYAML(kind, text string) {
	w.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	w.must(yaml.Unmarshal([]byte(text), &u.Object))
	u.SetKind(kind)
	u.SetAPIVersion(w.kinds[kind].GroupVersion().String())
	if u.GetName() == "" {
		u.SetName("c1")
	}
	if u.GetNamespace() == "" && kind != "CustomResourceDefinition" && kind != "Workspace" {
		u.SetNamespace("team-a")
	}
	w.putObject(u)
}

// removeSilently removes an object at once, whatever its finalizers.
func (w *testEnv) removeSilently(kind string) { w.removeObject(kind, "team-a", "c1") }

func (w *testEnv) removeObject(kind, namespace, name string) {
	w.Helper()
	w.must(w.capi.Resource(w.kinds[kind]).Namespace(namespace).Delete(w.Context(), name, metav1.DeleteOptions{}))
	u := &unstructured.Unstructured{}
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	w.waitForWatches(u)
}

// waitForWatches returns when every watch has delivered the present state of an object. Watches deliver in their own time, one kind before
// another, and a reconcile in between may record a state that the test does not expect.
func (w *testEnv) waitForWatches(u *unstructured.Unstructured) {
	w.Helper()
	ref := engines.Ref{Resource: w.kinds[u.GetKind()], Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	for !w.isObserved(ref) {
		select {
		case <-w.settled:
		case <-time.After(patience.Limit):
			w.Fatalf("the watches do not deliver %s", ref)
		}
	}
}

// isObserved reports whether the watches have the present state of an object, in each way in which the reconciler reads it.
func (w *testEnv) isObserved(ref engines.Ref) bool {
	w.Helper()
	live, err := w.capi.Resource(ref.Resource).Namespace(ref.Namespace).Get(w.Context(), ref.Name, metav1.GetOptions{})
	if !kerrors.IsNotFound(err) {
		w.must(err)
	}
	got, err := w.management.Get(w.Context(), ref)
	observed, err2 := w.management.Only(w.Context(), ref)
	everywhere, err3 := w.management.Everywhere(w.Context(), ref)
	if err != nil || err2 != nil || err3 != nil {
		return false
	}
	var among *unstructured.Unstructured
	for _, u := range everywhere {
		if u.GetNamespace() == ref.Namespace {
			among = u
		}
	}
	want := resourceVersion(live)
	return resourceVersion(got) == want && resourceVersion(observed) == want && resourceVersion(among) == want
}

// resourceVersion returns the resource version of an object, or "" of nil.
func resourceVersion(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	return u.GetResourceVersion()
}

// maxRounds bounds how many reconciles may pass without the expected result.
const maxRounds = 100

func (w *testEnv) getLive(kind string) *unstructured.Unstructured {
	w.Helper()
	u, err := w.capi.Resource(w.kinds[kind]).Namespace("team-a").Get(w.Context(), "c1", metav1.GetOptions{})
	w.must(err)
	return u
}

// installClusterAPI installs Cluster API and CAPT, and their templates.
func (w *testEnv) installClusterAPI() {
	w.putYAML("CustomResourceDefinition", "metadata: {name: clusters.cluster.x-k8s.io}\nspec: {names: {plural: clusters}, versions: [{name: v1beta2, served: true}]}")
	for plural, group := range map[string]string{"captclusters": groupInfrastructure, "captcontrolplanes": groupControlPlane} {
		w.putYAML("CustomResourceDefinition", fmt.Sprintf("metadata: {name: %[1]s.%[2]s, labels: {cluster.x-k8s.io/v1beta1: v1beta1}}\nspec: {names: {plural: %[1]s}, versions: [{name: v1beta1, served: true}]}", plural, group))
	}
	w.putYAML("WorkspaceTemplate", "metadata: {name: eks}")
	w.putYAML("WorkspaceTemplate", "metadata: {name: vpc}")
}

// reportBuilt writes the status that Cluster API and CAPT write once the cluster is built.
func (w *testEnv) reportBuilt() {
	w.putYAML("CAPTCluster", "status: {ready: true}")
	w.putYAML("CAPTControlPlane", "spec: {workspaceTemplateApplyName: c1-eks}\nstatus: {ready: true, initialized: true}")
	w.putYAML("Cluster", "spec: {controlPlaneEndpoint: {host: 'https://c1.example.org', port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
	const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"a","clusters":[{"name":"c","cluster":{"server":"https://c1"}}],"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{"token":"t"}}]}`
	w.putYAML("Secret", fmt.Sprintf("metadata: {name: c1-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: c1}}\ntype: cluster.x-k8s.io/secret\ndata: {value: %s}", base64.StdEncoding.EncodeToString([]byte(kubeconfig))))
}

func captParameters() v1alpha1.ManagedClusterParameters {
	return v1alpha1.ManagedClusterParameters{
		Cluster: v1alpha1.ClusterReference{Name: "c1"},
		ClusterDescription: v1alpha1.ClusterDescription{
			Type: v1alpha1.TypeCAPT, Version: "v1.34.2", Labels: map[string]v1alpha1.LabelValue{"env": "prod"},
			CAPT: &v1alpha1.CAPT{
				Region: "eu-west-1", VPC: v1alpha1.CAPTVPC{TemplateRef: &v1alpha1.TemplateReference{Name: "vpc"}},
				ControlPlane: v1alpha1.CAPTControlPlane{TemplateRef: v1alpha1.TemplateReference{Name: "eks"}},
			},
		},
	}
}

func (w *testEnv) create(p v1alpha1.ManagedClusterParameters) {
	w.Helper()
	w.must(w.Create(w.Context(), managedCluster(p)))
}

func managedCluster(p v1alpha1.ManagedClusterParameters) *v1alpha1.ManagedCluster {
	mc := &v1alpha1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "prod", UID: "mc-uid", Generation: 1}}
	mc.Spec.ForProvider = p
	mc.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	mc.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	return mc
}

func (w *testEnv) get() *v1alpha1.ManagedCluster {
	w.Helper()
	mc := &v1alpha1.ManagedCluster{}
	w.must(w.Get(w.Context(), key(), mc))
	return mc
}

func (w *testEnv) change(fn func(*v1alpha1.ManagedCluster)) {
	w.Helper()
	mc := w.get()
	fn(mc)
	mc.Generation++
	w.must(w.Update(w.Context(), mc))
}

// reconcile runs one reconcile, and fails the test if it returns an error.
func (w *testEnv) reconcile() {
	w.Helper()
	r := managed.NewReconciler(&rtfake.Manager{Client: w, Scheme: w.Scheme()}, resource.ManagedKind(Kind()),
		managed.WithTypedExternalConnector[*v1alpha1.ManagedCluster](&composite.Connector[*v1alpha1.ManagedCluster]{
			TypedExternalConnector: w.c, Kind: Kind().GroupKind(), Live: w.Client, Recorder: event.NewNopRecorder(),
		}), managed.WithInitializers(), managed.WithPollInterval(time.Hour),
		managed.WithPollIntervalHook(w.c.requeueInterval), managed.WithManagementPolicies(),
	)
	var err error
	inner := &setup.Forgetful{Reconciler: r, Kube: w, New: func() client.Object { return &v1alpha1.ManagedCluster{} }, Forget: w.c.forgetCluster}
	w.result, err = w.c.newQuickReconciler(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		w.fullReconciles++
		return inner.Reconcile(ctx, req)
	}), time.Hour).Reconcile(w.Context(), reconcile.Request{NamespacedName: key()})
	w.must(err)
}

// reconcileUntil reconciles until the condition Ready has a reason. It moves the clock so that no write is delayed.
func (w *testEnv) reconcileUntil(want string) *v1alpha1.ManagedCluster {
	w.Helper()
	for rounds := 0; ; rounds++ {
		w.reconcile()
		mc := w.get()
		if c := mc.GetCondition(xpv2.TypeReady); string(c.Reason) == want {
			return mc
		}
		if rounds > maxRounds {
			w.Fatalf("want %s, got %+v, Synced %s", want, mc.GetCondition(xpv2.TypeReady), mc.GetCondition(xpv2.TypeSynced).Message)
		}
		// The watches have delivered everything, so only time can change anything.
		w.clock = w.clock.Add(progressInterval)
	}
}

func (w *testEnv) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
