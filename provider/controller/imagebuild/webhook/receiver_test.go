package webhook

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// A world has an ImageBuild at an API server, and the clock of its replicas.
type world struct {
	*testing.T

	kube  client.WithWatch
	clock time.Time
}

func key() types.NamespacedName { return types.NamespacedName{Namespace: "team-a", Name: "shop"} }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, clock: time.Date(2031, 12, 17, 12, 0, 0, 0, time.UTC)}
	s := runtime.NewScheme()
	w.must(v1alpha1.AddToScheme(s))
	w.must(corev1.AddToScheme(s))
	b := &v1alpha1.ImageBuild{ObjectMeta: metav1.ObjectMeta{Namespace: key().Namespace, Name: key().Name}}
	b.Spec.ForProvider.Source = v1alpha1.Source{Git: &v1alpha1.GitSource{URL: "https://git.example.org/shop.git", Revision: "main"}}
	w.kube = kubefake.NewClientBuilder().WithScheme(s).WithObjects(b).Build()
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) wait(d time.Duration) { w.clock = w.clock.Add(d) }

func (w *world) get() *v1alpha1.ImageBuild {
	w.Helper()
	b := &v1alpha1.ImageBuild{}
	w.must(w.kube.Get(w.Context(), key(), b))
	return b
}

// edit changes the ImageBuild.
func (w *world) edit(change func(*v1alpha1.ImageBuild)) {
	w.Helper()
	b := w.get()
	change(b)
	w.must(w.kube.Update(w.Context(), b))
}

// giveWebhook lets the ImageBuild name the Secret hook, and creates a Secret.
func (w *world) giveWebhook(name string) {
	w.Helper()
	w.edit(func(b *v1alpha1.ImageBuild) {
		b.Spec.ForProvider.Source.Webhook = &v1alpha1.Webhook{SecretRef: v1alpha1.SecretKey{Name: "hook"}}
	})
	w.must(w.kube.Create(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Data: map[string][]byte{
		"token": []byte(strings.Repeat("t", 20) + "\n"), "short": []byte("secret"),
	}}))
}

// A replica receives webhooks, and runs its deferred work by runLater.
type replica struct {
	*Receiver

	later  []func()
	delays []time.Duration
}

// newReplica returns a replica with a client of the API server.
func (w *world) newReplica(kube client.Client) *replica {
	r := &replica{}
	r.Receiver = New(kube, logging.NewNopLogger(), Clock{
		Now:   func() time.Time { return w.clock },
		After: func(delay time.Duration, do func()) { r.later, r.delays = append(r.later, do), append(r.delays, delay) },
	})
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
			got, err := w.newReplica(w.kube).TokenOf(t.Context(), application)
			if string(got) != tc.want || err != nil {
				t.Errorf("\n%s\nTokenOf(...): %q, %v", tc.reason, got, err)
			}
		})
	}
}

// TestTokenOfUnserved has a hook before the API server serves ImageBuilds: it reads none, which would make it ask for all kinds.
func TestTokenOfUnserved(t *testing.T) {
	r := New(nil, nil, Clock{})
	r.checkServed = func(context.Context) error { return errors.New("the kind is not served") }
	if token, err := r.TokenOf(t.Context(), key()); err == nil || token != nil {
		t.Errorf("A hook before its kind is served comes again later: TokenOf(...): %q, %v", token, err)
	}
}
