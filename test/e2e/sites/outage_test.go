package sites

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestPrometheusStops stops the Prometheus server in the middle of a Gate. The good revision succeeds once the server is back.
func TestPrometheusStops(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	r.Succeed(r.claimJudged(claim, 1, 1, "1m"))
	o := r.claimJudged(claim, 2, 15, "30s")
	r.Apply(o)
	r.Until("the Gate measures", patience.Limit, func() bool { return r.gateReadyReason(claim, 2) == "Measuring" })
	r.server.Stop()
	began := time.Now()
	observed := r.Await(o, "MetricsUnavailable", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Validated", corev1.ConditionUnknown, "MetricsUnavailable") &&
			strings.Contains(scene.Field(u, "status", "message"), "The metrics backend is unavailable, and is asked again: ")
	})
	if !scene.Is(observed, "Stalled", corev1.ConditionFalse, "Progressing") {
		t.Errorf("Stalled while the server is down: %v", scene.Condition(observed, "Stalled"))
	}
	start := r.awaitUnavailable(claim, 2)
	time.Sleep(time.Until(began.Add(outageLength())))
	if later := r.awaitUnavailable(claim, 2); !later.Equal(start) {
		t.Errorf("the check is unavailable since %s, and after the outage since %s: want one time without interruption", start, later)
	}
	r.Must(r.server.Start(t.Context()))
	t.Logf("the server was down for %s", time.Since(began).Round(time.Second))
	observed = r.Succeed(o)
	t.Logf("the revision succeeded %s after the server was stopped", time.Since(began).Round(time.Second))
	if diff := cmp.Diff(transitionsOfSuccess("2", "Succeeded"), r.logOfTransitions(observed)[6:]); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	if c := r.gateOfRevision(claim, 2).Status.AtProvider.Checks[0]; c.Phase != "Passed" || c.Measurements != 15 || c.UnavailableSince != nil {
		t.Errorf("the check after the outage: %+v", c)
	}
	r.AwaitCommits(2)
}

// TestPrometheusStaysDown has two deployments whose Prometheus server stays unavailable: the first is held until a user rolls it back, and the policy of the
// second rejects.
func TestPrometheusStaysDown(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	claims := map[string]func(int) *unstructured.Unstructured{}
	for name, policy := range map[string]string{"held": "Hold", "rejected": "Reject"} {
		claims[name] = func(replicas int) *unstructured.Unstructured {
			o := r.Set(r.claimJudged(name, replicas, 1, "1m"), policy, "spec", "gatesConfig", "onMetricsUnavailable")
			if replicas > 1 { // The first revision has to succeed, and keeps the default.
				r.Set(o, "15s", "spec", "gatesConfig", "metricsUnavailableTimeout")
			}
			return o
		}
		r.Apply(claims[name](1))
	}
	for _, describe := range claims {
		r.Succeed(describe(1))
	}
	r.server.Stop()
	for _, describe := range claims {
		r.Apply(describe(2))
	}

	o := claims["rejected"](2)
	observed := r.awaitOutcome(o, "Succeeded", "RolledBack")
	if message := scene.Field(observed, "status", "message"); !strings.Contains(message, "the metrics backend was unavailable for longer than metricsUnavailableTimeout") {
		t.Errorf("the deployment that is rejected says %q", message)
	}

	o = claims["held"](2)
	observed = r.Await(o, "held", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Stalled", corev1.ConditionTrue, "MetricsUnavailable") && strings.Contains(scene.Field(u, "status", "message"), "The revision is held: ")
	})
	if scene.Field(observed, "status", "phase") != "Validating" || r.gateReadyReason("held", 2) != "Held" {
		t.Errorf("the deployment that is held: phase %s, Gate %s", scene.Field(observed, "status", "phase"), r.gateReadyReason("held", 2))
	}
	r.Apply(r.Request("abort", o, rolloutv1alpha1.ActionAbort, 2))
	observed = r.awaitOutcome(o, "Succeeded", "RolledBack")
	if !scene.Is(observed, "Validated", corev1.ConditionFalse, "Requested") {
		t.Errorf("the deployment that a user rolled back: %v", scene.Condition(observed, "Validated"))
	}
	for name := range claims {
		if files := fmt.Sprint(r.FilesBelow(r.Directory("edge1", name))); !strings.Contains(files, "replicas: 1") {
			t.Errorf("%s runs other than revision 1:\n%s", name, files)
		}
	}
}
