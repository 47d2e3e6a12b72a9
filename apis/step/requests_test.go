package step

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// ask is a RolloutRequest about a revision.
func ask(a Action, revision int64, change ...func(*Request)) Request {
	r := Request{Ref: ledger.RequestReference{Name: "r", UID: string(a)}, Action: a, Revision: revision, CreatedAt: at(60)}
	for _, c := range change {
		c(&r)
	}
	return r
}

func to(number int64) func(*Request) { return func(r *Request) { r.ToRevision = number } }

func release(step int32) func(*Request) { return func(r *Request) { r.Step = step } }

func pendingUpdate(r *Request) { r.UpdateResult = ResultWaiting }

func asks(requests ...Request) func(*Input) {
	return func(in *Input) { in.Requests = append(in.Requests, requests...) }
}

func TestRequests(t *testing.T) {
	firstGood, secondGood := good(1, "a"), good(2, "b")
	paused := []ledger.Event{ordered(1, "a", pausedPlan)}
	inTracks := join(goodInTrack(1, "green", "w1", 0), goodInTrack(2, "blue", "w2", 1))
	heldGate := func(in *Input) { in.Proof.IsHeld = true }
	heldAt := func(end time.Time) func(*Input) {
		return func(in *Input) { in.Proof.IsHeld, in.Proof.HeldAt = true, end }
	}
	full := func(r *Request) { r.Full = true }
	recordedVerdict := func(in *Input) { in.IsRecorded = true }
	cases := map[string]struct {
		reason string
		events []ledger.Event
		in     Input
		want   string
		result Result
	}{
		"NothingOrdered": {
			reason: "A request about a deployment without a revision waits.",
			in:     input(nil, asks(ask(ActionAbort, 1))), result: ResultWaiting,
		},
		"Abort": {
			reason: "An abort rejects the revision.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a"), asks(ask(ActionAbort, 1))), want: "Judged Rejected", result: ResultWaiting,
		},
		"AbortAnytime": {
			reason: "An abort takes effect in a suspended deployment whose spec cannot be compiled.",
			events: []ledger.Event{ordered(1, "a")}, in: input(nil, suspend, asks(ask(ActionAbort, 1))), want: "Judged Rejected", result: ResultWaiting,
		},
		"AbortJudged": {
			reason: "An abort of a verified revision is refused, since a verdict never changes.",
			events: firstGood, in: input(desired("a"), asks(ask(ActionAbort, 1))), result: ResultAlreadyJudged,
		},
		"AbortEarlier": {
			reason: "A request about an earlier revision is stale.",
			events: join(firstGood, secondGood), in: input(desired("b"), asks(ask(ActionAbort, 1))), result: ResultStale,
		},
		"AbortLater": {
			reason: "A request about a revision that does not exist is refused.",
			events: firstGood, in: input(desired("a"), asks(ask(ActionAbort, 5))), result: ResultUnknownRevision,
		},
		"AbortOtherDigest": {
			reason: "A request with other digests than the revision is stale.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a"), asks(ask(ActionAbort, 1, func(r *Request) { r.Digest = "sha256:0" }))),
			result: ResultStale,
		},
		"AbortSameDigest": {
			reason: "A request about the digests of the revision takes effect.",
			events: []ledger.Event{ordered(1, "a")}, want: "Judged Rejected", result: ResultWaiting,
			in: input(desired("a"), asks(ask(ActionAbort, 1, func(r *Request) { r.Digest = desired("a").Request.Digest() }))),
		},
		"RollbackTo": {
			reason: "A user rolls back to a verified revision.",
			events: join(firstGood, secondGood), in: input(desired("b"), hold("b", 2), asks(ask(ActionRollbackTo, 2, to(1)))), want: "Withdrawn", result: ResultWaiting,
		},
		"RollbackToUnjudged": {
			reason: "A user rolls back while the current revision is not judged.",
			events: join(firstGood, []ledger.Event{ordered(2, "b")}), in: input(nil, hold("b", 2), asks(ask(ActionRollbackTo, 2, to(1)))),
			want: "Withdrawn", result: ResultWaiting,
		},
		"RollbackToCurrent": {
			reason: "The current revision is not a target.",
			events: firstGood, in: input(desired("a"), asks(ask(ActionRollbackTo, 1, to(1)))), result: ResultNoTarget,
		},
		"RollbackToRejected": {
			reason: "A rejected revision is not a target.",
			events: join(firstGood, bad(2, "b"), good(3, "c")), in: input(desired("c"), hold("c", 3), asks(ask(ActionRollbackTo, 3, to(2)))),
			result: ResultNoTarget,
		},
		"RollbackToPlain": {
			reason: "Files without tracks are in no object once a revision in a track is alone: an edit moves back.",
			events: join(good(1, "a"), goodInTrack(2, "blue", "w2", 1)), in: input(desired("a"), asks(ask(ActionRollbackTo, 2, to(1)))), result: ResultNoTarget,
		},
		"RollbackToPlainInMove": {
			reason: "While requests go to pods without tracks, an earlier revision without tracks cannot take the place of both.",
			events: join(good(1, "a"), goodInTrack(2, "blue", "w2", 1), []ledger.Event{ordered(3, "c", inTrack("plain", "w3", 2), steps(0, 100))}),
			in:     input(desired("c"), asks(ask(ActionRollbackTo, 3, to(1)))), want: "Advanced", result: ResultNoTarget,
		},
		"RollbackToUnknown": {
			reason: "A revision that is not remembered is not a target.",
			events: firstGood, in: input(desired("a"), asks(ask(ActionRollbackTo, 1, to(7)))), result: ResultUnknownRevision,
		},
		"RollbackToInPlace": {
			reason: "A target whose trees all directories hold needs no rollback.",
			events: join(firstGood, secondGood), in: input(desired("b"), hold("a", 1), asks(ask(ActionRollbackTo, 2, to(1)))), result: ResultNothingToRestore,
		},
		"RollbackToGoesOn": {
			reason: "A rollback that goes on is not begun again.",
			events: join(firstGood, bad(2, "b"), []ledger.Event{rolledBack(1)}), in: input(desired("b"), hold("b", 2), asks(ask(ActionRollbackTo, 2, to(1)))),
			result: ResultNothingToRestore,
		},
		"Promote": {
			reason: "A user releases a step that waits for it.",
			events: paused, in: input(desired("a"), asks(ask(ActionPromote, 1, release(1)))), want: "Promoted", result: ResultWaiting,
		},
		"PromoteFreeStep": {
			reason: "A step that does not wait for a user cannot be released.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a"), asks(ask(ActionPromote, 1, release(1)))), result: ResultUnknownStep,
		},
		"PromoteNoStep": {
			reason: "A step that the plan does not have cannot be released.",
			events: paused, in: input(desired("a"), asks(ask(ActionPromote, 1, release(2)))), result: ResultUnknownStep,
		},
		"PromoteReached": {
			reason: "A step that began cannot be released any more.",
			events: append(paused, ledger.Event{Promoted: &ledger.Promoted{Step: 1, RequestRef: ledger.RequestReference{UID: "x"}}}),
			in:     input(desired("a"), asks(ask(ActionPromote, 1, release(1)))), result: ResultStale,
		},
		"PromoteOlderRevision": {
			reason: "A user who saw an earlier revision releases no step of the current one.",
			events: join(firstGood, []ledger.Event{ordered(2, "b", pausedPlan)}), in: input(desired("b"), asks(ask(ActionPromote, 1, release(1)))), result: ResultStale,
		},
		"PromoteUnknownRevision": {
			reason: "A step of a revision that does not exist cannot be released.",
			events: paused, in: input(desired("a"), asks(ask(ActionPromote, 7, release(1)))), result: ResultUnknownRevision,
		},
		"PromoteTwice": {
			reason: "A request that released a step releases no other one.",
			events: append(paused, ledger.Event{Promoted: &ledger.Promoted{Step: 1, RequestRef: ledger.RequestReference{UID: "Promote"}}}),
			in:     input(desired("a"), asks(ask(ActionPromote, 1, release(1)))), result: ResultTaken,
		},
		"PromoteJudged": {
			reason: "After the verdict no step can be released.",
			events: bad(1, "a"), in: input(desired("a"), asks(ask(ActionPromote, 1, release(1)))), result: ResultAlreadyJudged,
		},
		"PromoteFullJudged": {
			reason: "After the verdict a user cannot release all steps.",
			events: firstGood, in: input(desired("a"), asks(ask(ActionPromote, 1, func(r *Request) { r.Full = true }))), result: ResultAlreadyJudged,
		},
		"PromoteHeldAfterFull": {
			reason: "A user who released all steps still decides on a Gate that came to no verdict.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true)), want: "Promoted", result: ResultWaiting,
			in: input(desired("w2"), heldGate, asks(ask(ActionPromote, 2, release(3)))),
		},
		"PromoteMeasuredAfterFull": {
			reason: "A user who released all steps releases no Gate that measures.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true)), result: ResultUnknownStep,
			in: input(desired("w2"), asks(ask(ActionPromote, 2, release(3)))),
		},
		"PromoteFullHeld": {
			reason: "A user who releases all steps while the Gate of the last one is held decides on it.",
			events: canary(2, ledger.StageSteps, gateLast), want: "Promoted", result: ResultWaiting,
			in: input(desired("w2"), heldGate, asks(ask(ActionPromote, 2, full))),
		},
		"PromoteFullAgain": {
			reason: "A user who released all steps releases the Gate of the last one, which came to no verdict, by releasing all steps again.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true)), want: "Promoted", result: ResultWaiting,
			in: input(desired("w2"), heldGate, asks(ask(ActionPromote, 2, full))),
		},
		"PromoteFullMeasured": {
			reason: "A user who releases all steps twice releases no Gate that measures.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true)), result: ResultStale,
			in: input(desired("w2"), asks(ask(ActionPromote, 2, full))),
		},
		"PromoteFullThrice": {
			reason: "A Gate is released once.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true), gateReleased(0, true)), result: ResultStale,
			in: input(desired("w2"), heldGate, asks(ask(ActionPromote, 2, full))),
		},
		"PromoteFullUnseen": {
			reason: "A request that is older than the end of the Gate decides nothing about it: its user did not see that.",
			events: append(canary(2, ledger.StageSteps, gateLast), promoted(0, true)), result: ResultStale,
			in: input(desired("w2"), heldAt(at(61)), asks(ask(ActionPromote, 2, full))),
		},
		"PromoteUnseen": {
			reason: "A request for a step that is older than the end of the Gate decides nothing about the Gate.",
			events: canary(1, ledger.StageSteps), result: ResultStale,
			in: input(desired("w2"), heldAt(at(61)), asks(ask(ActionPromote, 2, release(2)))),
		},
		"PromoteSeen": {
			reason: "A request for a step that is newer than the end of the Gate releases the Gate.",
			events: canary(1, ledger.StageSteps), want: "Promoted", result: ResultWaiting,
			in: input(desired("w2"), heldAt(at(59)), asks(ask(ActionPromote, 2, release(2)))),
		},
		"PromoteHeldReleased": {
			reason: "A user whose request released the pause before the Gate ended releases the Gate by the same number.",
			events: append(canary(1, ledger.StageSteps), promoted(2, false)), want: "Promoted", result: ResultWaiting,
			in: input(desired("w2"), heldGate, asks(ask(ActionPromote, 2, release(2)))),
		},
		"PromoteBehindHeld": {
			reason: "A Gate that is held has to be released before a pause behind it.",
			events: canary(1, ledger.StageSteps, func(r *ledger.Revision) { r.Plan[2].Pause = ledger.PauseManual }), result: ResultUnknownStep,
			in: input(desired("w2"), heldGate, asks(ask(ActionPromote, 2, release(3)))),
		},
		"PromoteSuspended": {
			reason: "A step of a suspended deployment is released later.",
			events: paused, in: input(desired("a"), suspend, asks(ask(ActionPromote, 1, release(1)))), result: ResultWaiting,
		},
		"Retry": {
			reason: "A user starts a rejected revision again.",
			events: bad(1, "a"), in: input(desired("a"), asks(ask(ActionRetry, 1))), want: "Ordered a", result: ResultWaiting,
		},
		"RetryFrozen": {
			reason: "A revision whose spec cannot be compiled is started again later.",
			events: bad(1, "a"), in: input(nil, asks(ask(ActionRetry, 1))), result: ResultWaiting,
		},
		"RetryBeforeAbort": {
			reason: "A request to start a revision again that was made before another user gave it up is stale.",
			events: []ledger.Event{ordered(1, "a"), rejected(ledger.RejectedRequested)}, result: ResultStale,
			in: input(desired("a"), asks(ask(ActionRetry, 1, func(r *Request) { r.CreatedAt = recordedAt.Add(-time.Hour) }))),
		},
		"RetryAfterAbort": {
			reason: "A request to start a revision again that was made after another user gave it up takes effect.",
			events: []ledger.Event{ordered(1, "a"), rejected(ledger.RejectedRequested)}, in: input(desired("a"), asks(ask(ActionRetry, 1))),
			want: "Ordered a", result: ResultWaiting,
		},
		"Approve": {
			reason: "An approved update begins as soon as it is compiled.",
			events: firstGood, want: "Ordered a", result: ResultWaiting,
			in: input(desired("a", newSources, func(d *Desired) { d.ApprovedBy = &ledger.RequestReference{Name: "r", UID: "ApproveUpdate"} }),
				asks(ask(ActionApproveUpdate, 1)), func(in *Input) { in.HasUpdate = true }),
		},
		"ApproveNothing": {
			reason: "A request to approve an update where none waits is refused.",
			events: firstGood, in: input(desired("a"), asks(ask(ActionApproveUpdate, 1))), result: ResultNoUpdate,
		},
		"ApproveFrozen": {
			reason: "Whether an update waits is not known while the spec cannot be compiled.",
			events: firstGood, in: input(nil, asks(ask(ActionApproveUpdate, 1))), result: ResultWaiting,
		},
		"ApproveOutranked": {
			reason: "Whether an update waits is not known to an older version than the author of the revision.",
			events: firstGood, in: input(desired("a"), asks(ask(ActionApproveUpdate, 1)), func(in *Input) { in.Versions.Renderer = 0 }), result: ResultWaiting,
		},
		"ApproveOther": {
			reason: "A request that names another update than the waiting one is stale.",
			events: firstGood, result: ResultStale,
			in: input(desired("a"), asks(ask(ActionApproveUpdate, 1, func(r *Request) { r.UpdateResult = ResultStale })), func(in *Input) { in.HasUpdate = true }),
		},
		"RollbackInTracks": {
			reason: "A user rolls back a revision in tracks once the home recorded its verdict.",
			events: inTracks, in: input(nil, hold("w2", 2), recordedVerdict, asks(ask(ActionRollbackTo, 2, to(1)))), want: "Withdrawn", result: ResultWaiting,
		},
		"RollbackUnrecorded": {
			reason: "A rollback of a revision in tracks waits until the home has recorded the verdict.",
			events: inTracks, in: input(nil, hold("w2", 2), asks(ask(ActionRollbackTo, 2, to(1)))), result: ResultWaiting,
		},
		"ApproveFailed": {
			reason: "An update that can never be delivered refuses the request that approves it.",
			events: firstGood, result: ResultUpdateFailed,
			in: input(desired("a"), asks(ask(ActionApproveUpdate, 1, func(r *Request) { r.UpdateResult = ResultUpdateFailed })), func(in *Input) { in.HasUpdate = true }),
		},
		"ApprovePending": {
			reason: "A request whose update cannot be delivered now waits, and holds back no request to start the revision again.",
			events: bad(1, "a"), want: "Ordered a", result: ResultWaiting,
			in: input(desired("a"), asks(ask(ActionApproveUpdate, 1, pendingUpdate), ask(ActionRetry, 1)), func(in *Input) { in.HasUpdate = true }),
		},
		"ApproveTwoPending": {
			reason: "Two requests whose update cannot be delivered now hold back no request to start the revision again.",
			events: bad(1, "a"), want: "Ordered a", result: ResultWaiting,
			in: input(desired("a"), func(in *Input) { in.HasUpdate = true },
				asks(ask(ActionApproveUpdate, 1, pendingUpdate), ask(ActionApproveUpdate, 1, pendingUpdate, func(r *Request) { r.Ref.UID = "other" }), ask(ActionRetry, 1))),
		},
		"ApproveBeforeRetry": {
			reason: "An update that was not compiled yet is not overtaken by a request to start the revision again.",
			events: bad(1, "a"), result: ResultWaiting,
			in: input(desired("a"), asks(ask(ActionApproveUpdate, 1), ask(ActionRetry, 1)), func(in *Input) { in.HasUpdate = true }),
		},
		"ApproveBlueprintGone": {
			reason: "An update may be approved although the Blueprint that the deployment stays with is gone.",
			events: firstGood, result: ResultWaiting,
			in: input(nil, asks(ask(ActionApproveUpdate, 1)), func(in *Input) { in.HasUpdate, in.IsBlueprintGone = true, true }),
		},
		"UnknownAction": {
			reason: "An action that this version does not know is refused.",
			events: firstGood, in: input(desired("a"), asks(ask("Explode", 1))), result: ResultNotSupported,
		},
		"AbortFirst": {
			reason: "Of several requests about one revision an abort is taken first.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a"), asks(ask(ActionAbort, 1), ask(ActionRetry, 1))),
			want: "Judged Rejected", result: ResultWaiting,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, tc.events...)
			got, _ := Step(s, tc.in)
			if diff := cmp.Diff(tc.want, event(got)); diff != "" {
				t.Errorf("\n%s\nStep(...): -want event, +got event:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.result, ResultOf(s, tc.in, tc.in.Requests[0])); diff != "" {
				t.Errorf("\n%s\nResultOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRequestIsTakenOnce(t *testing.T) {
	abort := ask(ActionAbort, 1)
	in := input(desired("a"), asks(abort))
	s := record(t, ordered(1, "a"))
	e, _ := Step(s, in)
	s, err := ledger.Append(s, at(9), *e)
	if err != nil {
		t.Fatal(err)
	}
	if r := ChooseRequest(s, in); r != nil {
		t.Errorf("A request that took effect is chosen again: %s", r.Ref.UID)
	}
	if diff := cmp.Diff(ResultTaken, ResultOf(s, in, abort)); diff != "" {
		t.Errorf("A request that took effect is taken while its revision goes on: -want, +got:\n%s", diff)
	}
	in.HasEnded = true
	if diff := cmp.Diff(ResultDone, ResultOf(s, in, abort)); diff != "" {
		t.Errorf("A request is done once its revision came to its end: -want, +got:\n%s", diff)
	}
}

// TestRequestOfRevision compares the results of requests about a revision, after one of them made the next revision.
func TestRequestOfRevision(t *testing.T) {
	retry := ask(ActionRetry, 1)
	in := input(desired("a"), asks(retry))
	s := record(t, bad(1, "a")...)
	e, _ := Step(s, in)
	s, err := ledger.Append(s, at(90), *e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ResultTaken, ResultOf(s, in, retry)); diff != "" {
		t.Errorf("\nA request is taken while the revision that it made goes on.\nResultOf(...): -want, +got:\n%s", diff)
	}
	abort := ask(ActionAbort, 1)
	s.Requests = append(s.Requests, abort.Ref.UID)
	if diff := cmp.Diff(ResultStale, ResultOf(s, in, abort)); diff != "" {
		t.Errorf("\nA request about the revision before, which made nothing of this one, is stale.\nResultOf(...): -want, +got:\n%s", diff)
	}
}

// TestMoveRequests asks to move the ledger.
func TestMoveRequests(t *testing.T) {
	toHome := func(uid, home string) func(*Request) {
		return func(r *Request) { r.Ref.UID, r.ToConfigRef, r.Force = uid, home, true }
	}
	move := func(uid, home string, force bool) Request {
		return ask(ActionMoveLedger, 1, func(r *Request) { r.Ref.UID, r.ToConfigRef, r.Force = uid, home, force })
	}
	lostTrees := func(in *Input) { in.AreTreesLost = true }
	cases := map[string]struct {
		reason string
		in     Input
		// taken is the request that took effect before.
		taken  string
		want   string
		result Result
	}{
		"Asked": {reason: "A request moves the ledger.", in: input(desired("a"), asks(move("u", "b", false))), want: "Moved b", result: ResultWaiting},
		"Nowhere": {
			reason: "The ledger does not move to a repository that no delivery goes to.",
			in:     input(desired("a"), asks(move("u", "", false))), result: ResultUnknownRepository,
		},
		"Lost": {
			reason: "The ledger stays while the desired trees of the revision are unknown.",
			in:     input(desired("a"), lostTrees, asks(move("u", "b", false))), result: ResultWaiting,
		},
		"LostStop": {
			reason: "A revision is rejected although its desired trees are unknown.",
			in:     input(desired("a"), lostTrees, asks(ask(ActionAbort, 1))), want: "Judged Rejected", result: ResultWaiting,
		},
		"Older": {
			reason: "A forced move is stale once a newer one names another home.",
			in:     input(desired("a"), asks(move("u", "b", true), move("v", "c", true))), want: "Moved c", result: ResultStale,
		},
		"Plain": {
			reason: "A move without force is stale once a newer one is by force.",
			in:     input(desired("a"), asks(move("u", "b", false), move("v", "c", true))), want: "Moved c", result: ResultStale,
		},
		"Overtaken": {
			reason: "A move is stale after a newer one by force took effect, which may have left the repository that the older one names.",
			in:     input(desired("a"), asks(move("u", "b", true), move("v", "home", true))), taken: "v", result: ResultStale,
		},
		"StaleLater": {
			reason: "A move stays valid while a newer one by force is about another revision.",
			in:     input(desired("a"), asks(move("u", "b", false), ask(ActionMoveLedger, 0, toHome("v", "c")))), want: "Moved b", result: ResultWaiting,
		},
		"EarlierRevision": {
			reason: "A forced move of a user who saw an earlier revision is stale.",
			in:     input(desired("a"), asks(ask(ActionMoveLedger, 0, toHome("v", "c")))), result: ResultStale,
		},
		"LaterRevision": {
			reason: "A forced move about a revision that does not exist is refused.",
			in:     input(desired("a"), asks(ask(ActionMoveLedger, 3, toHome("v", "c")))), result: ResultUnknownRevision,
		},
		"Proposed": {
			reason: "A forced move that names the revision which only the home that is gone may know is not refused.",
			in:     input(desired("a"), asks(ask(ActionMoveLedger, 2, toHome("v", "c")))), want: "Moved c", result: ResultWaiting,
		},
		"ProposedPlain": {
			reason: "A move without force names a revision that is recorded.",
			in:     input(desired("a"), asks(ask(ActionMoveLedger, 2, toHome("v", "c"), func(r *Request) { r.Force = false }))), result: ResultUnknownRevision,
		},
		"ProposedTaken": {
			reason: "A forced move that took effect is not stale where the revision that it names was lost with the home.",
			in:     input(desired("a"), asks(ask(ActionMoveLedger, 2, toHome("v", "c")))), taken: "v", result: ResultTaken,
		},
		"Later": {
			reason: "A move that is newer than one by force takes effect after it.",
			in:     input(desired("a"), asks(move("v", "b", false), move("u", "home", true), move("w", "c", false))), taken: "u", want: "Moved c", result: ResultStale,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := record(t, ordered(1, "a"))
			s.Requests = []string{tc.taken}
			e, _ := Step(s, tc.in)
			if diff := cmp.Diff(tc.want, event(e)); diff != "" {
				t.Errorf("\n%s\nStep(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.result, ResultOf(s, tc.in, tc.in.Requests[0])); diff != "" {
				t.Errorf("\n%s\nResultOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
