package providerconfig

import (
	"net/http"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/test/gitserver"
)

const fleet = "team/fleet"

// A readyWorld has one ClusterProviderConfig, and a Git server with its repository.
type readyWorld struct {
	*testing.T

	clock time.Time
	// asked is how many requests the server had at the last view.
	asked int
	git   *gitserver.Server
	kube  client.Client
	r     *ReadyReconciler
}

func newReadyWorld(t *testing.T, change func(*configv1alpha1.ProviderConfigSpec)) *readyWorld {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), fleet, map[string]string{"README.md": "hello"}); err != nil {
		t.Fatal(err)
	}
	c := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 1}}
	c.Spec.ControlPlane, c.Spec.Git.URL, c.Spec.Git.Branch = "prod", s.URL(fleet), gitserver.Branch
	change(&c.Spec)
	w := &readyWorld{T: t, clock: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), git: s}
	w.kube = build(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "cluster-1"}})
	now := func() time.Time { return w.clock }
	pool := repository.NewPool(repository.Options{Now: now, Pause: func() time.Duration { return 0 }, Wake: func(types.NamespacedName) {}, Patience: time.Minute})
	kind := policy.KindClusterProviderConfig
	w.r = &ReadyReconciler{kube: w.kube, kind: kind, newConfig: configKinds()[kind], changes: newChangeLog(), now: now, answers: &answerBook{
		opener: remote.Opener{Kube: w.kube, Pool: pool, Now: now}, kind: kind, prefix: "ready/", maxAge: ownInterval, now: now,
		open: map[types.NamespacedName]openedConfig{},
	}}
	return w
}

// config returns the configuration as the API server has it.
func (w *readyWorld) config() *configv1alpha1.ClusterProviderConfig {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	if err := w.kube.Get(w.Context(), types.NamespacedName{Name: "default"}, c); err != nil {
		w.Fatal(err)
	}
	return c
}

// A readyView is the status of a configuration, and the number of calls since the last view.
type readyView struct {
	Status   corev1.ConditionStatus
	Reason   xpv2.ConditionReason
	Writes   int
	Requests int
}

// reconcileFor reconciles each minute for some minutes, and returns the final view of the configuration.
func (w *readyWorld) reconcileFor(minutes int) readyView {
	w.Helper()
	writes := 0
	for range max(1, minutes) {
		w.clock = w.clock.Add(time.Duration(min(1, minutes)) * time.Minute)
		previousVersion := w.config().GetResourceVersion()
		w.reconcile()
		if w.config().GetResourceVersion() != previousVersion {
			writes++
		}
	}
	c, all := w.config().Status.GetCondition(xpv2.TypeReady), w.git.Requests(fleet)
	out := readyView{Status: c.Status, Reason: c.Reason, Writes: writes, Requests: all - w.asked}
	w.asked = all
	return out
}

func (w *readyWorld) reconcile() {
	w.Helper()
	if _, err := w.r.Reconcile(w.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "default"}}); err != nil {
		w.Fatal(err)
	}
}

// deliveryLooks looks at the repository as a delivery does, a second later.
func (w *readyWorld) deliveryLooks() {
	w.Helper()
	w.clock = w.clock.Add(time.Second)
	repo, err := w.r.answers.repositoryOf(w.Context(), w.config())
	if err != nil {
		w.Fatal(err)
	}
	_, _ = repo.Look(w.Context(), types.NamespacedName{Namespace: "team-a", Name: "shop"}, w.clock)
}

