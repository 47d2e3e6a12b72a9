package phase

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

var now = metav1.NewTime(time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC))

// newRevision is a revision that goes out in one step.
func newRevision(number int64) *ledger.Revision {
	return &ledger.Revision{Number: number, Plan: make([]ledger.Step, 1)}
}

// unrecorded lets the ledger not hold yet what was decided.
func unrecorded(f *Input) *Input {
	f.State.Seq = f.Recorded.Seq + 1
	return f
}

// deliveryState is what one delivery reports.
type deliveryState string

const (
	absent        deliveryState = "Absent"
	silent        deliveryState = "Silent"
	pushing       deliveryState = "Pushing"
	refused       deliveryState = "NotOwner"
	trouble       deliveryState = "Unreachable"
	conflict      deliveryState = "ObjectConflict"
	drifted       deliveryState = "Drifted"
	stale         deliveryState = "StaleGeneration"
	otherPosition deliveryState = "OtherPosition"
	otherTrees    deliveryState = "OtherTrees"
	done          deliveryState = "Delivered"
)

func allDeliveryStates() []deliveryState {
	return []deliveryState{absent, silent, pushing, refused, trouble, drifted, stale, otherPosition, otherTrees, done}
}

func desired(name string, at ledger.Position, action deliveryv1alpha1.TreeAction) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.SetName(name)
	d.Spec.ForProvider.Position = &at
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: name, Branch: "main", Path: name, Action: action, Tree: "t"}}
	return d
}

// observed is the delivery with some deliveryState, or nil.
func observed(d *deliveryv1alpha1.GitDelivery, e deliveryState) *deliveryv1alpha1.GitDelivery {
	if e == absent {
		return nil
	}
	d = d.DeepCopy()
	d.SetGeneration(4)
	ready := xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: xpv2.ConditionReason(e), ObservedGeneration: 4, Message: "Words."}
	p := d.Spec.ForProvider.Position
	d.Status.AtProvider.Waiting = &rolloutv1alpha1.Attempt{Revision: p.Revision, Step: p.Step, Number: p.Attempt}
	if slices.Contains([]deliveryState{drifted, stale, otherPosition, otherTrees, done}, e) {
		d.Status.AtProvider.Waiting, d.Status.AtProvider.Record = nil, &deliveryv1alpha1.LedgerRecord{Position: *p}
		d.Status.AtProvider.Remote = &deliveryv1alpha1.Remote{Commit: "0123456789abcdef"}
	}
	switch e {
	case silent:
		return d
	case stale:
		ready.Status, ready.ObservedGeneration = corev1.ConditionTrue, 3
	case otherPosition:
		ready.Status = corev1.ConditionTrue
		d.Spec.ForProvider.Position.Revision, d.Status.AtProvider.Record.Position.Revision = 1, 1
	case otherTrees:
		ready.Status = corev1.ConditionTrue
		d.Spec.ForProvider.Trees[0].Tree = "before"
	case done:
		ready.Status = corev1.ConditionTrue
	}
	d.Status.SetConditions(ready, xpv2.ReconcileSuccess().WithObservedGeneration(4))
	return d
}

// every calls with all combinations of facts.
func every(do func(*Input)) int {
	n := 0
	problems := []*Problem{nil, {Reason: v1alpha1.ReasonSiteMissing, Message: "Words.", Phase: v1alpha1.PhasePending}}
	for _, p := range []v1alpha1.Phase{v1alpha1.PhasePending, v1alpha1.PhaseCompiling, v1alpha1.PhaseRendering} {
		problems = append(problems, &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "Words.", Terminal: true, Phase: p})
	}
	for _, problem := range problems {
		for _, ordered := range []bool{false, true} {
			for _, a := range allDeliveryStates() {
				for _, b := range allDeliveryStates() {
					for _, action := range []deliveryv1alpha1.TreeAction{deliveryv1alpha1.ActionDesired, deliveryv1alpha1.ActionKeep} {
						for flags := range 16 {
							f := &Input{Digest: "d", GatesDisabled: flags&1 != 0, Compilation: Compilation{Problem: problem}, Decision: Decision{Suspended: flags&2 != 0, Outranked: flags&4 != 0}}
							if flags&8 != 0 {
								f.Unsupported = []string{"spec.x"}
							}
							place(f, ordered, action, a, b)
							do(f)
							n++
						}
					}
				}
			}
		}
	}
	return n
}

