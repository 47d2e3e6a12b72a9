package ledger

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	noon    = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	opened  = Event{Opened: &Opened{Ledger: "demo", Home: "platform"}}
	advance = Event{Advanced: &Advanced{Step: 1}}
	reject  = Event{Judged: &Judged{Verdict: Verdict{Result: VerdictRejected, Reason: "GateFailed"}}}
	closed  = Event{Closed: &Closed{}}
)

// sealed returns the state after events and a move.
func sealed(list []Event) State {
	s, err := Append(State{}, noon, append(slices.Clone(list), Event{Moved: &Moved{Home: "other", RequestRef: requestReference("u1")}})...)
	if err != nil {
		panic(err)
	}
	return s
}

// requestReference names a RolloutRequest.
func requestReference(uid string) RequestReference {
	return RequestReference{Name: "request-" + uid, UID: uid}
}

// order returns the order of a revision that goes to Site edge1, and then to edge2.
func order(number int64, intent string, change ...func(*Ordered)) Event {
	o := &Ordered{Revision: Revision{
		Number: number, Request: Request{Intent: intent, Sources: "sources", Scheme: 1, Renderer: 1},
		Plan:  []Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}},
		Parts: []Part{{Delivery: "shop", ConfigRef: "platform", Sites: []string{"edge1", "edge2"}}},
	}}
	for _, c := range change {
		c(o)
	}
	return Event{Ordered: o}
}

func byRequest(uid string) func(*Ordered) {
	return func(o *Ordered) { o.Revision.RequestRef = new(requestReference(uid)) }
}

// verify returns the verdict on a revision that runs at both Sites.
func verify(sites ...string) Event {
	j := &Judged{Verdict: Verdict{Result: VerdictVerified}}
	for _, s := range sites {
		j.Trees = append(j.Trees, SiteTree{Site: s, ID: "tree-" + s})
	}
	return Event{Judged: j}
}

func rollBack(target int64) Event   { return Event{RolledBack: &RolledBack{Target: target}} }
func stage(step, stage int32) Event { return Event{Advanced: &Advanced{Step: step, Stage: stage}} }
func promote(step int32, uid string) Event {
	return Event{Promoted: &Promoted{Step: step, RequestRef: requestReference(uid)}}
}

func withdraw(target int64, uid string) Event {
	return Event{Withdrawn: &Withdrawn{Target: target, RequestRef: requestReference(uid)}}
}

// verified returns the events of a revision that succeeded.
func verified(number int64, intent string) []Event {
	return []Event{order(number, intent), advance, verify("edge1", "edge2")}
}

