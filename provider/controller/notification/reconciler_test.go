package notification

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/notification"
	"github.com/intentplane/intentplane/provider/telemetry"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func clock() time.Time { return time.Date(2031, 12, 17, 13, 0, 0, 0, time.UTC) }

func shopKey() types.NamespacedName { return types.NamespacedName{Namespace: "team-a", Name: "shop"} }

// A testReceiver takes notifications, or fails as the test says.
type testReceiver struct {
	mu sync.Mutex
	// err is the result of a post.
	err error
	// taken are the ids of the posts that were taken, in their order, each as often as it was taken.
	taken []string
	// posts is how many there were.
	posts int
	// unheard lets a post be taken, and its answer be lost.
	unheard bool
}

// Post takes a notification unless the test says otherwise.
func (r *testReceiver) Post(_ context.Context, target *notification.Receiver, n *notification.Notification) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts++
	if r.err != nil {
		return r.err
	}
	r.taken = append(r.taken, target.URL.Host+" "+n.ID())
	if r.unheard {
		return fetch.Error(fetch.ProblemSilent)
	}
	return nil
}

// counts are the arguments of a Counter.
type counts struct {
	mu      sync.Mutex
	ends    map[telemetry.NotificationResult]int
	pending int
}

// Notified counts a notification.
func (c *counts) Notified(r telemetry.NotificationResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends[r]++
}

// NotificationsPending adds to the number of pending notifications.
func (c *counts) NotificationsPending(delta int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending += delta
}

// A testEnv has one deployment, whose configuration has receivers, and one process of the provider after the other.
type testEnv struct {
	t        *testing.T
	kube     client.WithWatch
	receiver *testReceiver
	counts   *counts
	r        *Reconciler
	now      time.Time
	// uid of the deployment, and the configuration that it names. Empty means none.
	uid, names string
	config     *configv1alpha1.ClusterProviderConfig
	status     deploymentv1alpha1.IntentDeploymentStatus
	// woken are the requests that the process made for itself.
	woken []types.NamespacedName
	// refused lets no mark be written.
	refused bool
	// reads is how often a deployment was read as a whole, and writes how often marks were written.
	reads, writes int
}

func newTestEnv(t *testing.T, receivers ...configv1alpha1.Notification) *testEnv {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w := &testEnv{t: t, receiver: &testReceiver{}, counts: &counts{ends: map[telemetry.NotificationResult]int{}}, now: clock(), uid: "u1"}
	write := func(ctx context.Context, o client.Object, do func() error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_, isMarks := o.(*corev1.ConfigMap)
		if isMarks && w.refused {
			return errors.New("the API server is busy")
		}
		err := do()
		if isMarks && err == nil {
			w.writes++
		}
		return err
	}
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*unstructured.Unstructured); ok {
				w.reads++
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: listMetadata,
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return write(ctx, o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return write(ctx, o, func() error { return c.Update(ctx, o, opts...) })
		},
	})}
	w.must(errors.Join(usage.Index(t.Context(), b), listing.AddIndexes(t.Context(), b, indexes()...)))
	w.kube = b.Build()
	w.config = &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	w.config.Spec.ControlPlane, w.config.Spec.Notifications = "fleet", receivers
	w.must(w.kube.Create(t.Context(), w.config))
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-1"}}
	d.Spec.ForProvider.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupNamespaced, Namespace: "team-a", Name: "shop"}
	d.Status.AtProvider.Ledger = &ledger.State{Head: ledger.Head{Epoch: 3, Seq: 7}, Current: &ledger.Revision{Number: 1, Request: shopRequest()}}
	w.must(w.kube.Create(t.Context(), d))
	w.restart()
	return w
}

// listMetadata lists the metadata of deployments, which the fake client cannot do for a kind that the scheme does not have.
func listMetadata(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
	partial, ok := l.(*metav1.PartialObjectMetadataList)
	if !ok || partial.GroupVersionKind().Group == "" {
		return c.List(ctx, l, opts...)
	}
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(partial.GroupVersionKind())
	err := c.List(ctx, all, opts...)
	for _, o := range all.Items {
		partial.Items = append(partial.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()}})
	}
	return err
}

// shopRequest is the request of the first revision.
func shopRequest() ledger.Request { return ledger.Request{Intent: "sha256:1"} }

