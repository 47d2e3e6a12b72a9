package overview

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

const checkHeader = "site           phase        value      threshold    measured  started  ended\n"

func TestCheckLines(t *testing.T) {
	waits := func(f *cause.Facts) {
		f.Gates[0].Status.AtProvider.Checks = nil
		f.Gates[0].SetConditions(samples.NotReady("NotLive", "Site edge2 does not run the revision yet."))
	}
	isJob := func(f *cause.Facts) {
		check := &f.Gates[0].Spec.ForProvider.Checks[3]
		check.Prometheus, check.Job = nil, &deploymentv1alpha1.JobCheck{Image: "curl:8"}
		result := &f.Gates[0].Status.AtProvider.Checks[3]
		result.Value, result.Threshold, result.Measurements, result.Message = "", "", 0, "exit code 1"
		result.JobRef = &rolloutv1alpha1.CheckJobReference{Name: "shop-post-1"}
	}
	isAvailability := func(f *cause.Facts) {
		isJob(f)
		check := &f.Gates[0].Spec.ForProvider.Checks[3]
		check.Job, check.Availability = nil, &deploymentv1alpha1.AvailabilityCheck{Image: "shop:2"}
		result := &f.Gates[0].Status.AtProvider.Checks[3]
		result.JobRef, result.Message = nil, "0 of 1 pods are available: CrashLoopBackOff"
	}
	unavailable := func(f *cause.Facts) {
		unavailableSince := metav1.NewTime(samples.Now())
		f.Gates[0].Status.AtProvider.Checks[3].UnavailableSince = &unavailableSince
	}
	ended := func(f *cause.Facts) {
		timestamp := metav1.NewTime(samples.Now())
		f.Gates[0].Status.AtProvider.Checks[3].Recent = []rolloutv1alpha1.Measurement{{At: timestamp, Outcome: "Pass", Value: "212ms"}, {At: timestamp, Outcome: "Unavailable"}}
	}
	reported := func(f *cause.Facts) {
		f.Gates = nil
		f.Deployment.Status.ValidationResults = []deploymentv1alpha1.ValidationResult{{Name: "latency_p99", Site: "edge2", Passed: true, Value: "10ms", Threshold: "<= 500ms"}}
	}
	cases := map[string]struct {
		reason string
		edit   func(*cause.Facts)
		want   string
	}{
		"Waits": {reason: "An unmeasured check shows the object that its Gate waits for.", edit: waits, want: `edge2          Pending      -          <= 500ms     -         -        -
            Site edge2 does not run the revision yet.
Asked:      latency_p99`},
		"Job": {reason: "A Job has no measurements, and is named.", edit: isJob, want: `edge2          Failed       -          -            -         14:00:40 -
            exit code 1
Job:        shop-post-1
Asked:      Job of curl:8`},
		"Availability": {reason: "Pods are not counted by measurements, and their image is named.", edit: isAvailability, want: `edge2          Failed       -          -            -         14:00:40 -
            0 of 1 pods are available: CrashLoopBackOff
Asked:      available pods of shop:2`},
		"Unavailable": {reason: "A backend that does not answer is named.", edit: unavailable, want: `edge2          Failed       812ms      <= 500ms     5 of 5    14:00:40 -
            The backend is unavailable since 14:03:40.
Asked:      latency_p99`},
		"Ended": {reason: "A check that has ended shows its last measurements.", edit: ended, want: `
            14:03:40 Pass         212ms
            14:03:40 Unavailable  -
Asked:      latency_p99`},
		"Reported": {reason: "The results of the deployment stand for Gates that are gone.", edit: reported, want: `latency_p99  revision 7
` + checkHeader + `edge2          Passed       10ms       <= 500ms     -         -        -`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := samples.RollingBack().Facts()
			tc.edit(f)
			got := strings.Join(CheckLines(MeasuredChecks(f, "latency_p99"), style()), "\n")
			if !strings.HasSuffix(got, tc.want) {
				t.Errorf("\n%s\nCheckLines(...): want the end %q, got:\n%s", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMeasuredChecks has the newest step first.
func TestMeasuredChecks(t *testing.T) {
	f := samples.RollingBack().Facts()
	later := f.Gates[0].DeepCopy()
	position := later.Spec.ForProvider.AskedPosition()
	position.Step++
	later.Spec.ForProvider.Position = &position
	f.Gates = append(f.Gates, *later)
	var got []string
	for _, m := range MeasuredChecks(f, "error_rate") {
		got = append(got, m.Site+" "+strings.Repeat("I", int(m.Step)))
	}
	if diff := cmp.Diff([]string{"edge1 II", "edge2 II", "edge1 I", "edge2 I"}, got); diff != "" {
		t.Errorf("MeasuredChecks(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"error_rate", "latency_p99"}, CheckNames(f)); diff != "" {
		t.Errorf("CheckNames(...): -want, +got:\n%s", diff)
	}
}
