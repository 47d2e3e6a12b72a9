package ledger

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// An IllegalError is returned for an event that must not be recorded on top of a state.
type IllegalError struct {
	// Event that was refused, such as Ordered.
	Event string

	// Reason why it was refused.
	Reason string
}

// Error names the refused event, and the reason.
func (e IllegalError) Error() string { return fmt.Sprintf("cannot record %s: %s", e.Event, e.Reason) }

// A change is the effect of an event on a state: it returns the next state, or the reason why the event is illegal.
type change interface {
	applyToState(s State, timestamp metav1.Time) (State, string)
}

// Apply returns the state after an event. The state that it is given does not change. It returns an IllegalError if the event must not follow.
func Apply(s State, e Event) (State, error) {
	name, c := e.namedChange()
	if c == nil {
		return s, IllegalError{Event: "an event", Reason: "exactly one of its fields must be set"}
	}
	id, err := chainEventID(s.ID, e)
	if err != nil {
		return s, err
	}
	if refusal := s.refusalOfEvent(name); refusal != "" {
		return s, IllegalError{Event: name, Reason: refusal}
	}
	next, refusal := c.applyToState(s, ptr.Deref(e.At, metav1.Time{}))
	if refusal != "" {
		return s, IllegalError{Event: name, Reason: refusal}
	}
	next.Seq, next.ID = s.Seq+1, id
	return next, nil
}

// refusalOfEvent returns the reason why a state accepts no event of a name, for any content of the event.
func (s State) refusalOfEvent(name string) string {
	sealed := s.IsClosed || s.Successor != ""
	switch {
	case name == "Opened" && s.Seq > 0 && !sealed:
		return "the ledger is open"
	case name == "Opened":
		return ""
	case s.Seq == 0:
		return "the ledger was not opened"
	case s.IsClosed:
		return "the ledger is closed: the deployment was deleted"
	case sealed:
		return "the ledger moved to " + s.Successor
	}
	return ""
}

func (o Opened) applyToState(s State, _ metav1.Time) (State, string) {
	if o.Ledger == "" || o.Home == "" {
		return s, "a ledger needs an identity and a home"
	}
	if o.Ledger == s.Ledger {
		return s, "the identity is that of the ledger before"
	}
	return State{Head: Head{Ledger: o.Ledger, Epoch: s.Epoch + 1, Seq: s.Seq}, Home: o.Home, LastNumber: s.LastNumber, Requests: s.Requests}, ""
}

func (o Ordered) applyToState(s State, timestamp metav1.Time) (State, string) {
	r := o.Revision
	if refusal := r.invalidReason(); refusal != "" {
		return s, refusal
	}
	if s.LastNumber >= MaxNumber {
		return s, fmt.Sprintf("no number follows %d", s.LastNumber)
	}
	if r.Number != s.LastNumber+1 {
		return s, fmt.Sprintf("revision %d does not follow %d", r.Number, s.LastNumber)
	}
	if s.repeatsRejected(o) {
		return s, fmt.Sprintf("revision %d was rejected with the same intent, and no RolloutRequest asks for it", s.Current.Number)
	}
	s, refusal := s.recordRequest(r.RequestRef)
	if refusal != "" {
		return s, refusal
	}
	s = s.endCurrentRevision(timestamp)
	s.Current, s.LastNumber = &r, r.Number
	return s.beginRevision(), ""
}

// repeatsRejected is true for a revision that delivers an intent again that was rejected, without a request of a user. A revision that a repository
// refused because of files of other users may follow once they may be overwritten.
func (s State) repeatsRejected(o Ordered) bool {
	if !s.IsRejected() || o.Revision.RequestRef != nil || s.Current.Request.Intent != o.Revision.Request.Intent {
		return false
	}
	return !o.AdoptEnabled || s.Verdict.Reason != RejectedDelivery
}

