package gitdelivery

import (
	"context"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	rtfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/controller/composite"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery/fastpath"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/telemetry"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/provider/witness"
	"github.com/intentplane/intentplane/test/apiserver"
	"github.com/intentplane/intentplane/test/cacheclient"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	repo     = "fleet"
	stateRef = "refs/intentplane/prod/state"
	webAtE1  = "clusters/edge1/team-a/web"
	webAtE2  = "clusters/edge2/team-a/web"
)

// inTime is how long something may take that does not depend on the clock of the world.
const inTime = 5 * time.Minute

// A world is a Git server, a double of an API server, and the real reconciler between them.
type world struct {
	*testing.T

	git  *gitserver.Server
	kube client.Client
	// later is how much later than noon it is. Who was left behind reads it while it moves.
	later atomic.Int64
	pool  *repository.Pool
	calm  *fastpath.Reconciler
	named *overlap.Names
	// told are the Kubernetes events, by the name of their object.
	told map[string][]string
	// dead is true when the provider has crashed: nothing that it writes arrives any more.
	dead bool
	// live reads past the cache. Nil means kube.
	live client.Reader
	// refusesMandates is true for a provider that does not act by mandates.
	refusesMandates bool
	// guarded is true where configurations of namespaces lead to no loopback address.
	guarded bool
	// begun is called when an attempt was recorded, before its push.
	begun func()
	// events are the recorded Kubernetes events.
	events  events
	log     logging.Logger
	metrics *telemetry.Metrics
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), repo, map[string]string{"README.md": "hello\n", "clusters/edge1/other/file": "theirs\n"}); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, git: s, begun: func() {}, told: map[string][]string{}, log: logging.NewNopLogger()}
	w.metrics, err = telemetry.New(prometheus.NewRegistry())
	w.must(err)
	w.restart()
	known := scheme(t)
	b := cacheclient.Indexer{ClientBuilder: kubefake.NewClientBuilder().WithScheme(known).WithObjectTracker(apiserver.NewTracker(known)).WithStatusSubresource(&v1alpha1.GitDelivery{}).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "cluster-1"}},
		site("edge1"), site("edge2"), site("edge3"),
		w.config(),
	).WithInterceptorFuncs(interceptor.Funcs{SubResourceUpdate: w.update})}
	if err := usage.Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{&rolloutv1alpha1.Gate{}, &v1alpha1.SiteSync{}, &rolloutv1alpha1.RolloutRequest{}} {
		w.must(witness.Index(t.Context(), b, o))
	}
	w.kube = b.Build()
	return w
}

func (w *world) now() time.Time {
	return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(w.later.Load()))
}

// pass some time.
func (w *world) pass(d time.Duration) { w.later.Add(int64(d)) }

// restart the provider, which remembers nothing.
func (w *world) restart() {
	w.named = overlap.NewNames()
	w.calm = fastpath.New(time.Hour, w.now, func() float64 { return 0.5 })
	w.pool = repository.NewPool(repository.Options{
		Now:           w.now,
		Pause:         func() time.Duration { return 0 },
		Wake:          func(types.NamespacedName) {},
		Patience:      inTime,
		QuickPatience: inTime,
	})
}

func (w *world) update(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if w.dead {
		return errors.New("the provider is dead")
	}
	if err := c.SubResource(sub).Update(ctx, o, opts...); err != nil {
		return err
	}
	if d, ok := o.(*v1alpha1.GitDelivery); ok && d.Status.AtProvider.Attempt != nil && d.Status.AtProvider.Attempt.EndedAt == nil {
		w.begun()
	}
	if w.dead {
		return errors.New("the provider died")
	}
	return nil
}

// Event records a Kubernetes event.
func (w *world) Event(o runtime.Object, e event.Event) {
	w.events = append(w.events, e)
	if m, ok := o.(metav1.Object); ok {
		w.told[m.GetName()] = append(w.told[m.GetName()], string(e.Reason)+": "+e.Message)
	}
}

