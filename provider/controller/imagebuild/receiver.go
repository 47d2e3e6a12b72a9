package imagebuild

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/hooks"
	"github.com/intentplane/intentplane/provider/sources"
)

// Bounds of the token of a webhook, in bytes. A short one can be guessed.
const (
	minToken = 16
	maxToken = 1024
)

// recordTimeout ends the record of a webhook that is written later.
const recordTimeout = 10 * time.Second

// A receiver verifies webhooks, and records them on their ImageBuilds, at most once in the time that looks at a repository are apart. Each replica of the
// provider has one. It is safe for concurrent use.
type receiver struct {
	kube  client.Client
	log   logging.Logger
	now   func() time.Time
	after func(time.Duration, func())

	mu sync.Mutex
	// recorded is when the last webhook of each ImageBuild was recorded, or will be.
	recorded map[types.NamespacedName]time.Time
}

// SetupWebhooks adds what receives webhooks to a manager, on each of its replicas. It returns an error if it cannot be added.
func SetupWebhooks(mgr ctrl.Manager, o controller.Options, s Options) error {
	if s.WebhookAddress == "" {
		return nil
	}
	log := o.Logger.WithValues("controller", strings.ToLower(managed.ControllerName(Kind().GroupKind().String())))
	r := newReceiver(mgr.GetClient(), log, time.Now)
	server := &hooks.Server{Address: s.WebhookAddress, Receiver: r, Count: s.Metrics.SourceHook, Log: log, Now: time.Now}
	return errors.Wrap(mgr.Add(server), "cannot receive webhooks")
}

func newReceiver(kube client.Client, log logging.Logger, now func() time.Time) *receiver {
	after := func(d time.Duration, do func()) { time.AfterFunc(d, do) }
	return &receiver{kube: kube, log: log, now: now, after: after, recorded: map[types.NamespacedName]time.Time{}}
}

// TokenOf returns the token of an Application's webhook, or nil if it has none that can be used. It returns an error if the API server cannot be asked.
func (r *receiver) TokenOf(ctx context.Context, application types.NamespacedName) ([]byte, error) {
	b := &v1alpha1.ImageBuild{}
	if err := r.kube.Get(ctx, application, b); err != nil {
		return nil, errors.Wrap(client.IgnoreNotFound(err), "cannot get ImageBuild")
	}
	source := b.Spec.ForProvider.Source
	source.Default()
	if source.Webhook == nil || source.Git == nil || meta.WasDeleted(b) {
		return nil, nil
	}
	ref, held := source.Webhook.SecretRef, &corev1.Secret{}
	if err := r.kube.Get(ctx, client.ObjectKey{Namespace: application.Namespace, Name: string(ref.Name)}, held); err != nil {
		return nil, errors.Wrap(client.IgnoreNotFound(err), "cannot get Secret")
	}
	return usableToken(held.Data[string(ref.Key)]), nil
}

// usableToken returns a token without the line break that editors add, or nil for one that is too short or too long.
func usableToken(value []byte) []byte {
	token := bytes.TrimRight(value, "\r\n")
	if len(token) < minToken || len(token) > maxToken {
		return nil
	}
	return token
}

// Record has the leader look at the repository of an Application. A webhook that follows another one too soon is recorded later, once for all that come
// until then. It returns an error if the API server does not take it.
func (r *receiver) Record(ctx context.Context, application types.NamespacedName) error {
	now := r.now()
	wait, isFirst := r.reserve(application, now)
	switch {
	case !isFirst:
		return nil
	case wait == 0:
		err := r.write(ctx, application, now)
		if err != nil {
			r.release(application)
		}
		return err
	}
	r.after(wait, func() {
		ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
		defer cancel()
		if err := r.write(ctx, application, now.Add(wait)); err != nil {
			r.log.Info("Cannot record a webhook", "application", application, "error", err)
		}
	})
	return nil
}

// reserve returns how long to wait before a webhook is recorded, and whether this one has to do it: another one may wait already.
func (r *receiver) reserve(key types.NamespacedName, now time.Time) (wait time.Duration, isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.recorded, func(_ types.NamespacedName, received time.Time) bool { return now.Sub(received) >= sources.Spacing })
	last, ok := r.recorded[key]
	switch {
	case !ok:
		r.recorded[key] = now
		return 0, true
	case last.After(now):
		return 0, false
	}
	r.recorded[key] = last.Add(sources.Spacing)
	return r.recorded[key].Sub(now), true
}

func (r *receiver) release(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.recorded, key)
}

// write annotates an ImageBuild, which wakes the leader.
func (r *receiver) write(ctx context.Context, key types.NamespacedName, received time.Time) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{v1alpha1.AnnotationHookedAt: received.UTC().Format(time.RFC3339Nano)}}})
	if err != nil {
		return errors.Wrap(err, "cannot encode annotation")
	}
	b := &v1alpha1.ImageBuild{}
	b.SetNamespace(key.Namespace)
	b.SetName(key.Name)
	return errors.Wrap(r.kube.Patch(ctx, b, client.RawPatch(types.MergePatchType, patch)), "cannot annotate ImageBuild")
}
