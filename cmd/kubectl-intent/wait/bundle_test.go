package wait

import (
	"encoding/json"
	"testing"

	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func TestProgressOfBundle(t *testing.T) {
	failed := func(reason string) *samples.BundleSample {
		s := samples.NewBundle(samples.New())
		s.Web.Status, s.Web.Ready, s.Web.Reason = statev1alpha1.StatusFailed, false, reason
		return s
	}
	suspended := samples.InProgress(samples.New())
	suspended.IsSuspended = true
	degraded := samples.NewBundle(samples.New())
	degraded.Web.Ready, degraded.Web.Reason = false, statev1alpha1.PackageReasonNotReady
	cases := map[string]struct {
		reason string
		sample *samples.BundleSample
		goal   goal
		want   result
	}{
		"Succeeded": {reason: "A Bundle whose packages run is reached.", sample: samples.NewBundle(samples.New()), want: resultSucceeded},
		"Deploying": {reason: "A package that is deployed is waited for.", sample: samples.InProgress(samples.New()), want: resultGoesOn},
		"Degraded":  {reason: "A package that is not ready any more may become so again.", sample: degraded, want: resultGoesOn},
		"Failed":    {reason: "A package that failed ends the wait.", sample: failed(statev1alpha1.PackageReasonFailed), want: resultFailed},
		"RolledBack": {
			reason: "A package that was rolled back has an end of its own.",
			sample: failed(statev1alpha1.PackageReasonRolledBack), want: resultRolledBack,
		},
		"Suspended": {reason: "A suspended Bundle ends the wait.", sample: suspended, want: resultFailed},
		"Superseded": {
			reason: "Another spec supersedes the awaited spec.",
			sample: samples.NewBundle(samples.New()), goal: goal{isFixed: true, digest: "of the file", seen: "of the file"}, want: resultSuperseded,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, err := json.Marshal(tc.sample.Facts().Bundle)
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&waiter{goal: tc.goal}).progressOfBundle(b)
			if err != nil || got.result != tc.want {
				t.Errorf("\n%s\nprogressOfBundle(...): %+v, %v, want %s", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestParseGoalOfBundle(t *testing.T) {
	const file = "../../../examples/bundles/ordered.yaml"
	if g, err := parseGoalOfBundle("digest="+file, nil); err != nil || g.digest == "" {
		t.Errorf("parseGoalOfBundle(digest=%s): %+v, %v", file, g, err)
	}
	for _, text := range []string{"live", "step=2"} {
		if _, err := parseGoalOfBundle(text, nil); err == nil {
			t.Errorf("parseGoalOfBundle(%s): a Bundle has neither Sites nor steps, and the goal gives no error", text)
		}
	}
	if _, err := digestOfBundleFile(examples+"40-claim.yaml", nil); err == nil {
		t.Error("digestOfBundleFile(...): a file without a Bundle gives no error")
	}
}
