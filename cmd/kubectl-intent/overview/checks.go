package overview

import (
	"cmp"
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A Measured is the result of one check at one Site, in one step of a revision.
type Measured struct {
	rolloutv1alpha1.CheckResult `json:",inline"`

	Revision int64 `json:"revision"`

	// Step is counted from 1.
	Step int32 `json:"step"`

	// Count is how many measurements are wanted. 0 for a Job.
	Count int32 `json:"count,omitempty"`

	// Query, URL or Job that is asked or run.
	Query string `json:"query,omitempty"`
}

// MeasuredChecks returns the results of a check in the Gates of a deployment, the newest step first. Where no Gate has the check, the
// deployment's own results stand for it.
func MeasuredChecks(f *cause.Facts, check string) []Measured {
	var out []Measured
	for i := range f.Gates {
		out = append(out, measuredByGate(&f.Gates[i], check)...)
	}
	if len(out) == 0 {
		out = reportedResults(f, check)
	}
	slices.SortStableFunc(out, func(a, b Measured) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(b.Step, a.Step))
	})
	return out
}

func measuredByGate(g *rolloutv1alpha1.Gate, check string) []Measured {
	position := g.Spec.ForProvider.AskedPosition()
	var out []Measured
	for _, c := range g.Spec.ForProvider.Checks {
		if c.Name == check {
			out = append(out, Measured{Revision: position.Revision, Step: position.Step + 1, Count: countOfCheck(c), Query: queryOfCheck(c), CheckResult: resultOfCheck(g, c)})
		}
	}
	return out
}

// countOfCheck is how many measurements a check takes. A Job is run once, and availability is watched.
func countOfCheck(c rolloutv1alpha1.GateCheck) int32 {
	if c.Job != nil || c.Availability != nil {
		return 0
	}
	return ptr.Deref(c.Count, 0)
}

func queryOfCheck(c rolloutv1alpha1.GateCheck) string {
	switch {
	case c.Prometheus != nil:
		return c.Prometheus.Query
	case c.Web != nil:
		return c.Web.URL + ": " + c.Web.Expression
	case c.Job != nil:
		return "Job of " + c.Job.Image
	case c.Availability != nil:
		return "available pods of " + cmp.Or(c.Availability.Image, "any image")
	}
	return ""
}

// resultOfCheck returns the result of a check, which is Pending as long as the Gate reports none. Its message is then the reason why the Gate waits.
func resultOfCheck(g *rolloutv1alpha1.Gate, c rolloutv1alpha1.GateCheck) rolloutv1alpha1.CheckResult {
	all := g.Status.AtProvider.Checks
	i := slices.IndexFunc(all, func(r rolloutv1alpha1.CheckResult) bool { return r.Name == c.Name && r.Site == c.Site })
	if i >= 0 {
		return all[i]
	}
	return rolloutv1alpha1.CheckResult{Name: c.Name, Site: c.Site, Phase: rolloutv1alpha1.CheckPending, Threshold: string(c.Threshold), Message: g.Status.GetCondition(xpv2.TypeReady).Message}
}

// reportedResults are the results of the present revision in the status of the deployment.
func reportedResults(f *cause.Facts, check string) []Measured {
	var out []Measured
	for _, r := range f.Deployment.Status.ValidationResults {
		if r.Name != check {
			continue
		}
		phase := rolloutv1alpha1.CheckFailed
		if r.Passed {
			phase = rolloutv1alpha1.CheckPassed
		}
		out = append(out, Measured{Revision: f.Deployment.Status.Revision, CheckResult: rolloutv1alpha1.CheckResult{
			Name: r.Name, Site: r.Site, Phase: phase, Value: r.Value, Threshold: r.Threshold, Message: r.Message,
		}})
	}
	return out
}

// CheckNames are the checks that the Gates of a deployment have, or its own results, sorted.
func CheckNames(f *cause.Facts) []string {
	var out []string
	for i := range f.Gates {
		for _, c := range f.Gates[i].Spec.ForProvider.Checks {
			out = append(out, c.Name)
		}
	}
	for _, r := range f.Deployment.Status.ValidationResults {
		out = append(out, r.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CheckLines show the results of a check: a table for each step, and below a Site the explanation of its result, and its last measurements
// where it has ended.
func CheckLines(all []Measured, s Style) []string {
	var out []string
	for i, m := range all {
		if i == 0 || m.Revision != all[i-1].Revision || m.Step != all[i-1].Step {
			out = append(out, s.truncateLine(measuredTitle(m)), s.truncateLine(measuredRow("site", "phase", "value", "threshold", "measured", "started", "ended")))
		}
		out = append(out, s.truncateLine(measuredRow(m.Site, string(m.Phase), textOrDash(m.Value), textOrDash(m.Threshold), measuredCount(m), s.formatClock(m.StartedAt), s.formatClock(m.EndedAt))))
		out = append(out, s.measuredDetails(m)...)
	}
	return out
}

func measuredTitle(m Measured) string {
	if m.Step == 0 {
		return fmt.Sprintf("%s  revision %d", m.Name, m.Revision)
	}
	return fmt.Sprintf("%s  revision %d  step %d", m.Name, m.Revision, m.Step)
}

func measuredRow(site, phase, value, threshold, measured, started, ended string) string {
	return fmt.Sprintf("%-14s %-12s %-10s %-12s %-9s %-8s %s", site, phase, value, threshold, measured, started, ended)
}

// measuredCount says how many measurements were taken. A check that is measured until its step is released takes more than its count.
func measuredCount(m Measured) string {
	if m.Measurements == 0 && m.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", m.Measurements, max(m.Count, m.Measurements))
}

func (s Style) measuredDetails(m Measured) []string {
	var out []string
	if m.UnavailableSince != nil {
		out = append(out, s.labelledLines("", "The backend is unavailable since "+s.formatClock(m.UnavailableSince)+".")...)
	}
	if m.Message != "" {
		out = append(out, s.labelledLines("", m.Message)...)
	}
	for _, measurement := range m.Recent {
		out = append(out, s.truncateLine(fmt.Sprintf("%-11s %-8s %-12s %s", "", s.formatClock(&measurement.At), measurement.Outcome, textOrDash(measurement.Value))))
	}
	if m.JobRef != nil {
		out = append(out, s.labelledLines("Job:", m.JobRef.Name)...)
	}
	if m.Query != "" && m.Phase != rolloutv1alpha1.CheckPassed {
		out = append(out, s.labelledLines("Asked:", m.Query)...)
	}
	return out
}
