package meter

import (
	"strings"
	"testing"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestNewTask(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.GateCheck)
		want   string
	}{
		"Valid": {reason: "A check with a threshold has a task.", change: func(*v1alpha1.GateCheck) {}},
		"Threshold": {
			reason: "A check without a threshold can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Threshold = "good" }, want: "threshold: must be a threshold",
		},
		"Bare": {
			reason: "A threshold without a comparison can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Threshold = "5" }, want: "threshold: must begin with a comparison",
		},
		"Unit": {
			reason: "A threshold in a unit of another quantity can never be measured.",
			change: func(c *v1alpha1.GateCheck) { c.Threshold, c.Unit = "<= 5 ms", "%" }, want: "threshold: ",
		},
		"Impossible": {
			reason: "Rules that no measurement can meet are refused.",
			change: func(c *v1alpha1.GateCheck) { c.Count = new(int32(100)) }, want: "timeout: must be longer",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := v1alpha1.GateCheck{Check: deploymentv1alpha1.Check{
				Name: "errors", Site: "edge1", Type: "Prometheus", Threshold: "<= 0.5", Interval: "5s", InitialDelay: "1s", Timeout: "1m",
			}}
			tc.change(&c)
			task, err := NewTask(c)
			switch {
			case tc.want == "" && (err != nil || task.ID != "edge1/errors" || task.Criteria.MinSamples != 1):
				t.Errorf("\n%s\nNewTask(...): got %+v, %v", tc.reason, task, err)
			case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
				t.Errorf("\n%s\nNewTask(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
