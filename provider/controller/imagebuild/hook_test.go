package imagebuild

import (
	"strings"
	"testing"
	"time"

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

// TestHook has a webhook that comes long before the interval is over, and again.
func TestHook(t *testing.T) {
	w := newWorld(t)
	w.giveWebhook("hook")
	w.reconcileShown()
	w.wait(5 * time.Second)
	second, err := w.server.Commit(t.Context(), "shop", gitserver.Branch, map[string]string{"a": "2"}, "Second")
	w.must(err)
	woken := w.woken
	w.c.LookNow(key())
	w.reconcileShown()
	if at := w.get().Status.AtProvider; at.Wanted.Commit != second || w.woken != woken+1 {
		t.Fatalf("A hook looks at once: %+v", at)
	}
	w.succeeds(1)
	w.reconcile()
	looks, writes := w.looks, w.writes
	w.wait(time.Second)
	w.c.LookNow(key())
	w.reconcile()
	w.reconcile()
	if w.looks != looks+1 || w.writes != writes {
		t.Errorf("A hook that is sent again makes one look, and no write: %d looks, %d writes", w.looks-looks, w.writes-writes)
	}
	w.wait(time.Second / 2)
	w.c.LookNow(key())
	w.reconcile()
	if w.looks != looks+1 || w.result.RequeueAfter > time.Second {
		t.Errorf("Looks are a second apart: %d looks, the next one in %s", w.looks-looks, w.result.RequeueAfter)
	}
	w.wait(time.Second)
	w.reconcile()
	if w.looks != looks+2 || !w.c.hooks.hookSince(key()).IsZero() {
		t.Errorf("The look that was asked for is made when the second is over: %d looks", w.looks-looks)
	}
}

func TestTokenOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		name   string
		want   string
	}{
		"Token":    {reason: "The line break at the end is none of the token.", change: func(w *world) { w.giveWebhook("hook") }, want: strings.Repeat("t", 20)},
		"None":     {reason: "Without a webhook there is no token.", change: func(*world) {}},
		"NoSecret": {reason: "A Secret that does not exist has no token.", change: func(w *world) { w.giveWebhook("other") }},
		"NoBuild":  {reason: "An ImageBuild that does not exist has no token.", change: func(w *world) { w.giveWebhook("hook") }, name: "other"},
		"Key": {reason: "A key that the Secret has not is no token.", change: func(w *world) {
			w.giveWebhook("hook")
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Webhook.SecretRef.Key = "other" })
		}},
		"Short": {reason: "A token that can be guessed is none.", change: func(w *world) {
			w.giveWebhook("hook")
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Webhook.SecretRef.Key = "short" })
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.change(w)
			at := key()
			if tc.name != "" {
				at = types.NamespacedName{Namespace: "team-a", Name: tc.name}
			}
			got, err := w.c.TokenOf(t.Context(), at)
			if string(got) != tc.want || err != nil {
				t.Errorf("\n%s\nTokenOf(...): %q, %v", tc.reason, got, err)
			}
		})
	}
}
