package gate

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestLongest(t *testing.T) {
	checkWith := func(change func(c *v1alpha1.GateCheck)) v1alpha1.GateCheck {
		c := check("errors", "edge1")
		change(&c)
		return c
	}
	cases := map[string]struct {
		reason string
		checks []v1alpha1.GateCheck
		want   time.Duration
	}{
		"Window": {
			reason: "A query whose window is longer than initialDelay is measured after its window, within a minute, and then for its timeout.",
			checks: []v1alpha1.GateCheck{checkWith(func(*v1alpha1.GateCheck) {})}, want: 11*time.Second + time.Minute + time.Minute,
		},
		"Delay": {
			reason: "A longer initialDelay comes first.", want: 10*time.Minute + time.Minute + time.Minute,
			checks: []v1alpha1.GateCheck{checkWith(func(c *v1alpha1.GateCheck) { c.InitialDelay = "10m" })},
		},
		"Interval": {
			reason: "A check with a long interval may wait for its place on the grid.", want: 11*time.Second + 10*time.Minute + time.Hour,
			checks: []v1alpha1.GateCheck{checkWith(func(c *v1alpha1.GateCheck) { c.Interval, c.Timeout = "10m", "1h" })},
		},
		"Job": {
			reason: "A Job begins after its initialDelay, and its cluster may take a minute longer.", want: time.Second + time.Minute + time.Minute,
			checks: []v1alpha1.GateCheck{checkWith(func(c *v1alpha1.GateCheck) {
				c.Type, c.Prometheus, c.Job = "Job", nil, &deploymentv1alpha1.JobCheck{}
			})},
		},
		"Availability": {
			reason: "Pods that are available when the timeout has passed get the time to stay so.", want: 2*2*time.Minute + 2*time.Minute + 5*time.Minute,
			checks: []v1alpha1.GateCheck{checkWith(func(c *v1alpha1.GateCheck) {
				c.Type, c.Prometheus, c.Availability = "Availability", nil, &deploymentv1alpha1.AvailabilityCheck{}
				c.Interval, c.Count, c.Timeout = "2m", new(int32(3)), "5m"
			})},
		},
		"Longest": {
			reason: "The longest check counts.", want: 12 * time.Minute,
			checks: []v1alpha1.GateCheck{checkWith(func(*v1alpha1.GateCheck) {}), checkWith(func(c *v1alpha1.GateCheck) { c.InitialDelay = "10m" })},
		},
		"Impossible": {
			reason: "A check that can never be measured takes no time.",
			checks: []v1alpha1.GateCheck{checkWith(func(c *v1alpha1.GateCheck) { c.Interval = "1h" })},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := &external{connector: &connector{memory: newNoteMemory()}}
			if got := e.longestCheck(tc.checks); got != tc.want {
				t.Errorf("%s\nlongest(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

func TestCannotBeMeasured(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.GateCheck)
		want   string
	}{
		"Query": {
			reason: "A text that is not PromQL can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Prometheus.Query = "sum(" }, want: "the query: is not PromQL",
		},
		"FixedTime": {
			reason: "A query at a fixed time can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Prometheus.Query = "up @ 1" }, want: "the query: selects a fixed time",
		},
		"Threshold": {
			reason: "A check without a threshold can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Threshold = "good" }, want: "threshold: must be a threshold",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := quick("errors")
			tc.change(&c)
			w := newWorld(t, c)
			w.reconcile()
			if got := w.state(); got != "Error/Error/Error" {
				t.Fatalf("%s\ngot %s", tc.reason, got)
			}
			if got := w.get().Status.AtProvider.Checks[0].Message; !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMetricsUnavailable stops the Prometheus server for longer than the Gate waits for it.
func TestMetricsUnavailable(t *testing.T) {
	t.Parallel()
	c := quick("errors")
	c.ConsecutiveErrorLimit = new(int32(0))
	w := newWorld(t, c)
	w.stop(true)
	w.until("Held//Running")
	r := w.get().Status.AtProvider.Checks[0]
	if r.UnavailableSince == nil || r.Message != w.trouble() {
		t.Errorf("the check that waits: %+v", r)
	}
	if diff := cmp.Diff(`check "errors" at Site "edge1": `+w.trouble(), w.get().GetCondition(xpv2.TypeReady).Message); diff != "" {
		t.Errorf("Ready: -want, +got:\n%s", diff)
	}
	w.stop(false)
	w.until("Passed/Passed/Passed")
	if r := w.get().Status.AtProvider.Checks[0]; r.UnavailableSince != nil || r.Message != "" {
		t.Errorf("the check that passed: %+v", r)
	}
}

// TestMetricsUnavailableRejects asks a server that never answers, and lets the Gate reject for it.
func TestMetricsUnavailableRejects(t *testing.T) {
	w := newWorld(t, quick("errors"))
	g := w.get()
	g.Spec.ForProvider.OnMetricsUnavailable = "Reject"
	w.must(w.kube.Update(t.Context(), g))
	w.stop(true)
	w.until("Error/Error/Error")
	want := "the metrics backend was unavailable for longer than metricsUnavailableTimeout: " + w.trouble()
	if diff := cmp.Diff(want, w.get().Status.AtProvider.Checks[0].Message); diff != "" {
		t.Errorf("the message of the check: -want, +got:\n%s", diff)
	}
}
