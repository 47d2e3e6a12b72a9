package notification

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/notification"
)

// addConfig creates another configuration, whose receiver is b.
func (w *testEnv) addConfig() *configv1alpha1.ClusterProviderConfig {
	w.t.Helper()
	otherConfig := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	otherConfig.Spec.Notifications = []configv1alpha1.Notification{to("https://b.example.org/x", succeeded, failed)}
	w.must(w.kube.Create(w.t.Context(), otherConfig))
	w.reconcileConfigs()
	return otherConfig
}

// TestDeploymentMovesUnwitnessed lets a deployment name another configuration while the provider cannot see that, or cannot use the configuration yet.
func TestDeploymentMovesUnwitnessed(t *testing.T) {
	cases := map[string]struct {
		reason string
		move   func(w *testEnv, otherConfig *configv1alpha1.ClusterProviderConfig)
	}{
		"Restart": {reason: "A deployment that names another configuration while no provider runs gets no outcomes of the past posted.", move: func(w *testEnv, _ *configv1alpha1.ClusterProviderConfig) {
			w.moveConfig("other")
			w.restart()
		}},
		"Away": {reason: "A configuration that is away when a deployment begins to name it gets none of the past when it is back.", move: func(w *testEnv, otherConfig *configv1alpha1.ClusterProviderConfig) {
			w.must(w.kube.Delete(w.t.Context(), otherConfig))
			w.reconcileConfigs()
			w.moveConfig("other")
			w.mustReconcile()
			otherConfig.ResourceVersion = ""
			w.must(w.kube.Create(w.t.Context(), otherConfig))
			w.reconcileConfigs()
		}},
		"NotAllowed": {reason: "A configuration that does not allow the namespace yet gets none of the past when it does.", move: func(w *testEnv, otherConfig *configv1alpha1.ClusterProviderConfig) {
			otherConfig.Spec.Policy.AllowedNamespaces = []string{"team-b"}
			w.must(w.kube.Update(w.t.Context(), otherConfig))
			w.moveConfig("other")
			w.mustReconcile()
			otherConfig.Spec.Policy.AllowedNamespaces = nil
			w.must(w.kube.Update(w.t.Context(), otherConfig))
		}},
		"Twice": {reason: "A deployment that returns to the configuration while no provider runs gets none of the past, as after the first move.", move: func(w *testEnv, _ *configv1alpha1.ClusterProviderConfig) {
			w.moveConfig("other")
			w.restart()
			w.mustReconcile()
			w.moveConfig("default")
			w.restart()
			w.mustReconcile()
			w.moveConfig("other")
			w.restart()
		}},
		"NoReceivers": {reason: "A deployment that comes from a configuration without receivers gets none of the past.", move: func(w *testEnv, _ *configv1alpha1.ClusterProviderConfig) {
			w.setReceivers()
			w.mustReconcile()
			w.moveConfig("other")
			w.restart()
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, to("https://a.example.org/x", succeeded))
			otherConfig := w.addConfig()
			w.moveTo(1, verified()...)
			w.mustReconcile()
			w.receiver.taken = nil
			w.now = w.now.Add(time.Minute)
			tc.move(w, otherConfig)
			w.mustReconcile()
			w.mustReconcile()
			w.wantTaken(tc.reason)
			w.now = w.now.Add(time.Minute)
			w.moveTo(2, verified()...)
			w.mustReconcile()
			w.wantTaken("The next outcome is posted.", "b.example.org u1.3.2.Succeeded")
		})
	}
}

// TestReceiverlessDeploymentMoves lets a deployment that never had receivers name a configuration with some while no provider runs.
func TestReceiverlessDeploymentMoves(t *testing.T) {
	w := newTestEnv(t)
	w.addConfig()
	w.mustReconcile()
	w.moveTo(1, "Pending")
	w.mustReconcile()
	w.moveTo(1, verified()[1:]...)
	w.mustReconcile()
	w.moveConfig("other")
	w.restart()
	w.mustReconcile()
	w.wantTaken("An outcome from before the move is not posted.")
}

// TestMoveWhileFailureSettles moves a deployment while its failure may be rolled back still.
func TestMoveWhileFailureSettles(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.addConfig()
	w.moveTo(1, verified()...)
	w.mustReconcile()
	w.receiver.taken = nil
	w.moveTo(2, "Pending", "Delivering", "Failed")
	w.moveConfig("other")
	w.restart()
	w.wait(time.Hour)
	w.wantTaken("A failure from before the move is not posted.")
}

// moveConfig lets the deployment name another configuration.
func (w *testEnv) moveConfig(name string) {
	w.t.Helper()
	w.names = name
	w.writeConfigMap()
}

