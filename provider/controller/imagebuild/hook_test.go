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
	"github.com/intentplane/intentplane/provider/controller/imagebuild/webhook"
	"github.com/intentplane/intentplane/test/gitserver"
)

func (w *world) giveWebhook() {
	w.Helper()
	w.edit(func(b *v1alpha1.ImageBuild) {
		b.Spec.ForProvider.Source.Webhook = &v1alpha1.Webhook{SecretRef: v1alpha1.SecretKey{Name: "hook"}}
	})
	w.must(w.kube.Create(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "hook"}, Data: map[string][]byte{
		"token": []byte(strings.Repeat("t", 20)),
	}}))
}

// A replica receives webhooks, and runs its deferred work when the test says so.
type replica struct {
	*webhook.Receiver

	later []func()
}

// newReplica returns a replica whose clock is ahead of the clock of the leader.
func (w *world) newReplica(ahead time.Duration) *replica {
	r := &replica{}
	r.Receiver = webhook.New(w.kube, logging.NewNopLogger(), webhook.Clock{
		Now:   func() time.Time { return w.clock.Add(ahead) },
		After: func(_ time.Duration, do func()) { r.later = append(r.later, do) },
	})
	return r
}

// hook has a replica receive a webhook.
func (w *world) hook(r *replica) {
	w.Helper()
	w.must(r.Record(w.Context(), key()))
}

// TestHook has a webhook that comes long before the interval is over, and again, at a replica that is not the leader.
func TestHook(t *testing.T) {
	w := newWorld(t)
	w.giveWebhook()
	w.reconcileShown()
	w.wait(5 * time.Second)
	second, err := w.server.Commit(t.Context(), "shop", gitserver.Branch, map[string]string{"a": "2"}, "Second")
	w.must(err)
	follower := w.newReplica(0)
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
	hookedSince := w.c.hooks.pendingHookSince(key(), w.get().GetAnnotations()[v1alpha1.AnnotationHookedAt], w.clock)
	if w.looks != looks+2 || !hookedSince.IsZero() {
		t.Errorf("The look that was asked for is made when the second is over: %d looks", w.looks-looks)
	}
}

// TestReplicas has hooks reach several replicas, whose clocks differ.
func TestReplicas(t *testing.T) {
	w := newWorld(t)
	w.giveWebhook()
	w.reconcileShown()
	slow, fast := w.newReplica(-time.Hour), w.newReplica(time.Hour)
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
