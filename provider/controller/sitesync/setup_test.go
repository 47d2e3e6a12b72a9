package sitesync

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	rtfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
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
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/listing"
	gitrepo "github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/apiserver"
	"github.com/intentplane/intentplane/test/cacheclient"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/patience"
)

const (
	repo = "fleet"

	requestedAt = "reconcile.fluxcd.io/requestedAt"
)

// A world is a Git server, doubles of an API server and of a cluster, and the real reconciler between them.
type world struct {
	*testing.T

	git     *gitserver.Server
	kube    client.Client
	cluster *apiserver.Server
	// mu guards the connections: Sites are read at the same time.
	mu sync.Mutex
	// dialled counts the connections that were made.
	dialled int
	// dialledWith is the kubeconfig of the last connection.
	dialledWith string
	// origin of it.
	origin clusters.Origin
	woken  chan types.NamespacedName
	clock  time.Time
	c      *connector
	// thorough is how often a quick look was not enough.
	thorough int
	// result of the last reconcile.
	result reconcile.Result
	// says is the content of the claim's file that is asked for.
	tree string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), repo, map[string]string{"README.md": "hello\n"}); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, git: s, clock: noon(), woken: make(chan types.NamespacedName, 1000)}
	w.cluster = apiserver.New(map[string]schema.GroupVersionResource{
		"Kustomization": kustomizations(), "GitRepository": repositories(),
		"CustomResourceDefinition": definitions(), "Cluster": capiClusters(), "Secret": secrets(), "Deployment": deployments(), "Application": applications(),
		"StatefulSet": {Group: "apps", Version: "v1", Resource: "statefulsets"}, "Job": {Group: "batch", Version: "v1", Resource: "jobs"},
		"HTTPRoute":     {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"},
		"GRPCRoute":     {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "grpcroutes"},
		"TLSRoute":      {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "tlsroutes"},
		"HelmRelease":   {Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"},
		"OCIRepository": repositories().GroupVersion().WithResource("ocirepositories"), "Bucket": repositories().GroupVersion().WithResource("buckets"),
		"HelmRepository": repositories().GroupVersion().WithResource("helmrepositories"),
		"ExternalSecret": {Group: "external-secrets.io", Version: "v1", Resource: "externalsecrets"},
		"Certificate":    {Group: "certificates.example.org", Version: "v1beta3", Resource: "certificates"},
		"Pod":            {Version: "v1", Resource: "pods"},
		"Rollout":        {Group: "argoproj.io", Version: "v1alpha1", Resource: "rollouts"},
	})
	known := scheme(t)
	b := cacheclient.Indexer{ClientBuilder: kubefake.NewClientBuilder().WithScheme(known).WithObjectTracker(apiserver.NewTracker(known)).WithStatusSubresource(&v1alpha1.SiteSync{}).
		WithObjects(site("edge1"), w.config())}
	if err := errors.Join(usage.Index(t.Context(), b), listing.AddIndexes(t.Context(), b, siteSyncIndex(), siteOwnerIndex(), clusters.SecretIndex())); err != nil {
		t.Fatal(err)
	}
	w.kube = b.Build()
	pool := clusters.NewPool(w.dial, account.New(account.Bounds{}), func(o types.NamespacedName) { w.woken <- o })
	t.Cleanup(func() { pool.Forget(key()) })
	now := func() time.Time { return w.clock }
	repositories := gitrepo.NewPool(gitrepo.Options{Now: now, Pause: func() time.Duration { return 0 }, Wake: func(types.NamespacedName) {}, Patience: patience.Limit})
	w.c = &connector{kube: w.kube, metadata: teller{Reader: w.kube, from: w.cluster}, pool: pool, memory: newNoteMemory(), log: logging.NewNopLogger(), now: now}
	w.c.prover = newProver(w.kube, now, address.Guard{Loopback: true}, repositories)
	w.c.readiness, w.c.prober = newReadinessCache(), w
	return w
}

// A teller forwards the watch events of the API server's double.
type teller struct {
	client.Reader

	from *apiserver.Server
}

// Get a Secret's metadata.
func (t teller) Get(_ context.Context, objectKey client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	u, err := t.from.Tracker().Get(secrets(), objectKey.Namespace, objectKey.Name)
	if err != nil {
		return err
	}
	m, err := meta.Accessor(u)
	if err != nil {
		return err
	}
	o.SetResourceVersion(m.GetResourceVersion())
	return nil
}

func (w *world) dial(kubeconfig []byte, o clusters.Origin) (dynamic.Interface, func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dialled++
	w.dialledWith, w.origin = string(kubeconfig), o
	if kubeconfig != nil {
		if _, err := clusters.Parse(kubeconfig, clusters.Limits{}); err != nil {
			return nil, nil, err
		}
	}
	return w.cluster, func() {}, nil
}

// sees returns when the watch has reported the object. An earlier event may wake the SiteSync before.
func (w *world) sees(description string, ref engines.Ref, condition func(*unstructured.Unstructured) bool) {
	w.Helper()
	for {
		c, err := w.c.pool.Look(key()).Home()
		w.must(err)
		o, err := c.Get(w.Context(), ref)
		w.must(err)
		if condition(o) {
			return
		}
		select {
		case <-w.woken:
		case <-time.After(patience.Limit):
			w.Fatalf("the watch does not report: %s", description)
		}
	}
}

// seesAsked returns when the watch has reported the request annotation of the source.
func (w *world) seesAsked(token string) {
	w.Helper()
	source := engines.Ref{Resource: repositories(), Kind: "GitRepository", Namespace: "flux", Name: "g"}
	w.sees("asked "+token, source, func(o *unstructured.Unstructured) bool { return o.GetAnnotations()[requestedAt] == token })
}

// seesSuspended returns when the watch has reported that Flux is suspended.
func (w *world) seesSuspended() {
	w.Helper()
	main := engines.Ref{Resource: kustomizations(), Kind: "Kustomization", Namespace: "flux", Name: "team-a-web-edge1"}
	w.sees("suspended", main, func(o *unstructured.Unstructured) bool {
		yes, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
		return yes
	})
}

func keyOf(name string) types.NamespacedName { return types.NamespacedName{Name: name} }

func key() types.NamespacedName { return types.NamespacedName{Namespace: "team-a", Name: "web"} }

func kustomizations() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}
}