func (w *testEnv) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// restart replaces the process of the provider, and looks at all marks.
func (w *testEnv) restart() {
	w.t.Helper()
	gvk := schema.GroupVersionKind{Group: deploymentv1alpha1.GroupNamespaced, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
	w.counts.pending = 0
	w.r = &Reconciler{
		kube: w.kube, live: w.kube, gvk: gvk, books: newMarksBooks(w.kube, "crossplane-system", logging.NewNopLogger()), poster: w.receiver,
		counter: w.counts, hosts: []string{"a.example.org"},
		now: func() time.Time { return w.now }, log: logging.NewNopLogger(), notes: newNoteMemory(),
		wake: func(key types.NamespacedName) { w.woken = append(w.woken, key) },
	}
	w.must(w.r.wakeAllMarks(w.t.Context()))
	w.reconcileConfigs()
}

// reconcileConfigs makes the requests that a change of a configuration causes, and the requests that follow from these, except for requests
// of deployments.
func (w *testEnv) reconcileConfigs() {
	w.t.Helper()
	w.woken = append(w.woken, types.NamespacedName{}, types.NamespacedName{Namespace: "team-a"})
	for len(w.woken) > 0 {
		key := w.woken[0]
		w.woken = w.woken[1:]
		if key.Name != "" {
			continue
		}
		_, err := w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key})
		w.must(err)
	}
}

// moveTo adds changes of the phase that happen now, and writes the deployment.
func (w *testEnv) moveTo(revision int64, phases ...deploymentv1alpha1.Phase) {
	w.t.Helper()
	for _, p := range phases {
		t := deploymentv1alpha1.Transition{To: p, Revision: revision, At: metav1.NewTime(w.now)}
		if log := w.status.Transitions; len(log) > 0 {
			t.Index, t.From = log[len(log)-1].Index+1, log[len(log)-1].To
		}
		if p == deploymentv1alpha1.PhaseFailed {
			t.Rejected = rolloutv1alpha1.RejectedGateFailed
		}
		w.status.Transitions = append(w.status.Transitions, t)
		w.status.Transitions = w.status.Transitions[max(0, len(w.status.Transitions)-20):]
		w.status.Phase, w.status.Revision, w.status.Message = p, revision, "said"
	}
	w.writeConfigMap()
}

func (w *testEnv) deployment() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(w.r.gvk)
	u.SetNamespace("team-a")
	u.SetName("shop")
	u.SetUID(types.UID(w.uid))
	return u
}

func (w *testEnv) writeConfigMap() {
	w.t.Helper()
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&w.status)
	w.must(err)
	u := w.deployment()
	u.Object["status"] = status
	if w.names != "" {
		u.SetGeneration(2)
		w.must(unstructured.SetNestedMap(u.Object, map[string]any{"kind": "ClusterProviderConfig", "name": w.names}, "spec", "deliveryConfig", "gitOpsRepo"))
	}
	_ = w.kube.Delete(w.t.Context(), w.deployment())
	w.must(w.kube.Create(w.t.Context(), u))
}

func (w *testEnv) reconcile() (time.Duration, error) {
	w.t.Helper()
	res, err := w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: shopKey()})
	return res.RequeueAfter, err
}

func (w *testEnv) mustReconcile() time.Duration {
	w.t.Helper()
	wait, err := w.reconcile()
	w.must(err)
	return wait
}

// wait lets the clock reach the next reconcile, as the queue does, until nothing is waited for or the time is over. It returns how many reconciles there were.
func (w *testEnv) wait(limit time.Duration) int {
	w.t.Helper()
	n := 0
	for end := w.now.Add(limit); ; n++ {
		wait := w.mustReconcile()
		if wait == 0 || w.now.Add(wait).After(end) {
			return n + 1
		}
		w.now = w.now.Add(wait)
	}
}

// events returns the reasons and messages of all events, sorted.
func (w *testEnv) events() []string {
	w.t.Helper()
	l := &corev1.EventList{}
	w.must(w.kube.List(w.t.Context(), l))
	var out []string
	for _, e := range l.Items {
		out = append(out, e.Reason+" "+e.Message)
	}
	slices.Sort(out)
	return out
}

