package transition

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// A canaryScene follows the canary of one deployment.
type canaryScene struct {
	*testEnv

	now time.Time
}

func newCanaryScene(t *testing.T) *canaryScene {
	t.Helper()
	s := &canaryScene{testEnv: newTestEnv(t), now: clock()}
	s.restart()
	return s
}

// restart replaces the process of the provider.
func (s *canaryScene) restart() {
	s.testEnv.restart()
	s.r.now = func() time.Time { return s.now }
}

// is lets some seconds pass, after which the status has a state twice.
func (s *canaryScene) is(seconds int, revision int64, step string, weight int32, state deploymentv1alpha1.CanaryState) {
	s.t.Helper()
	s.now = s.now.Add(time.Duration(seconds) * time.Second)
	s.status.Revision = revision
	s.status.Canary = &deploymentv1alpha1.CanaryStatus{State: state, Step: step, Weight: &weight, Track: "green", StableRevision: 1}
	if state == deploymentv1alpha1.CanaryPaused {
		s.status.Canary.Until = new(metav1.NewTime(clock().Add(time.Hour)))
	}
	s.mustReconcile()
	s.mustReconcile()
}

func (s *canaryScene) want(name string, want map[string]float64) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.total(name)); diff != "" {
		s.t.Errorf("%s: -want, +got:\n%s", name, diff)
	}
}

const (
	canarySteps = "intentdeployment_canary_steps_total"
	canaryTook  = "intentdeployment_canary_step_duration_seconds"
	canaryZero  = "intentdeployment_canary_weight_zero_seconds"
)

// TestCanaryEvents follows a canary to its end, over a restart of the provider.
func TestCanaryEvents(t *testing.T) {
	s := newCanaryScene(t)
	s.is(0, 1, "", 100, deploymentv1alpha1.CanaryShifting)
	s.is(0, 1, "", 0, "")
	s.is(10, 2, "1/4", 0, deploymentv1alpha1.CanaryPreparing)
	s.is(5, 2, "2/4", 5, deploymentv1alpha1.CanaryShifting)
	s.is(1, 2, "2/4", 5, deploymentv1alpha1.CanaryMeasuring)
	s.is(2, 2, "2/4", 5, deploymentv1alpha1.CanaryPaused)
	s.restart()
	s.is(30, 2, "2/4", 5, deploymentv1alpha1.CanaryPaused)
	s.now = clock().Add(time.Hour)
	s.is(1, 2, "3/4", 20, deploymentv1alpha1.CanaryAwaitingPromotion)
	s.is(40, 2, "4/4", 100, deploymentv1alpha1.CanaryMeasuring)
	s.is(3, 2, "4/4", 100, deploymentv1alpha1.CanaryDraining)
	s.is(4, 2, "", 100, "")
	want := []string{
		"Normal CanaryStep IntentDeployment shop: Revision 2 is at step 1/4: its pods start in track green, and get no requests",
		"Normal CanaryStep IntentDeployment shop: Revision 2 is at step 2/4: it gets 5 % of the requests",
		"Normal CanaryPaused IntentDeployment shop: Revision 2 pauses at 5 % of the requests until 2031-12-17T14:00:00Z",
		"Normal CanaryAwaitsPromotion IntentDeployment shop: Revision 2 waits at 20 % of the requests for a user: kubectl intent promote shop -n team-a",
		"Normal CanaryStep IntentDeployment shop: Revision 2 is at step 3/4: it gets 20 % of the requests",
		"Normal CanaryPromoted IntentDeployment shop: Step 3/4 of revision 2 was promoted",
		"Normal CanaryStep IntentDeployment shop: Revision 2 is at step 4/4: it gets 100 % of the requests",
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(s.events()))); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	s.want(canarySteps, map[string]float64{"Released": 3, "Promoted": 1})
	// Another process began the second step.
	s.want(canaryTook, map[string]float64{"": 5 + 40 + 3})
	s.want(canaryZero, map[string]float64{})
}

// TestRejectedCanary follows a rejected canary, and a canary whose pause a user ends.
func TestRejectedCanary(t *testing.T) {
	s := newCanaryScene(t)
	s.is(0, 1, "", 0, "")
	s.is(1, 2, "2/3", 20, deploymentv1alpha1.CanaryPaused)
	s.is(1, 2, "3/3", 100, deploymentv1alpha1.CanaryMeasuring)
	s.is(5, 2, "3/3", 0, deploymentv1alpha1.CanaryRollingBack)
	s.is(7, 2, "3/3", 0, deploymentv1alpha1.CanaryDraining)
	s.is(30, 2, "", 0, "")
	s.is(1, 3, "2/3", 20, deploymentv1alpha1.CanaryHeld)
	s.is(1, 4, "1/3", 0, deploymentv1alpha1.CanaryDraining)
	s.is(1, 4, "1/3", 0, deploymentv1alpha1.CanaryPreparing)
	s.want(canarySteps, map[string]float64{"Promoted": 1, "Rejected": 1, "Superseded": 1})
	s.want(canaryZero, map[string]float64{"": 7})
	count := map[string]int{}
	for _, e := range s.events() {
		count[e]++
	}
	for _, want := range []string{
		"Warning CanaryTrafficReturned IntentDeployment shop: Revision 2 gets no requests any more",
		"Normal CanaryPromoted IntentDeployment shop: Step 2/3 of revision 2 was promoted",
		"Normal CanaryAwaitsPromotion IntentDeployment shop: Revision 3 waits at 20 % of the requests for a user, since its Gate came to no " +
			"verdict: kubectl intent promote shop -n team-a",
	} {
		if count[want] != 1 {
			t.Errorf("want one event %q, got %v", want, s.events())
		}
	}
}

