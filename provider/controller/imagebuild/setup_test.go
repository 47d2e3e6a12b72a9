package imagebuild

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	rtfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/refs"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/kpack"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/sources"
	"github.com/intentplane/intentplane/test/apiserver"
	"github.com/intentplane/intentplane/test/cacheclient"
	"github.com/intentplane/intentplane/test/gitserver"
)

const imageRepository = "registry.example.org/apps/team-a/shop"

// A world is a double of an API server, a real Git server, the real reconciler between them, and tests that play kpack.
type world struct {
	*testing.T

	kube   client.Client
	server *gitserver.Server
	clock  time.Time
	c      *connector
	// down is the error of looks at the repository. A nil error lets them succeed.
	down error
	// looks counts them.
	looks int
	// refuses is the error of an apply of an Image. A nil error applies it.
	refuses error
	// writes counts writes of the status.
	writes int
	// full is how often a quick look was not enough.
	full   int
	result reconcile.Result
	woken  int
	events []string
	// buildUID is the UID of the next Build. Empty is its name.
	buildUID string
	counts   []string
}

func key() types.NamespacedName { return types.NamespacedName{Namespace: "team-a", Name: "shop"} }

func newWorld(t *testing.T) *world {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, configv1alpha1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{T: t, clock: time.Date(2031, 12, 17, 12, 0, 0, 0, time.UTC)}
	var err error
	if w.server, err = gitserver.New(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.server.Close)
	w.must(w.server.CreateRepo(t.Context(), "shop", map[string]string{"a": "1"}))
	b := kubefake.NewClientBuilder().WithScheme(s).WithObjectTracker(apiserver.NewTracker(s)).WithStatusSubresource(&v1alpha1.ImageBuild{}).WithObjects(w.newConfig(), w.newBuild()).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceUpdate: w.countWrite, Patch: w.patch})
	w.must(listing.AddIndexes(t.Context(), cacheclient.Indexer{ClientBuilder: b}, imageBuildIndex(), runningIndex()))
	w.kube = b.Build()
	now := func() time.Time { return w.clock }
	w.c = &connector{
		kube: w.kube, cache: w.kube, live: w.kube,
		guard: address.Guard{Loopback: true, Reported: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, memory: newNoteMemory(),
		hooks: newHookNotes(), counter: w, recorder: w, wake: func(types.NamespacedName) { w.woken++ }, now: now,
		sources: sources.NewPool(w.list, func(types.NamespacedName) { w.woken++ }, func(error) {}, now),
	}
	w.c.hasKpack.Store(true)
	return w
}

// countWrite counts the writes that change the object: an API server stores no others, and no watch reports them.
func (w *world) countWrite(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if b, ok := o.(*v1alpha1.ImageBuild); !ok || !equality.Semantic.DeepEqual(w.get().Status, b.Status) {
		w.writes++
	}
	return c.SubResource(sub).Update(ctx, o, opts...)
}

// patch gives an Image its UID and generations, as an API server does.
func (w *world) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if p.Type() != types.ApplyPatchType {
		return c.Patch(ctx, o, p, opts...)
	}
	if w.refuses != nil {
		return w.refuses
	}
	want := o.DeepCopyObject().(*unstructured.Unstructured)
	stored := kpack.NewObject(kpack.ImageKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), stored); err != nil {
		want.SetUID(types.UID(fmt.Sprintf("image-%d", w.clock.Unix())))
		want.SetGeneration(1)
		return c.Create(ctx, want)
	}
	stored.SetLabels(want.GetLabels())
	stored.SetAnnotations(want.GetAnnotations())
	if !cmp.Equal(stored.Object["spec"], want.Object["spec"]) {
		stored.SetGeneration(stored.GetGeneration() + 1)
	}
	stored.Object["spec"] = want.Object["spec"]
	return c.Update(ctx, stored)
}

func (w *world) list(ctx context.Context, namespace string, s transport.Server, revisions []string) (refs.Set, error) {
	w.looks++
	if w.down != nil {
		return refs.Set{}, w.down
	}
	return refs.List(ctx, budget.New().ForNamespace(namespace), s, revisions)
}

// Event records an event.
func (w *world) Event(_ runtime.Object, e event.Event) { w.events = append(w.events, string(e.Reason)) }

// WithAnnotations returns the same recorder.
func (w *world) WithAnnotations(...string) event.Recorder { return w }

// Built counts a Build that ended.
func (w *world) Built(result, reason string, _ time.Duration) {
	w.counts = append(w.counts, strings.TrimSuffix(result+"/"+reason, "/"))
}

func (w *world) newConfig() *configv1alpha1.ClusterProviderConfig {
	return &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: configv1alpha1.ProviderConfigSpec{
		Build: &configv1alpha1.Build{Registry: "registry.example.org/apps", Builder: &v1alpha1.BuilderReference{Name: "default"}},
	}}
}

