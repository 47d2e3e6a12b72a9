package sites

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestRecordedMeasurements shows the last measurements of a check that passed, and of a check that failed, in the Gate and on the command
// line.
func TestRecordedMeasurements(t *testing.T) {
	t.Parallel()
	r := unobserved(t)
	o := r.describeJudged(1, 3)
	r.Succeed(o)
	r.wantRecent(1, rolloutv1alpha1.GatePassed, "Pass")
	r.target.Set("error_ratio", bad)
	r.awaitOutcome(r.describeJudged(2, 60), "Succeeded", "RolledBack")
	r.wantRecent(2, rolloutv1alpha1.GateFailed, "Fail")
	output := r.Program("", r.Built("kubectl-intent"), "logs", "intentdeployments.claims.intentplane.dev/"+claim, "errors", "-n", r.Namespace, "--kubeconfig", cp.Kubeconfig)
	if !strings.Contains(output, "Fail ") || !strings.Contains(output, "<= 0.05") {
		t.Errorf("kubectl intent logs: %s", output)
	}
}

// wantRecent compares the newest of the recent measurements of a revision with the deciding measurement of its check.
func (r *trial) wantRecent(revision int64, verdict rolloutv1alpha1.GateVerdict, outcome string) {
	r.T.Helper()
	g := r.gateOfRevision(claim, revision)
	if g == nil {
		r.T.Fatalf("revision %d has no Gate", revision)
	}
	observation := g.Status.AtProvider
	if observation.Verdict != verdict || len(observation.Checks) != 1 || len(observation.Checks[0].Recent) == 0 {
		r.T.Fatalf("measurements of revision %d: %+v", revision, observation)
	}
	c := observation.Checks[0]
	last := c.Recent[len(c.Recent)-1]
	if diff := cmp.Diff([]string{outcome, c.Value}, []string{last.Outcome, last.Value}); diff != "" || c.Value == "" {
		r.T.Errorf("last measurement of revision %d: -want, +got:\n%s", revision, diff)
	}
}
