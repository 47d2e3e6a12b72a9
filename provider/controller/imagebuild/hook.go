package imagebuild

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// Bounds of the token of a webhook, in bytes. A short one can be guessed.
const (
	minToken = 16
	maxToken = 1024
)

// hookTimes are the looks that webhooks ask for. They are safe for concurrent use. They are not in the status, since each write of that costs the composite: who
// starts looks at all repositories anyway.
type hookTimes struct {
	mu sync.Mutex
	at map[types.NamespacedName]time.Time
}

func newHookTimes() *hookTimes { return &hookTimes{at: map[types.NamespacedName]time.Time{}} }

func (h *hookTimes) noteHook(key types.NamespacedName, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at[key] = at
}

// hookSince returns since when a webhook asks for a look that was not done, or zero.
func (h *hookTimes) hookSince(key types.NamespacedName) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at[key]
}

// dropHook drops what a look answers that began at a time.
func (h *hookTimes) dropHook(key types.NamespacedName, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !began.Before(h.at[key]) {
		delete(h.at, key)
	}
}

// TokenOf returns the token of an Application's webhook, or nil if it has none that can be used. It returns an error if the API server cannot be asked.
func (c *connector) TokenOf(ctx context.Context, application types.NamespacedName) ([]byte, error) {
	b := &v1alpha1.ImageBuild{}
	if err := c.kube.Get(ctx, application, b); err != nil {
		return nil, errors.Wrap(client.IgnoreNotFound(err), "cannot get ImageBuild")
	}
	source := b.Spec.ForProvider.Source
	source.Default()
	if source.Webhook == nil || source.Git == nil || meta.WasDeleted(b) {
		return nil, nil
	}
	ref, held := source.Webhook.SecretRef, &corev1.Secret{}
	if err := c.kube.Get(ctx, client.ObjectKey{Namespace: application.Namespace, Name: string(ref.Name)}, held); err != nil {
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

// LookNow has the repository of an Application looked at.
func (c *connector) LookNow(application types.NamespacedName) {
	c.hooks.noteHook(application, c.now())
	c.wake(application)
}

// forgetBuild forgets what was kept about an ImageBuild that is gone.
func (c *connector) forgetBuild(key types.NamespacedName) {
	c.memory.ForgetNote(key)
	c.hooks.dropHook(key, c.now())
}
