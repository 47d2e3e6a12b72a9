package gate

import (
	"testing"
	"time"

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
			e := &external{connector: &connector{memory: newMemory()}}
			if got := e.longestCheck(tc.checks); got != tc.want {
				t.Errorf("%s\nlongest(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