// TestReady follows the condition of a configuration while its repository answers, fails, flaps and answers again.
func TestReady(t *testing.T) {
	w := newReadyWorld(t, func(*configv1alpha1.ProviderConfigSpec) {})
	steps := []struct {
		reason  string
		act     func()
		minutes int
		want    readyView
	}{
		{
			reason: "A new configuration is looked at, and its first good answer is written at once.",
			want:   readyView{Status: "True", Reason: "Reachable", Writes: 1, Requests: 2},
		},
		{reason: "While nothing changes, nothing is written or asked.", minutes: 29, want: readyView{Status: "True", Reason: "Reachable"}},
		{
			reason:  "A repository that no delivery looks at is looked at each half an hour, without a write.",
			minutes: 1, want: readyView{Status: "True", Reason: "Reachable", Requests: 1},
		},
		{reason: "While a delivery looks, the configuration looks no more.", act: func() {
			for range 39 {
				w.deliveryLooks()
				w.clock = w.clock.Add(time.Minute)
				w.reconcile()
			}
			w.deliveryLooks()
		}, minutes: 1, want: readyView{Status: "True", Reason: "Reachable", Requests: 40}},
		{reason: "A failure that a delivery saw is not written at once.", act: func() {
			w.git.Fail(fleet, http.StatusServiceUnavailable)
			w.deliveryLooks()
		}, want: readyView{Status: "True", Reason: "Reachable", Requests: 1}},
		{reason: "A failure that ends within the minute is never written.", act: func() {
			w.git.Fail(fleet, 0)
			w.clock = w.clock.Add(30 * time.Second)
			w.deliveryLooks()
		}, minutes: 2, want: readyView{Status: "True", Reason: "Reachable", Requests: 1}},
		{reason: "A failure that lasts is written once, after another look.", act: func() {
			w.git.Fail(fleet, http.StatusServiceUnavailable)
			w.deliveryLooks()
		}, minutes: 3, want: readyView{Status: "False", Reason: "Unreachable", Writes: 1, Requests: 3}},
		{reason: "A repository that is down is looked at ever more rarely.", minutes: 60, want: readyView{Status: "False", Reason: "Unreachable", Requests: 7}},
		{
			reason: "A repository that answers again is written once that lasted a minute.",
			act:    func() { w.git.Fail(fleet, 0) }, minutes: 12, want: readyView{Status: "True", Reason: "Reachable", Writes: 1, Requests: 1},
		},
	}
	for _, step := range steps {
		if step.act != nil {
			step.act()
		}
		if diff := cmp.Diff(step.want, w.reconcileFor(step.minutes)); diff != "" {
			t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", step.reason, diff)
		}
	}
}

// TestReadyOfCredentials follows a configuration whose Secret is created later, and then changes.
func TestReadyOfCredentials(t *testing.T) {
	w := newReadyWorld(t, func(s *configv1alpha1.ProviderConfigSpec) {
		s.Git.Credentials = configv1alpha1.Credentials{Type: configv1alpha1.CredentialsBasic, SecretRef: &configv1alpha1.SecretReference{Namespace: "crossplane-system", Name: "git"}}
	})
	if diff := cmp.Diff(readyView{Status: "Unknown"}, w.reconcileFor(0)); diff != "" {
		t.Errorf("A Secret may come after its configuration.\nReconcile(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(readyView{Status: "False", Reason: "CredentialsGone", Writes: 1}, w.reconcileFor(1)); diff != "" {
		t.Errorf("A Secret that does not come is reported.\nReconcile(...): -want, +got:\n%s", diff)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "crossplane-system", Name: "git"}, Data: map[string][]byte{"username": []byte("u"), "password": []byte("p")}}
	if err := w.kube.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readyView{Status: "True", Reason: "Reachable", Writes: 1, Requests: 2}, w.reconcileFor(2)); diff != "" {
		t.Errorf("A Secret that came is used.\nReconcile(...): -want, +got:\n%s", diff)
	}
	c := w.config()
	c.Generation, c.Spec.Git.URL = 2, w.git.URL("team/none")
	if err := w.kube.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readyView{Status: "False", Reason: "Unreachable", Writes: 1}, w.reconcileFor(2)); diff != "" {
		t.Errorf("An edited spec has an answer of its own, before that lasted a minute.\nReconcile(...): -want, +got:\n%s", diff)
	}
	if got := w.config().Status.GetCondition(xpv2.TypeReady).ObservedGeneration; got != 2 {
		t.Errorf("generation of the condition: want 2, got %d", got)
	}
	if err := w.kube.Delete(t.Context(), w.config()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "default"}}); err != nil || len(w.r.answers.open) != 0 {
		t.Errorf("A configuration that is gone is forgotten: %v, %d repositories", err, len(w.r.answers.open))
	}
}
