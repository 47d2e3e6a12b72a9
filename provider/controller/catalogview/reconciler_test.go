package catalogview

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/catalogview"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// summaries reads ConfigMaps as the cache of the manager has them.
type summaries struct{ client.Reader }

func (s summaries) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := s.Reader.Get(ctx, key, o, opts...)
	if err == nil {
		_, err = summariseConfigMap(o)
	}
	return err
}

// testEnv has a Reconciler, its API server, and a clock.
type testEnv struct {
	*testing.T

	kube   client.Client
	r      *Reconciler
	now    time.Time
	writes int
	// refusal is the error of the API server for each write of a ConfigMap.
	refusal error
}

// usesSites stands for the kinds whose objects use Sites.
func usesSites() schema.GroupVersionKind {
	return rolloutv1alpha1.GroupVersion.WithKind("RolloutRequest")
}

func newTestEnv(t *testing.T, objects ...client.Object) *testEnv {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, catalogv1alpha1.AddToScheme, rolloutv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	e := &testEnv{T: t, now: time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)}
	count := func() error {
		e.writes++
		return e.refusal
	}
	e.kube = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, ok := o.(*corev1.ConfigMap); ok && count() != nil {
				return e.refusal
			}
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := count(); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
	}).Build()
	e.r = &Reconciler{
		kube: e.kube, published: summaries{e.kube}, live: e.kube, blueprints: newBlueprintViews(e.kube, e.kube), pace: rate.NewLimiter(rate.Inf, 1),
		now: func() time.Time { return e.now }, log: logging.NewNopLogger(), kinds: []schema.GroupVersionKind{usesSites()}, written: map[string]time.Time{},
	}
	return e
}

// reconcile a namespace, and return how long it waits for the next time.
func (e *testEnv) reconcile(namespace string) time.Duration {
	e.Helper()
	result, err := e.r.Reconcile(e.Context(), namespaceRequest(namespace))
	if err != nil {
		e.Fatal(err)
	}
	return result.RequeueAfter
}

// change reads an object, and writes it as it is after a change.
func (e *testEnv) change(o client.Object, change func()) {
	e.Helper()
	if err := e.kube.Get(e.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		e.Fatal(err)
	}
	change()
	if err := e.kube.Update(e.Context(), o); err != nil {
		e.Fatal(err)
	}
}

// read returns the ConfigMap of a namespace, or an empty one where none exists.
func (e *testEnv) read(namespace string) *corev1.ConfigMap {
	e.Helper()
	cm := &corev1.ConfigMap{}
	if err := e.kube.Get(e.Context(), client.ObjectKey{Namespace: namespace, Name: catalogview.ConfigMapName}, cm); client.IgnoreNotFound(err) != nil {
		e.Fatal(err)
	}
	return cm
}

// sitesOf returns the names of the Sites that are published in a namespace, or nil if nothing is.
func (e *testEnv) sitesOf(namespace string) []string {
	e.Helper()
	text, ok := e.read(namespace).Data[catalogview.KeySites]
	if !ok {
		return nil
	}
	l, err := catalogview.Decode[catalogview.Site](text)
	if err != nil {
		e.Fatal(err)
	}
	out := []string{}
	for _, s := range l.Items {
		out = append(out, s.Name)
	}
	return out
}

func newSite(name string, allowed ...string) *catalogv1alpha1.Site {
	return &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: catalogv1alpha1.SiteSpec{AllowedNamespaces: allowed}}
}

func newBlueprint(name string) *catalogv1alpha1.Blueprint {
	return &catalogv1alpha1.Blueprint{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: 1}, Spec: catalogv1alpha1.BlueprintSpec{BlueprintName: name, Version: "1.0.0"},
	}
}

func newDeployment(namespace string) *rolloutv1alpha1.RolloutRequest {
	return &rolloutv1alpha1.RolloutRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}}
}

func newConfigMap(namespace string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: catalogview.ConfigMapName}, Data: data}
}

// TestSitesOfANamespace publishes to team-a the Sites that it may use, and nothing else.
func TestSitesOfANamespace(t *testing.T) {
	cases := map[string]struct {
		reason  string
		objects []client.Object
		want    []string
	}{
		"Named": {
			reason:  "A namespace that a Site names sees that Site, and the Sites of all namespaces.",
			objects: []client.Object{newSite("edge1", "team-a"), newSite("edge2", "*"), newSite("theirs", "team-b")}, want: []string{"edge1", "edge2"},
		},
		"Uses": {
			reason:  "A namespace with a deployment is shown the Sites of all namespaces.",
			objects: []client.Object{newSite("edge2", "*"), newSite("theirs", "team-b"), newDeployment("team-a")}, want: []string{"edge2"},
		},
		"Asks": {
			reason:  "A namespace in which a user made the ConfigMap is shown its Sites.",
			objects: []client.Object{newSite("edge2", "*"), newConfigMap("team-a", nil)}, want: []string{"edge2"},
		},
		"Unrelated": {
			reason:  "A namespace that uses nothing of Intentplane has no ConfigMap.",
			objects: []client.Object{newSite("edge2", "*"), newDeployment("team-b")},
		},
		"None": {
			reason:  "A namespace that may use no Site reads that.",
			objects: []client.Object{newSite("theirs", "team-b"), newDeployment("team-a")}, want: []string{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := newTestEnv(t, tc.objects...)
			e.reconcile("team-a")
			if diff := cmp.Diff(tc.want, e.sitesOf("team-a")); diff != "" {
				t.Errorf("\n%s\nSites: -want, +got:\n%s", tc.reason, diff)
			}
			for _, text := range e.read("team-a").Data {
				if strings.Contains(text, "theirs") || strings.Contains(text, "team-b") {
					t.Errorf("\n%s\nA namespace reads of the Site of another namespace: %s", tc.reason, text)
				}
			}
		})
	}
}

