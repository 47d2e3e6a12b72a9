package crowds

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/receiver"
)

const (
	// notifiedDeployments are made at once, and each has one outcome.
	notifiedDeployments = 100
	notifiedName        = "notified"

	// hookSecret has the key of the signature, and the certificate of the receiver.
	hookSecret = "notification-hook"
	hookKey    = "key"
)

// notificationFigures are how quickly outcomes are posted.
func notificationFigures(s *room) []series.Figure {
	n := &notified{s: s, succeeded: map[string]time.Time{}}
	return []series.Figure{series.NewFigure("notification_p99_s", "s", n.measureDelay)}
}

// A notified crowd is deployments whose outcomes are posted.
type notified struct {
	s *room

	mu sync.Mutex
	// succeeded is the time at which a watch showed that a deployment is Succeeded, by its name.
	succeeded map[string]time.Time
}

// measureDelay returns the time that an outcome takes from the status of its deployment to its receiver: one in a hundred takes longer.
func (n *notified) measureDelay(ctx context.Context) (float64, error) {
	if err := n.s.OpenNew(ctx); err != nil {
		return 0, err
	}
	r, err := receiver.New(hookKey)
	if err != nil {
		return 0, err
	}
	defer r.Stop()
	if err := n.addReceiver(ctx, r); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, atOncePatience)
	defer cancel()
	if err := n.deployAndAwait(ctx, notifiedName); err != nil {
		return 0, err
	}
	received, err := awaitNotifications(ctx, r, notifiedName, notifiedDeployments)
	if err != nil {
		return 0, err
	}
	return stats.Percentile(n.notificationDelays(received), 99), nil
}

// addReceiver adds a receiver to the configuration of all deployments.
func (n *notified) addReceiver(ctx context.Context, r *receiver.Receiver) error {
	secret := &unstructured.Unstructured{Object: map[string]any{"stringData": map[string]any{"token": hookKey, "ca.crt": r.Bundle()}}}
	secret.SetAPIVersion("v1")
	secret.SetKind("Secret")
	secret.SetNamespace(namespace)
	secret.SetName(hookSecret)
	if err := n.s.CP.ApplyObject(ctx, secret); err != nil {
		return err
	}
	config := &unstructured.Unstructured{}
	config.SetAPIVersion("config.intentplane.dev/v1alpha1")
	config.SetKind("ClusterProviderConfig")
	config.SetName("default")
	patch := fmt.Appendf(nil, `{"spec":{"notifications":[{"name":"bench","url":%q,"events":["Succeeded"],"secretRef":{"namespace":%q,"name":%q},"caBundleSecretRef":{"namespace":%q,"name":%q,"key":"ca.crt"}}]}}`,
		r.URL(), namespace, hookSecret, namespace, hookSecret)
	return errors.Wrap(n.s.CP.Client.Patch(ctx, config, client.RawPatch(types.MergePatchType, patch)), "cannot patch configuration")
}

// deployAndAwait makes deployments at once, and waits until a watch that began before showed each of them Succeeded.
func (n *notified) deployAndAwait(ctx context.Context, name string) error {
	w := &writes{s: n.s}
	g, groupCtx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for !n.haveAllSucceeded() {
			if err := w.watchSucceeded(groupCtx, namespacedShape, name, n.noteSucceeded); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error { return w.applyCrowd(groupCtx, namespacedShape, name, notifiedDeployments) })
	return g.Wait()
}

// noteSucceeded notes when a deployment is Succeeded for the first time. It is true when all are.
func (n *notified) noteSucceeded(o *unstructured.Unstructured) bool {
	n.mu.Lock()
	if _, isKnown := n.succeeded[o.GetName()]; !isKnown {
		n.succeeded[o.GetName()] = time.Now()
	}
	n.mu.Unlock()
	return n.haveAllSucceeded()
}

func (n *notified) haveAllSucceeded() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.succeeded) >= notifiedDeployments
}

// awaitNotifications waits until a receiver has a notification of each of so many deployments, and returns when it took the first one of each, by their names.
func awaitNotifications(ctx context.Context, r *receiver.Receiver, name string, want int) (map[string]time.Time, error) {
	for {
		all, changed := r.Taken()
		received := map[string]time.Time{}
		for _, posted := range all {
			subject := posted.Subject[strings.LastIndex(posted.Subject, "/")+1:]
			if _, isKnown := received[subject]; !isKnown && strings.HasPrefix(subject, name+"-at-") {
				received[subject] = posted.At
			}
		}
		if len(received) >= want {
			return received, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, errors.Wrapf(ctx.Err(), "the receiver took %d of %d notifications", len(received), want)
		}
	}
}

// notificationDelays returns the time that each notification took. A notification that was taken before the watch showed the status took no time.
func (n *notified) notificationDelays(received map[string]time.Time) []float64 {
	out := make([]float64, 0, len(received))
	for name, receivedAt := range received {
		out = append(out, max(0, receivedAt.Sub(n.succeeded[name]).Seconds()))
	}
	return out
}
