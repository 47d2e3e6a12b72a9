package step

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// recordedAt is when the events of these tests are recorded, one minute after the other.
var recordedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// record returns the state after events that are recorded one minute after the other.
func record(t *testing.T, events ...ledger.Event) ledger.State {
	t.Helper()
	s := ledger.State{}
	for i, e := range append([]ledger.Event{{Opened: &ledger.Opened{Ledger: "a", Home: "home"}}}, events...) {
		var err error
		if s, err = ledger.Append(s, at(i), e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func at(minute int) time.Time { return recordedAt.Add(time.Duration(minute) * time.Minute) }

// desired is the revision that a spec with an intent asks for: two steps, and a Gate at the second.
func desired(intent string, change ...func(*Desired)) *Desired {
	d := &Desired{
		Request: ledger.Request{Intent: intent, Sources: "s1", Scheme: 1, Renderer: 1},
		Plan:    []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}, Gate: true}},
		Parts:   []ledger.Part{{Delivery: "d", ConfigRef: "home", Sites: []string{"edge1", "edge2"}}},
	}
	for _, c := range change {
		c(d)
	}
	return d
}

func input(d *Desired, change ...func(*Input)) Input {
	in := Input{
		Versions: Versions{Scheme: 1, Renderer: 1}, Desired: d, HasAllReported: true,
		Policy: Policy{AutoRollback: true, MaxRetries: 2},
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

// ordered is the event of a revision with the plan of desired.
func ordered(number int64, intent string, change ...func(*ledger.Revision)) ledger.Event {
	d := desired(intent)
	r := ledger.Revision{Number: number, Request: d.Request, Plan: d.Plan, Parts: d.Parts}
	for _, c := range change {
		c(&r)
	}
	return ledger.Event{Ordered: &ledger.Ordered{Revision: r}}
}

func advanced(step int32) ledger.Event { return ledger.Event{Advanced: &ledger.Advanced{Step: step}} }

// treesOf are the trees that both Sites hold of a revision.
func treesOf(name string) []ledger.SiteTree {
	return []ledger.SiteTree{{Site: "edge1", ID: name}, {Site: "edge2", ID: name}}
}

func verified(trees string) ledger.Event {
	return ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}, Trees: treesOf(trees)}}
}

func rejection(reason string) ledger.Verdict {
	return ledger.Verdict{Result: ledger.VerdictRejected, Reason: reason}
}

func rejected(reason string) ledger.Event {
	return ledger.Event{Judged: &ledger.Judged{Verdict: rejection(reason)}}
}

func rolledBack(target int64) ledger.Event {
	return ledger.Event{RolledBack: &ledger.RolledBack{Target: target}}
}

// good is a verified revision, and bad a revision that a Gate rejected.
func good(number int64, intent string) []ledger.Event {
	return []ledger.Event{ordered(number, intent), advanced(1), verified(intent)}
}

func bad(number int64, intent string) []ledger.Event {
	return []ledger.Event{ordered(number, intent), rejected("GateFailed")}
}