func (w *testEnv) wantTaken(reason string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.receiver.taken); diff != "" {
		w.t.Errorf("\n%s\ntaken: -want, +got:\n%s", reason, diff)
	}
}

func (w *testEnv) configMaps() int {
	w.t.Helper()
	l := &corev1.ConfigMapList{}
	w.must(w.kube.List(w.t.Context(), l, client.InNamespace("crossplane-system")))
	return len(l.Items)
}

func to(url string, events ...deploymentv1alpha1.Outcome) configv1alpha1.Notification {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "https://"), ".")
	return named(host, url, events...)
}

func named(name, url string, events ...deploymentv1alpha1.Outcome) configv1alpha1.Notification {
	return configv1alpha1.Notification{Name: name, URL: url, Format: configv1alpha1.FormatCloudEvents, Events: events}
}

const (
	succeeded  = deploymentv1alpha1.OutcomeSucceeded
	rolledBack = deploymentv1alpha1.OutcomeRolledBack
	failed     = deploymentv1alpha1.OutcomeFailed
)

func verified() []deploymentv1alpha1.Phase {
	return []deploymentv1alpha1.Phase{"Pending", "Compiling", "Rendering", "Delivering", "Validating", "Succeeded"}
}

// TestEachOutcomeIsTaken follows a good revision and a bad revision that is rolled back. Each outcome goes once to each receiver that wants it, also
// with repeated reconciles and a restart.
func TestEachOutcomeIsTaken(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded, rolledBack), to("https://b.example.org/x", rolledBack))
	w.moveTo(1, "Pending", "Compiling")
	w.mustReconcile()
	if n := w.writes; n != 1 {
		t.Errorf("%d marks were written, want only the mark of the receivers' start", n)
	}
	w.moveTo(1, verified()[2:]...)
	w.mustReconcile()
	w.mustReconcile()
	w.restart()
	w.mustReconcile()
	w.wantTaken("A verified revision is posted to who wants it.", "a.example.org u1.3.1.Succeeded")
	w.moveTo(2, "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Failed", "RollingBack", "Succeeded")
	w.mustReconcile()
	slices.Sort(w.receiver.taken)
	w.wantTaken("A rollback is posted to both.", "a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.RolledBack", "b.example.org u1.3.2.RolledBack")
	if diff := cmp.Diff(map[telemetry.NotificationResult]int{telemetry.NotificationDelivered: 3}, w.counts.ends); diff != "" || w.counts.pending != 0 {
		t.Errorf("%d pending; results: -want, +got:\n%s", w.counts.pending, diff)
	}
	if got := w.events(); len(got) > 0 {
		t.Errorf("events: %v", got)
	}
}

// TestReceiverThatFails posts to a receiver that fails three times, that is down for a minute, and that returns after the provider was killed. The
// clock is the test's.
func TestReceiverThatFails(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded, rolledBack))
	w.receiver.err = &notification.RejectedError{Status: 503}
	w.moveTo(1, verified()...)
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		wait := w.mustReconcile()
		if wait != want {
			t.Errorf("failure %d: want the next post in %s, got %s", i+1, want, wait)
		}
		if delay := w.mustReconcile(); delay != wait || w.receiver.posts != i+1 {
			t.Errorf("failure %d: a reconcile before its time posts: %d posts", i+1, w.receiver.posts)
		}
		w.now = w.now.Add(wait)
	}
	w.receiver.err = nil
	w.mustReconcile()
	w.wantTaken("A receiver that failed three times takes the outcome.", "a.example.org u1.3.1.Succeeded")

	w.receiver.err = fetch.Error(fetch.ProblemSilent)
	w.moveTo(2, "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Failed", "RollingBack", "Succeeded")
	if n := w.wait(time.Minute); n > 8 {
		t.Errorf("a receiver that is down for a minute is posted to %d times", n)
	}
	if w.counts.pending != 1 {
		t.Errorf("%d notifications are pending", w.counts.pending)
	}
	w.restart() // The provider was killed while the receiver was down.
	w.receiver.err = nil
	w.mustReconcile()
	w.wantTaken("The next provider posts the events that its predecessor could not post.", "a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.RolledBack")
	want := []string{
		"NotificationDelayed Receiver a (a.example.org) did not take the notification that revision 1 is Succeeded: the server answers with " +
			"status 503 Service Unavailable. The provider posts it again for a day",
		"NotificationDelayed Receiver a (a.example.org) did not take the notification that revision 2 is RolledBack: the server does not " +
			"answer. The provider posts it again for a day",
	}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestDuplicatesHaveOneID lets the answer of a receiver get lost, and the provider be killed between the post and the mark: the outcome is posted
