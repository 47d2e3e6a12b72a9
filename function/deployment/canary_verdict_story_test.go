package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// aMeasuredCanary is a world whose first revision runs, with the steps 20 and 50, and with a Prometheus that measures them.
func aMeasuredCanary(t *testing.T) *world {
	t.Helper()
	w := newCanaryWorld(t, weightStep(20), weightStep(50))
	w.set("Site", "edge1", "http://prometheus", "spec", "metrics", "prometheus", "address")
	w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"error_rate": "<= 1 %"}
	if story, out := w.story("edge1", cluster{}); len(story) != 1 || !out.Ready {
		t.Fatalf("the first revision does not run: %q: %s", story, out.Status.Message)
	}
	w.sayCanary("two", 4)
	return w
}

// wantVerdict compares the ledger's verdict for the current revision, and its reason.
func (w *world) wantVerdict(reason string, want ledger.Result, verdictReason string) {
	w.t.Helper()
	got := w.ledger().Verdict
	if got == nil || got.Result != want || got.Reason != verdictReason {
		w.t.Errorf("\n%s\nverdict: want %s %s, got %+v", reason, want, verdictReason, got)
	}
}

// TestCanaryVerdicts lets a canary fail in different ways, and compares the requests and the pods.
func TestCanaryVerdicts(t *testing.T) {
	shared := []string{"blue 1: 100, green 2: 0", "blue 1: 80, green 2: 20", "blue 1: 100, green 2: 0", "blue 1: 100"}
	cases := map[string]struct {
		reason string
		how    cluster
		want   []string
		why    string
	}{
		"NoPods": {
			reason: "A canary whose pods never come gets no requests, and is removed.", how: cluster{broken: map[int64]bool{2: true}, timesOut: true},
			want: []string{"blue 1: 100, green 2: 0", "blue 1: 100"}, why: rolloutv1alpha1.RejectedSyncTimedOut,
		},
		"GateFailed": {
			reason: "A canary that a Gate fails loses its requests before its pods.",
			how:    cluster{rejects: true}, want: shared, why: rolloutv1alpha1.RejectedGateFailed,
		},
		"Inconclusive": {
			reason: "A Gate that comes to no conclusion rejects, unless it is asked to hold.",
			how:    cluster{isInconclusive: true}, want: shared, why: rolloutv1alpha1.RejectedGateFailed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := aMeasuredCanary(t)
			story, out := w.story("edge1", tc.how)
			if diff := cmp.Diff(tc.want, story); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s\n%s: %s", tc.reason, diff, out.Status.Phase, out.Status.Message)
			}
			w.wantVerdict(tc.reason, ledger.VerdictRejected, tc.why)
			if out.Status.LiveRevision != 1 {
				t.Errorf("\n%s\nwant revision 1 live, got %d: %s", tc.reason, out.Status.LiveRevision, out.Status.Message)
			}
		})
	}
}

// TestCanaryHeld holds a canary whose Gates come to no conclusion, and lets a user decide at each step.
func TestCanaryHeld(t *testing.T) {
	w := aMeasuredCanary(t)
	w.in.Spec.DeliveryConfig.Canary.OnInconclusive = deploymentv1alpha1.InconclusiveHold
	inconclusive := cluster{isInconclusive: true}
	story, out := w.story("edge1", inconclusive)
	if diff := cmp.Diff([]string{"blue 1: 100, green 2: 0", "blue 1: 80, green 2: 20"}, story); diff != "" {
		t.Errorf("\nA canary waits where its Gate came to no conclusion.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
	w.wantCondition("A user is awaited.", out, deploymentv1alpha1.TypeReconciling, corev1.ConditionTrue, deploymentv1alpha1.ReasonHeld)
	if c := out.Status.Canary; c == nil || c.State != deploymentv1alpha1.CanaryHeld || c.Promote == nil {
		t.Fatalf("\nThe status names the step to promote.\ngot %+v", c)
	}
	w.ask("p", 2, action("Promote"), stepNumber(*out.Status.Canary.Promote), uid("p"))
	story, out = w.story("edge1", inconclusive)
	if diff := cmp.Diff([]string{"blue 1: 50, green 2: 50"}, story); diff != "" {
		t.Errorf("\nA promotion passes one step.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
	w.ask("a", 2, action("Abort"), uid("a"))
	story, out = w.story("edge1", inconclusive)
	if diff := cmp.Diff([]string{"blue 1: 100, green 2: 0", "blue 1: 100"}, story); diff != "" {
		t.Errorf("\nA user gives up a held revision.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
}

// TestCanaryHeldFull releases all steps of a canary whose last Gate comes to no conclusion, and lets a user decide on that Gate.
func TestCanaryHeldFull(t *testing.T) {
	decisions := map[string]struct {
		reason string
		decide []func(*rolloutv1alpha1.RolloutRequest)
		want   int64
	}{
		"Full": {
			reason: "A user who released all steps releases the last Gate by releasing all steps again.",
			decide: []func(*rolloutv1alpha1.RolloutRequest){action("Promote"), allSteps}, want: 2,
		},
		"Step": {
			reason: "A user who released all steps releases the last Gate by its step.",
			decide: []func(*rolloutv1alpha1.RolloutRequest){action("Promote"), stepNumber(4)}, want: 2,
		},
		"Abort": {
			reason: "A user who released all steps gives the revision up that is held.",
			decide: []func(*rolloutv1alpha1.RolloutRequest){action("Abort")}, want: 1,
		},
	}
	for name, tc := range decisions {
		t.Run(name, func(t *testing.T) {
			w := aMeasuredCanary(t)
			w.in.Spec.DeliveryConfig.Canary.OnInconclusive = deploymentv1alpha1.InconclusiveHold
			inconclusive := cluster{isInconclusive: true}
			w.story("edge1", inconclusive)
			w.ask("f", 2, action("Promote"), allSteps, uid("f"))
			_, out := w.story("edge1", inconclusive)
			if c := out.Status.Canary; c == nil || c.State != deploymentv1alpha1.CanaryHeld || out.Status.Phase == deploymentv1alpha1.PhaseSucceeded {
				t.Fatalf("\nThe Gate of all requests holds a revision whose steps are all released.\ngot %s, %+v", out.Status.Phase, c)
			}
			w.in.Spec.Suspend = new(true)
			w.ask("d", 2, append(tc.decide, uid("d"))...)
			_, out = w.story("edge1", inconclusive)
			for _, r := range out.Status.Requests {
				if r.Name == "d" && rolloutv1alpha1.Result(r.Result).Refused() {
					t.Errorf("\nA decision on a held Gate is not refused while the deployment is suspended.\ngot %s", r.Result)
				}
			}
			w.in.Spec.Suspend = new(false)
			_, out = w.story("edge1", inconclusive)
			if diff := cmp.Diff(tc.want, out.Status.LiveRevision); diff != "" {
				t.Errorf("\n%s\nlive revision: -want, +got:\n%s\n%s", tc.reason, diff, out.Status.Message)
			}
		})
	}
}
