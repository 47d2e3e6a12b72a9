package managedcluster

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	rtfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/usage"
)

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func key() types.NamespacedName { return types.NamespacedName{Namespace: "team-a", Name: "prod"} }

// A world is doubles of an API server and the real reconciler. Objects of Cluster API are in one double, which is watched, and ours in
// the other; what is applied goes to the first.
type world struct {
	*testing.T
	client.Client

	capi   *dynamicfake.FakeDynamicClient
	kinds  map[string]schema.GroupVersionResource
	woken  chan types.NamespacedName
	clock  time.Time
	c      *connector
	result reconcile.Result
	// did are the writes to objects of Cluster API.
	did []string
	uid int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{T: t, clock: noon(), woken: make(chan types.NamespacedName, 1000), kinds: map[string]schema.GroupVersionResource{}}
	lists := map[schema.GroupVersionResource]string{}
	for kind, gvr := range map[string]string{
		"CustomResourceDefinition": "apiextensions.k8s.io/v1/customresourcedefinitions", "Cluster": "cluster.x-k8s.io/v1beta2/clusters", "Secret": "/v1/secrets",
		"CAPTCluster": groupInfrastructure + "/v1beta1/captclusters", "CAPTControlPlane": groupControlPlane + "/v1beta1/captcontrolplanes",
		"WorkspaceTemplate": groupInfrastructure + "/v1beta1/workspacetemplates", "WorkspaceTemplateApply": groupInfrastructure + "/v1beta1/workspacetemplateapplies",
		"Workspace": "tf.upbound.io/v1beta1/workspaces",
	} {
		p := strings.Split(gvr, "/")
		w.kinds[kind] = schema.GroupVersionResource{Group: p[0], Version: p[1], Resource: p[2]}
		lists[w.kinds[kind]] = kind + "List"
	}
	w.capi = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	b := kubefake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&v1alpha1.ManagedCluster{})
	w.Client = b.WithIndex(&deliveryv1alpha1.GitDelivery{}, "intentplane.site", usage.Sites).Build()
	pool := clusters.NewPool(func([]byte) (dynamic.Interface, func(), error) { return w.capi, func() {}, nil }, func(o types.NamespacedName) { w.woken <- o })
	t.Cleanup(func() { pool.Forget(key()) })
	w.c = &connector{kube: w, pool: pool, prober: w, memory: newMemory(), log: logging.NewNopLogger(), now: func() time.Time { return w.clock }}
	w.must(w.Create(t.Context(), &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: configv1alpha1.ProviderConfigSpec{
		Policy: configv1alpha1.Policy{WorkspaceTemplates: []configv1alpha1.NamespacedName{{Namespace: "team-a", Name: "eks"}, {Namespace: "team-a", Name: "vpc"}}},
	}}))
	return w
}

// Ask is an API server that answers.
func (w *world) Ask(context.Context, []byte) (readiness.Answer, time.Time) {
	return readiness.Answer{Asked: true, Version: "v1.34.2"}, w.clock.Add(time.Hour)
}

// Patch applies objects of Cluster API.
func (w *world) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return w.Client.Patch(ctx, o, p, opts...)
	}
	w.did = append(w.did, "apply "+u.GetKind())
	w.put(u)
	return nil
}

// Delete deletes objects of Cluster API.
func (w *world) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return w.Client.Delete(ctx, o, opts...)
	}
	d := &client.DeleteOptions{}
	d.ApplyOptions(opts)
	if d.Preconditions == nil || d.Preconditions.UID == nil || *d.Preconditions.UID != u.GetUID() {
		w.Fatalf("%s is deleted whatever its uid", u.GetKind())
	}
	w.did = append(w.did, "delete "+u.GetKind())
	return nil
}

// put an object: what is there is merged with it, as an API server does.
func (w *world) put(u *unstructured.Unstructured) {
	w.Helper()
	of := w.capi.Resource(w.kinds[u.GetKind()]).Namespace(u.GetNamespace())
	w.uid++
	have, err := of.Get(w.Context(), u.GetName(), metav1.GetOptions{})
	if kerrors.IsNotFound(err) {
		u = u.DeepCopy()
		if u.GetUID() == "" {
			u.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uid)))
		}
		u.SetResourceVersion(fmt.Sprint(w.uid))
		_, err = of.Create(w.Context(), u, metav1.CreateOptions{})
		w.must(err)
		return
	}
	w.must(err)
	merge(have.Object, u.DeepCopy().Object)
	have.SetResourceVersion(fmt.Sprint(w.uid))
	_, err = of.Update(w.Context(), have, metav1.UpdateOptions{})
	w.must(err)
}

func merge(into, from map[string]any) {
	for k, v := range from {
		a, ok := into[k].(map[string]any)
		b, ok2 := v.(map[string]any)
		if ok && ok2 {
			merge(a, b)
			continue
		}
		into[k] = v
	}
}