// again with the same id.
func TestDuplicatesHaveOneID(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.receiver.unheard = true
	w.moveTo(1, verified()...)
	w.now = w.now.Add(w.mustReconcile())
	w.receiver.unheard = false
	w.refused = true
	if _, err := w.reconcile(); err == nil {
		t.Error("Reconcile(...): want an error while the mark cannot be written")
	}
	if _, err := w.reconcile(); err == nil || len(w.receiver.taken) != 2 {
		t.Errorf("Reconcile(...): %v; a post whose mark is not written yet is not repeated by the process that made it, but %d were taken", err, len(w.receiver.taken))
	}
	w.restart()
	w.refused = false
	w.mustReconcile()
	w.wantTaken("All three posts have one id.", slices.Repeat([]string{"a.example.org u1.3.1.Succeeded"}, 3)...)
}

// TestReceiverIsNotedBeforePost notes since when a receiver is there before it posts the first outcome.
func TestReceiverIsNotedBeforePost(t *testing.T) {
	w := newTestEnv(t)
	w.config.Spec.Notifications = []configv1alpha1.Notification{to("https://a.example.org/x", succeeded)}
	w.must(w.kube.Update(t.Context(), w.config))
	w.refused = true
	w.moveTo(1, verified()...)
	if _, err := w.reconcile(); err == nil || w.receiver.posts > 0 {
		t.Errorf("Reconcile(...): want an error before the first post, got %v after %d", err, w.receiver.posts)
	}
	w.refused = false
	w.mustReconcile()
	w.wantTaken("The outcome is posted once the receiver is noted.", "a.example.org u1.3.1.Succeeded")
}

// A logbook records log lines.
type logbook struct {
	logging.Logger

	lines *[]string
}

// Info records a line.
func (l logbook) Info(message string, values ...any) {
	*l.lines = append(*l.lines, strings.TrimSpace(message+": "+fmt.Sprintln(values...)))
}

// TestGivenUp posts for a day to a receiver that never answers.
func TestGivenUp(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	lines := []string{}
	w.r.log = logbook{Logger: logging.NewNopLogger(), lines: &lines}
	w.receiver.err = fetch.Error(fetch.ProblemSlow)
	w.moveTo(1, verified()...)
	w.wait(notification.RetryFor - time.Second)
	if w.counts.pending != 1 {
		t.Errorf("%d notifications are pending before the day is over", w.counts.pending)
	}
	w.wait(10 * time.Minute)
	if w.counts.pending != 0 || w.counts.ends[telemetry.NotificationGivenUp] != 1 {
		t.Errorf("%d notifications are pending after a day, and %v", w.counts.pending, w.counts.ends)
	}
	want := "NotificationGivenUp Receiver a (a.example.org) did not take the notification that revision 1 is Succeeded, and the provider does not post it again: the server does not answer in time"
	if got := w.events(); len(got) != 2 || got[1] != want {
		t.Errorf("events: %v", got)
	}
	logged := []string{"Notification given up: claim team-a/shop group " + w.r.gvk.Group + " revision 1 request " + shopRequest().Digest() +
		" outcome Succeeded receiver ClusterProviderConfig/default/a host a.example.org error the server does not answer in time"}
	if diff := cmp.Diff(logged, lines); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
	baseline := w.receiver.posts
	w.mustReconcile()
	w.restart()
	w.mustReconcile()
	if w.receiver.posts != baseline {
		t.Error("a notification that was given up is posted again")
	}
}

