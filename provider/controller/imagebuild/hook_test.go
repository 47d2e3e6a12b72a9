package imagebuild

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
)

func (w *world) giveWebhook(name string) {
	w.Helper()
	w.edit(func(b *v1alpha1.ImageBuild) {
		b.Spec.ForProvider.Source.Webhook = &v1alpha1.Webhook{SecretRef: v1alpha1.SecretKey{Name: "hook"}}
	})
	w.must(w.kube.Create(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Data: map[string][]byte{
		"token": []byte(strings.Repeat("t", 20) + "\n"), "short": []byte("secret"),
	}}))
}

// A replica receives webhooks, and runs its deferred work when the test says so.
type replica struct {
	*receiver

	later  []func()
	delays []time.Duration
}

func (w *world) newReplica() *replica {
	r := &replica{receiver: newReceiver(w.kube, logging.NewNopLogger(), w.c.now)}
	r.after = func(delay time.Duration, do func()) { r.later, r.delays = append(r.later, do), append(r.delays, delay) }
	return r
}

// runLater runs the writes that the replica has put off.
func (r *replica) runLater() {
	due := r.later
	r.later = nil
	for _, do := range due {
		do()
	}
}

// hook has a replica receive a webhook.
func (w *world) hook(r *replica) {
	w.Helper()
	w.must(r.Record(w.Context(), key()))
}

// TestHook has a webhook that comes long before the interval is over, and again, at a replica that is not the leader.
func TestHook(t *testing.T) {
	w := newWorld(t)
	w.giveWebhook("hook")
	w.reconcileShown()
	w.wait(5 * time.Second)
	second, err := w.server.Commit(t.Context(), "shop", gitserver.Branch, map[string]string{"a": "2"}, "Second")
	w.must(err)
	follower := w.newReplica()
	w.hook(follower)
	w.reconcileShown()
	if observation := w.get().Status.AtProvider; observation.Wanted.Commit != second {
		t.Fatalf("A hook looks at once: %+v", observation)
	}
	w.succeeds(1)
	w.reconcile()
	looks, writes := w.looks, w.writes
	w.wait(time.Second)
	w.hook(follower)
	w.reconcile()
	w.reconcile()
	if w.looks != looks+1 || w.writes != writes {
		t.Errorf("A hook that is sent again makes one look, and no write: %d looks, %d writes", w.looks-looks, w.writes-writes)
	}
	w.wait(time.Second / 2)
	w.hook(follower)
	w.hook(follower)
	w.reconcile()
	if w.looks != looks+1 || len(follower.later) != 1 {
		t.Fatalf("Hooks within a second are recorded once, when it is over: %d looks, %d records", w.looks-looks, len(follower.later))
	}
	w.wait(time.Second)
	follower.later[0]()
	w.reconcile()
	hookedSince := w.c.hooks.hookSince(key(), w.get().GetAnnotations()[v1alpha1.AnnotationHookedAt], w.clock)
	if w.looks != looks+2 || !hookedSince.IsZero() {
		t.Errorf("The look that was asked for is made when the second is over: %d looks", w.looks-looks)
	}
}

// TestReplicas has hooks reach several replicas, whose clocks differ.
func TestReplicas(t *testing.T) {
	w := newWorld(t)
	w.giveWebhook("hook")
	w.reconcileShown()
	slow := w.newReplica()
	slow.now = func() time.Time { return w.clock.Add(-time.Hour) }
	fast := w.newReplica()
	fast.now = func() time.Time { return w.clock.Add(time.Hour) }
	for i, r := range []*replica{slow, fast, slow} {
		w.wait(2 * time.Second)
		looks := w.looks
		w.hook(r)
		w.reconcile()
		w.reconcile()
		if w.looks != looks+1 {
			t.Errorf("Each replica has the leader look, whatever its clock: hook %d made %d looks", i, w.looks-looks)
		}
	}
	missing := types.NamespacedName{Namespace: "team-a", Name: "other"}
	if err := slow.Record(t.Context(), missing); err == nil {
		t.Error("A hook that cannot be recorded is an error")
	}
}

func TestTokenOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		name   string
		want   string
	}{
		"Token": {
			reason: "The line break at the end does not belong to the token.",
			change: func(w *world) { w.giveWebhook("hook") }, want: strings.Repeat("t", 20),
		},
		"None":     {reason: "A replica without a webhook has no token.", change: func(*world) {}},
		"NoSecret": {reason: "A Secret that does not exist has no token.", change: func(w *world) { w.giveWebhook("other") }},
		"NoBuild":  {reason: "An ImageBuild that does not exist has no token.", change: func(w *world) { w.giveWebhook("hook") }, name: "other"},
		"Key": {reason: "A key that the Secret does not have gives no token.", change: func(w *world) {
			w.giveWebhook("hook")
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Webhook.SecretRef.Key = "other" })
		}},
		"Short": {reason: "A token that can be guessed does not count.", change: func(w *world) {
			w.giveWebhook("hook")
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Webhook.SecretRef.Key = "short" })
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.change(w)
			application := key()
			if tc.name != "" {
				application = types.NamespacedName{Namespace: "team-a", Name: tc.name}
			}
			got, err := w.newReplica().TokenOf(t.Context(), application)
			if string(got) != tc.want || err != nil {
				t.Errorf("\n%s\nTokenOf(...): %q, %v", tc.reason, got, err)
			}
		})
	}
}
