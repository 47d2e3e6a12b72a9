package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestSteps(t *testing.T) {
	type status = deploymentv1alpha1.IntentDeploymentStatus
	passed := deploymentv1alpha1.ValidationResult{Name: "latency_p99", Site: "edge1", Passed: true, Value: "0.099", Threshold: "< 0.5s"}
	failed := deploymentv1alpha1.ValidationResult{Name: "latency_p99", Site: "edge1", Value: "0.995", Threshold: "< 0.5s"}
	delivering := status{Phase: "Delivering", Revision: 2, LiveRevision: 1}
	validating := status{Phase: "Validating", Revision: 2, LiveRevision: 2}
	cases := map[string]struct {
		reason  string
		was, is status
		want    []string
	}{
		"Nothing": {reason: "An unchanged condition is not printed again.", was: validating, is: validating, want: []string{}},
		"Pending": {reason: "A phase before the first revision has no number.", is: status{Phase: "Pending"}, want: []string{"Pending"}},
		"Phase": {
			reason: "A new phase is printed with its revision.",
			was:    status{Phase: "Rendering", Revision: 2, LiveRevision: 1}, is: delivering, want: []string{"Delivering   revision 2"},
		},
		"Commit": {
			reason: "A commit is printed when it is in Git.",
			was:    delivering, is: status{Phase: "Delivering", Revision: 2, LiveRevision: 1, Delivery: deploymentv1alpha1.DeliveryStatus{ShortCommit: "9df06a8"}},
			want: []string{"Git has revision 2, in commit 9df06a8"},
		},
		"Live": {
			reason: "A revision is printed as live when all Sites were proven to run it.",
			was:    delivering, is: status{Phase: "Delivering", Revision: 2, LiveRevision: 2, Delivery: deploymentv1alpha1.DeliveryStatus{SitesReady: "1/1"}},
			want: []string{"Flux runs the very files of revision 2, at 1/1 Sites"},
		},
		"LiveAtOnce": {
			reason: "A revision is printed as live although no observation fell between the two revisions that all Sites ran.",
			was:    status{Phase: "Succeeded", Outcome: "RolledBack", Revision: 1, LiveRevision: 1, Delivery: deploymentv1alpha1.DeliveryStatus{SitesReady: "1/1"}},
			is:     status{Phase: "Succeeded", Outcome: "RolledBack", Revision: 2, LiveRevision: 1, Delivery: deploymentv1alpha1.DeliveryStatus{SitesReady: "1/1"}},
			want:   []string{"Flux runs the very files of revision 2, at 1/1 Sites"},
		},
		"NotAll": {
			reason: "A revision that runs at some Sites only is not printed as live.",
			was:    delivering, is: status{Phase: "Delivering", Revision: 2, LiveRevision: 1, Delivery: deploymentv1alpha1.DeliveryStatus{SitesReady: "1/2"}},
			want: []string{},
		},
		"Restored": {
			reason: "A rollback is printed with the revision that runs again, and not as a commit of the bad revision.",
			was: status{
				Phase: "RollingBack", Revision: 2, Delivery: deploymentv1alpha1.DeliveryStatus{ShortCommit: "a", SitesReady: "0/1"},
				Rollback: &deploymentv1alpha1.RollbackStatus{Active: true},
			},
			is: status{
				Phase: "RollingBack", Revision: 2, LiveRevision: 1, Delivery: deploymentv1alpha1.DeliveryStatus{ShortCommit: "b", SitesReady: "1/1"},
				Rollback: &deploymentv1alpha1.RollbackStatus{Active: true},
			},
			want: []string{"Git has the files from before again, in commit b", "Flux runs the very files of revision 1, at 1/1 Sites"},
		},
		"Passed": {
			reason: "A check that passed is printed with the value and the objective.",
			was:    validating, is: status{Phase: "Validating", Revision: 2, LiveRevision: 2, ValidationResults: []deploymentv1alpha1.ValidationResult{passed}},
			want: []string{"latency_p99 at edge1 passed: measured 0.099s, the objective is < 0.5s"},
		},
		"Failed": {
			reason: "A check that failed stands out.",
			was:    validating, is: status{Phase: "Failed", Revision: 2, LiveRevision: 2, ValidationResults: []deploymentv1alpha1.ValidationResult{failed}},
			want: []string{"Failed       revision 2", "latency_p99 at edge1 FAILED: measured 0.995s, the objective is < 0.5s"},
		},
		"RollingBack": {
			reason: "A rollback is printed with its cause, and only when it begins.",
			was:    status{Phase: "Failed", Revision: 2, ValidationResults: []deploymentv1alpha1.ValidationResult{failed}},
			is: status{
				Phase: "RollingBack", Revision: 2, ValidationResults: []deploymentv1alpha1.ValidationResult{failed},
				Rollback: &deploymentv1alpha1.RollbackStatus{Active: true, Reason: "GateFailed"},
			},
			want: []string{"RollingBack  revision 2", "revision 2 is rolled back, in Git, because of GateFailed"},
		},
		"RolledBack": {
			reason: "The outcome is printed at the end.",
			was:    status{Phase: "RollingBack", Revision: 2, Rollback: &deploymentv1alpha1.RollbackStatus{Active: true}},
			is:     status{Phase: "Succeeded", Outcome: "RolledBack", Revision: 2, Rollback: &deploymentv1alpha1.RollbackStatus{}},
			want:   []string{"Succeeded    revision 2", "the outcome is RolledBack"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, stepsBetween(tc.was, tc.is)); diff != "" {
				t.Errorf("\n%s\nsteps(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTimed(t *testing.T) {
	long := "applied: Deploy shop on edge1 with 2 replicas from image registry.example.org/shop:1.0, p99 latency under 500 ms, and more of that, until the line is full"
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Short": {reason: "A short text is one line.", text: "Succeeded    revision 1", want: []string{"    71.5s Succeeded    revision 1"}},
		"Long": {
			reason: "A long text is broken between words, and its further lines are indented.", text: long,
			want: []string{
				"    71.5s applied: Deploy shop on edge1 with 2 replicas from image",
				"            registry.example.org/shop:1.0, p99 latency under 500 ms, and more of",
				"            that, until the line is full",
			},
		},
		"Word": {
			reason: "A word that fits no line has one of its own.",
			text:   strings.Repeat("a", 90) + " b", want: []string{"    71.5s " + strings.Repeat("a", 90), "            b"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := wrapTimedText(71500*time.Millisecond, tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ntimed(...): -want, +got:\n%s", tc.reason, diff)
			}
			for _, line := range got {
				if n := utf8.RuneCountInString(line); n > columns && strings.Contains(strings.TrimSpace(line), " ") && name != "Word" {
					t.Errorf("\nA line has at most %d columns.\ntimed(...): %d: %s", columns, n, line)
				}
			}
		})
	}
}
