package coverage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/policy"
)

func TestIsWorkload(t *testing.T) {
	cases := map[string]struct {
		reason, group, kind string
		want                bool
	}{
		"Deployment":  {reason: "A Deployment has pods.", group: "apps", kind: "Deployment", want: true},
		"StatefulSet": {reason: "A StatefulSet has pods.", group: "apps", kind: "StatefulSet", want: true},
		"DaemonSet":   {reason: "A DaemonSet has pods.", group: "apps", kind: "DaemonSet", want: true},
		"Job":         {reason: "A Job has pods.", group: "batch", kind: "Job", want: true},
		"Pod":         {reason: "A Pod is a workload.", kind: "Pod", want: true},
		"Rollout":     {reason: "A Rollout of Argo has pods.", group: "argoproj.io", kind: "Rollout", want: true},
		"Workflow":    {reason: "A Workflow of Argo runs to its end.", group: "argoproj.io", kind: "Workflow"},
		"CronJob":     {reason: "A CronJob that waits for its time has no pods.", group: "batch", kind: "CronJob"},
		"Service":     {reason: "A Service has no pods.", kind: "Service"},
		"OtherGroup":  {reason: "A kind of another group may be anything.", group: "example.org", kind: "Deployment"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, isPodWorkload(policy.Object{Group: tc.group, Kind: tc.kind})); diff != "" {
				t.Errorf("\n%s\nisWorkload(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