func (w *world) newBuild() *v1alpha1.ImageBuild {
	b := &v1alpha1.ImageBuild{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop", UID: "ours", Generation: 1}}
	b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	b.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	b.Spec.ForProvider = v1alpha1.ImageBuildParameters{
		ClaimRef: rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "Application", Namespace: "team-a", Name: "shop"},
		Source:   v1alpha1.Source{Git: &v1alpha1.GitSource{URL: w.server.URL("shop"), Revision: gitserver.Branch}},
	}
	return b
}

// edit the ImageBuild, as another generation.
func (w *world) edit(fn func(*v1alpha1.ImageBuild)) {
	w.Helper()
	b := w.get()
	fn(b)
	b.Generation++
	w.must(w.kube.Update(w.Context(), b))
}

func (w *world) editConfig(fn func(*configv1alpha1.ProviderConfigSpec)) {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), types.NamespacedName{Name: "default"}, c))
	fn(&c.Spec)
	w.must(w.kube.Update(w.Context(), c))
}

func (w *world) push() string {
	w.Helper()
	id, err := w.server.Commit(w.Context(), "shop", gitserver.Branch, map[string]string{"a": fmt.Sprint(w.clock, w.looks)}, "More")
	w.must(err)
	w.wait(5 * time.Minute)
	return id
}

// TestIsNotedFailure has a Build with the same name as the Build in the status.
func TestIsNotedFailure(t *testing.T) {
	b := kpack.NewObject(kpack.BuildKind())
	b.SetName("shop-build-1")
	b.SetUID("new")
	cases := map[string]struct {
		reason string
		last   *v1alpha1.FailedBuild
		want   bool
	}{
		"Same":  {reason: "The Build that the status describes is noted.", last: &v1alpha1.FailedBuild{Build: "shop-build-1", UID: "new"}, want: true},
		"UID":   {reason: "An earlier Build of that name is another Build.", last: &v1alpha1.FailedBuild{Build: "shop-build-1", UID: "old"}},
		"Name":  {reason: "A Build of another name is another Build.", last: &v1alpha1.FailedBuild{Build: "shop-build-2", UID: "new"}},
		"First": {reason: "Without a failure none is noted."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := facts{build: b, last: v1alpha1.ImageBuildObservation{Failed: tc.last}}
			if got := f.isNotedFailure(); got != tc.want {
				t.Errorf("\n%s\nisNotedFailure(): %t", tc.reason, got)
			}
		})
	}
}

func (w *world) uidOf(build string) string {
	if w.buildUID != "" {
		return w.buildUID
	}
	return build
}

func (w *world) wait(d time.Duration) { w.clock = w.clock.Add(d) }

// image returns the Image of kpack, or nil.
func (w *world) image() *unstructured.Unstructured {
	w.Helper()
	u, err := readKpackObject(w.Context(), w.kube, kpack.ImageKind(), key())
	w.must(err)
	return u
}

// plays has kpack report a reason of its Image, at its present generation, and a Build of the spec of the Image.
func (w *world) plays(number int, ready, reason, succeeded string, change ...func(*unstructured.Unstructured)) {
	w.Helper()
	i := w.image()
	name := fmt.Sprintf("shop-build-%d", number)
	i.Object["status"] = map[string]any{
		"observedGeneration": i.GetGeneration(), "latestBuildRef": name,
		"conditions": []any{map[string]any{"type": "Ready", "status": ready, "reason": reason, "message": "why"}},
	}
	w.must(w.kube.Update(w.Context(), i))
	if succeeded == "" {
		return
	}
	b := kpack.NewObject(kpack.BuildKind())
	b.SetNamespace("team-a")
	b.SetName(name)
	if w.kube.Get(w.Context(), client.ObjectKeyFromObject(b), b) != nil {
		b.SetUID(types.UID(w.uidOf(name)))
		b.SetLabels(i.GetLabels())
		b.SetAnnotations(i.GetAnnotations())
		b.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "kpack.io/v1alpha2", Kind: "Image", Name: i.GetName(), UID: i.GetUID(), Controller: new(true)}})
		b.SetCreationTimestamp(metav1.NewTime(w.clock))
		source, _, _ := unstructured.NestedMap(i.Object, "spec", "source")
		account, _, _ := unstructured.NestedString(i.Object, "spec", "serviceAccountName")
		b.Object["spec"] = map[string]any{"source": source, "serviceAccountName": account}
		builder, _, _ := unstructured.NestedString(i.Object, "spec", "builder", "name")
		annotateBuilder(b, builder)
		w.must(w.kube.Create(w.Context(), b))
	}
	status := map[string]any{"podName": name + "-build-pod", "conditions": []any{map[string]any{"type": "Succeeded", "status": succeeded, "lastTransitionTime": w.clock.Format(time.RFC3339)}}}
	if succeeded == "True" {
		status["latestImage"] = imageRepository + "@sha256:" + strings.Repeat(fmt.Sprint(number%10), 64)
	}
	b.Object["status"] = status
	for _, fn := range change {
		fn(b)
	}
	w.must(w.kube.Update(w.Context(), b))
}