// TestGivenUpLeavesOthersWaiting gives the first of two outcomes up while the receiver is down: the second outcome is still posted
// again.
func TestGivenUpLeavesOthersWaiting(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.receiver.err = fetch.Error(fetch.ProblemSilent)
	w.moveTo(1, verified()...)
	w.wait(time.Hour)
	w.moveTo(2, verified()...)
	for w.counts.ends[telemetry.NotificationGivenUp] == 0 {
		wait := w.mustReconcile()
		if wait == 0 {
			t.Fatalf("Reconcile(...): %d notifications are pending, and none of them is posted again", w.counts.pending)
		}
		w.now = w.now.Add(wait)
	}
	w.receiver.err = nil
	w.wait(time.Hour)
	w.wantTaken("An outcome that is not a day old is posted after an older outcome was given up.", "a.example.org u1.3.2.Succeeded")
}

// TestOutcomesKeepTheirOrder lets a receiver be down while a deployment comes to its second outcome: nothing is posted before the next try, and then the first
// outcome comes first. A receiver that refuses the first one gets the second one at once.
func TestOutcomesKeepTheirOrder(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		posts  int
		taken  []string
	}{
		"Outage": {
			reason: "A receiver that does not answer gets no other outcome of the deployment before the next try.", err: fetch.Error(fetch.ProblemSilent), posts: 1,
			taken: []string{"a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.Succeeded"},
		},
		"Refusal": {
			reason: "A receiver that refuses an outcome may accept the next outcome.", err: &notification.RejectedError{Status: 400}, posts: 2,
			taken: []string{"a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.Succeeded"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, to("https://a.example.org/x", succeeded))
			w.receiver.err = tc.err
			w.moveTo(1, verified()...)
			w.mustReconcile()
			w.moveTo(2, verified()...)
			wait := w.mustReconcile()
			if w.receiver.posts != tc.posts {
				t.Errorf("\n%s\nposts before the next try: want %d, got %d", tc.reason, tc.posts, w.receiver.posts)
			}
			w.receiver.err, w.now = nil, w.now.Add(wait)
			w.mustReconcile()
			w.wantTaken(tc.reason, tc.taken...)
		})
	}
}

// TestMarksAreDeleted lets an administrator delete the ConfigMaps with marks: receivers begin with outcomes from then on.
func TestMarksAreDeleted(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.moveTo(1, verified()...)
	w.mustReconcile()
	w.must(w.kube.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("crossplane-system")))
	w.now = w.now.Add(time.Hour)
	w.restart()
	w.mustReconcile()
	w.moveTo(2, verified()...)
	w.mustReconcile()
	w.wantTaken("Outcomes of the past are not posted again.", "a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.Succeeded")
}

// TestReceiverIsAway removes a receiver, or its configuration, while the deployment comes to an outcome, and adds it again.
func TestReceiverIsAway(t *testing.T) {
	receiver := to("https://a.example.org/x", succeeded)
	removeReceiver := func(w *testEnv) { w.setReceivers() }
	addReceiver := func(w *testEnv) { w.setReceivers(receiver) }
	cases := map[string]struct {
		reason      string
		remove, add func(w *testEnv)
		away        time.Duration
		want        []string
	}{
		"Receiver": {
			reason: "A receiver that is away for a moment misses nothing.",
			remove: removeReceiver, add: addReceiver, away: time.Minute,
			want: []string{"a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.Succeeded"},
		},
		"Config": {
			reason: "A receiver misses nothing while its configuration is away for a moment, and the provider begins again meanwhile.",
			remove: func(w *testEnv) { w.must(w.kube.Delete(w.t.Context(), w.config)); w.restart() },
			add: func(w *testEnv) {
				w.config.ResourceVersion = ""
				w.must(w.kube.Create(w.t.Context(), w.config))
				w.reconcileConfigs()
			},
			away: time.Minute, want: []string{"a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.Succeeded"},
		},
		"Long": {
			reason: "A receiver that comes back after hours gets outcomes from then on.",
			remove: removeReceiver, add: addReceiver, away: 5 * time.Hour, want: []string{"a.example.org u1.3.1.Succeeded"},
		},
		"Renamed": {
			reason: "A receiver with another name is a new receiver.",
			remove: removeReceiver, add: func(w *testEnv) { w.setReceivers(named("b", receiver.URL, succeeded)) }, away: time.Minute,
			want: []string{"a.example.org u1.3.1.Succeeded"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, receiver)
			w.moveTo(1, verified()...)
			w.mustReconcile()
			tc.remove(w)
			w.moveTo(2, verified()...)
			w.mustReconcile()
			w.now = w.now.Add(tc.away)
			w.reconcileConfigs()
			tc.add(w)
			w.mustReconcile()
			w.wantTaken(tc.reason, tc.want...)
			w.now = w.now.Add(time.Minute)
			w.moveTo(3, verified()...)
			w.mustReconcile()
			w.wantTaken("The next outcome is posted.", append(tc.want, "a.example.org u1.3.3.Succeeded")...)
		})
	}
}