// TestRejectedBeforeRequests follows canaries that are rejected while they have no requests, and so are never RollingBack.
func TestRejectedBeforeRequests(t *testing.T) {
	cases := map[string]struct {
		reason string
		before deploymentv1alpha1.CanaryState
		after  []deploymentv1alpha1.CanaryState
	}{
		"PodsNeverCame": {
			reason: "The step of a revision whose pods do not come ends with its rejection, and the removal of its pods ends no other step.",
			before: deploymentv1alpha1.CanaryPreparing,
			after:  []deploymentv1alpha1.CanaryState{deploymentv1alpha1.CanaryPreparing, deploymentv1alpha1.CanaryDraining, ""},
		},
		"Aborted": {
			reason: "A user who gives a revision up promotes nothing.",
			before: deploymentv1alpha1.CanaryAwaitingPromotion, after: []deploymentv1alpha1.CanaryState{deploymentv1alpha1.CanaryDraining, ""},
		},
		"StaysRejected": {
			reason: "Without autoRollback the canary is at rest at once.",
			before: deploymentv1alpha1.CanaryAwaitingPromotion, after: []deploymentv1alpha1.CanaryState{""},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newCanaryScene(t)
			s.is(0, 1, "", 0, "")
			s.is(1, 2, "1/3", 0, tc.before)
			s.status.Rollback = &deploymentv1alpha1.RollbackStatus{Reason: "Aborted"}
			for _, state := range tc.after {
				step := "1/3"
				if state == "" {
					step = ""
				}
				s.is(5, 2, step, 0, state)
			}
			s.want(canarySteps, map[string]float64{"Rejected": 1})
			for _, e := range s.events() {
				if strings.Contains(e, ReasonCanaryPromoted) {
					t.Errorf("\n%s\nevents: got %q", tc.reason, e)
				}
			}
			s.status.Rollback = nil
			s.is(1, 3, "1/3", 0, deploymentv1alpha1.CanaryPreparing)
			s.is(1, 3, "2/3", 20, deploymentv1alpha1.CanaryShifting)
			s.want(canarySteps, map[string]float64{"Rejected": 1, "Released": 1})
		})
	}
}

// TestCanaryEventFails lets the creation of events fail while the canary goes on.
func TestCanaryEventFails(t *testing.T) {
	s := newCanaryScene(t)
	s.is(0, 1, "", 0, "")
	s.refused = true
	for _, step := range []string{"1/3", "2/3"} {
		s.status.Revision, s.status.Canary = 2, &deploymentv1alpha1.CanaryStatus{State: deploymentv1alpha1.CanaryPreparing, Step: step, Track: "green"}
		if err := s.reconcile(); err == nil {
			t.Fatal("Reconcile(...): want an error, so that it comes again")
		}
	}
	s.refused = false
	s.mustReconcile()
	if got := len(s.events()); got != 2 {
		t.Errorf("events: want one for each step, got %v", s.events())
	}
}

// TestManyFailedEvents lets a namespace refuse events while a canary and its phases change again and again.
func TestManyFailedEvents(t *testing.T) {
	s := newCanaryScene(t)
	s.is(0, 1, "", 0, "")
	s.refused = true
	for n := range 3 * maxPending {
		s.moveTo(int64(n+2), forward()[:2]...)
		s.status.Canary = &deploymentv1alpha1.CanaryStatus{State: deploymentv1alpha1.CanaryPreparing, Step: "1/3", Track: "green"}
		if err := s.reconcile(); err == nil {
			t.Fatal("Reconcile(...): want an error, so that it comes again")
		}
	}
	for _, log := range s.r.logs {
		if len(log.canary.pending) != maxPending || len(log.pending) != maxPending {
			t.Errorf("The newest events wait to be made: want %d and %d, got %d and %d", maxPending, maxPending, len(log.canary.pending), len(log.pending))
		}
	}
	s.refused = false
	s.mustReconcile()
	if got := len(s.events()); got != 2*maxPending {
		t.Errorf("The events that wait are made once the namespace takes them: want %d, got %d", 2*maxPending, got)
	}
	total := 0.0
	for _, n := range values(t, s.registry, transitions) {
		total += n
	}
	if total != 6*maxPending {
		t.Errorf("Each change is counted: want %d, got %v", 6*maxPending, total)
	}
}

// TestCanariesNow counts deployments by the state of their canary, until they are deleted.
func TestCanariesNow(t *testing.T) {
	s := newCanaryScene(t)
	s.is(0, 2, "2/3", 20, deploymentv1alpha1.CanaryPaused)
	s.is(1, 2, "3/3", 100, deploymentv1alpha1.CanaryMeasuring)
	if diff := cmp.Diff(map[string]float64{"Measuring": 1}, gauges(t, s.registry, "intentdeployment_canary")); diff != "" {
		t.Errorf("intentdeployment_canary: -want, +got:\n%s", diff)
	}
	s.r.forgetObject(types.NamespacedName{Namespace: "team-a", Name: "shop"})
	if diff := cmp.Diff(map[string]float64{}, gauges(t, s.registry, "intentdeployment_canary")); diff != "" {
		t.Errorf("intentdeployment_canary of a deployment that is gone: -want, +got:\n%s", diff)
	}
}

// gauges returns the values of a gauge with one label. Zeros are left out.
func gauges(t *testing.T, g prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if v := m.GetGauge().GetValue(); f.GetName() == name && v != 0 {
				out[m.GetLabel()[0].GetValue()] = v
			}
		}
	}
	return out
}
