package phase

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

const (
	shortCommit   = 7
	maxUnderstood = 32768
	maxMessage    = 2048
)

// Status projects facts. Last is the last status: nothing but its log of transitions is carried over.
func Status(f *Facts, last *v1alpha1.IntentDeploymentStatus, now metav1.Time) *v1alpha1.IntentDeploymentStatus {
	s := &v1alpha1.IntentDeploymentStatus{
		IntentDigest: f.Digest,
		Understood:   understood(f),
		LiveRevision: f.liveRevision(),

		VerifiedRevision: f.verifiedRevision(),

		Update:   f.Update,
		Requests: f.Requests,
		Delivery: delivery(f),
	}
	if f.Order != nil {
		s.Revision, s.Renderer = f.Order.Revision, strconv.Itoa(int(f.Order.RendererVersion))
	}
	if f.Order != nil && f.Order.Blueprint != nil {
		s.Blueprint = v1alpha1.BlueprintStatus{Name: f.Order.Blueprint.Name, Digest: f.Order.Blueprint.Digest}
	}
	s.Phase, s.Outcome, s.Message = phaseOf(f)
	s.Message = Fit(s.Message, maxMessage)
	s.Transitions = Log(last, s, failedIn(f), now)
	return s
}

// understood is left out where it would not fit.
func understood(f *Facts) string {
	if len(f.Understood) > maxUnderstood {
		return ""
	}
	return f.Understood
}

// Fit shortens a message to what the schema takes: nothing of a status is written that has a longer one.
func Fit(message string, most int) string {
	characters := []rune(message)
	if len(characters) <= most {
		return message
	}
	return string(characters[:most-1]) + "…"
}

// Recorded is true when the order was verified, and every repository remembers that.
func Recorded(f *Facts) bool { return f.succeeded() }

// Ready is true when what was asked for succeeded, and holds now.
func Ready(f *Facts) bool {
	p, _, _ := phaseOf(f)
	return p == v1alpha1.PhaseSucceeded && f.holds() && !f.heldBack()
}

// phaseOf is the table of phases: the first row that matches holds.
func phaseOf(f *Facts) (v1alpha1.Phase, v1alpha1.Outcome, string) {
	switch {
	case f.Problem != nil && f.Problem.Terminal:
		return v1alpha1.PhaseFailed, v1alpha1.OutcomeFailed, f.Problem.Message + goesOn(f)
	case f.Problem != nil:
		return v1alpha1.PhasePending, "", f.Problem.Message + goesOn(f)
	case f.Order == nil:
		return v1alpha1.PhasePending, "", "Nothing was ordered yet."
	case f.Order.Rejected():
		return v1alpha1.PhaseFailed, v1alpha1.OutcomeFailed, rejected(f)
	case f.succeeded():
		return v1alpha1.PhaseSucceeded, v1alpha1.OutcomeSucceeded, succeeded(f)
	case f.Order.Verified(), f.atLastStep() && f.live():
		return v1alpha1.PhaseValidating, "", validating(f)
	}
	return v1alpha1.PhaseDelivering, "", delivering(f)
}

// goesOn says what a frozen order still does.
func goesOn(f *Facts) string {
	if f.Order == nil {
		return ""
	}
	return fmt.Sprintf(" Revision %d stays as it is.", f.Order.Revision)
}

func rejected(f *Facts) string {
	return fmt.Sprintf("Revision %d was rejected: %s. %s", f.Order.Revision, f.Order.Verdict.Reason, f.Order.Verdict.Message) + heldBack(f)
}

func succeeded(f *Facts) string {
	said := "Every Site runs the revision."
	if f.Sync == nil {
		said = "The repository holds the revision."
	}
	return said + heldBack(f) + waiting(f.Update)
}

func validating(f *Facts) string {
	if d, _ := f.blocked(); d != nil {
		return "The revision is verified, and not remembered yet. " + delivering(f) + heldBack(f)
	}
	return "The revision is verified, once the repository remembers it." + heldBack(f)
}

// waiting says which update waits.
func waiting(u v1alpha1.UpdateStatus) string {
	var what []string
	if u.Blueprint != "" {
		what = append(what, "Blueprint "+u.Blueprint)
	}
	if u.Renderer != "" {
		what = append(what, "renderer "+u.Renderer)
	}
	if len(what) == 0 {
		return ""
	}
	return " An update waits: " + strings.Join(what, ", ") + "."
}

// heldBack says why what is asked for now is not what is ordered.
func heldBack(f *Facts) string {
	switch {
	case f.Suspended:
		return " A newer request is held back by spec.suspend."
	case f.Outranked:
		return " A newer version of the function ordered it, and this version leaves it alone."
	}
	return ""
}

func delivering(f *Facts) string {
	if d, c := f.blocked(); d != nil {
		return fmt.Sprintf("GitDelivery %s: %s: %s", d.GetName(), c.Reason, c.Message)
	}
	if f.waiting() {
		return f.unready()
	}
	if f.carried() {
		return f.unproven() + f.wave()
	}
	return "The revision is on its way to the repository." + f.wave()
}

// unready names the first Site, by name, that waits for its cluster, and says why.
func (f *Facts) unready() string {
	for _, t := range f.trees() {
		if s := delivery(f).Sites[t.Site]; s.State == v1alpha1.SiteWaitingForCluster {
			return fmt.Sprintf("Site %q waits for its cluster: %s", t.Site, s.Message)
		}
	}
	return "A Site waits for its cluster."
}

// failedIn is the phase in which a failure happened.
func failedIn(f *Facts) v1alpha1.Phase {
	switch {
	case f.Problem != nil:
		return f.Problem.Phase
	case f.Order != nil && f.Order.Rejected():
		return v1alpha1.PhaseDelivering
	}
	return v1alpha1.PhasePending
}