// yaml puts an object of the namespace, and of the cluster's name unless it has another.
func (w *world) yaml(kind, text string) {
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
	w.put(u)
}

// vanish removes an object without a trace.
func (w *world) vanish(kind string) {
	w.Helper()
	w.must(w.capi.Resource(w.kinds[kind]).Namespace("team-a").Delete(w.Context(), "c1", metav1.DeleteOptions{}))
}

func (w *world) live(kind string) *unstructured.Unstructured {
	w.Helper()
	u, err := w.capi.Resource(w.kinds[kind]).Namespace("team-a").Get(w.Context(), "c1", metav1.GetOptions{})
	w.must(err)
	return u
}

// install Cluster API and CAPT, and their templates.
func (w *world) install() {
	w.yaml("CustomResourceDefinition", "metadata: {name: clusters.cluster.x-k8s.io}\nspec: {names: {plural: clusters}, versions: [{name: v1beta2, served: true}]}")
	for plural, group := range map[string]string{"captclusters": groupInfrastructure, "captcontrolplanes": groupControlPlane} {
		w.yaml("CustomResourceDefinition", fmt.Sprintf("metadata: {name: %[1]s.%[2]s, labels: {cluster.x-k8s.io/v1beta1: v1beta1}}\nspec: {names: {plural: %[1]s}, versions: [{name: v1beta1, served: true}]}", plural, group))
	}
	w.yaml("WorkspaceTemplate", "metadata: {name: eks}")
	w.yaml("WorkspaceTemplate", "metadata: {name: vpc}")
}

// built is what core and CAPT say once all is built.
func (w *world) built() {
	w.yaml("CAPTCluster", "status: {ready: true}")
	w.yaml("CAPTControlPlane", "spec: {workspaceTemplateApplyName: c1-eks}\nstatus: {ready: true, initialized: true}")
	w.yaml("Cluster", "spec: {controlPlaneEndpoint: {host: 'https://c1.example.org', port: 443}}\nstatus: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: true}}")
	const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"a","clusters":[{"name":"c","cluster":{"server":"https://c1"}}],"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{"token":"t"}}]}`
	w.yaml("Secret", fmt.Sprintf("metadata: {name: c1-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: c1}}\ntype: cluster.x-k8s.io/secret\ndata: {value: %s}", base64.StdEncoding.EncodeToString([]byte(kubeconfig))))
}

func captSpec() v1alpha1.ManagedClusterParameters {
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

func (w *world) create(p v1alpha1.ManagedClusterParameters) {
	w.Helper()
	mc := &v1alpha1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "prod", UID: "mc-uid", Generation: 1}}
	mc.Spec.ForProvider = p
	mc.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	mc.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	w.must(w.Create(w.Context(), mc))
}

func (w *world) get() *v1alpha1.ManagedCluster {
	w.Helper()
	mc := &v1alpha1.ManagedCluster{}
	w.must(w.Get(w.Context(), key(), mc))
	return mc
}

func (w *world) change(fn func(*v1alpha1.ManagedCluster)) {
	w.Helper()
	mc := w.get()
	fn(mc)
	mc.Generation++
	w.must(w.Update(w.Context(), mc))
}

// reconcile once, and return the error that the API server would show.
func (w *world) reconcile() {
	w.Helper()
	r := managed.NewReconciler(&rtfake.Manager{Client: w, Scheme: w.Scheme()}, resource.ManagedKind(Kind()),
		managed.WithTypedExternalConnector[*v1alpha1.ManagedCluster](w.c), managed.WithInitializers(), managed.WithPollInterval(time.Hour),
		managed.WithPollIntervalHook(w.c.interval), managed.WithManagementPolicies(),
	)
	var err error
	w.result, err = (&forgetful{Reconciler: r, kube: w, connector: w.c}).Reconcile(w.Context(), reconcile.Request{NamespacedName: key()})
	w.must(err)
}

// until the ManagedCluster's Ready has a reason, reconciling each time that a watch wakes it, with the clock that far ahead that all is
// written at once.
func (w *world) until(want string) *v1alpha1.ManagedCluster {
	w.Helper()
	for {
		w.reconcile()
		mc := w.get()
		if c := mc.GetCondition(xpv2.TypeReady); string(c.Reason) == want {
			return mc
		}
		select {
		case <-w.woken:
		case <-time.After(200 * time.Millisecond):
			if w.clock = w.clock.Add(progressInterval); w.clock.Sub(noon()) > 24*time.Hour {
				w.Fatalf("want %s, got %+v, Synced %s", want, mc.GetCondition(xpv2.TypeReady), mc.GetCondition(xpv2.TypeSynced).Message)
			}
		}
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
