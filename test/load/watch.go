package load

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// Ready waits until so many GitDeliveries of a place are Ready. GitDeliveries that are Ready already count. It returns an error if it cannot
// be read.
func (l *Load) Ready(ctx context.Context, place string, n int) error {
	ready, err := l.awaitReadyCount(ctx, &deliveryv1alpha1.GitDeliveryList{}, place, n, func(c xpv2.Condition) bool { return c.Status == corev1.ConditionTrue })
	return errors.Wrapf(err, "%d of %d GitDeliveries are Ready", ready, n)
}

// awaitReadyCount follows the objects of a place until the condition Ready of n of them is as wanted, and returns how many are.
func (l *Load) awaitReadyCount(ctx context.Context, all client.ObjectList, place string, n int, wanted func(xpv2.Condition) bool) (int, error) {
	found := map[types.NamespacedName]bool{}
	err := l.followObjects(ctx, all, place, func(o client.Object) bool {
		if c, ok := o.(conditioned); ok && wanted(c.GetCondition(xpv2.TypeReady)) {
			found[client.ObjectKeyFromObject(o)] = true
		}
		return len(found) == n
	})
	return len(found), err
}

// A conditioned object reports its state in conditions.
type conditioned interface {
	GetCondition(t xpv2.ConditionType) xpv2.Condition
}

// Changes returns how often any of so many GitDeliveries is written until a channel ends. It returns an error if it cannot be read.
func (l *Load) Changes(ctx context.Context, n int, done <-chan struct{}) (int, error) {
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(deliveryv1alpha1.GroupVersion.WithKind("GitDeliveryList"))
	changes, observed, err := l.countChanges(ctx, all, "", done, func(client.Object) bool { return true })
	if err == nil && observed != n {
		return 0, errors.Errorf("%d of %d GitDeliveries were seen", observed, n)
	}
	return changes, err
}

// countChanges returns how often the wanted objects of a kind in a place are written until a channel ends, and how many there are.
func (l *Load) countChanges(ctx context.Context, all client.ObjectList, place string, done <-chan struct{}, wanted func(client.Object) bool) (changes, observed int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-done:
			stop()
		case <-ctx.Done():
		}
	}()
	versions := map[types.NamespacedName]string{}
	err = l.followObjects(ctx, all, place, func(o client.Object) bool {
		key, version := client.ObjectKeyFromObject(o), o.GetResourceVersion()
		if previous, isKnown := versions[key]; isKnown && previous != version {
			changes++
		}
		if wanted(o) {
			versions[key] = version
		}
		return false
	})
	if err != nil && ctx.Err() == nil {
		return 0, 0, err
	}
	return changes, len(versions), nil
}

// followObjects calls a function with each object of a kind in a place, as it is and whenever it changes, until that is enough. It returns an error if they
// cannot be watched, or ctx ends.
func (l *Load) followObjects(ctx context.Context, all client.ObjectList, place string, enough func(client.Object) bool) error {
	for ctx.Err() == nil {
		done, err := l.watchObjects(ctx, all, place, enough)
		if done || err != nil {
			return err
		}
		if err := l.cp.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// watchObjects watches until it is enough, or until the API server ends the watch, which it may at any time.
func (l *Load) watchObjects(ctx context.Context, all client.ObjectList, place string, enough func(client.Object) bool) (bool, error) {
	w, err := l.kube.Watch(ctx, all, client.InNamespace(place))
	if err != nil {
		return false, errors.Wrapf(err, "cannot watch %T", all)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if o, ok := e.Object.(client.Object); ok && enough(o) {
			return true, nil
		}
	}
	return false, nil
}