func events(lists ...[]Event) []Event {
	var out []Event
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// TestApplyRefuses gives each guard an event that must not follow.
func TestApplyRefuses(t *testing.T) {
	begun := []Event{opened, order(1, "a")}
	succeeded := events([]Event{opened}, verified(1, "a"))
	failed := events(succeeded, []Event{order(2, "b"), reject})
	cases := map[string]struct {
		reason string
		before []Event
		event  Event
		want   string
	}{
		"Nothing": {reason: "An event without a content is refused.", before: begun, want: "cannot record an event: exactly one of its fields must be set"},
		"Two": {
			reason: "An event with two contents is refused.",
			before: begun, event: Event{Closed: &Closed{}, Restored: &Restored{}},
			want: "cannot record an event: exactly one of its fields must be set",
		},
		"NotOpened":   {reason: "A ledger is opened before anything is recorded.", event: order(1, "a"), want: "cannot record Ordered: the ledger was not opened"},
		"OpenedTwice": {reason: "An open ledger is not opened again.", before: begun, event: opened, want: "cannot record Opened: the ledger is open"},
		"NoHome": {
			reason: "A ledger is not opened without a home.",
			event:  Event{Opened: &Opened{Ledger: "demo"}}, want: "cannot record Opened: a ledger needs an identity and a home",
		},
		"OpenedAgain": {
			reason: "A deployment that is made again has another ledger.",
			before: append(begun, closed), event: opened, want: "cannot record Opened: the identity is that of the ledger before",
		},
		"NumberUsed": {
			reason: "The number of a revision is used once.",
			before: begun, event: order(1, "b"), want: "cannot record Ordered: revision 1 does not follow 1",
		},
		"NumberLeftOut": {
			reason: "A revision number that leaves one out is refused.",
			before: begun, event: order(3, "b"), want: "cannot record Ordered: revision 3 does not follow 1",
		},
		"NoNumber": {
			reason: "No revision follows the highest number.",
			before: append(begun, Event{Recovered: &Recovered{LastNumber: MaxNumber}}), event: order(MaxNumber+1, "b"),
			want: "cannot record Ordered: no number follows 4503599627370496",
		},
		"NoNumberBack": {
			reason: "No rollback that a user asks for follows the highest number.",
			before: events([]Event{opened}, verified(1, "a"), verified(2, "b"), []Event{{Recovered: &Recovered{LastNumber: MaxNumber}}}),
			event:  withdraw(1, "u1"), want: "cannot record Withdrawn: no number follows 4503599627370496",
		},
		"NeverWhole": {
			reason: "A plan whose last step shares requests is refused: the revision never gets all of them.",
			before: begun, event: order(2, "b", func(o *Ordered) { o.Revision.Plan[1].Weight = new(int32(20)) }),
			want: "cannot record Ordered: a plan is not complete: its last step, 1, has a weight of 20 percent, and not all requests",
		},
		"NoPlan": {
			reason: "A revision without a plan is refused.",
			before: begun, event: order(2, "b", func(o *Ordered) { o.Revision.Plan = nil }),
			want: "cannot record Ordered: a plan has 1 to 20 steps, not 0",
		},
		"NoRepository": {
			reason: "Each Site of a plan has a repository.",
			before: begun, event: order(2, "b", func(o *Ordered) { o.Revision.Parts = nil }),
			want: "cannot record Ordered: no repository delivers to Site edge1 of the plan",
		},
		"TwoParts": {
			reason: "Two repositories may not deliver to one Site.",
			before: begun, event: order(2, "b", func(o *Ordered) { o.Revision.Parts = append(o.Revision.Parts, o.Revision.Parts[0]) }),
			want: "cannot record Ordered: two repositories deliver to Site edge1",
		},
		"Rejected": {
			reason: "A rejected intent is not ordered again.",
			before: failed, event: order(3, "b"),
			want: "cannot record Ordered: revision 2 was rejected with the same intent, and no RolloutRequest asks for it",
		},
		"Adopt": {
			reason: "Permission to overwrite files helps a revision only if a repository refused it.",
			before: failed, event: order(3, "b", func(o *Ordered) { o.AdoptEnabled = true }),
			want: "cannot record Ordered: revision 2 was rejected with the same intent, and no RolloutRequest asks for it",
		},
		"RequestTwice": {
			reason: "A RolloutRequest that took effect is refused the second time.",
			before: events(failed, []Event{order(3, "b", byRequest("u1")), reject}), event: order(4, "b", byRequest("u1")),
			want: "cannot record Ordered: RolloutRequest request-u1 took effect before",
		},
		"NoUID": {
			reason: "A RolloutRequest is known by its UID.",
			before: failed, event: order(3, "b", byRequest("")), want: "cannot record Ordered: the RolloutRequest has no UID",
		},
		"StepOver": {
			reason: "Steps come one after the other.",
			before: begun, event: Event{Advanced: &Advanced{Step: 2}},
			want: "cannot record Advanced: step 2, stage 0 does not follow step 0, stage 0",
		},
		"NoStep": {
			reason: "A step beyond the end of the plan is refused.",
			before: append(begun, advance), event: Event{Advanced: &Advanced{Step: 2}},
			want: "cannot record Advanced: step 2, stage 0 does not follow step 1, stage 0",
		},
		"StageBack": {
			reason: "The stage of a step does not go back.",
			before: append(begun, stage(0, 2)), event: stage(0, 1), want: "cannot record Advanced: step 0, stage 1 does not follow step 0, stage 2",
		},
		"StageTooHigh": {
			reason: "A stage beyond the fifth of a step is refused.",
			before: begun, event: stage(0, 5), want: "cannot record Advanced: step 0, stage 5 does not follow step 0, stage 0",
		},
		"StepOfVerified": {
			reason: "A verified revision has no further steps.",
			before: succeeded, event: stage(2, 0), want: "cannot record Advanced: step 2, stage 0 does not follow step 1, stage 0",
		},
		"StepOfRejected": {
			reason: "A rejected revision goes to no further Sites.",
			before: failed, event: stage(1, 0), want: "cannot record Advanced: step 1, stage 0 does not follow step 0, stage 0",
		},
		"StageNoAttempt": {
			reason: "A rejected revision has no stages before its rollback began.",
			before: failed, event: stage(0, 1), want: "cannot record Advanced: step 0, stage 1 does not follow step 0, stage 0",
		},
		"NoRevision": {
			reason: "Without a revision no step begins.",
			before: []Event{opened}, event: advance, want: "cannot record Advanced: no revision was ordered",
		},
		"PromoteHere": {
			reason: "A step that began needs no release.",
			before: begun, event: promote(0, "u1"), want: "cannot record Promoted: step 0 is none that can be released",
		},
		"PromoteTwice": {
			reason: "A step that was released is not released again.",
			before: append(begun, promote(1, "u1")), event: promote(1, "u2"), want: "cannot record Promoted: step 1 is none that can be released",
		},
		"PromoteBeyond": {
			reason: "A step that the plan does not have is not released.",
			before: begun, event: promote(3, "u1"), want: "cannot record Promoted: step 3 is none that can be released",
		},
		"PromoteJudged": {
			reason: "A revision that was judged is not promoted.",
			before: succeeded, event: promote(1, "u1"), want: "cannot record Promoted: revision 1 is Verified, and a verdict never changes",
		},
		"FullTwice": {
			reason: "Once all steps are released, they are not released again.",
			before: append(begun, Event{Promoted: &Promoted{Full: true, RequestRef: requestReference("u1")}}),
			event:  Event{Promoted: &Promoted{Full: true, RequestRef: requestReference("u2")}}, want: "cannot record Promoted: all steps are released",
		},
		"JudgedTwice": {
			reason: "A verdict is not replaced by another one.",
			before: succeeded, event: reject, want: "cannot record Judged: revision 1 is Verified, and a verdict never changes",
		},
		"TooEarly": {
			reason: "A revision is verified at the end of its plan.",
			before: begun, event: verify("edge1", "edge2"),
			want: "cannot record Judged: a revision is verified at step 1 of its plan, and not at step 0",
		},
		"Unproven": {
			reason: "A revision is verified when it runs at each Site.",
			before: append(begun, advance), event: verify("edge1"),
			want: "cannot record Judged: a verified revision needs the tree that was proven at each Site of its plan, once",
		},
		"NoReason": {
			reason: "A rejection without a reason is refused.",
			before: begun, event: Event{Judged: &Judged{Verdict: Verdict{Result: VerdictRejected}}},
			want: "cannot record Judged: a rejection needs a reason",
		},
		"NoResult": {
			reason: "A verdict is one of two.",
			before: begun, event: Event{Judged: &Judged{Verdict: Verdict{Result: "Perhaps"}}},
			want: `cannot record Judged: "Perhaps" is neither Verified nor Rejected`,
		},
		"RollbackGood": {
			reason: "A verified revision is not rolled back without being withdrawn.",
			before: succeeded, event: rollBack(1), want: "cannot record RolledBack: revision 1 is not rejected",
		},
		"RollbackBad": {
			reason: "A rollback goes to a verified revision.",
			before: failed, event: rollBack(2),
			want: "cannot record RolledBack: revision 2 was not verified, was withdrawn or is not in the history",
		},
		"RollbackEnded": {
			reason: "A rollback that came to its end is not tried again.",
			before: events(failed, []Event{rollBack(1), {Restored: &Restored{}}}), event: rollBack(1),
			want: "cannot record RolledBack: the rollback came to its end",
		},
		"RollbackPast": {
			reason: "A withdrawn revision is never a target.",
			before: events([]Event{opened}, verified(1, "a"), verified(2, "b"), []Event{withdraw(1, "u1")}), event: rollBack(2),
			want: "cannot record RolledBack: revision 2 was not verified, was withdrawn or is not in the history",
		},
		"RestoredEarly": {
			reason: "Only a revision whose rollback began can be restored.",
			before: failed, event: Event{Restored: &Restored{}}, want: "cannot record Restored: no rollback began",
		},
		"WithdrawNone": {
			reason: "A user rolls back to a verified revision.",
			before: succeeded, event: withdraw(7, "u1"), want: "cannot record Withdrawn: revision 7 cannot be rolled back to",
		},
		"WithdrawSame": {
			reason: "A user does not go back to the current revision.",
			before: succeeded, event: withdraw(1, "u1"), want: "cannot record Withdrawn: revision 1 cannot be rolled back to",
		},
		"RebaseSame": {
			reason: "The same digests need no event.",
			before: begun, event: Event{Rebased: &Rebased{Request: order(1, "a").Ordered.Revision.Request}},
			want: "cannot record Rebased: the request is that of the revision",
		},
		"RebaseIntent": {
			reason: "Rebasing may not change the intent of a revision.",
			before: begun, event: Event{Rebased: &Rebased{Request: Request{Intent: "b", Scheme: 1}}},
			want: "cannot record Rebased: another intent is another revision",
		},
		"OldCopy": {
			reason: "An older copy does not replace the ledger.",
			before: begun, event: Event{Recovered: &Recovered{Copy: State{Head: Head{Ledger: "demo", Epoch: 1, Seq: 1}}}},
			want: "cannot record Recovered: the copy is not newer than the ledger",
		},
		"OldEpoch": {
			reason: "A copy of another ledger with a lower epoch does not replace the ledger.",
			before: events(begun, []Event{{Recovered: &Recovered{LastNumber: 4}}}),
			event:  Event{Recovered: &Recovered{Copy: State{Head: Head{Ledger: "other", Epoch: 1, Seq: 9}}}},
			want:   "cannot record Recovered: the copy is not newer than the ledger",
		},
		"EmptyCopy": {
			reason: "A recovery that says nothing new is none.",
			before: begun, event: Event{Recovered: &Recovered{LastNumber: 1}},
			want: "cannot record Recovered: the copy says nothing that the ledger does not know",
		},
		"MovedNowhere": {
			reason: "A ledger moves to another home.",
			before: begun, event: Event{Moved: &Moved{Home: "platform", RequestRef: requestReference("u1")}},
			want: "cannot record Moved: a ledger moves to another home",
		},
		"AfterMove": {
			reason: "Nothing is recorded in a home that was left.",
			before: append(begun, Event{Moved: &Moved{Home: "other", RequestRef: requestReference("u1")}}), event: reject,
			want: "cannot record Judged: the ledger moved to other",
		},
		"AfterEnd": {
			reason: "Nothing is recorded about a deployment that was deleted.",
			before: append(begun, closed), event: reject, want: "cannot record Judged: the ledger is closed: the deployment was deleted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state, err := Append(State{}, noon, tc.before...)
			if err != nil {
				t.Fatalf("\n%s\nAppend(...): %v", tc.reason, err)
			}
			next, err := Apply(state, tc.event)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.want, message); diff != "" {
				t.Errorf("\n%s\nApply(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(state, next); diff != "" {
				t.Errorf("\nAn event that is refused changes nothing.\nApply(...): -before, +after:\n%s", diff)
			}
		})
	}
}

