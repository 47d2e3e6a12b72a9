// Package webhook verifies webhooks of Git servers, and records them on ImageBuilds, whose controller looks at the repository then.
package webhook

import (
	"bytes"
	"context"
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
	"github.com/intentplane/intentplane/provider/listing"
)

// Bounds of the token of a webhook, in bytes. A short one can be guessed.
const (
	minToken = 16
	maxToken = 1024
)

// Options of the server of webhooks.
type Options struct {
	// Address at which webhooks are received. Empty is nowhere.
	Address string

	// Count is called with the result of each webhook. Required.
	Count func(result string)
}

// A Clock returns the time, and runs functions later.
type Clock struct {
	// Now returns the time.
	Now func() time.Time

	// After runs a function after a duration, and returns at once.
	After func(time.Duration, func())
}

// A Receiver verifies webhooks, and records them on their ImageBuilds, at most once in the time that looks at a repository are apart. Each replica of the
// provider has one. It is safe for concurrent use.
type Receiver struct {
	kube  client.Client
	log   logging.Logger
	clock Clock

	// checkServed returns an error while the API server does not serve ImageBuilds.
	checkServed func(context.Context) error

	mu sync.Mutex
	// recorded is when this replica last recorded a webhook of each ImageBuild.
	recorded map[types.NamespacedName]time.Time
	// late counts the webhooks of each ImageBuild whose record was put off. While there are some, one attempt to write it is due or under way.
	late map[types.NamespacedName]int
}

// Setup adds the server of webhooks to a manager, on each replica. It returns an error if the manager rejects the server.
func Setup(mgr ctrl.Manager, o controller.Options, s Options) error {
	if s.Address == "" {
		return nil
	}
	kind := v1alpha1.GroupVersion.WithKind("ImageBuild")
	log := o.Logger.WithValues("controller", strings.ToLower(managed.ControllerName(kind.GroupKind().String())))
	kube := mgr.GetClient()
	r := New(kube, log, Clock{Now: time.Now, After: func(d time.Duration, do func()) { time.AfterFunc(d, do) }})
	r.checkServed = func(ctx context.Context) error { return listing.CheckServed(ctx, kube, kind) }
	server := &hooks.Server{Address: s.Address, Receiver: r, Count: s.Count, Log: log, Now: time.Now}
	return errors.Wrap(mgr.Add(server), "cannot receive webhooks")
}

// New returns a Receiver that has recorded no webhook.
func New(kube client.Client, log logging.Logger, clock Clock) *Receiver {
	return &Receiver{
		kube: kube, log: log, clock: clock, checkServed: func(context.Context) error { return nil },
		recorded: map[types.NamespacedName]time.Time{}, late: map[types.NamespacedName]int{},
	}
}

// TokenOf returns the token of an Application's webhook, or nil if it has none that can be used. It returns an error if the API server cannot be asked.
func (r *Receiver) TokenOf(ctx context.Context, application types.NamespacedName) ([]byte, error) {
	if err := r.checkServed(ctx); err != nil {
		return nil, err
	}
	b := &v1alpha1.ImageBuild{}
	if err := r.kube.Get(ctx, application, b); err != nil {
		return nil, errors.Wrap(client.IgnoreNotFound(err), "cannot get ImageBuild")
	}
	source := b.Spec.ForProvider.Source
	source.Default()
	if source.Webhook == nil || source.Git == nil || meta.WasDeleted(b) {
		return nil, nil
	}
	ref, secret := source.Webhook.SecretRef, &corev1.Secret{}
	if err := r.kube.Get(ctx, client.ObjectKey{Namespace: application.Namespace, Name: string(ref.Name)}, secret); err != nil {
		return nil, errors.Wrap(client.IgnoreNotFound(err), "cannot get Secret")
	}
	return usableToken(secret.Data[string(ref.Key)]), nil
}

// usableToken returns a token without the line break that editors add, or nil for a token of a wrong length.
func usableToken(value []byte) []byte {
	token := bytes.TrimRight(value, "\r\n")
	if len(token) < minToken || len(token) > maxToken {
		return nil
	}
	return token
}