// TestWritesOnChangeAlone reconciles again and again: only a change is written, and at most once in an interval.
func TestWritesOnChangeAlone(t *testing.T) {
	site := newSite("edge1", "team-a")
	e := newTestEnv(t, site, newBlueprint("web"))
	for range 3 {
		if wait := e.reconcile("team-a"); wait != 0 || e.writes != 1 {
			t.Fatalf("A catalog that does not change is written once: %d writes, and a wait of %s", e.writes, wait)
		}
	}
	e.change(site, func() { site.Spec.AllowedNamespaces = []string{"team-b"} })
	e.now = e.now.Add(10 * time.Second)
	if wait := e.reconcile("team-a"); wait != 20*time.Second || e.writes != 1 {
		t.Errorf("A change within the interval waits for its end: %d writes, and a wait of %s", e.writes, wait)
	}
	e.now = e.now.Add(20 * time.Second)
	e.reconcile("team-a")
	if diff := cmp.Diff([]string{}, e.sitesOf("team-a")); diff != "" || e.writes != 2 {
		t.Errorf("A Site that the namespace may not use any more is not shown: %d writes, Sites: -want, +got:\n%s", e.writes, diff)
	}
}

// TestBlueprintsArePublished adds a Blueprint, gives it a channel, and deletes it.
func TestBlueprintsArePublished(t *testing.T) {
	web, api := newBlueprint("web"), newBlueprint("api")
	e := newTestEnv(t, newSite("edge1", "team-a"), web)
	channels := func() map[string]string {
		e.now = e.now.Add(writeInterval)
		e.reconcile("team-a")
		l, err := catalogview.Decode[catalogview.Blueprint](e.read("team-a").Data[catalogview.KeyBlueprints])
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, b := range l.Items {
			out[b.Object] = b.Channel
		}
		return out
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		reason string
		change func()
		want   map[string]string
	}{
		{reason: "A Blueprint that is there is published.", change: func() {}, want: map[string]string{"web": ""}},
		{reason: "A Blueprint that is new is published.", change: func() { must(e.kube.Create(t.Context(), api)) }, want: map[string]string{"web": "", "api": ""}},
		{reason: "A new channel of a Blueprint is published.", change: func() {
			e.change(web, func() { web.Labels = map[string]string{catalogv1alpha1.LabelChannel: "stable"} })
		}, want: map[string]string{"web": "stable", "api": ""}},
		{
			reason: "A Blueprint that was deleted is not published any more.",
			change: func() { must(e.kube.Delete(t.Context(), api)) }, want: map[string]string{"web": "stable"},
		},
	}
	for _, s := range steps {
		s.change()
		if diff := cmp.Diff(s.want, channels()); diff != "" {
			t.Errorf("\n%s\nchannels: -want, +got:\n%s", s.reason, diff)
		}
	}
}

// TestDocumentsAreRestored lets a user change the ConfigMap: the documents are written again, and the user's own key stays.
func TestDocumentsAreRestored(t *testing.T) {
	e := newTestEnv(t, newSite("edge1", "team-a"), newConfigMap("team-a", map[string]string{catalogview.KeySites: `{"items":[{"name":"forged"}]}`, "notes": "ours"}))
	e.reconcile("team-a")
	if diff := cmp.Diff([]string{"edge1"}, e.sitesOf("team-a")); diff != "" || e.read("team-a").Data["notes"] != "ours" {
		t.Errorf("notes: %q, Sites: -want, +got:\n%s", e.read("team-a").Data["notes"], diff)
	}
}

// TestRefusedWrite lets the API server refuse the ConfigMap.
func TestRefusedWrite(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	terminating := kerrors.NewForbidden(maps, catalogview.ConfigMapName, nil)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	cases := map[string]struct {
		reason  string
		refusal error
		want    time.Duration
		isError bool
	}{
		"NoNamespace": {
			reason:  "A namespace that a Site names and that does not exist is tried again later.",
			refusal: kerrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "team-a"), want: refusedInterval,
		},
		"Quota": {
			reason:  "A namespace without room for a ConfigMap is tried again later.",
			refusal: kerrors.NewForbidden(maps, catalogview.ConfigMapName, nil), want: refusedInterval,
		},
		"Terminating": {reason: "A namespace that is being deleted is not tried again.", refusal: terminating},
		"Stale": {
			reason:  "A ConfigMap that the cache does not have yet is compared once it has.",
			refusal: kerrors.NewAlreadyExists(maps, catalogview.ConfigMapName), want: settle,
		},
		"Broken": {reason: "Any other error fails the reconcile.", refusal: kerrors.NewInternalError(context.DeadlineExceeded), isError: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := newTestEnv(t, newSite("edge1", "team-a"))
			e.refusal = tc.refusal
			result, err := e.r.Reconcile(t.Context(), namespaceRequest("team-a"))
			if result.RequeueAfter != tc.want || (err != nil) != tc.isError {
				t.Errorf("\n%s\nReconcile(...): want %s and error %t, got %s, %v", tc.reason, tc.want, tc.isError, result.RequeueAfter, err)
			}
		})
	}
}