// TestOldOutcomeIsShownAgain adds a receiver to a deployment that is quiet. Then a Blueprint fails and works in turn, until the log has forgotten the outcome of before.
func TestOldOutcomeIsShownAgain(t *testing.T) {
	cases := map[string]struct {
		reason string
		add    func(w *testEnv)
	}{
		"Added": {
			reason: "A receiver that is new is not posted an old outcome that the status shows again.",
			add:    func(w *testEnv) { w.setReceivers(to("https://b.example.org/x", succeeded)) },
		},
		"Moved":     {reason: "A configuration that is named newly is not posted an old outcome that the status shows again.", add: func(w *testEnv) { w.addConfig(); w.moveConfig("other") }},
		"Restarted": {reason: "A receiver that was added while no provider ran is not posted it either.", add: func(w *testEnv) { w.setReceivers(to("https://b.example.org/x", succeeded)); w.restart() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, to("https://a.example.org/x", succeeded))
			w.moveTo(5, verified()...)
			w.mustReconcile()
			w.receiver.taken = nil
			w.now = w.now.Add(500 * time.Hour)
			tc.add(w)
			w.mustReconcile()
			for range 4 {
				w.now = w.now.Add(time.Hour)
				w.moveTo(5, verified()...)
				w.mustReconcile()
			}
			w.wantTaken(tc.reason)
			w.now = w.now.Add(time.Hour)
			w.moveTo(6, verified()...)
			w.mustReconcile()
			w.wantTaken("The next outcome is posted.", "b.example.org u1.3.6.Succeeded")
		})
	}
}

// A lastReceiver takes the last post before the provider ends.
type lastReceiver struct {
	*testReceiver

	end context.CancelFunc
}

// Post takes a notification, and lets the provider end.
func (r *lastReceiver) Post(ctx context.Context, target *notification.Receiver, n *notification.Notification) error {
	defer r.end()
	return r.testReceiver.Post(ctx, target, n)
}

// TestMarkIsWrittenAtShutdown ends the provider right after a post: its mark is written.
func TestMarkIsWrittenAtShutdown(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.moveTo(1, verified()...)
	ctx, end := context.WithCancel(t.Context())
	w.r.poster = &lastReceiver{testReceiver: w.receiver, end: end}
	_, err := w.r.Reconcile(ctx, reconcile.Request{NamespacedName: shopKey()})
	w.must(err)
	w.restart()
	w.mustReconcile()
	w.wantTaken("An outcome is posted once, also if the provider ends after the post.", "a.example.org u1.3.1.Succeeded")
}

// TestBooksAreLookedAtAgain lets the list of ConfigMaps fail once, when the provider begins and when a receiver goes: the next try looks at all marks.
func TestBooksAreLookedAtAgain(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.moveTo(1, verified()...)
	w.mustReconcile()
	isDown := false
	w.r.kube = interceptor.NewClient(w.kube, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
		if partial, ok := l.(*metav1.PartialObjectMetadataList); ok && partial.Kind == "ConfigMapList" && isDown {
			return errors.New("the API server is busy")
		}
		return c.List(ctx, l, opts...)
	}})
	w.r.books.kube = w.r.kube
	steps := []struct {
		reason string
		change func()
	}{
		{reason: "A provider that begins looks at all marks.", change: func() { w.r.areBooksWoken.Store(false) }},
		{reason: "Another receiver of a ClusterProviderConfig lets the provider look at all marks.", change: func() {
			w.config.Spec.Notifications = []configv1alpha1.Notification{to("https://b.example.org/x", succeeded)}
			w.must(w.kube.Update(t.Context(), w.config))
		}},
	}
	for _, step := range steps {
		step.change()
		isDown, w.woken = true, nil
		if _, err := w.r.Reconcile(t.Context(), reconcile.Request{}); err == nil {
			t.Errorf("\n%s\nReconcile(...): want an error while ConfigMaps cannot be listed", step.reason)
		}
		isDown = false
		for range 2 {
			_, err := w.r.Reconcile(t.Context(), reconcile.Request{})
			w.must(err)
		}
		teams := 0
		for _, key := range w.woken {
			if key == (types.NamespacedName{Namespace: "team-a"}) {
				teams++
			}
		}
		if teams != 1 {
			t.Errorf("\n%s\nthe marks of the namespace are woken %d times, want once", step.reason, teams)
		}
	}
}

// TestUnknownReceiver gives a receiver nothing that the caches do not show yet in its configuration: since when it is there is not known.
func TestUnknownReceiver(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.moveTo(1, verified()...)
	d, err := w.r.getDeployment(t.Context(), shopKey())
	w.must(err)
	marks, err := w.r.books.openNamespaceBook(t.Context(), "team-a")
	w.must(err)
	receiver := to("https://b.example.org/x", succeeded)
	unknownTurn := &turn{id: "ClusterProviderConfig/default/b", config: d.namedConfig(), receiver: &receiver, ended: map[string]bool{}}
	w.must(w.r.addPendingOutcomes(t.Context(), marks, d, []*turn{unknownTurn}))
	if len(unknownTurn.pending) > 0 || unknownTurn.retry == 0 {
		t.Errorf("fillTurns(...): %d notifications, and the next try in %s: want none yet, and another try", len(unknownTurn.pending), unknownTurn.retry)
	}
}