// TestTwoChannels posts to receivers that differ in their names alone: two channels behind one host, and one address in two formats.
func TestTwoChannels(t *testing.T) {
	slack := named("b", "https://a.example.org/x", succeeded)
	slack.Format = configv1alpha1.FormatSlack
	unnamed := named("", "https://a.example.org/x", succeeded)
	for _, second := range []configv1alpha1.Notification{named("b", "https://a.example.org/x", succeeded), named("b", "https://a.example.org/y", succeeded), slack, unnamed} {
		w := newTestEnv(t, named("a", "https://a.example.org/x", succeeded), second)
		w.moveTo(1, verified()...)
		w.mustReconcile()
		w.mustReconcile()
		w.wantTaken("Each of two receivers gets the outcome once.", slices.Repeat([]string{"a.example.org u1.3.1.Succeeded"}, 2)...)
	}
}

// TestDeploymentMoves lets a deployment name another configuration: its receivers get outcomes from then on.
func TestDeploymentMoves(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	otherConfig := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	otherConfig.Spec.Notifications = []configv1alpha1.Notification{to("https://b.example.org/x", succeeded)}
	w.must(w.kube.Create(t.Context(), otherConfig))
	w.reconcileConfigs()
	w.moveTo(1, verified()...)
	w.mustReconcile()
	w.names = "other"
	w.writeConfigMap()
	w.mustReconcile()
	w.restart()
	w.mustReconcile()
	w.moveTo(2, verified()...)
	w.mustReconcile()
	w.wantTaken("The receivers of the other configuration get no outcomes of the past.", "a.example.org u1.3.1.Succeeded", "b.example.org u1.3.2.Succeeded")
}

// TestEventsAreExtended lets a receiver want more events: it gets the additional events from then on.
func TestEventsAreExtended(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", failed))
	w.moveTo(1, verified()...)
	w.mustReconcile()
	w.now = w.now.Add(time.Minute)
	w.setReceivers(to("https://a.example.org/x", failed, succeeded))
	w.mustReconcile()
	w.restart()
	w.moveTo(2, verified()...)
	w.mustReconcile()
	w.wantTaken("Outcomes that the receiver did not want are not posted later.", "a.example.org u1.3.2.Succeeded")
}

// TestLedgerIsAway waits with an outcome while no delivery has the ledger: the epoch is a part of the id.
func TestLedgerIsAway(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.moveTo(1, verified()...)
	d := &deliveryv1alpha1.GitDelivery{}
	w.must(w.kube.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "shop-1"}, d))
	w.must(w.kube.Delete(t.Context(), d))
	if delay := w.mustReconcile(); delay != ledgerWait || w.receiver.posts > 0 {
		t.Errorf("Reconcile(...): %d posts without a ledger, and the next one in %s", w.receiver.posts, delay)
	}
	d.ResourceVersion = ""
	w.must(w.kube.Create(t.Context(), d))
	w.mustReconcile()
	w.wantTaken("The outcome is posted when the ledger is there.", "a.example.org u1.3.1.Succeeded")
}

// TestStatusIsNotReadInVain lets a deployment without receivers change, while another configuration has some: its status, which the cache does not have, is read once.
func TestStatusIsNotReadInVain(t *testing.T) {
	w := newTestEnv(t)
	otherConfig := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	otherConfig.Spec.Notifications = []configv1alpha1.Notification{to("https://a.example.org/x", succeeded)}
	w.must(w.kube.Create(t.Context(), otherConfig))
	w.reconcileConfigs()
	for range 3 {
		w.moveTo(1, "Pending", "Compiling")
		w.mustReconcile()
	}
	if w.reads != 1 {
		t.Errorf("the status of a deployment whose configuration has no receivers is read %d times, want once", w.reads)
	}
	w.setReceivers(to("https://a.example.org/x", succeeded))
	w.moveTo(1, verified()[2:]...)
	w.mustReconcile()
	w.wantTaken("A configuration that gets receivers is seen.", "a.example.org u1.3.1.Succeeded")
}