// TestApply compares the states after events that are legal.
func TestApply(t *testing.T) {
	succeeded := events([]Event{opened}, verified(1, "a"))
	failed := events(succeeded, []Event{order(2, "b"), reject})
	type seen struct {
		Position   Position
		Verdict    Result
		Stable     int64
		Target     int64
		Withdraws  int64
		Restored   bool
		Promoted   int32
		LastNumber int64
		Targets    []int64
	}
	cases := map[string]struct {
		reason string
		events []Event
		want   seen
	}{
		"First": {
			reason: "The first revision begins at step 0.",
			events: []Event{opened, order(1, "a")}, want: seen{Position: Position{Epoch: 1, Revision: 1}, LastNumber: 1},
		},
		"Verified": {
			reason: "A verified revision is a target of rollbacks.",
			events: succeeded,
			want:   seen{Position: Position{Epoch: 1, Revision: 1, Step: 1}, Verdict: VerdictVerified, Stable: 1, LastNumber: 1, Targets: []int64{1}},
		},
		"Replaced": {
			reason: "A revision that was replaced before its verdict is never a target.",
			events: events(succeeded, []Event{order(2, "b"), order(3, "c")}),
			want:   seen{Position: Position{Epoch: 1, Revision: 3}, Stable: 1, LastNumber: 3, Targets: []int64{1}},
		},
		"Adopted": {
			reason: "A refused revision may be ordered again once files may be overwritten.",
			events: []Event{
				opened, order(1, "a"),
				{Judged: &Judged{Verdict: Verdict{Result: VerdictRejected, Reason: "DeliveryRefused"}}},
				order(2, "a", func(o *Ordered) { o.AdoptEnabled = true }),
			},
			want: seen{Position: Position{Epoch: 1, Revision: 2}, LastNumber: 2},
		},
		"Requested": {
			reason: "A rejected intent is ordered again when a user asks.",
			events: events(failed, []Event{order(3, "b", byRequest("u1"))}),
			want:   seen{Position: Position{Epoch: 1, Revision: 3}, Stable: 1, LastNumber: 3, Targets: []int64{1}},
		},
		"Rollback": {
			reason: "Each attempt of a rollback has a number, and continues where the previous attempt ended.",
			events: events(failed, []Event{rollBack(1), stage(0, 2), rollBack(1)}),
			want: seen{
				Position: Position{Epoch: 1, Revision: 2, Attempt: 2, Stage: 2}, Verdict: VerdictRejected, Stable: 1, Target: 1, LastNumber: 2,
				Targets: []int64{1},
			},
		},
		"Restored": {
			reason: "A rollback ends when the target runs.",
			events: events(failed, []Event{rollBack(1), {Restored: &Restored{}}}),
			want: seen{
				Position: Position{Epoch: 1, Revision: 2, Attempt: 1}, Verdict: VerdictRejected, Stable: 1, Target: 1, Restored: true, LastNumber: 2,
				Targets: []int64{1},
			},
		},
		"Withdrawn": {
			reason: "A user rolls back past revisions, which are not targets any more.",
			events: events([]Event{opened}, verified(1, "a"), verified(2, "b"), verified(3, "c"), []Event{withdraw(1, "u1"), rollBack(1)}),
			want: seen{
				Position: Position{Epoch: 1, Revision: 4, Attempt: 1}, Verdict: VerdictRejected, Stable: 1, Target: 1, Withdraws: 3, LastNumber: 4,
				Targets: []int64{1},
			},
		},
		"StaysWithdrawn": {
			reason: "A revision that a user rolled back past once is never a target of a later rollback.",
			events: events(
				[]Event{opened}, verified(1, "a"), verified(2, "b"), []Event{withdraw(1, "u1")}, verified(4, "d"), verified(5, "e"),
				[]Event{withdraw(4, "u2")},
			),
			want: seen{Position: Position{Epoch: 1, Revision: 6}, Verdict: VerdictRejected, Stable: 4, Withdraws: 5, LastNumber: 6, Targets: []int64{4, 1}},
		},
		"Promoted": {
			reason: "A user releases the step that waits for approval.",
			events: []Event{opened, order(1, "a"), promote(1, "u1")},
			want:   seen{Position: Position{Epoch: 1, Revision: 1}, Promoted: 1, LastNumber: 1},
		},
		"Alone": {
			reason: "A verified revision goes on to its last stage.",
			events: append(succeeded, stage(1, 4)),
			want: seen{
				Position: Position{Epoch: 1, Revision: 1, Step: 1, Stage: 4}, Verdict: VerdictVerified, Stable: 1, LastNumber: 1, Targets: []int64{1},
			},
		},
		"Numbers": {
			reason: "A number that was found in a repository is not used again.",
			events: []Event{opened, {Recovered: &Recovered{LastNumber: 7}}, order(8, "a")},
			want:   seen{Position: Position{Epoch: 2, Revision: 8}, LastNumber: 8},
		},
		"MovedBack": {
			reason: "A ledger that is opened again where it moved away from continues from its own end.",
			events: append(
				succeeded, Event{Moved: &Moved{Home: "other", RequestRef: requestReference("u1")}}, Event{Opened: &Opened{Ledger: "back", Home: "platform"}},
				Event{Recovered: &Recovered{Copy: sealed(succeeded)}},
			),
			want: seen{Position: Position{Epoch: 3, Revision: 1, Step: 1}, Verdict: VerdictVerified, Stable: 1, LastNumber: 1, Targets: []int64{1}},
		},
		"Reopened": {
			reason: "A recreated deployment continues the numbers of its predecessor.",
			events: append(failed, closed, Event{Opened: &Opened{Ledger: "demo-again", Home: "platform"}}, order(3, "b")),
			want:   seen{Position: Position{Epoch: 2, Revision: 3}, LastNumber: 3},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Append(State{}, noon, tc.events...)
			if err != nil {
				t.Fatalf("\n%s\nAppend(...): %v", tc.reason, err)
			}
			got := seen{Position: s.Position(), Stable: s.Stable, Target: s.Target, Withdraws: s.Withdraws, Restored: s.Restored, Promoted: s.Cursor.Promoted, LastNumber: s.LastNumber}
			if s.Verdict != nil {
				got.Verdict = s.Verdict.Result
			}
			for _, p := range s.Targets() {
				got.Targets = append(got.Targets, p.Number)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAppend(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCanContinue opens a ledger where another one moved away from.
func TestCanContinue(t *testing.T) {
	moved := State{Head: Head{Ledger: "moved", Epoch: 2, Seq: 9}}
	fresh := func(ledger string, epoch int64) State { return State{Head: Head{Ledger: ledger, Epoch: epoch, Seq: 1}} }
	ordered, past := fresh("n", 3), fresh("n", 3)
	ordered.Current, past.History = &Revision{Number: 1}, []Past{{Number: 1}}
	cases := map[string]struct {
		reason string
		state  State
		want   bool
	}{
		"Next":    {reason: "A ledger of the next epoch without decisions continues the previous ledger.", state: fresh("n", 3), want: true},
		"Later":   {reason: "Between the ledger and one of a later epoch there was another one.", state: fresh("n", 4)},
		"Same":    {reason: "A ledger does not continue itself.", state: fresh("moved", 3)},
		"Ordered": {reason: "A ledger that ordered a revision goes its own way.", state: ordered},
		"Past":    {reason: "A ledger that has a history goes its own way.", state: past},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.state.canContinue(moved); got != tc.want {
				t.Errorf("\n%s\ncanContinue(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestSharedSites brings a revision to each Site in two steps, as weights do.
func TestSharedSites(t *testing.T) {
	sites := make([]string, MaxSites)
	for i := range sites {
		sites[i] = fmt.Sprintf("edge%d", i)
	}
	o := order(1, "a")
	o.Ordered.Revision.Plan, o.Ordered.Revision.Parts[0].Sites = []Step{{Sites: sites}, {Sites: sites}}, sites
	if _, err := Append(State{}, noon, opened, o); err != nil {
		t.Errorf("\nA Site that several steps name counts once.\nAppend(...): %v", err)
	}
}

// TestRebase records that another request renders the trees of a revision.
func TestRebase(t *testing.T) {
	request := Request{Intent: "b", Sources: "newer", Scheme: 1, Renderer: 2}
	s, err := Append(State{}, noon, events([]Event{opened}, verified(1, "a"), verified(2, "b"), []Event{{Rebased: &Rebased{Request: request}}})...)
	if err != nil {
		t.Fatal(err)
	}
	original := order(1, "a").Ordered.Revision.Request
	if diff := cmp.Diff([]Request{request, original, request}, []Request{s.Current.Request, s.History[0].Request, s.History[1].Request}); diff != "" {
		t.Errorf("\nThe current revision has the request from then on, also in the history, and no other one has it.\nAppend(...): -want, +got:\n%s", diff)
	}
}