// WithAnnotations takes none.
func (w *world) WithAnnotations(...string) event.Recorder { return w }

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, v1alpha1.AddToScheme, rolloutv1alpha1.AddToScheme,
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
			Repository:        catalogv1alpha1.SiteRepository{Path: "clusters/" + name, Layout: catalogv1alpha1.LayoutKustomization},
			AllowedNamespaces: []string{"team-a"},
			TargetNamespaces:  catalogv1alpha1.TargetNamespaces{Allowed: []string{"{claimNamespace}"}},
		},
	}
}

func (w *world) config() *configv1alpha1.ClusterProviderConfig {
	return &configv1alpha1.ClusterProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: configv1alpha1.ProviderConfigSpec{
			ControlPlane: "prod",
			Git: configv1alpha1.GitRemote{
				URL:    w.git.URL(repo),
				Branch: "main",
				Author: configv1alpha1.Author{Name: "Intentplane", Email: "intentplane@localhost"},
			},
		},
	}
}

// files returns the files of a claim's directory, with a text that distinguishes them.
func files(says string) tree.Files {
	return tree.Files{
		"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [configmap.yaml]\n"),
		"configmap.yaml":     []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: team-a}\ndata: {says: " + says + "}\n"),
	}
}

func desired(t *testing.T, site, path, says string) v1alpha1.Tree {
	t.Helper()
	f := files(says)
	b, err := tree.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	return v1alpha1.Tree{
		Site: site, Branch: "main", Path: path, Layout: catalogv1alpha1.LayoutKustomization,
		Action: v1alpha1.ActionDesired, Tree: tree.ID(f), Encoding: v1alpha1.EncodingGzipTar, Files: b,
	}
}

// order returns the wish for a revision of one step.
func order(revision int64, request string) wish {
	return wish{Revision: revision, Request: request, Intent: "intent-" + request, Steps: 1}
}

func delivery(name string, target wish, trees ...v1alpha1.Tree) *v1alpha1.GitDelivery {
	d := &v1alpha1.GitDelivery{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "GitDelivery"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, Generation: 1},
	}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	d.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{
		ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"},
		Trees:    trees,
	}
	setWish(d, target)
	return d
}

// first returns the delivery of most stories: revision 1 at one site.
func (w *world) first() *v1alpha1.GitDelivery {
	w.Helper()
	return delivery("web", order(1, "a"), desired(w.T, "edge1", webAtE1, "a"))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) create(d *v1alpha1.GitDelivery) {
	w.Helper()
	w.composeWish(d)
	w.must(w.kube.Create(w.Context(), d))
}

// change the spec of the delivery, as the function does.
func (w *world) change(fn func(d *v1alpha1.GitDelivery)) {
	w.Helper()
	d := w.get("web")
	fn(d)
	w.composeWish(d)
	d.Generation++
	w.must(w.kube.Update(w.Context(), d))
}

func (w *world) get(name string) *v1alpha1.GitDelivery {
	w.Helper()
	d := &v1alpha1.GitDelivery{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Namespace: "team-a", Name: name}, d))
	return d
}

func (w *world) gone(name string) bool {
	w.Helper()
	err := w.kube.Get(w.Context(), client.ObjectKey{Namespace: "team-a", Name: name}, &v1alpha1.GitDelivery{})
	return kerrors.IsNotFound(err)
}

// lose deletes an object without Delete of the controller, like a user who removed its finalizers.
func (w *world) lose(name string) {
	w.Helper()
	d := w.get(name)
	d.SetFinalizers(nil)
	w.must(w.kube.Update(w.Context(), d))
	w.must(w.kube.Delete(w.Context(), d))
}

// reconcile a delivery once, a minute after the last time.
func (w *world) reconcile(name string) {
	w.Helper()
	w.must(w.try(name))
	if w.gone(name) || w.get(name).GetDeletionTimestamp() != nil {
		return
	}
	d := w.get(name)
	if published := ledgerStateOf(d.Status.AtProvider.Ledger); wishOf(d).Revision >= published.LastNumber && d.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonOrderBehind {
		w.composeWish(d)
		d.Generation++
		w.must(w.kube.Update(w.Context(), d))
		w.must(w.try(name))
	}
}