func join(lists ...[]ledger.Event) []ledger.Event {
	var out []ledger.Event
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// hold returns directories of both Sites that hold a tree which a revision wrote.
func hold(tree string, revision int64) func(*Input) {
	return func(in *Input) {
		for _, site := range []string{"edge1", "edge2"} {
			in.Directories = append(in.Directories, Directory{Site: site, IsChosen: true, IsKnown: true, Tree: tree, Revision: revision})
		}
	}
}

func live(in *Input)         { in.Proof.IsLive = true }
func suspend(in *Input)      { in.IsSuspended = true }
func failed(in *Input)       { v := rejection("SyncFailed"); in.Proof.Failure = &v }
func provenTrees(in *Input)  { in.Proof.HasPassed, in.Proof.Trees = true, treesOf("b") }
func newRenderer(d *Desired) { d.Request.Renderer = 2 }
func newSources(d *Desired)  { d.Request.Sources = "s2" }
func sameTrees(d *Desired)   { d.HasSameTrees = true }
func adopt(d *Desired)       { d.AdoptEnabled = true }
func waitForSlot(d *Desired) { d.RendererHold = HoldRendererWaits }
func newVersions(in *Input)  { in.Versions.Renderer = 2 }
func noRollback(in *Input)   { in.Policy.AutoRollback = false }
func onePerHour(in *Input)   { in.Policy.MaxPerHour = 1 }
func notReported(in *Input)  { in.HasAllReported = false }
func pausedPlan(r *ledger.Revision) {
	r.Plan = []ledger.Step{{Sites: []string{"edge1"}, Pause: ledger.PauseManual}, {Sites: []string{"edge2"}}}
}

// event describes an event by its kind and main fields.
func event(e *ledger.Event) string {
	switch {
	case e == nil:
		return ""
	case e.Ordered != nil:
		return "Ordered " + e.Ordered.Revision.Request.Intent
	case e.Advanced != nil:
		return "Advanced"
	case e.Promoted != nil:
		return "Promoted"
	case e.Judged != nil:
		return "Judged " + string(e.Judged.Verdict.Result)
	case e.RolledBack != nil:
		return "RolledBack " + string(rune('0'+e.RolledBack.Target))
	case e.Restored != nil:
		return "Restored"
	case e.Withdrawn != nil:
		return "Withdrawn"
	case e.Rebased != nil:
		return "Rebased"
	case e.Moved != nil:
		return "Moved " + e.Moved.Home
	}
	return "another event"
}

func TestStep(t *testing.T) {
	cases := map[string]struct {
		reason string
		events []ledger.Event
		in     Input
		want   string
		holds  Holds
	}{
		"First": {
			reason: "The first revision of a deployment begins as soon as its spec can be compiled.",
			in:     input(desired("a")), want: "Ordered a",
		},
		"FirstFrozen": {
			reason: "A spec that cannot be compiled orders nothing.",
			in:     input(nil), holds: Holds{Start: HoldFrozen},
		},
		"FirstSuspended": {
			reason: "A suspended deployment orders no first revision.",
			in:     input(desired("a"), suspend), holds: Holds{Start: HoldSuspended},
		},
		"UnderWay": {
			reason: "A revision whose Sites are not proven to run it goes on as it is.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a")),
		},
		"NextStep": {
			reason: "A step that is live is followed by the next one.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a"), live), want: "Advanced",
		},
		"NextStepSuspended": {
			reason: "A suspended deployment begins no further step.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a"), live, suspend), holds: Holds{Progress: HoldSuspended},
		},
		"NextStepFrozen": {
			reason: "A step whose trees cannot be rendered now does not begin.",
			events: []ledger.Event{ordered(1, "a")}, in: input(nil, live), holds: Holds{Start: HoldFrozen, Progress: HoldFrozen},
		},
		"ClusterWaits": {
			reason: "A step with a Site whose cluster is not ready waits for it.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a"), func(in *Input) { in.Proof.AwaitsCluster = true }),
			holds: Holds{Progress: HoldClusterWaits},
		},
		"AwaitsPromotion": {
			reason: "A step after a manual pause waits until a user releases it.",
			events: []ledger.Event{ordered(1, "a", pausedPlan)}, in: input(desired("a"), live), holds: Holds{Progress: HoldAwaitsPromotion},
		},
		"Promoted": {
			reason: "A step that a user released begins once the previous step is live.",
			events: []ledger.Event{ordered(1, "a", pausedPlan), {Promoted: &ledger.Promoted{Step: 1, RequestRef: ledger.RequestReference{UID: "u"}}}},
			in:     input(desired("a"), live), want: "Advanced",
		},
		"GateMeasures": {
			reason: "The last step is not verified before its Gate passed.",
			events: []ledger.Event{ordered(1, "a"), advanced(1)}, in: input(desired("a"), live),
		},
		"Verified": {
			reason: "The last step that is live and passed its Gate verifies the revision.",
			events: []ledger.Event{ordered(1, "a"), advanced(1)}, in: input(desired("a"), live, provenTrees), want: "Judged Verified",
		},
		"VerifiedFrozen": {
			reason: "A revision at its last step is judged although its spec cannot be compiled any more.",
			events: []ledger.Event{ordered(1, "a"), advanced(1)}, in: input(nil, live, provenTrees), want: "Judged Verified",
			holds: Holds{},
		},
		"Rejected": {
			reason: "A failure rejects the revision at any step.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a"), failed), want: "Judged Rejected",
		},
		"NewIntent": {
			reason: "Another intent begins the next revision before the current one is judged.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("b")), want: "Ordered b",
		},
		"NewIntentSuspended": {
			reason: "A suspended deployment does not order another intent, and goes on judging the current revision.",
			events: []ledger.Event{ordered(1, "a"), advanced(1)}, in: input(desired("b"), suspend, live), holds: Holds{Start: HoldSuspended},
		},
		"SameTrees": {
			reason: "A change of the catalog that renders the same trees begins no revision: the current one takes its digests.",
			events: good(1, "a"), in: input(desired("a", newSources, sameTrees)), want: "Rebased",
		},
		"NewSources": {
			reason: "A change of the catalog that renders other trees begins the next revision.",
			events: good(1, "a"), in: input(desired("a", newSources)), want: "Ordered a",
		},
		"VerdictIsComing": {
			reason: "A change of the catalog waits for the verdict that comes by itself.",
			events: []ledger.Event{ordered(1, "a"), advanced(1)}, in: input(desired("a", newSources, func(d *Desired) { d.VerdictIsComing = true })),
			holds: Holds{Start: HoldVerdictWaits},
		},
		"RendererWaits": {
			reason: "A new renderer that makes other trees waits for the deployment's slot.",
			events: good(1, "a"), in: input(desired("a", newRenderer, waitForSlot), newVersions), holds: Holds{Start: HoldRendererWaits},
		},
		"RendererInASlot": {
			reason: "A new renderer begins the next revision in the deployment's slot.",
			events: good(1, "a"), in: input(desired("a", newRenderer), newVersions), want: "Ordered a",
		},
		"RendererBetweenSteps": {
			reason: "A revision with steps left does not wait for a slot, since the old renderer is gone.",
			events: []ledger.Event{ordered(1, "a")}, in: input(desired("a", newRenderer, waitForSlot), newVersions), want: "Ordered a",
		},
		"Outranked": {
			reason: "An older function leaves a revision alone that a newer renderer made.",
			events: []ledger.Event{ordered(1, "a", func(r *ledger.Revision) { r.Request.Renderer = 9 })}, in: input(desired("b"), live),
			holds: Holds{Start: HoldOutranked},
		},
		"RejectedIntent": {
			reason: "A rejected intent is not ordered again when only the catalog changed.",
			events: bad(1, "a"), in: input(desired("a", newSources)), holds: Holds{Progress: HoldNoTarget},
		},
		"RefusalIsOver": {
			reason: "A revision that was refused because of files of other users is ordered again once they may be overwritten.",
			events: []ledger.Event{ordered(1, "a"), rejected("DeliveryRefused")}, in: input(desired("a", adopt)), want: "Ordered a",
		},
		"RefusalIsOverSuspended": {
			reason: "A suspended deployment does not order a refused revision again.",
			events: []ledger.Event{ordered(1, "a"), rejected("DeliveryRefused")}, in: input(desired("a", adopt), suspend),
			holds: Holds{Start: HoldSuspended, Progress: HoldNoTarget},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, holds := Step(record(t, tc.events...), tc.in)
			if diff := cmp.Diff(tc.want, event(got)); diff != "" {
				t.Errorf("\n%s\nStep(...): -want event, +got event:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.holds, holds); diff != "" {
				t.Errorf("\n%s\nStep(...): -want holds, +got holds:\n%s", tc.reason, diff)
			}
		})
	}
}
