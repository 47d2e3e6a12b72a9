package webhook

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/sources"
)

const (
	// recordTimeout ends one attempt to write a record that was put off.
	recordTimeout = 10 * time.Second

	// maxRecordBackoff is the longest time between two attempts to write such a record.
	maxRecordBackoff = 30 * time.Second

	// flushInterval is the time between two attempts while the provider ends.
	flushInterval = 100 * time.Millisecond

	// clockAllowance limits the time by which the clock of another replica may be ahead. Beyond it the clocks disagree, and its time is ignored.
	clockAllowance = time.Second
)

// Record has the leader look at the repository of an Application. A webhook that follows too soon on a webhook recorded by any replica is
// recorded later, once for all webhooks until then. It returns an error if the API server does not take it.
func (r *Receiver) Record(ctx context.Context, application types.NamespacedName) error {
	hooked, err := r.lastRecordedHook(ctx, application)
	if err != nil {
		return err
	}
	delay, isFirst := r.reserveOrDelay(application, hooked)
	if delay == 0 {
		return r.annotateImageBuild(ctx, application)
	}
	if isFirst {
		r.clock.After(delay, func() { r.writeDelayedHook(application, 0) })
	}
	return nil
}

// lastRecordedHook returns when a replica last recorded a webhook of an ImageBuild, as the cache has it. It is zero for an annotation that has no time.
func (r *Receiver) lastRecordedHook(ctx context.Context, key types.NamespacedName) (time.Time, error) {
	b := &v1alpha1.ImageBuild{}
	if err := r.kube.Get(ctx, key, b); err != nil {
		return time.Time{}, errors.Wrap(err, "cannot get ImageBuild")
	}
	hooked, _ := time.Parse(time.RFC3339Nano, b.GetAnnotations()[v1alpha1.AnnotationHookedAt])
	return hooked, nil
}

// reserveOrDelay returns the time for which the record of a webhook has to wait, and whether no earlier record waits. Without a delay it is written now.
func (r *Receiver) reserveOrDelay(key types.NamespacedName, hooked time.Time) (delay time.Duration, isFirst bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delay = r.reserveWrite(key, hooked); delay == 0 {
		return 0, false
	}
	r.late[key]++
	return delay, r.late[key] == 1
}

// reserveWrite reserves a write now, or returns the time until it may be written. The caller holds the lock.
func (r *Receiver) reserveWrite(key types.NamespacedName, hooked time.Time) time.Duration {
	now := r.clock.Now()
	maps.DeleteFunc(r.recorded, func(_ types.NamespacedName, recorded time.Time) bool { return now.Sub(recorded) >= sources.Spacing })
	delay := max(spacingLeft(r.recorded[key], now), spacingLeft(hooked, now))
	if delay == 0 {
		r.recorded[key] = now
	}
	return delay
}

// spacingLeft returns the time for which the next record has to wait after a record.
func spacingLeft(recorded, now time.Time) time.Duration {
	age := now.Sub(recorded)
	if age >= sources.Spacing || age < -clockAllowance {
		return 0
	}
	return min(sources.Spacing-age, sources.Spacing)
}

// writeDelayedHook writes a record that was put off. It tries again until that succeeds: the sender of the webhook has the answer Accepted, and does not send it again.
func (r *Receiver) writeDelayedHook(key types.NamespacedName, failures int) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	delay, err := r.tryDelayedWrite(ctx, key)
	if err != nil {
		r.log.Info("Cannot record a webhook yet", "application", key, "error", err)
		delay = min(sources.Spacing<<min(failures, 10), maxRecordBackoff)
		failures++
	}
	if delay > 0 {
		r.clock.After(delay, func() { r.writeDelayedHook(key, failures) })
	}
}

// tryDelayedWrite writes a record that was put off, if none was written within the spacing. It returns when to try again, or 0 if nothing waits.
func (r *Receiver) tryDelayedWrite(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	count := r.countDelayedHooks(key)
	if count == 0 {
		return 0, nil
	}
	hooked, err := r.lastRecordedHook(ctx, key)
	if err == nil {
		if delay := r.reserveLate(key, hooked); delay > 0 {
			return delay, nil
		}
		err = r.annotateImageBuild(ctx, key)
	}
	if client.IgnoreNotFound(err) != nil {
		return 0, err
	}
	if r.settleDelayedHooks(key, count) == 0 {
		return 0, nil
	}
	return sources.Spacing, nil
}

func (r *Receiver) reserveLate(key types.NamespacedName, hooked time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reserveWrite(key, hooked)
}

func (r *Receiver) countDelayedHooks(key types.NamespacedName) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late[key]
}

// settleDelayedHooks settles the webhooks that waited when a write began, and returns the number of webhooks that came meanwhile: the leader may have looked before the
// later ones.
func (r *Receiver) settleDelayedHooks(key types.NamespacedName, count int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.late[key] -= count; r.late[key] > 0 {
		return r.late[key]
	}
	delete(r.late, key)
	return 0
}

// Flush writes all records that were put off, and tries again until its context ends.
func (r *Receiver) Flush(ctx context.Context) {
	err := wait.PollUntilContextCancel(ctx, flushInterval, true, func(ctx context.Context) (bool, error) { return r.writeAllLate(ctx), nil })
	if err != nil {
		r.log.Info("Cannot record all webhooks before the provider ends", "error", err)
	}
}

// writeAllLate writes each record that was put off, and reports whether none is left.
func (r *Receiver) writeAllLate(ctx context.Context) bool {
	r.mu.Lock()
	waiting := maps.Clone(r.late)
	r.mu.Unlock()
	isDone := true
	for key, count := range waiting {
		if client.IgnoreNotFound(r.annotateImageBuild(ctx, key)) != nil {
			isDone = false
			continue
		}
		r.settleDelayedHooks(key, count)
	}
	return isDone
}

// annotateImageBuild annotates an ImageBuild, which wakes the leader. A write that fails delays no later one.
func (r *Receiver) annotateImageBuild(ctx context.Context, key types.NamespacedName) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		v1alpha1.AnnotationHookedAt: r.clock.Now().UTC().Format(time.RFC3339Nano),
	}}})
	if err != nil {
		return errors.Wrap(err, "cannot encode annotation")
	}
	b := &v1alpha1.ImageBuild{}
	b.SetNamespace(key.Namespace)
	b.SetName(key.Name)
	if err := r.kube.Patch(ctx, b, client.RawPatch(types.MergePatchType, patch)); err != nil {
		r.releaseWrite(key)
		return errors.Wrap(err, "cannot annotate ImageBuild")
	}
	return nil
}

func (r *Receiver) releaseWrite(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.recorded, key)
}