func (w *world) try(name string) error {
	w.pass(time.Minute)
	_, err := w.reconciler().Reconcile(w.Context(), request(name))
	return err
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: name}}
}

func (w *world) reconciler() reconcile.Reconciler {
	c := &connector{
		metrics:   w.metrics,
		witnesses: witness.NewReader(w.kube),
		named:     w.named,
		fastPath:  w.calm,
		kube:      w.kube,
		live:      w.reader(),
		pool:      w.pool,
		guard:     address.Guard{Loopback: !w.guarded},
		interval:  30 * time.Second,
		now:       w.now,
		recorder:  w,
		logger:    w.log,
	}
	c.witnesses.Enable(&rolloutv1alpha1.Gate{})
	c.witnesses.Enable(&rolloutv1alpha1.RolloutRequest{})
	c.honoursMandates = !w.refusesMandates
	return managed.NewReconciler(&rtfake.Manager{Client: w.kube, Scheme: w.kube.Scheme()}, resource.ManagedKind(v1alpha1.GroupVersion.WithKind("GitDelivery")),
		managed.WithTypedExternalConnector[*v1alpha1.GitDelivery](
			&composite.Connector[*v1alpha1.GitDelivery]{
				TypedExternalConnector: c, Kind: v1alpha1.GroupVersion.WithKind("GitDelivery").GroupKind(), Live: w.kube, Recorder: w,
			},
		),
		managed.WithInitializers(),
		managed.WithFinalizer(finalizer{resource.NewAPIFinalizer(w.kube, managed.FinalizerName)}),
		managed.WithManagementPolicies(),
	)
}

// expect a reason of Ready.
func (w *world) expect(name string, reason xpv2.ConditionReason) {
	w.Helper()
	c := w.get(name).GetCondition(xpv2.TypeReady)
	if c.Reason != reason {
		w.Fatalf("Ready: want reason %s, got %s: %s", reason, c.Reason, c.Message)
	}
	if want := reason == v1alpha1.ReasonDelivered || reason == v1alpha1.ReasonDriftRestored; want != (c.Status == corev1.ConditionTrue) {
		w.Fatalf("Ready: status %s does not go with reason %s", c.Status, reason)
	}
}

func (w *world) synced(name string, want corev1.ConditionStatus) {
	w.Helper()
	if c := w.get(name).GetCondition(xpv2.TypeSynced); c.Status != want {
		w.Fatalf("Synced: want %s, got %s: %s", want, c.Status, c.Message)
	}
}

func (w *world) commits() []gitserver.Commit {
	w.Helper()
	log, err := w.git.Log(w.Context(), repo, "main")
	w.must(err)
	return log
}

// count commits beside the first one.
func (w *world) count(want int) {
	w.Helper()
	if got := len(w.commits()) - 1; got != want {
		w.Fatalf("commits: want %d, got %d", want, got)
	}
}

// holds compares the whole branch, without markers, with the files of other users and the given directories.
func (w *world) holds(dirs map[string]tree.Files, strangers map[string]string) {
	w.Helper()
	want := map[string]string{"README.md": "hello\n", "clusters/edge1/other/file": "theirs\n"}
	maps.Copy(want, strangers)
	for dir, fs := range dirs {
		for name, content := range fs {
			want[dir+"/"+name] = string(content)
		}
	}
	got, err := w.git.Files(w.Context(), repo, "main")
	w.must(err)
	for name := range got {
		if strings.HasSuffix(name, "/"+tree.Marker) {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Fatalf("files of the branch: -want, +got:\n%s", diff)
	}
}

func (w *world) push(files map[string]string) string {
	w.Helper()
	id, err := w.git.Commit(w.Context(), repo, "main", files, "A stranger's commit")
	w.must(err)
	return id
}