// setReceivers replaces the receivers of the configuration.
func (w *testEnv) setReceivers(all ...configv1alpha1.Notification) {
	w.t.Helper()
	w.config.Spec.Notifications = all
	w.must(w.kube.Update(w.t.Context(), w.config))
	w.reconcileConfigs()
}

// TestFailedIsPostedOnceItSettled waits for a rollback that may begin by itself.
func TestFailedIsPostedOnceItSettled(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", failed))
	w.moveTo(1, "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Failed")
	wait := w.mustReconcile()
	w.wantTaken("A revision that failed just now is not posted.")
	w.now = w.now.Add(wait)
	w.mustReconcile()
	w.wantTaken("A revision that stays failed is posted.", "a.example.org u1.3.1.Failed")
}

// TestFailedBeforeTheLast posts a failure that the next revisions followed while the receiver was down, in the order of the outcomes, each once.
func TestFailedBeforeTheLast(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", failed, succeeded))
	w.receiver.err = fetch.Error(fetch.ProblemSilent)
	for revision, phase := range []deploymentv1alpha1.Phase{"Failed", "Succeeded", "Failed"} {
		w.moveTo(int64(revision+1), "Pending", "Delivering", "Validating", phase)
		w.now = w.now.Add(time.Minute)
		w.mustReconcile()
	}
	w.receiver.err = nil
	w.restart()
	w.mustReconcile()
	w.mustReconcile()
	w.wantTaken("Each outcome is posted.", "a.example.org u1.3.1.Failed", "a.example.org u1.3.2.Succeeded", "a.example.org u1.3.3.Failed")
}

// TestDeploymentIsDeleted deletes a deployment, while a provider runs and while none does, and creates it again under its name: its marks go.
func TestDeploymentIsDeleted(t *testing.T) {
	cases := map[string]struct {
		reason string
		remove func(w *testEnv)
		want   []notification.DeploymentID
	}{
		"Running":   {reason: "The marks of a deployment go with it.", remove: func(w *testEnv) { w.must(w.kube.Delete(w.t.Context(), w.deployment())); w.mustReconcile() }, want: []notification.DeploymentID{"intentplane.dev/u0"}},
		"Away":      {reason: "A provider that begins drops the marks of a deployment that was deleted before.", remove: func(w *testEnv) { w.must(w.kube.Delete(w.t.Context(), w.deployment())); w.restart() }, want: []notification.DeploymentID{"intentplane.dev/u0"}},
		"Recreated": {reason: "A deployment that was created again under its name has outcomes and marks of its own.", remove: func(w *testEnv) { w.uid = "u2"; w.writeConfigMap(); w.mustReconcile() }, want: []notification.DeploymentID{"intentplane.dev/u0", "intentplane.dev/u2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, to("https://a.example.org/x", succeeded))
			neighbour := w.deployment()
			neighbour.SetName("neighbour")
			neighbour.SetUID("u0")
			w.must(w.kube.Create(t.Context(), neighbour))
			b, err := w.r.books.openNamespaceBook(t.Context(), "team-a")
			w.must(err)
			b.editContent(func(content *notification.Book) bool {
				content.Set(notification.DeploymentID(w.r.gvk.Group+"/u0"), "ClusterProviderConfig/default/a", notification.Mark{At: w.now.Unix()})
				return true
			})
			w.moveTo(1, verified()...)
			w.mustReconcile()
			tc.remove(w)
			w.r.books = newMarksBooks(w.kube, "crossplane-system", logging.NewNopLogger())
			b, err = w.r.books.openNamespaceBook(t.Context(), "team-a")
			w.must(err)
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(b.content.Deployments))); diff != "" {
				t.Errorf("\n%s\nmarked deployments: -want, +got:\n%s", tc.reason, diff)
			}
			if _, isCounted := w.counts.ends[telemetry.NotificationFailed]; isCounted || w.counts.pending != 0 {
				t.Errorf("\n%s\n%d notifications are pending", tc.reason, w.counts.pending)
			}
		})
	}
}

