package release

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
)

// Steps are when each step of a revision was seen live and released, by a watch of its SiteSync. They are safe for concurrent use.
type Steps struct {
	revision int64
	stop     context.CancelFunc
	done     chan struct{}

	mu       sync.Mutex
	live     map[int64]time.Time
	paused   map[int64]time.Time
	released map[int64]time.Time
}

// FollowSteps follows the steps of a revision until Stop. It returns an error if the SiteSync cannot be watched.
func (r *Release) FollowSteps(ctx context.Context, revision int64) (*Steps, error) {
	ctx, stop := context.WithCancel(ctx)
	s := &Steps{revision: revision, stop: stop, done: make(chan struct{}), live: map[int64]time.Time{}, paused: map[int64]time.Time{}, released: map[int64]time.Time{}}
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion("delivery.intentplane.dev/v1alpha1")
	all.SetKind("SiteSyncList")
	w, err := r.cp.Client.Watch(ctx, all, client.InNamespace(r.Namespace))
	if err != nil {
		stop()
		return nil, errors.Wrap(err, "cannot watch SiteSync")
	}
	go s.followEvents(w)
	return s, nil
}

func (s *Steps) followEvents(w watch.Interface) {
	defer close(s.done)
	defer w.Stop()
	for e := range w.ResultChan() {
		if o, ok := e.Object.(*unstructured.Unstructured); ok {
			s.recordStepReport(o, time.Now())
		}
	}
}

// Stop following.
func (s *Steps) Stop() {
	s.stop()
	<-s.done
}

// recordStepReport records a SiteSync's report of the requested position.
func (s *Steps) recordStepReport(o *unstructured.Unstructured, timestamp time.Time) {
	requested, _, _ := unstructured.NestedMap(o.Object, "spec", "forProvider", "position")
	observed, _, _ := unstructured.NestedMap(o.Object, "status", "atProvider", "position")
	if requested["revision"] != s.revision || requested["step"] != observed["step"] || requested["stage"] != observed["stage"] || observed["revision"] != s.revision {
		return
	}
	step, ok := requested["step"].(int64)
	if !ok || !isConditionCurrent(o, "Ready") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	setFirstTime(s.live, step, timestamp)
	if start := PauseStart(o); !start.IsZero() {
		setFirstTime(s.paused, step, start)
	}
	if !hasRequestedPause(o) || isConditionCurrent(o, "Released") {
		setFirstTime(s.released, step, timestamp)
	}
}

func setFirstTime(all map[int64]time.Time, step int64, timestamp time.Time) {
	if all[step].IsZero() {
		all[step] = timestamp
	}
}

func hasRequestedPause(o *unstructured.Unstructured) bool {
	pause, _, _ := unstructured.NestedString(o.Object, "spec", "forProvider", "pause")
	return pause != ""
}

// isConditionCurrent is true for a condition that holds for the current generation.
func isConditionCurrent(o *unstructured.Unstructured, kind xpv2.ConditionType) bool {
	c := controlplane.Conditions(o).GetCondition(kind)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == o.GetGeneration()
}

// Lag returns how long after the release of a step the next one was live. It returns an error if one of them was not seen.
func (s *Steps) Lag(step int64) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.durationBetween(s.released[step], s.live[step+1], step)
}

// Paused returns how long after the beginning of its pause, as the status has it, a step was seen released.
func (s *Steps) Paused(step int64) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.durationBetween(s.paused[step], s.released[step], step)
}

// PauseStart returns when the pause of a SiteSync began. It is zero where it has none.
func PauseStart(o *unstructured.Unstructured) time.Time {
	pause, _, _ := unstructured.NestedMap(o.Object, "status", "atProvider", "pause")
	text, _ := pause["startedAt"].(string)
	start, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	micros, _ := pause["startedMicros"].(int64)
	return start.Add(time.Duration(micros) * time.Microsecond)
}

func (s *Steps) durationBetween(start, end time.Time, step int64) (time.Duration, error) {
	if start.IsZero() || end.IsZero() {
		return 0, errors.New("step " + strconv.FormatInt(step, 10) + " was not seen live and released")
	}
	return end.Sub(start), nil
}