func repositories() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"}
}

func applications() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
}

func deployments() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, clusterv1alpha1.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func site(name string) *catalogv1alpha1.Site {
	return &catalogv1alpha1.Site{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: catalogv1alpha1.SiteSpec{
			Cluster: catalogv1alpha1.SiteCluster{ControlPlane: &catalogv1alpha1.ControlPlaneCluster{}},
			Engine: catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineFlux, ObjectRef: &catalogv1alpha1.ObjectReference{
				APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization", Namespace: "flux", Name: "{claimNamespace}-{claimName}-{site}",
			}},
			Repository:        catalogv1alpha1.SiteRepository{Path: "clusters/" + name},
			AllowedNamespaces: []string{"team-a"},
			TargetNamespaces:  catalogv1alpha1.TargetNamespaces{Allowed: []string{"{claimNamespace}", "shared"}},
		},
	}
}

func (w *world) config() *configv1alpha1.ClusterProviderConfig {
	return &configv1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec:       configv1alpha1.ProviderConfigSpec{ControlPlane: "prod", Git: configv1alpha1.GitRemote{URL: w.git.URL(repo), Branch: "main"}},
	}
}

// push files of the claim's directory, and others, and return the commit.
func (w *world) push(files map[string]string) string {
	w.Helper()
	id, err := w.git.Commit(w.Context(), repo, "main", files, "A commit")
	w.must(err)
	return id
}

// deliver the file of the claim, as a GitDelivery does, and make its tree the desired tree.
func (w *world) deliver(says string) string {
	w.Helper()
	id := w.push(map[string]string{webAtE1 + "/a.yaml": says, "bare/a.yaml": says, webAtE1 + "/.intentplane": "ours"})
	out, err := w.git.Git(w.Context(), repo, "rev-parse", id+":bare")
	w.must(err)
	w.tree = strings.TrimSpace(out)
	return id
}

// askFor lets the SiteSync ask for the tree that was delivered last.
func (w *world) askFor(revision int64) {
	w.Helper()
	s := &v1alpha1.SiteSync{}
	err := w.kube.Get(w.Context(), key(), s)
	s.Spec.ForProvider = v1alpha1.SiteSyncParameters{
		ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"},
		Position: positionOf(revision, 0), SyncWaitTimeout: "5m",
		Sites: []v1alpha1.SiteTree{
			{
				Name: "edge1", Path: webAtE1, Tree: w.tree, RepositoryRef: v1alpha1.RepositoryReference{Kind: "ClusterProviderConfig", Name: "default"},
			},
		},
	}
	s.Generation++
	if err == nil {
		w.must(w.kube.Update(w.Context(), s))
		return
	}
	s.SetNamespace("team-a")
	s.SetName("web")
	s.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	w.must(w.kube.Create(w.Context(), s))
}

