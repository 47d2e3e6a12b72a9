package gate

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	rtfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/apiserver"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// A world is a Prometheus server with scripted answers, a double of an API server, and the real reconciler and meter between them.
// Time goes on only when a test says so: the meter is turned by hand.
type world struct {
	*testing.T

	kube client.Client
	// cluster is the cluster of the Site: an API server without nodes, so a test decides the outcome of a Job.
	cluster *apiserver.Server
	// dialled are the kubeconfigs that led there, and who wrote them.
	dialled []string
	c       *connector
	woken   chan types.NamespacedName
	// measured says that a query was asked since it was read last.
	measured chan struct{}

	// hold keeps back the answers to questions about latency until it is closed. Nil keeps back none.
	hold chan struct{}

	mu     sync.Mutex
	down   bool
	says   string
	asked  []*http.Request
	writes int
	// thorough is how often a quick look was not enough.
	thorough int
}

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func check(name, site string) v1alpha1.GateCheck {
	return v1alpha1.GateCheck{Check: deploymentv1alpha1.Check{
		Name: name, Site: site, Type: "Prometheus", Threshold: "<= 0.5", Interval: "5s", InitialDelay: "1s", Timeout: "1m",
		Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: `sum(rate(errors_total[10s]))`},
	}}
}

func gateKey() types.NamespacedName {
	return types.NamespacedName{Namespace: "team-a", Name: "web-2-0"}
}

func keyOfSite() types.NamespacedName { return types.NamespacedName{Name: "edge1"} }

func position() *ledger.Position { return &ledger.Position{Epoch: 1, Revision: 2} }

func claim() v1alpha1.ClaimReference {
	return v1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
}

func newWorld(t *testing.T, checks ...v1alpha1.GateCheck) *world {
	t.Helper()
	w := &world{T: t, woken: make(chan types.NamespacedName, 1000), measured: make(chan struct{}, 1), says: "0"}
	s := httptest.NewServer(http.HandlerFunc(w.answer))
	t.Cleanup(s.Close)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme, v1alpha1.AddToScheme,
	} {
		w.must(add(scheme))
	}
	b := cacheclient.Indexer{ClientBuilder: kubefake.NewClientBuilder().WithScheme(scheme).WithObjectTracker(apiserver.NewTracker(scheme)).
		WithStatusSubresource(&v1alpha1.Gate{}, &deliveryv1alpha1.SiteSync{}).
		WithObjects(site(s.URL), settings(s.URL), secret(), sync1(), gateOf(checks)).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceUpdate: w.write})}
	w.must(errors.Join(usage.Index(t.Context(), b), listing.AddIndexes(t.Context(), b, wakerIndexes()...)))
	w.kube = b.Build()
	m := meter.New(time.Now, func(o types.NamespacedName) { w.woken <- o }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { _ = m.Start(ctx) }()
	w.cluster = apiserver.New(map[string]schema.GroupVersionResource{
		"Job": jobResource(), "Pod": podResource(), "Deployment": appsResource("deployments"), "ReplicaSet": appsResource("replicasets"),
	})
	w.cluster.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if o := a.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured); o.GetUID() == "" {
			o.SetUID(types.UID(o.GetName() + "-uid")) // The double gives no UIDs.
		}
		return false, nil, nil
	})
	pool := clusters.NewPool(w.dial, account.New(account.Bounds{}), func(o types.NamespacedName) { w.woken <- o })
	t.Cleanup(func() { pool.Forget(gateKey()) })
	servers, err := fetch.New(fetch.Options{Loopback: true}, fetch.NewMeasurementAccount())
	w.must(err)
	clientFor := func(namespace string) prometheus.Doer { return servers.ForNamespace(namespace) }
	w.c = &connector{kube: w.kube, live: w.kube, pool: pool, meter: m, clientFor: clientFor, memory: newNoteMemory(), now: time.Now}
	return w
}

// dial the cluster of the Site.
func (w *world) dial(kubeconfig []byte, o clusters.Origin) (dynamic.Interface, func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dialled = append(w.dialled, string(o)+" "+string(kubeconfig))
	return w.cluster, func() {}, nil
}

// write counts the writes of a status that change it: others do nothing in a real API server.
func (w *world) write(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if g, ok := o.(*v1alpha1.Gate); ok {
		stored := &v1alpha1.Gate{}
		w.must(c.Get(ctx, client.ObjectKeyFromObject(g), stored))
		if cmp.Diff(stored.Status.AtProvider, g.Status.AtProvider) != "" {
			w.mu.Lock()
			w.writes++
			w.mu.Unlock()
		}
	}
	return c.SubResource(sub).Update(ctx, o, opts...)
}