func place(f *Input, ordered bool, action deliveryv1alpha1.TreeAction, a, b deliveryState) {
	f.Desired, f.Observed = map[string]*deliveryv1alpha1.GitDelivery{}, map[string]*deliveryv1alpha1.GitDelivery{}
	if !ordered {
		return
	}
	f.State.Current, f.Unobserved = newRevision(2), map[string]bool{"a": true, "b": true}
	f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
	for name, e := range map[string]deliveryState{"a": a, "b": b} {
		tree := deliveryv1alpha1.ActionDesired
		if name == "b" {
			tree = action
		}
		f.Desired[name] = desired(name, f.State.Position(), tree)
		if o := observed(f.Desired[name], e); o != nil {
			f.Observed[name] = o
		}
	}
}

// lasts are statuses that a call may find.
func lasts() []v1alpha1.IntentDeploymentStatus {
	out := []v1alpha1.IntentDeploymentStatus{{}}
	for _, p := range []v1alpha1.Phase{
		v1alpha1.PhasePending, v1alpha1.PhaseCompiling, v1alpha1.PhaseRendering, v1alpha1.PhaseDelivering,
		v1alpha1.PhaseValidating, v1alpha1.PhaseSucceeded, v1alpha1.PhaseFailed,
	} {
		for _, digest := range []string{"d", "before"} {
			for _, revision := range []int64{0, 1, 2} {
				out = append(out, v1alpha1.IntentDeploymentStatus{Phase: p, IntentDigest: digest, Revision: revision})
			}
		}
	}
	return out
}

func types() []string {
	return []string{
		v1alpha1.TypeAvailable, v1alpha1.TypeDelivered, v1alpha1.TypeReconciling, v1alpha1.TypeRecorded, v1alpha1.TypeRolledBack,
		v1alpha1.TypeSitesFound, v1alpha1.TypeStalled, v1alpha1.TypeSupported, v1alpha1.TypeValid, v1alpha1.TypeValidated,
	}
}

var clockwork = regexp.MustCompile(`[0-9]+(s|m|h|:[0-9])|2031`)

// TestEverything holds for all combinations of facts, and all last statuses.
func TestEverything(t *testing.T) {
	last := lasts()
	// Transitions depend on little of the facts: each such little is enough once.
	seen := map[[3]any]bool{}
	n := every(func(f *Input) {
		conditions := Conditions(f)
		if diff := cmp.Diff(conditions, Conditions(f)); diff != "" {
			t.Fatalf("Conditions(...): the same facts, another answer: -want, +got:\n%s", diff)
		}
		checkConditions(t, f, conditions)
		s := Status(f, &last[0], now)
		checkStatus(t, f, s)
		key := [3]any{s.Phase, s.Revision, failedPhase(f)}
		if seen[key] {
			return
		}
		seen[key] = true
		for i := range last {
			checkTransitions(t, &last[i], Status(f, &last[i], now))
		}
	})
	t.Logf("%d combinations of facts, and %d of what transitions depend on, each with %d last statuses", n, len(seen), len(last))
}