// annotateBuilder notes on a Build with which builder kpack makes it.
func annotateBuilder(b *unstructured.Unstructured, name string) {
	all := maps.Clone(b.GetAnnotations())
	all["image.kpack.io/builderName"] = name
	b.SetAnnotations(all)
}

// runningStep has a Build that is at a step.
func runningStep(completed ...any) func(*unstructured.Unstructured) {
	return func(b *unstructured.Unstructured) {
		states := []any{}
		for range completed {
			states = append(states, map[string]any{"terminated": map[string]any{"exitCode": int64(0)}})
		}
		states = append(states, map[string]any{"running": map[string]any{}})
		_ = unstructured.SetNestedSlice(b.Object, completed, "status", "stepsCompleted")
		_ = unstructured.SetNestedSlice(b.Object, states, "status", "stepStates")
	}
}

// failedStep has a Build whose step failed.
func failedStep(completed ...any) func(*unstructured.Unstructured) {
	return func(b *unstructured.Unstructured) {
		runningStep(completed...)(b)
		states, _, _ := unstructured.NestedSlice(b.Object, "status", "stepStates")
		states[len(states)-1] = map[string]any{"terminated": map[string]any{"exitCode": int64(1)}}
		_ = unstructured.SetNestedSlice(b.Object, states, "status", "stepStates")
	}
}

func (w *world) succeeds(number int) { w.Helper(); w.plays(number, "True", "UpToDate", "True") }
func (w *world) begins(number int) {
	w.Helper()
	w.plays(number, "Unknown", "BuildRunning", "Unknown", runningStep("prepare"))
}

func (w *world) fails(number int, completed ...any) {
	w.Helper()
	w.plays(number, "False", "BuildFailed", "False", failedStep(completed...))
}

// reconcile until nothing more follows at once.
func (w *world) reconcile() {
	w.Helper()
	for range 4 {
		previousVersion := w.get().GetResourceVersion()
		image := w.image().DeepCopy()
		w.reconcileOnce()
		if w.get().GetResourceVersion() == previousVersion && cmp.Equal(image, w.image()) {
			return
		}
	}
}

// reconcileShown reconciles until the status has the desired value, which waits a moment for kpack to begin.
func (w *world) reconcileShown() {
	w.Helper()
	w.reconcile()
	if w.c.memory.NoteOf(w.get()).heldWanted != nil {
		w.wait(beginDelay)
		w.reconcile()
	}
}

func (w *world) reconcileOnce() {
	w.Helper()
	r := managed.NewReconciler(&rtfake.Manager{Client: w.kube, Scheme: w.kube.Scheme()}, resource.ManagedKind(Kind()),
		managed.WithTypedExternalConnector[*v1alpha1.ImageBuild](w.c), managed.WithInitializers(), setup.WithoutFinalizer(),
		managed.WithPollInterval(time.Hour), managed.WithPollIntervalHook(w.c.requeueInterval), managed.WithManagementPolicies(),
	)
	inner := &setup.Forgetful{Reconciler: r, Kube: w.kube, New: func() client.Object { return &v1alpha1.ImageBuild{} }, Forget: w.c.forgetBuild}
	var err error
	w.result, err = w.c.newQuickReconciler(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		w.full++
		return inner.Reconcile(ctx, req)
	}), time.Hour).Reconcile(w.Context(), reconcile.Request{NamespacedName: key()})
	w.must(err)
}

func (w *world) get() *v1alpha1.ImageBuild {
	w.Helper()
	b := &v1alpha1.ImageBuild{}
	w.must(w.kube.Get(w.Context(), key(), b))
	return b
}

func (w *world) expect(reason, want string) {
	w.Helper()
	w.reconcileShown()
	c := w.get().GetCondition(xpv2.TypeReady)
	if diff := cmp.Diff(want, string(c.Reason)); diff != "" {
		w.Fatalf("%s: reason of Ready: -want, +got:\n%s\n%s", reason, diff, c.Message)
	}
	if isTrue := want == "Built" || want == "RebuildLoop"; (c.Status == corev1.ConditionTrue) != isTrue {
		w.Fatalf("%s: Ready is %s", reason, c.Status)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// TestLongLookNow has an annotation that is longer than the status may say.
func TestLongLookNow(t *testing.T) {
	b := &v1alpha1.ImageBuild{}
	b.SetAnnotations(map[string]string{v1alpha1.AnnotationLookNow: "a" + strings.Repeat("\u00e4", 300)})
	if got := requestedLook(b); got != "a"+strings.Repeat("\u00e4", 255) {
		t.Errorf("The annotation is cut at 256 characters, and no character is split: %q", got)
	}
}

func ptrTo(name string) *deploymentv1alpha1.ObjectReference {
	return &deploymentv1alpha1.ObjectReference{Name: deploymentv1alpha1.ObjectName(name)}
}
