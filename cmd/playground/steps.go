package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// columns is the maximum width of a line.
const columns = 80

// decodeStatus decodes the status of a deployment. An undecodable status is empty.
func decodeStatus(u *unstructured.Unstructured) deploymentv1alpha1.IntentDeploymentStatus {
	d := deploymentv1alpha1.IntentDeployment{}
	if u == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d) != nil {
		return deploymentv1alpha1.IntentDeploymentStatus{}
	}
	return d.Status
}

// stepsBetween returns a line for each thing that happened to a deployment between two observations of its status.
func stepsBetween(previous, current deploymentv1alpha1.IntentDeploymentStatus) []string {
	out := []string{}
	if current.Phase != previous.Phase {
		out = append(out, phaseStepText(current))
	}
	if commit := current.Delivery.ShortCommit; commit != "" && commit != previous.Delivery.ShortCommit {
		out = append(out, commitStepText(current))
	}
	if ready := current.Delivery.SitesReady; areAllSitesReady(ready) && (ready != previous.Delivery.SitesReady || servedRevision(current) != servedRevision(previous)) {
		out = append(out, fmt.Sprintf("Flux runs the very files of revision %d, at %s Sites", servedRevision(current), ready))
	}
	out = append(out, checkResults(previous, current)...)
	if isRollingBack(current) && !isRollingBack(previous) {
		out = append(out, fmt.Sprintf("revision %d is rolled back, in Git, because of %s", current.Revision, current.Rollback.Reason))
	}
	if current.Outcome != "" && current.Outcome != previous.Outcome {
		out = append(out, fmt.Sprintf("the outcome is %s", current.Outcome))
	}
	return out
}

func commitStepText(s deploymentv1alpha1.IntentDeploymentStatus) string {
	if isRollingBack(s) {
		return "Git has the files from before again, in commit " + s.Delivery.ShortCommit
	}
	return fmt.Sprintf("Git has revision %d, in commit %s", s.Revision, s.Delivery.ShortCommit)
}

func isRollingBack(s deploymentv1alpha1.IntentDeploymentStatus) bool {
	return s.Rollback != nil && s.Rollback.Active
}

// areAllSitesReady reports whether all Sites are ready, as in 2/2.
func areAllSitesReady(sitesReady string) bool {
	ready, all, found := strings.Cut(sitesReady, "/")
	return found && ready == all
}

// servedRevision returns the revision that ready Sites run: that before the present one, once it is back.
func servedRevision(s deploymentv1alpha1.IntentDeploymentStatus) int64 {
	if s.Rollback != nil && s.LiveRevision != 0 {
		return s.LiveRevision
	}
	return s.Revision
}

func phaseStepText(s deploymentv1alpha1.IntentDeploymentStatus) string {
	if s.Revision == 0 {
		return string(s.Phase)
	}
	return fmt.Sprintf("%-12s revision %d", s.Phase, s.Revision)
}

// checkResults returns a line for each check that was judged.
func checkResults(previous, current deploymentv1alpha1.IntentDeploymentStatus) []string {
	reported := map[deploymentv1alpha1.ValidationResult]bool{}
	for _, r := range previous.ValidationResults {
		reported[r] = previous.Revision == current.Revision
	}
	out := []string{}
	for _, r := range current.ValidationResults {
		if reported[r] {
			continue
		}
		verdict := "passed"
		if !r.Passed {
			verdict = "FAILED"
		}
		line := fmt.Sprintf("%s at %s %s", r.Name, r.Site, verdict)
		if r.Value != "" {
			line += fmt.Sprintf(": measured %s, the objective is %s", valueWithUnit(r), r.Threshold)
		}
		out = append(out, line)
	}
	return out
}

// valueWithUnit returns the measured value of a result, which is in the unit of its threshold.
func valueWithUnit(r deploymentv1alpha1.ValidationResult) string {
	return r.Value + strings.TrimLeft(r.Threshold, "<>= 0123456789.")
}

// wrapTimedText returns lines of at most 80 columns: the time, and a text beside it.
func wrapTimedText(elapsed time.Duration, text string) []string {
	out := []string{}
	for i, line := range wrapText(text, columns-len("  123.4s ")) {
		time := fmt.Sprintf("%6.1fs", elapsed.Seconds())
		if i > 0 {
			time = strings.Repeat(" ", len(time))
		}
		out = append(out, "  "+time+" "+line)
	}
	return out
}

// wrapText breaks a text into lines of at most so many columns, between words. A longer word has a separate line. Further lines are indented.
func wrapText(text string, width int) []string {
	if utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	out, line := []string{}, ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			out, line = append(out, line), " "
		}
		line = strings.TrimPrefix(line+" "+word, " ")
		if len(out) > 0 && !strings.HasPrefix(line, "  ") {
			line = "  " + strings.TrimLeft(line, " ")
		}
	}
	return append(out, line)
}