func checkConditions(t *testing.T, f *Input, conditions []Condition) {
	t.Helper()
	var got []string
	is := map[string]corev1.ConditionStatus{}
	for _, c := range conditions {
		got = append(got, c.Type)
		is[c.Type] = c.Status
		if c.Reason == "" || c.Status == "" {
			t.Fatalf("Conditions(...): %s has no reason or no status: %+v", c.Type, f)
		}
		if clockwork.MatchString(c.Message) {
			t.Fatalf("Conditions(...): %s says a time: %q", c.Type, c.Message)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(types(), got); diff != "" {
		t.Fatalf("Conditions(...): types: -want, +got:\n%s", diff)
	}
	if is[v1alpha1.TypeStalled] == corev1.ConditionTrue && is[v1alpha1.TypeReconciling] == corev1.ConditionTrue {
		t.Fatalf("Conditions(...): both Stalled and Reconciling: %+v", f)
	}
	if Ready(f) && (is[v1alpha1.TypeStalled] != corev1.ConditionFalse || is[v1alpha1.TypeReconciling] != corev1.ConditionFalse ||
		is[v1alpha1.TypeDelivered] != corev1.ConditionTrue || is[v1alpha1.TypeRecorded] != corev1.ConditionTrue || is[v1alpha1.TypeValid] != corev1.ConditionTrue) {
		t.Fatalf("Conditions(...): ready, and not settled: %+v", conditions)
	}
}

func checkStatus(t *testing.T, f *Input, s *v1alpha1.IntentDeploymentStatus) {
	t.Helper()
	if _, ok := Edges()[s.Phase]; !ok || s.Phase == "" {
		t.Fatalf("Status(...): %q is no phase", s.Phase)
	}
	if Ready(f) && (s.Phase != v1alpha1.PhaseSucceeded || s.Outcome != v1alpha1.OutcomeSucceeded || f.Problem != nil || f.Suspended || f.Outranked) {
		t.Fatalf("Status(...): ready in phase %s/%s: %+v", s.Phase, s.Outcome, f)
	}
	outcome := map[v1alpha1.Phase]v1alpha1.Outcome{v1alpha1.PhaseFailed: v1alpha1.OutcomeFailed, v1alpha1.PhaseSucceeded: v1alpha1.OutcomeSucceeded}[s.Phase]
	if s.Outcome != outcome || s.Message == "" || clockwork.MatchString(s.Message) {
		t.Fatalf("Status(...): phase %s has outcome %q and message %q", s.Phase, s.Outcome, s.Message)
	}
	proves := func(d *deliveryv1alpha1.GitDelivery) bool {
		return d.Status.AtProvider.Record != nil && d.Status.AtProvider.Record.Position.Revision == s.Revision
	}
	if s.Delivery.GitCommit != "" && !slices.ContainsFunc(slices.Collect(maps.Values(f.Observed)), proves) {
		t.Fatalf("Status(...): the commit is of another revision than %d: %+v", s.Revision, f)
	}
}

func checkTransitions(t *testing.T, last, s *v1alpha1.IntentDeploymentStatus) {
	t.Helper()
	from := last.Phase
	for _, tr := range s.Transitions {
		if tr.From != from || !Legal(tr.From, tr.To) {
			t.Fatalf("Status(...): %q to %q is no legal change after %q", tr.From, tr.To, from)
		}
		from = tr.To
	}
	if from != s.Phase {
		t.Fatalf("Status(...): the transitions end in %q and not in %q: %+v", from, s.Phase, s.Transitions)
	}
	again := Log(s, s, phasePath{failedIn: v1alpha1.PhasePending, isRolledBack: s.Phase == v1alpha1.PhaseRollingBack}, now)
	if len(again) != len(s.Transitions) {
		t.Fatalf("Log(...): nothing changed, and it grew: %+v", again)
	}
}

func TestPhaseOf(t *testing.T) {
	missing := &Problem{Reason: v1alpha1.ReasonSiteMissing, Message: "Site missing."}
	invalid := &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "Not understood.", Terminal: true}
	cases := map[string]struct {
		reason    string
		problem   *Problem
		ordered   bool
		suspended bool
		unjudged  bool
		pending   bool
		a, b      deliveryState
		phase     v1alpha1.Phase
		ready     bool
		message   string
	}{
		"Nothing":          {reason: "Nothing was ordered.", phase: v1alpha1.PhasePending, message: "Nothing was ordered yet."},
		"Invalid":          {reason: "An invalid spec.", problem: invalid, phase: v1alpha1.PhaseFailed, message: "Not understood."},
		"InvalidDelivered": {reason: "An invalid spec freezes what is there.", problem: invalid, ordered: true, a: done, b: done, phase: v1alpha1.PhaseFailed, message: "Not understood. Revision 2 stays as it is."},
		"Unended": {
			reason:  "A message that does not end with a full stop does not run into the next sentence.",
			problem: &Problem{Reason: v1alpha1.ReasonInvalidIntent, Message: "spec.intent: replicas: must be from 0 to 10000", Terminal: true},
			ordered: true, a: done, b: done, phase: v1alpha1.PhaseFailed, message: "spec.intent: replicas: must be from 0 to 10000. Revision 2 stays as it is.",
		},
		"Missing":  {reason: "Something is missing.", problem: missing, ordered: true, a: done, b: done, phase: v1alpha1.PhasePending, message: "Site missing. Revision 2 stays as it is."},
		"OnItsWay": {reason: "Nobody says anything yet.", ordered: true, unjudged: true, a: absent, b: done, phase: v1alpha1.PhaseDelivering, message: "The revision is on its way to the repository."},
		"Trouble":  {reason: "What blocks is said.", ordered: true, unjudged: true, a: done, b: trouble, phase: v1alpha1.PhaseDelivering, message: "GitDelivery b: Unreachable: Words."},
		"Conflict": {
			reason:  "An object that another claim delivers fails the deployment while it lasts, and is no verdict about its revision.",
			ordered: true, unjudged: true, a: done, b: conflict, phase: v1alpha1.PhaseFailed, message: "GitDelivery b: ObjectConflict: Words.",
		},
		"Done":          {reason: "All is delivered.", ordered: true, a: done, b: done, phase: v1alpha1.PhaseSucceeded, ready: true, message: "The repository holds the revision."},
		"Drifted":       {reason: "The phase does not move with drift, and Ready does.", ordered: true, a: done, b: drifted, phase: v1alpha1.PhaseSucceeded, message: "The revision was verified, and not every Site is known to run it now: GitDelivery b: Drifted: Words."},
		"NotToRecord":   {reason: "A message says what keeps the ledger from recording the verdict.", ordered: true, pending: true, a: done, b: trouble, phase: v1alpha1.PhaseValidating, message: "The revision is verified, and the ledger has not recorded that yet. GitDelivery b: Unreachable: Words."},
		"Unrecorded":    {reason: "A success is shown once the ledger holds it.", ordered: true, pending: true, a: done, b: done, phase: v1alpha1.PhaseValidating, message: "The revision is verified, once the ledger has recorded it."},
		"Stale":         {reason: "Readiness of an earlier generation is none.", ordered: true, a: done, b: stale, phase: v1alpha1.PhaseSucceeded, message: "The repository holds the revision."},
		"OtherPosition": {reason: "What is about another position proves nothing.", ordered: true, unjudged: true, a: done, b: otherPosition, phase: v1alpha1.PhaseDelivering, message: "The revision is on its way to the repository."},
		"OtherTrees":    {reason: "What speaks of other trees is no.", ordered: true, unjudged: true, a: done, b: otherTrees, phase: v1alpha1.PhaseDelivering, message: "The revision is on its way to the repository."},
		"Suspended": {
			reason: "What is asked for now is not what is delivered.", ordered: true, suspended: true, a: done, b: done,
			phase: v1alpha1.PhaseSucceeded, message: "The repository holds the revision. A newer request is held back by spec.suspend.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Compilation: Compilation{Problem: tc.problem}, Decision: Decision{Suspended: tc.suspended}}
			place(f, tc.ordered, deliveryv1alpha1.ActionDesired, tc.a, tc.b)
			if tc.unjudged {
				f.State.Verdict = nil
			}
			if tc.pending {
				unrecorded(f)
			}
			s := Status(f, &v1alpha1.IntentDeploymentStatus{}, now)
			want := []any{tc.phase, tc.ready, tc.message, tc.suspended}
			if diff := cmp.Diff(want, []any{s.Phase, Ready(f), s.Message, s.HeldBack}); diff != "" {
				t.Errorf("\n%s\nStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEarlierObstacle(t *testing.T) {
	f := &Input{}
	place(f, true, deliveryv1alpha1.ActionDesired, refused, done)
	f.State.Current, f.State.Verdict = newRevision(3), nil
	for name := range f.Desired {
		f.Desired[name] = desired(name, f.State.Position(), deliveryv1alpha1.ActionDesired)
	}
	if c := stalledCondition(f); c.Status != corev1.ConditionFalse {
		t.Errorf("stalled(...): a refusal of revision 2 must not stall revision 3: %+v", c)
	}
}

func TestLog(t *testing.T) {
	succeeded := v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseSucceeded, IntentDigest: "d", Revision: 1}
	failed := v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseFailed, IntentDigest: "bad", Revision: 1}
	cases := map[string]struct {
		reason   string
		last     v1alpha1.IntentDeploymentStatus
		next     v1alpha1.IntentDeploymentStatus
		failedIn v1alpha1.Phase
		want     []v1alpha1.Phase
	}{
		"First":      {reason: "All edges that were crossed in one call.", next: v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseDelivering, IntentDigest: "d", Revision: 1}, want: []v1alpha1.Phase{"Pending", "Compiling", "Rendering", "Delivering"}},
		"FirstFails": {reason: "A failure leaves where it happened.", next: v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseFailed, IntentDigest: "d"}, failedIn: v1alpha1.PhaseCompiling, want: []v1alpha1.Phase{"Pending", "Compiling", "Failed"}},
		"Quiet":      {reason: "Nothing changed.", last: succeeded, next: succeeded},
		"Frozen":     {reason: "An invalid edit starts again.", last: succeeded, next: failed, failedIn: v1alpha1.PhaseCompiling, want: []v1alpha1.Phase{"Pending", "Compiling", "Failed"}},
		"Fixed":      {reason: "A fix that returns to the same revision passes through all phases.", last: failed, next: succeeded, want: []v1alpha1.Phase{"Pending", "Compiling", "Rendering", "Delivering", "Validating", "Succeeded"}},
		"Thawed": {
			reason: "A fix outside of the spec begins again at Pending too.", next: succeeded,
			last: v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseFailed, IntentDigest: "d", Revision: 1},
			want: []v1alpha1.Phase{"Pending", "Compiling", "Rendering", "Delivering", "Validating", "Succeeded"},
		},
		"Appeared": {
			reason: "What was waited for appeared.", next: succeeded,
			last: v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhasePending, IntentDigest: "d", Revision: 1},
			want: []v1alpha1.Phase{"Compiling", "Rendering", "Delivering", "Validating", "Succeeded"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []v1alpha1.Phase
			for _, tr := range Log(&tc.last, &tc.next, phasePath{failedIn: tc.failedIn}, now) {
				got = append(got, tr.To)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nLog(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMessageFits: a status with a message that is too long is refused as a whole, and its claim would say nothing at all.
func TestMessageFits(t *testing.T) {
	cases := map[string]struct {
		reason  string
		message string
		want    string
	}{
		"Short":   {reason: "What fits stays.", message: strings.Repeat("a", 2048), want: strings.Repeat("a", 2048)},
		"Long":    {reason: "Many Sites with long names do not fit.", message: strings.Repeat("a", 2049), want: strings.Repeat("a", 2047) + "…"},
		"Letters": {reason: "A schema counts characters and not bytes.", message: strings.Repeat("ä", 2048), want: strings.Repeat("ä", 2048)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Compilation: Compilation{Problem: &Problem{Reason: v1alpha1.ReasonSiteMissing, Message: tc.message, Phase: v1alpha1.PhasePending}}}
			if diff := cmp.Diff(tc.want, Status(f, &v1alpha1.IntentDeploymentStatus{}, now).Message); diff != "" {
				t.Errorf("\n%s\nStatus(...): message: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLogIsBounded(t *testing.T) {
	s := v1alpha1.IntentDeploymentStatus{}
	for i := range 10 {
		next := v1alpha1.IntentDeploymentStatus{Phase: v1alpha1.PhaseSucceeded, IntentDigest: "d", Revision: int64(i + 1)}
		next.Transitions = Log(&s, &next, phasePath{}, now)
		s = next
	}
	if diff := cmp.Diff(projection.MaxTransitions, len(s.Transitions)); diff != "" {
		t.Errorf("Log(...): -want, +got:\n%s", diff)
	}
	if last := s.Transitions[projection.MaxTransitions-1]; last.To != v1alpha1.PhaseSucceeded || last.Revision != 10 {
		t.Errorf("Log(...): the newest one comes last, got %+v", last)
	}
}

// TestConflictConditions holds the conditions of a deployment whose object another claim delivers.
func TestConflictConditions(t *testing.T) {
	f := &Input{}
	place(f, true, deliveryv1alpha1.ActionDesired, done, conflict)
	f.State.Verdict = nil
	got := map[string]string{}
	for _, c := range Conditions(f) {
		got[c.Type] = string(c.Status) + " " + c.Reason
	}
	want := map[string]string{
		v1alpha1.TypeDelivered: "False ObjectConflict", v1alpha1.TypeStalled: "True ObjectConflict", v1alpha1.TypeReconciling: "False Idle", v1alpha1.TypeRolledBack: "False NotRolledBack",
	}
	for typ, condition := range want {
		if diff := cmp.Diff(condition, got[typ]); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", typ, diff)
		}
	}
	if v := f.Proof().Failure; v != nil {
		t.Errorf("The revision is not rejected for it, and goes out when the other claim is gone: got %+v", v)
	}
}