// flux writes the status of Flux: its last applied commit, and whether it is suspended.
func (w *world) flux(commit string, suspended bool) {
	w.Helper()
	g := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": map[string]any{"name": "g", "namespace": "flux"},
		"spec": map[string]any{"url": w.git.URL(repo), "ref": map[string]any{"branch": "main"}},
	}}
	k := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": "team-a-web-edge1", "namespace": "flux", "generation": int64(1)},
		"spec":     map[string]any{"path": webAtE1, "suspend": suspended, "sourceRef": map[string]any{"kind": "GitRepository", "name": "g"}},
		"status": map[string]any{
			"observedGeneration": int64(1), "lastAppliedRevision": "main@sha1:" + commit, "lastAttemptedRevision": "main@sha1:" + commit,
			"conditions": []any{
				map[string]any{
					"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "message": "", "observedGeneration": int64(1),
					"lastTransitionTime": "2026-11-01T12:00:00Z",
				},
			},
		},
	}}
	_, err := w.cluster.Resource(repositories()).Namespace("flux").Get(w.Context(), "g", metav1.GetOptions{})
	if err != nil {
		_, err = w.cluster.Resource(repositories()).Namespace("flux").Create(w.Context(), g, metav1.CreateOptions{})
		w.must(err)
		_, err = w.cluster.Resource(kustomizations()).Namespace("flux").Create(w.Context(), k, metav1.CreateOptions{})
		w.must(err)
		return
	}
	_, err = w.cluster.Resource(kustomizations()).Namespace("flux").Update(w.Context(), k, metav1.UpdateOptions{})
	w.must(err)
}

// reconcile once.
func (w *world) reconcile() {
	w.Helper()
	r := managed.NewReconciler(&rtfake.Manager{Client: w.kube, Scheme: w.kube.Scheme()}, resource.ManagedKind(v1alpha1.GroupVersion.WithKind("SiteSync")),
		managed.WithTypedExternalConnector[*v1alpha1.SiteSync](w.c),
		managed.WithInitializers(),
		setup.WithoutFinalizer(),
		managed.WithPollInterval(time.Hour),
		managed.WithPollIntervalHook(w.c.requeueInterval),
		managed.WithManagementPolicies(),
	)
	var err error
	inner := &setup.Forgetful{Reconciler: r, Kube: w.kube, New: func() client.Object { return &v1alpha1.SiteSync{} }, Forget: w.c.forgetSiteSync}
	w.result, err = w.c.newQuickReconciler(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		w.thorough++
		return inner.Reconcile(ctx, req)
	}), time.Hour).Reconcile(w.Context(), reconcile.Request{NamespacedName: key()})
	w.must(err)
}

func (w *world) get() *v1alpha1.SiteSync {
	w.Helper()
	s := &v1alpha1.SiteSync{}
	w.must(w.kube.Get(w.Context(), key(), s))
	return s
}

// until reconciles each time that the cluster wakes the SiteSync, until it has a state.
func (w *world) until(want string) {
	w.Helper()
	for w.reconcile(); w.says() != want; w.reconcile() {
		select {
		case got := <-w.woken:
			if got != key() {
				w.Fatalf("%s was woken", got)
			}
		case <-time.After(patience.Limit):
			w.Fatalf("want %q, got %q, and no SiteSync is woken", want, w.says())
		}
	}
}

// says is the reason of Ready, and state and reason of the Site.
func (w *world) says() string {
	w.Helper()
	s := w.get()
	out := []string{string(s.GetCondition(xpv2.TypeReady).Reason)}
	for _, site := range s.Status.AtProvider.Sites {
		out = append(out, string(site.State), site.Reason)
	}
	return strings.TrimSuffix(strings.Join(out, " | "), " | ")
}

func (w *world) expect(description, want string) {
	w.Helper()
	if diff := cmp.Diff(want, w.says()); diff != "" {
		w.Fatalf("%s: -want, +got:\n%s\n%v", description, diff, w.get().Status)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
