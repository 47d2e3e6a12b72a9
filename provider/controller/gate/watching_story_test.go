package gate

import (
	"context"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/meter"
)

// newPause is a Gate of a step with a pause that a user ends.
func newPause(t *testing.T, c ...v1alpha1.GateCheck) *world {
	t.Helper()
	w := newWorld(t, c...)
	g := w.get()
	g.Spec.ForProvider.Until = v1alpha1.GateUntilReleased
	w.must(w.kube.Update(t.Context(), g))
	w.edit(func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Pause = "Manual" })
	w.release(corev1.ConditionFalse, deliveryv1alpha1.ReasonPausing)
	return w
}

// release the pause, or not.
func (w *world) release(status corev1.ConditionStatus, reason xpv2.ConditionReason) {
	w.Helper()
	w.edit(func(s *deliveryv1alpha1.SiteSync) {
		c := xpv2.Condition{Type: deliveryv1alpha1.TypeReleased, Status: status, Reason: reason, LastTransitionTime: metav1.Now()}
		s.SetConditions(c.WithObservedGeneration(s.GetGeneration()))
	})
}

// measure so many times more.
func (w *world) measure(times int) {
	w.Helper()
	count := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.asked)
	}
	for want := count() + times; count() < want; {
		w.reconcile()
		<-w.measured
	}
}

// TestPauseIsWatched measures in a pause, in which nothing is written, and passes once it is released.
func TestPauseIsWatched(t *testing.T) {
	t.Parallel()
	w := newPause(t, quick("errors"))
	w.until("Watching//Running")
	if countedAt := w.get().Status.AtProvider.Checks[0].CountedAt; countedAt == nil {
		t.Error("a check that has its count: want countedAt, got none")
	}
	baseline := w.writes
	w.measure(3)
	if w.writes != baseline {
		t.Errorf("writes of the status in the pause: want none, got %d", w.writes-baseline)
	}
	w.release(corev1.ConditionTrue, deliveryv1alpha1.ReasonPromoted)
	w.reconcile()
	if got := w.state(); got != "Passed/Passed/Passed" {
		t.Errorf("once the pause is released: want a Gate that passed, got %s", got)
	}
}

// TestLastMinuteBreach gets worse when the check has its count, before the pause is over.
func TestLastMinuteBreach(t *testing.T) {
	t.Parallel()
	w := newPause(t, quick("errors"))
	w.until("Watching//Running")
	w.say("7")
	w.until("Failed/Failed/Failed")
}

// TestWatchAfterRestart loses the measurements: a user who ends the pause waits for no new count.
func TestWatchAfterRestart(t *testing.T) {
	t.Parallel()
	w := newPause(t, quick("errors"))
	w.until("Watching//Running")
	w.restart()
	m := meter.New(time.Now, func(o types.NamespacedName) { w.woken <- o }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { _ = m.Start(ctx) }()
	w.c.meter = m
	w.release(corev1.ConditionTrue, deliveryv1alpha1.ReasonPromoted)
	w.reconcile()
	if got := w.state(); got != "Passed/Passed/Passed" {
		t.Errorf("once the pause is released: want a Gate that passed, got %s", got)
	}
}

// TestPrometheusRestartsInPause stops the Prometheus server in the pause, for longer than the Gate reports nothing. That is not a
// breach.
func TestPrometheusRestartsInPause(t *testing.T) {
	t.Parallel()
	c := quick("errors")
	c.ConsecutiveErrorLimit = new(int32(0))
	w := newPause(t, c)
	w.until("Watching//Running")
	w.stop(true)
	w.until("Held//Running")
	w.stop(false)
	w.until("Watching//Running")
	w.release(corev1.ConditionTrue, deliveryv1alpha1.ReasonPauseOver)
	w.until("Passed/Passed/Passed")
}

// TestReleasedBeforeCount promotes before the check has its count: a promotion releases no Gate.
func TestReleasedBeforeCount(t *testing.T) {
	t.Parallel()
	c := quick("errors")
	c.InitialDelay = "1h"
	w := newPause(t, c)
	w.reconcile()
	w.release(corev1.ConditionTrue, deliveryv1alpha1.ReasonPromoted)
	w.reconcile()
	if got := w.state(); got != "Measuring//Running" {
		t.Errorf("a Gate without its count: want it to measure, got %s", got)
	}
}

// TestInconclusive asks a server without an answer that decides.
func TestInconclusive(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, on, want string
	}{
		"Hold": {
			reason: "A Gate that comes to no conclusion leaves it to a user.",
			on:     deploymentv1alpha1.InconclusiveHold, want: "Inconclusive/Inconclusive/Inconclusive",
		},
		"Reject": {reason: "A Gate that comes to no conclusion rejects.", on: deploymentv1alpha1.InconclusiveReject, want: "Error/Error/Error"},
		"Absent": {reason: "A Gate without a failure policy rejects.", want: "Error/Error/Error"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			c := quick("errors")
			c.NoData = deploymentv1alpha1.NoDataInconclusive
			w := newWorld(t, c)
			g := w.get()
			g.Spec.ForProvider.OnInconclusive = tc.on
			w.must(w.kube.Update(t.Context(), g))
			w.say("NaN")
			w.until(tc.want)
		})
	}
}
