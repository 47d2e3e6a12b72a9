package phase

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/projection"
)

// maxResults is the greatest number of results in a status. If not all fit, results that did not pass come first.
const maxResults = 100

// validationResults returns the results of the revision's checks, step after step.
func validationResults(f *Input) []v1alpha1.ValidationResult {
	var out []v1alpha1.ValidationResult
	for _, g := range f.gatesOfRevision() {
		if observation := g.Status.AtProvider; observation.ObservedPosition() == g.Spec.ForProvider.AskedPosition() {
			out = append(out, resultsOfChecks(observation.Checks)...)
		}
	}
	if len(out) > maxResults {
		rank := map[bool]int{true: 1}
		slices.SortStableFunc(out, func(a, b v1alpha1.ValidationResult) int { return cmp.Compare(rank[a.Passed], rank[b.Passed]) })
		out = out[:maxResults]
	}
	return out
}

// gatesOfRevision returns the Gates of the revision, in the order of steps.
func (f *Input) gatesOfRevision() []*rolloutv1alpha1.Gate {
	var out []*rolloutv1alpha1.Gate
	for _, name := range slices.Sorted(maps.Keys(f.Gates)) {
		if g := f.Gates[name]; evidence.IsGateOfRevision(g, f.State) {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, b *rolloutv1alpha1.Gate) int {
		return a.Spec.ForProvider.AskedPosition().Compare(b.Spec.ForProvider.AskedPosition())
	})
	return out
}

func resultsOfChecks(checks []rolloutv1alpha1.CheckResult) []v1alpha1.ValidationResult {
	var out []v1alpha1.ValidationResult
	for _, c := range checks {
		if !evidence.HasEnded(c) {
			continue
		}
		r := v1alpha1.ValidationResult{
			Name: c.Name, Site: c.Site, Passed: c.Phase == rolloutv1alpha1.CheckPassed, Value: c.Value, Threshold: c.Threshold, Message: c.Message,
		}
		if c.Phase == rolloutv1alpha1.CheckError || c.Phase == rolloutv1alpha1.CheckTimedOut {
			r.Message = projection.Fit(string(c.Phase)+": "+c.Message, maxSiteMessage)
		}
		out = append(out, r)
	}
	return out
}

// measuredMessage says that Gates judge the revision at some Sites, such as "every Site", and why it has no verdict yet. It repeats no progress of a
// Gate: each word that changes here costs the composite two writes.
func (f *Input) measuredMessage(sites string) string {
	if !f.RunsEverywhere() {
		return "The revision was live at " + sites + ", and its Gate waits until that is proven again."
	}
	_, wait := f.gateWaitReason()
	return projection.Sentences(f.runsAtMessage(sites)+", and it is judged.", wait)
}

// runsAtMessage says that some Sites run the revision, such as "every Site". For Sites without an engine it says no more than that it was delivered there.
func (f *Input) runsAtMessage(sites string) string {
	switch {
	case f.Sync == nil:
		return "The revision is delivered to " + sites + ", where no engine reports the running tree"
	case f.hasUnobserved():
		return strings.ToUpper(sites[:1]) + sites[1:] + " that is observed runs the revision, which is delivered to the others"
	}
	return strings.ToUpper(sites[:1]) + sites[1:] + " runs the revision"
}

// hasUnobserved reports whether the revision's step goes to a Site without an engine.
func (f *Input) hasUnobserved() bool {
	return slices.ContainsFunc(f.Trees(), func(t *deliveryv1alpha1.Tree) bool {
		_, unobserved := f.Unobserved[t.Site]
		return unobserved && f.State.HasReached(t.Site)
	})
}

// gateWaitReason returns the reason and the message for which the Gate of the revision's step cannot measure: a service without requests, or a metrics backend
// that does not answer. Both are empty if it can.
func (f *Input) gateWaitReason() (reason, message string) {
	g := f.AwaitingGate()
	if g == nil {
		return "", ""
	}
	ready := evidence.CurrentReady(g)
	switch cause := projection.Sentence(ready.Message); ready.Reason {
	case rolloutv1alpha1.ReasonNoData:
		return v1alpha1.ReasonNoData, "The Gate waits for data: " + cause
	case rolloutv1alpha1.ReasonMetricsUnavailable:
		return v1alpha1.ReasonMetricsUnavailable, "The metrics backend is unavailable, and is asked again: " + cause
	default:
		return v1alpha1.ReasonMetricsUnavailable, "The revision is held: the metrics backend has been unavailable for longer than " +
			"spec.gatesConfig.metricsUnavailableTimeout. The Gate goes on when the backend answers; a RolloutRequest (Abort or RollbackTo) takes the " +
			"revision back. " + cause
	}
}

// isHeldByMetrics is true when the Gate of the revision's step has waited for the metrics backend for too long, and waits on.
func (f *Input) isHeldByMetrics() bool {
	g := f.AwaitingGate()
	return g != nil && evidence.CurrentReady(g).Reason == rolloutv1alpha1.ReasonHeld
}

// rollbackStatus returns where the rollback of a rejected revision stands.
func rollbackStatus(f *Input) *v1alpha1.RollbackStatus {
	if !f.State.IsRejected() {
		return nil
	}
	out := &v1alpha1.RollbackStatus{Active: f.isRollingBack(), Reason: f.State.Verdict.Reason, Attempts: f.State.Cursor.Attempt}
	if target := step.TargetOf(f.State); target != nil && f.State.Cursor.Attempt > 0 {
		out.PreviousCommit = f.commitOfRevision(target.Number)
	}
	return out
}

// commitOfRevision returns the commit that brought a revision to a branch. Of several repositories, the first one's. It is empty if none remembers it.
func (f *Input) commitOfRevision(number int64) string {
	for _, name := range slices.Sorted(maps.Keys(f.Observed)) {
		for _, h := range f.Observed[name].Status.AtProvider.History {
			if h.Revision == number && h.Commit != "" {
				return h.Commit
			}
		}
	}
	return ""
}