// TestReceiverIsRemoved counts nothing as pending for a receiver that the configuration does not name any more, and drops its marks after a while.
func TestReceiverIsRemoved(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.moveTo(1, verified()...)
	w.mustReconcile()
	w.receiver.err = fetch.Error(fetch.ProblemSilent)
	w.moveTo(2, verified()...)
	w.mustReconcile()
	w.setReceivers()
	w.mustReconcile()
	if w.counts.pending != 0 {
		t.Errorf("%d notifications are pending for a receiver that was removed", w.counts.pending)
	}
	w.now = w.now.Add(notification.Absence)
	w.reconcileConfigs()
	if n := w.configMaps(); n != 0 {
		t.Errorf("%d ConfigMaps are left of a receiver that was removed", n)
	}
}

// TestOneBadReceiver lets one of two receivers be down: the other one gets its notifications at once.
func TestOneBadReceiver(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded), to("https://b.example.org/x", succeeded))
	down := &selective{testReceiver: w.receiver, down: "b.example.org"}
	w.r.poster = down
	w.moveTo(1, verified()...)
	w.mustReconcile()
	w.wantTaken("A receiver does not wait for another receiver.", "a.example.org u1.3.1.Succeeded")
	if w.counts.pending != 1 {
		t.Errorf("%d notifications are pending", w.counts.pending)
	}
}

// TestRefusedNotification lets a receiver refuse one outcome for good: it still accepts later outcomes.
func TestRefusedNotification(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded, rolledBack))
	w.r.poster = &selective{testReceiver: w.receiver, refuses: "u1.3.1.Succeeded"}
	w.moveTo(1, verified()...)
	w.moveTo(2, "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Failed", "RollingBack", "Succeeded")
	w.mustReconcile()
	w.wantTaken("A later outcome does not wait for a refused outcome.", "a.example.org u1.3.2.RolledBack")
}

// TestPanicOfPost lets a post panic: the provider retries it like a post without an answer.
func TestPanicOfPost(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded, rolledBack))
	broken := &selective{testReceiver: w.receiver, panics: "u1.3.1.Succeeded"}
	w.r.poster = broken
	w.moveTo(1, verified()...)
	w.moveTo(2, "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Failed", "RollingBack", "Succeeded")
	if delay := w.mustReconcile(); delay <= 0 {
		t.Error("the post that panicked is not tried again")
	}
	broken.panics = ""
	w.now = w.now.Add(time.Hour)
	w.mustReconcile()
	w.wantTaken("Outcomes arrive in their order once no post panics any more.", "a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.RolledBack")
}

// A selective receiver is down at one host, refuses one outcome, or panics with one.
type selective struct {
	*testReceiver

	down, refuses, panics string
}

// Post takes each event that the receiver does not refuse.
func (s *selective) Post(ctx context.Context, r *notification.Receiver, n *notification.Notification) error {
	switch {
	case n.ID() == s.panics:
		panic("a bug")
	case r.URL.Host == s.down:
		return fetch.Error(fetch.ProblemSilent)
	case n.ID() == s.refuses:
		return &notification.RejectedError{Status: 400}
	}
	return s.testReceiver.Post(ctx, r, n)
}

// TestSecretsStayOutOfEvents lets everything fail that has a secret at hand.
func TestSecretsStayOutOfEvents(t *testing.T) {
	const canary = "canary-7f3a9c"
	n := to("https://a.example.org", succeeded)
	n.SecretRef = &configv1alpha1.SecretReference{Namespace: "crossplane-system", Name: "hook"}
	w := newTestEnv(t, n)
	w.must(w.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "crossplane-system", Name: "hook"},
		Data:       map[string][]byte{"token": []byte(canary), "address": []byte("https://evil.example.com/" + canary + "%zz")},
	}))
	w.moveTo(1, verified()...)
	w.mustReconcile()
	text := fmt.Sprint(w.events())
	if !strings.Contains(text, "key address of the Secret must be an https address with the host of spec.notifications.url") {
		t.Errorf("the events do not report the error: %s", text)
	}
	if strings.Contains(text, canary) || w.receiver.posts > 0 {
		t.Errorf("a secret is in the events, or %d posts were made: %s", w.receiver.posts, text)
	}
}