// invalidReason returns the reason why a revision is invalid in each state.
func (r Revision) invalidReason() string {
	if len(r.Plan) == 0 || len(r.Plan) > MaxSteps {
		return fmt.Sprintf("a plan has 1 to %d steps, not %d", MaxSteps, len(r.Plan))
	}
	if refusal := r.invalidPlanEnd(); refusal != "" {
		return "a plan is not complete: " + refusal
	}
	delivered := map[string]bool{}
	for _, p := range r.Parts {
		for _, site := range p.Sites {
			if delivered[site] {
				return fmt.Sprintf("two repositories deliver to Site %s", site)
			}
			delivered[site] = true
		}
	}
	sites := r.Sites()
	if len(sites) > MaxSites {
		return fmt.Sprintf("a plan has at most %d Sites, not %d", MaxSites, len(sites))
	}
	for _, site := range sites {
		if !delivered[site] {
			return fmt.Sprintf("no repository delivers to Site %s of the plan", site)
		}
	}
	return ""
}

// Sites returns the Sites of the plan, each once, sorted.
func (r Revision) Sites() []string {
	var out []string
	for _, step := range r.Plan {
		out = append(out, step.Sites...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (a Advanced) applyToState(s State, _ metav1.Time) (State, string) {
	if refusal := s.needsCurrent(); refusal != "" {
		return s, refusal
	}
	c := s.Cursor
	nextStage := a.Step == c.Step && a.Stage > c.Stage
	switch {
	case s.Verdict == nil && (s.canBeginStep(a) || nextStage && a.Stage <= StageSteps):
	case s.IsVerified() && nextStage && a.Stage == StageAlone:
	case s.IsRejected() && c.Attempt > 0 && !s.Restored && nextStage && a.Stage <= StageSteps:
	default:
		return s, fmt.Sprintf("step %d, stage %d does not follow step %d, stage %d", a.Step, a.Stage, c.Step, c.Stage)
	}
	s.Cursor.Step, s.Cursor.Stage = a.Step, a.Stage
	return s, ""
}

// canBeginStep is true for the next step of the plan. Once a user released all steps, steps that share requests may be left out.
func (s State) canBeginStep(a Advanced) bool {
	c := s.Cursor
	if a.Stage != c.Stage || a.Step <= c.Step || int(a.Step) >= len(s.Current.Plan) || s.HasTracks() && c.Stage != StageSteps {
		return false
	}
	leftOut := s.Current.Plan[c.Step+1 : a.Step]
	return len(leftOut) == 0 || c.Full && !slices.ContainsFunc(leftOut, func(p Step) bool { return !p.SharesRequests() })
}

func (p Promoted) applyToState(s State, _ metav1.Time) (State, string) {
	if refusal := s.needsUnjudged(); refusal != "" {
		return s, refusal
	}
	if refusal := p.invalidReason(s); refusal != "" {
		return s, refusal
	}
	s, refusal := s.recordRequest(&p.RequestRef)
	if refusal != "" {
		return s, refusal
	}
	if p.Gate {
		s.Cursor.GateReleased = s.Cursor.Step + 1
	}
	if p.Full {
		s.Cursor.Full = true
		return s, ""
	}
	s.Cursor.Promoted = max(s.Cursor.Promoted, p.Step)
	return s, ""
}

// invalidReason returns the reason why a release changes nothing, or names a step that the plan does not have.
func (p Promoted) invalidReason(s State) string {
	c := s.Cursor
	switch {
	case p.Gate && (!s.IsGated() || s.IsGateReleased()):
		return fmt.Sprintf("step %d has no Gate that can be released", c.Step)
	case p.Gate && !p.Full && p.Step != c.Step+1:
		return fmt.Sprintf("step %d does not follow the Gate of step %d", p.Step, c.Step)
	case p.Gate:
		return ""
	case p.Full && c.Full:
		return "all steps are released"
	case !p.Full && (p.Step <= max(c.Step, c.Promoted) || int(p.Step) > len(s.Current.Plan)):
		return fmt.Sprintf("step %d is none that can be released", p.Step)
	}
	return ""
}

func (j Judged) applyToState(s State, timestamp metav1.Time) (State, string) {
	if refusal := s.needsUnjudged(); refusal != "" {
		return s, refusal
	}
	if refusal := j.invalidReason(s); refusal != "" {
		return s, refusal
	}
	s, refusal := s.recordRequest(j.RequestRef)
	if refusal != "" {
		return s, refusal
	}
	s.Verdict = &j.Verdict
	return s.recordInHistory(Past{Verdict: s.Verdict, Trees: sortTreesBySite(j.Trees)}, timestamp), ""
}

// sortTreesBySite returns trees in the order of their Sites.
func sortTreesBySite(trees []SiteTree) []SiteTree {
	out := slices.Clone(trees)
	slices.SortFunc(out, func(a, b SiteTree) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// invalidReason returns the reason why a verdict cannot be given to the current revision.
func (j Judged) invalidReason(s State) string {
	switch j.Verdict.Result {
	case VerdictRejected:
		if j.Verdict.Reason == "" {
			return "a rejection needs a reason"
		}
		return ""
	case VerdictVerified:
	default:
		return fmt.Sprintf("%q is neither %s nor %s", j.Verdict.Result, VerdictVerified, VerdictRejected)
	}
	if last := len(s.Current.Plan) - 1; int(s.Cursor.Step) != last {
		return fmt.Sprintf("a revision is verified at step %d of its plan, and not at step %d", last, s.Cursor.Step)
	}
	if s.HasTracks() && s.Cursor.Stage != StageSteps {
		return fmt.Sprintf("a revision with tracks is verified in stage %d, and not in stage %d", StageSteps, s.Cursor.Stage)
	}
	proven := make([]string, len(j.Trees))
	for i, t := range j.Trees {
		proven[i] = t.Site
	}
	slices.Sort(proven)
	if !slices.Equal(proven, s.Current.Sites()) {
		return "a verified revision needs the tree that was proven at each Site of its plan, once"
	}
	return ""
}

func (r Rebased) applyToState(s State, _ metav1.Time) (State, string) {
	if refusal := s.needsCurrent(); refusal != "" {
		return s, refusal
	}
	previous := s.Current.Request
	if r.Request == previous {
		return s, "the request is that of the revision"
	}
	if r.Request.Scheme == previous.Scheme && r.Request.Intent != previous.Intent {
		return s, "another intent is another revision"
	}
	next := *s.Current
	next.Request, next.Blueprint = r.Request, r.Blueprint
	s.Current = &next
	s.History = slices.Clone(s.History)
	for i := range s.History {
		if s.History[i].Number == next.Number {
			s.History[i].Request = next.Request
		}
	}
	return s, ""
}

func (r Recovered) applyToState(s State, _ metav1.Time) (State, string) {
	number := max(r.LastNumber, r.Copy.LastNumber)
	switch {
	case r.Copy.Seq == 0 && number <= s.LastNumber:
		return s, "the copy says nothing that the ledger does not know"
	case r.Copy.Seq > 0 && !r.Copy.Supersedes(s) && !s.canContinue(r.Copy):
		return s, "the copy is not newer than the ledger"
	}
	s, refusal := s.recordRequest(r.RequestRef)
	if refusal != "" {
		return s, refusal
	}
	next := s
	if r.Copy.Seq > 0 && !r.Copy.IsClosed {
		next = r.Copy
	}
	next.Requests = joinRequests(r.Copy.Requests, s.Requests)
	next.Ledger, next.Home, next.Successor = s.Ledger, s.Home, ""
	next.Epoch = max(s.Epoch, r.Copy.Epoch) + 1
	next.LastNumber = max(s.LastNumber, number)
	return next, ""
}

// Supersedes is true for a copy that a ledger has to be recovered from: a newer copy, or a copy of another ledger whose epoch is not lower.
func (s State) Supersedes(ledger State) bool {
	if s.Ledger != ledger.Ledger {
		return s.Epoch >= ledger.Epoch
	}
	return s.Compare(ledger.Head) > 0
}

// canContinue is true for a ledger that was opened in a home after the ledger moved away from there, and has no decision yet: it continues the ledger
// of the previous epoch.
func (s State) canContinue(moved State) bool {
	return s.Current == nil && len(s.History) == 0 && s.Ledger != moved.Ledger && moved.Epoch+1 == s.Epoch
}

func (m Moved) applyToState(s State, _ metav1.Time) (State, string) {
	if m.Home == "" || m.Home == s.Home {
		return s, "a ledger moves to another home"
	}
	s, refusal := s.recordRequest(&m.RequestRef)
	if refusal != "" {
		return s, refusal
	}
	s.Successor = m.Home
	return s, ""
}

func (Closed) applyToState(s State, _ metav1.Time) (State, string) {
	return State{Head: s.Head, Home: s.Home, LastNumber: s.LastNumber, Requests: s.Requests, IsClosed: true}, ""
}
