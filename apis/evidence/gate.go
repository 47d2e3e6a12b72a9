package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// AnnotationRevision identifies the revision that a Gate judges. After all else was lost, a revision of another ledger may have the same position.
const AnnotationRevision = "intentplane.dev/revision"

// RevisionID identifies the current revision of a state among the revisions of all ledgers.
func RevisionID(s ledger.State) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", s.Ledger, s.Current.Number, s.Current.Request.Intent))
	return hex.EncodeToString(sum[:revisionIDBytes])
}

// revisionIDBytes is how many bytes of a digest identify a revision.
const revisionIDBytes = 16

// IsGateOfRevision is true for a Gate that judges a step of the current revision.
func IsGateOfRevision(g *rolloutv1alpha1.Gate, s ledger.State) bool {
	position := g.Spec.ForProvider.AskedPosition()
	return s.Current != nil && position.Epoch == s.Epoch && position.Revision == s.Current.Number && g.GetAnnotations()[AnnotationRevision] == RevisionID(s)
}

// IsGateOf is true for the Gate of the current step of a state.
func IsGateOf(g *rolloutv1alpha1.Gate, s ledger.State) bool {
	position := g.Spec.ForProvider.AskedPosition()
	return IsGateOfRevision(g, s) && position.Step == s.Cursor.Step && position.Attempt == s.Cursor.Attempt
}

// isAboutItsPosition is true for a Gate whose status is about the position that it is asked to judge.
func isAboutItsPosition(g *rolloutv1alpha1.Gate) bool {
	return g.Status.AtProvider.ObservedPosition() == g.Spec.ForProvider.AskedPosition()
}

// GateVerdict returns the verdict of a Gate. It is empty when there is none: the status is about another position or about an earlier generation, or
// the Gate has not come to its end.
func GateVerdict(g *rolloutv1alpha1.Gate) rolloutv1alpha1.GateVerdict {
	observation := g.Status.AtProvider
	if !isAboutItsPosition(g) {
		return ""
	}
	passes := observation.Verdict == rolloutv1alpha1.GatePassed
	if passes && hasReadyStatus(g, corev1.ConditionTrue) || !passes && hasReadyStatus(g, corev1.ConditionFalse) {
		return observation.Verdict
	}
	return ""
}

// CurrentReady returns the Ready condition of a Gate. It is empty when the condition is about another position or about an earlier generation.
func CurrentReady(g *rolloutv1alpha1.Gate) xpv2.Condition {
	ready := g.GetCondition(xpv2.TypeReady)
	if !isAboutItsPosition(g) || ready.ObservedGeneration != g.GetGeneration() {
		return xpv2.Condition{}
	}
	return ready
}

// GateFailure returns the rejection that follows from the verdict of a Gate, or nil. It names the first check that did not pass.
func GateFailure(g *rolloutv1alpha1.Gate) *ledger.Verdict {
	v := GateVerdict(g)
	if v == "" || v == rolloutv1alpha1.GatePassed || v == rolloutv1alpha1.GateInconclusive {
		return nil
	}
	message := fmt.Sprintf("Gate %s: %s", g.GetName(), v)
	if c := worstCheckResult(g.Status.AtProvider.Checks); c != nil {
		message += ": " + describeCheck(*c)
	}
	return newRejection(rolloutv1alpha1.RejectedGateFailed, message)
}

// worstCheckResult returns the first check that was violated, or else the first check that did not pass.
func worstCheckResult(all []rolloutv1alpha1.CheckResult) *rolloutv1alpha1.CheckResult {
	for _, phases := range [][]rolloutv1alpha1.CheckPhase{{rolloutv1alpha1.CheckFailed}, {rolloutv1alpha1.CheckError, rolloutv1alpha1.CheckTimedOut}} {
		if i := slices.IndexFunc(all, func(c rolloutv1alpha1.CheckResult) bool { return slices.Contains(phases, c.Phase) }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// describeCheck names a check, its value and its threshold.
func describeCheck(c rolloutv1alpha1.CheckResult) string {
	parts := []string{fmt.Sprintf("check %s at Site %s: %s", c.Name, c.Site, c.Phase)}
	if c.Value != "" {
		parts = append(parts, "value "+c.Value)
	}
	if c.Threshold != "" {
		parts = append(parts, "threshold "+c.Threshold)
	}
	out := strings.Join(parts, ", ")
	if c.Message != "" {
		out += ": " + c.Message
	}
	return out
}

// HasEnded is true for a check that has a result.
func HasEnded(c rolloutv1alpha1.CheckResult) bool {
	return c.Phase != rolloutv1alpha1.CheckPending && c.Phase != rolloutv1alpha1.CheckRunning && c.Phase != ""
}