func (w *world) answer(rw http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	if w.hold != nil && strings.Contains(r.Form.Get("query"), "latency") {
		select {
		case <-w.hold:
		case <-r.Context().Done():
			return
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r)
	select {
	case w.measured <- struct{}{}:
	default:
	}
	if w.down {
		rw.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	now := float64(time.Now().UnixMilli()) / 1000
	_, _ = fmt.Fprintf(rw, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[%f,%q]}]}}`, now, w.says)
}

// stop the Prometheus server, or start it again.
func (w *world) stop(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

func (w *world) say(value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.says = value
}

func site(prometheus string) *catalogv1alpha1.Site {
	return &catalogv1alpha1.Site{
		ObjectMeta: metav1.ObjectMeta{Name: "edge1"},
		Spec: catalogv1alpha1.SiteSpec{
			Cluster:           catalogv1alpha1.SiteCluster{ControlPlane: &catalogv1alpha1.ControlPlaneCluster{}},
			PostCheck:         &catalogv1alpha1.SitePostCheck{Namespace: "checks", ServiceAccountName: "checker", AllowedImages: []string{"busybox:1"}},
			Engine:            catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineFlux},
			AllowedNamespaces: []string{"team-a"},
			TargetNamespaces:  catalogv1alpha1.TargetNamespaces{Allowed: []string{"{claimNamespace}"}},
			Metrics: &catalogv1alpha1.SiteMetrics{Prometheus: &catalogv1alpha1.PrometheusEndpoint{
				Address: prometheus, SecretRef: &catalogv1alpha1.NamespacedSecretReference{Namespace: "metrics", Name: "token"},
			}},
		},
	}
}

func settings(prometheus string) *configv1alpha1.ClusterProviderConfig {
	return &configv1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: configv1alpha1.ProviderConfigSpec{
			Policy:  configv1alpha1.Policy{WebCheckHosts: []string{strings.TrimPrefix(prometheus, "http://")}},
			Metrics: &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{Address: prometheus}},
		},
	}
}

func secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "metrics", Name: "token"}, Data: map[string][]byte{"token": []byte("hunter2")}}
}

// sync1 says that the position has been live at the Site for a minute.
func sync1() *deliveryv1alpha1.SiteSync {
	s := &deliveryv1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web", Generation: 1}}
	s.Spec.ForProvider = deliveryv1alpha1.SiteSyncParameters{ClaimRef: claim(), Position: position()}
	s.Status.AtProvider = deliveryv1alpha1.SiteSyncObservation{Position: position(), Sites: []deliveryv1alpha1.SiteObservation{
		{Name: "edge1", State: deliveryv1alpha1.SiteLive, LiveSince: instant.Timestamp(time.Now().Add(-time.Minute))},
	}}
	s.SetConditions(xpv2.ReconcileSuccess(), xpv2.Available().WithObservedGeneration(1))
	return s
}

func gateOf(checks []v1alpha1.GateCheck) *v1alpha1.Gate {
	g := &v1alpha1.Gate{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-2-0", UID: "u", Generation: 1}}
	g.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	g.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	g.Spec.ForProvider = v1alpha1.GateParameters{ClaimRef: claim(), Position: position(), SiteSyncRef: &v1alpha1.SiteSyncReference{Name: "web"}, Checks: checks}
	g.Spec.ForProvider.MetricsUnavailableTimeout = "1s"
	return g
}

func (w *world) reconcile() {
	w.Helper()
	r := managed.NewReconciler(&rtfake.Manager{Client: w.kube, Scheme: w.kube.Scheme()}, resource.ManagedKind(v1alpha1.GroupVersion.WithKind("Gate")),
		managed.WithTypedExternalConnector[*v1alpha1.Gate](w.c),
		managed.WithInitializers(),
		setup.WithoutFinalizer(),
		managed.WithPollIntervalHook(w.c.requeueInterval),
		managed.WithManagementPolicies(),
	)
	inner := &setup.Forgetful{Reconciler: r, Kube: w.kube, New: func() client.Object { return &v1alpha1.Gate{} }, Forget: w.c.forgetGate}
	_, err := w.c.newQuickReconciler(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		w.thorough++
		return inner.Reconcile(ctx, req)
	}), time.Hour).Reconcile(w.Context(), reconcile.Request{NamespacedName: gateKey()})
	w.must(err)
}

func (w *world) get() *v1alpha1.Gate {
	w.Helper()
	g := &v1alpha1.Gate{}
	w.must(w.kube.Get(w.Context(), gateKey(), g))
	return g
}

// state is the reason of Ready, the verdict and the phases.
func (w *world) state() string {
	w.Helper()
	g := w.get()
	out := []string{string(g.GetCondition(xpv2.TypeReady).Reason), string(g.Status.AtProvider.Verdict)}
	for _, c := range g.Status.AtProvider.Checks {
		out = append(out, string(c.Phase))
	}
	return strings.Join(out, "/")
}

// until reconciles each time that the meter wakes the Gate, until it has a state.
func (w *world) until(want string) {
	w.Helper()
	w.when(want, func() bool { return w.state() == want })
}

// judged waits for the verdict, whatever it is.
func (w *world) judged() {
	w.Helper()
	w.when("a verdict", func() bool { return w.get().Status.AtProvider.Verdict != "" })
}

// planned returns a channel of the next planned look at the Gate. Without a plan it never fires.
func (w *world) planned() <-chan time.Time {
	due := w.c.memory.nextReconcileTime(w.get())
	if due.IsZero() {
		return nil
	}
	return time.After(time.Until(due))
}

func (w *world) when(want string, condition func() bool) {
	w.Helper()
	for w.reconcile(); !condition(); w.reconcile() {
		select {
		case got := <-w.woken:
			if got != gateKey() {
				w.Fatalf("%s was woken", got)
			}
		case <-w.planned(): // A deferred status is written then.
		case <-time.After(5 * time.Minute):
			w.Fatalf("want %q, got %q, and no Gate is woken", want, w.state())
		}
	}
}

// edit the SiteSync.
func (w *world) edit(change func(*deliveryv1alpha1.SiteSync)) {
	w.Helper()
	s := &deliveryv1alpha1.SiteSync{}
	w.must(w.kube.Get(w.Context(), types.NamespacedName{Namespace: "team-a", Name: "web"}, s))
	change(s)
	status := s.Status
	w.must(w.kube.Update(w.Context(), s))
	s.Status = status
	w.must(w.kube.Status().Update(w.Context(), s))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
