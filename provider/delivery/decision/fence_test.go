package decision

import (
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
)

const (
	webAtE1 = "clusters/edge1/team-a/web"
	webAtE2 = "clusters/edge2/team-a/web"
)

// firstRevision begins revision 1 at one Site.
func firstRevision() ledger.Event {
	return ledger.Event{Ordered: &ledger.Ordered{Revision: ledger.Revision{
		Number: 1, Request: ledger.Request{Intent: "intent-a", Sources: "sources", Scheme: 1, Renderer: 1},
		Plan: []ledger.Step{{Sites: []string{"edge1"}}}, Parts: []ledger.Part{{Delivery: "web", ConfigRef: "default", Sites: []string{"edge1"}}},
	}}}
}

// judged ends a revision with a verdict.
func judged(result ledger.Result) ledger.Event {
	return ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: result, Reason: "SyncFailed", Message: "as the test has it"}}}
}

// TestRecoverFromStatus shows event 7 of epoch 3 in the status of a delivery whose repository holds no ledger.
func TestRecoverFromStatus(t *testing.T) {
	cases := map[string]struct {
		reason string
		record *state.RecordFile
		want   bool
	}{
		"Lost": {reason: "A ledger that the repository lost continues from the status.", want: true},
		"FileLost": {
			reason: "A ledger continues from the status where the repository has the record of that ledger alone.",
			record: &state.RecordFile{LedgerRecord: v1alpha1.LedgerRecord{Head: ledger.Head{Ledger: "l", Epoch: 3, Seq: 7}}}, want: true,
		},
		"Left": {
			reason: "A repository that follows the ledger of a later epoch closed its own, and lost none.",
			record: &state.RecordFile{LedgerRecord: v1alpha1.LedgerRecord{Head: ledger.Head{Ledger: "m", Epoch: 4, Seq: 2}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := LedgerFacts{Record: tc.record, Identity: "n", Shown: &ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 3, Seq: 7}, Home: "a"}}
			if got, _ := l.fenceHome(v1alpha1.LedgerUpdate{}); got.Recovers != tc.want {
				t.Errorf("\n%s\nfenceHome(...).Recovers: want %t, got %t", tc.reason, tc.want, got.Recovers)
			}
		})
	}
}

// TestFenceDirectories requests tree "new" after tree "old", in a repository with another tree.
func TestFenceDirectories(t *testing.T) {
	now := ledger.Position{Revision: 3, Attempt: 1, Stage: ledger.StageBeside}
	earlier := ledger.Position{Revision: 3, Attempt: 1}
	requested := v1alpha1.Tree{Site: "edge1", Branch: "main", Path: webAtE1, Action: v1alpha1.ActionDesired, Tree: "new", After: "old"}
	cases := map[string]struct {
		reason string
		at     ledger.Position
		has    string
		change func(f *Facts, t *v1alpha1.Tree)
		want   bool
	}{
		"Seen":    {reason: "A tree replaces the tree that its writer read.", at: now, has: "old"},
		"Done":    {reason: "A tree that the directory has already is not refused.", at: now, has: "new"},
		"Behind":  {reason: "An object from a backup does not restore an earlier tree of the position.", at: now, has: "newer", want: true},
		"Earlier": {reason: "A later position replaces any tree of the directory.", at: earlier, has: "newer"},
		"Rebuilt": {reason: "A record from commits alone refuses no tree.", at: now, has: "newer", change: func(f *Facts, _ *v1alpha1.Tree) { f.Rebuilt = true }},
		"Lost":    {reason: "Without a record nothing is refused.", at: now, has: "newer", change: func(f *Facts, _ *v1alpha1.Tree) { f.Memory = nil }},
		"Elsewhere": {
			reason: "A directory that the record does not have is written.",
			at:     now, has: "newer", change: func(_ *Facts, t *v1alpha1.Tree) { t.Path = webAtE2 },
		},
		"Stays": {
			reason: "A directory that stays replaces nothing.",
			at:     now, has: "newer", change: func(_ *Facts, t *v1alpha1.Tree) { t.Action = v1alpha1.ActionKeep },
		},
		"Unseen": {
			reason: "A tree whose writer saw none replaces any other one, as one of a deployment without tracks does.",
			at:     now, has: "newer", change: func(_ *Facts, t *v1alpha1.Tree) { t.After = "" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tested, f := requested, Facts{Memory: &state.RecordFile{LedgerRecord: v1alpha1.LedgerRecord{Position: tc.at}}}
			f.Memory.Trees = []state.Tree{{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{Site: "edge1", Path: webAtE1, Tree: tc.has}}}
			f.Recording.Applied = ledger.State{Current: &ledger.Revision{Number: 3}, Cursor: ledger.Cursor{Attempt: 1, Stage: ledger.StageBeside}}
			if tc.change != nil {
				tc.change(&f, &tested)
			}
			f.Spec.Trees = []v1alpha1.Tree{tested}
			refused := fenceDirectories(f)
			if got := refused != nil && refused.Reason == v1alpha1.ReasonOrderBehind; got != tc.want {
				t.Errorf("\n%s\nfenceDirectories(...): want OrderBehind %t, got %+v", tc.reason, tc.want, refused)
			}
		})
	}
}

// TestFollowed delivers a revision that the repository has recorded, with a verdict after it that no spec contained.
func TestFollowed(t *testing.T) {
	events := []ledger.Event{{Opened: &ledger.Opened{Ledger: "l", Home: "default"}}, firstRevision()}
	record := func(events ...ledger.Event) ledger.State {
		s, err := ledger.Append(ledger.State{}, time.Time{}, events...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ordered := record(events...)
	rejected := record(events[0], events[1], judged(ledger.VerdictRejected))
	update, verified := v1alpha1.LedgerUpdate{Events: events}, v1alpha1.LedgerUpdate{After: ordered.Head, Events: []ledger.Event{judged(ledger.VerdictVerified)}}
	next := ordered.Position()
	next.Attempt++
	cases := map[string]struct {
		reason string
		update v1alpha1.LedgerUpdate
		at     *ledger.Position
		taken  *ledger.Head
		want   xpv2.ConditionReason
	}{
		"Followed": {
			reason: "The events of the spec are recorded, and its trees belong to the position of the ledger.",
			update: update, at: new(ordered.Position()), taken: &ordered.Head,
		},
		"NoEvents": {
			reason: "A spec without events on top of the head that a mandate went on from is not behind.",
			update: v1alpha1.LedgerUpdate{After: ordered.Head}, at: new(ordered.Position()), taken: &ordered.Head,
		},
		"Unproven": {
			reason: "Without a mandate, events after the events of the spec came from a later spec.",
			update: update, at: new(ordered.Position()), want: v1alpha1.ReasonOrderBehind,
		},
		"TooLate": {
			reason: "Events on top of the head that a mandate went on from come too late.",
			update: verified, at: new(ordered.Position()), taken: &ordered.Head, want: v1alpha1.ReasonOrderBehind,
		},
		"Position": {
			reason: "Trees of another position than that of the ledger are not written.",
			update: update, at: &next, taken: &ordered.Head, want: v1alpha1.ReasonOrderBehind,
		},
		"Nowhere": {reason: "Trees without a position may belong to another position.", update: update, taken: &ordered.Head, want: v1alpha1.ReasonOrderBehind},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := Facts{Ledger: LedgerFacts{Recorded: rejected, Taken: tc.taken}}
			f.Spec.Ledger, f.Spec.Position = &tc.update, tc.at
			r, refused := f.fenceLedger()
			if f.Recording = r; refused == nil {
				refused = fencePosition(f)
			}
			got := xpv2.ConditionReason("")
			if refused != nil {
				got = refused.Reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || !r.IsEmpty() || r.Next.Head != rejected.Head {
				t.Errorf("\n%s\nfenceLedger(): -want, +got:\n%s\nrecords %d events on event %d", tc.reason, diff, len(r.Events), r.Next.Seq)
			}
		})
	}
}

// TestBehindKnown opens a ledger, or continues one in the next epoch, while another repository has event 3 of epoch 1 of a ledger.
func TestBehindKnown(t *testing.T) {
	copied := ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 3, ID: "three"}, Home: "a"}
	opened := []ledger.Event{{Opened: &ledger.Opened{Ledger: "n", Home: "b"}}}
	cases := map[string]struct {
		reason string
		known  ledger.Head
		events []ledger.Event
		want   bool
	}{
		"First":  {reason: "The first ledger of a deployment is opened.", events: opened},
		"Second": {reason: "A second ledger is refused in the epoch of another repository's ledger.", known: copied.Head, events: opened, want: true},
		"Longer": {
			reason: "A ledger of the same epoch does not count for more because it has more events.",
			known:  ledger.Head{Ledger: "l", Epoch: 1, Seq: 1}, events: append(slices.Clone(opened), firstRevision()), want: true,
		},
		"Own": {
			reason: "A ledger goes on from the event that another repository has of it.",
			known:  ledger.Head{Ledger: "n", Epoch: 1, Seq: 1}, events: append(slices.Clone(opened), firstRevision()),
		},
		"Continued": {
			reason: "A ledger that continues the other one is in a later epoch.",
			known:  copied.Head, events: append(slices.Clone(opened), ledger.Event{Recovered: &ledger.Recovered{Copy: copied}}),
		},
		"Older": {
			reason: "A ledger that continues from an earlier epoch than the known one is refused.",
			known:  ledger.Head{Ledger: "m", Epoch: 3, Seq: 1},
			events: append(slices.Clone(opened), ledger.Event{Recovered: &ledger.Recovered{Copy: copied}}), want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, refused := LedgerFacts{Known: tc.known}.fenceHome(v1alpha1.LedgerUpdate{Events: tc.events})
			if got := refused != nil && refused.Reason == v1alpha1.ReasonOrderBehind; got != tc.want {
				t.Errorf("\n%s\nfenceHome(...): want OrderBehind %t, got %+v", tc.reason, tc.want, refused)
			}
		})
	}
}

// TestRefuseIllegal orders revision 1 of a ledger that was never opened.
func TestRefuseIllegal(t *testing.T) {
	cases := map[string]struct {
		reason   string
		recorded ledger.State
		want     xpv2.ConditionReason
	}{
		"Never": {reason: "An event that must not follow is illegal.", want: v1alpha1.ReasonIllegal},
		"Used": {
			reason:   "Where commits speak of revisions, the writer of the event may not have seen them yet.",
			recorded: ledger.State{LastNumber: 7}, want: v1alpha1.ReasonOrderBehind,
		},
		"Open": {
			reason:   "A writer has seen the numbers of an open ledger.",
			recorded: ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 1}, LastNumber: 7}, want: v1alpha1.ReasonIllegal,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, refused := LedgerFacts{Recorded: tc.recorded}.fenceHome(v1alpha1.LedgerUpdate{After: tc.recorded.Head, Events: []ledger.Event{firstRevision()}})
			if refused == nil || refused.Reason != tc.want {
				t.Errorf("\n%s\nfenceHome(...): want %s, got %+v", tc.reason, tc.want, refused)
			}
		})
	}
}

// TestFenceFollower asks a repository to follow a ledger, at event 4 and revision 2 of which it is.
func TestFenceFollower(t *testing.T) {
	head := ledger.Head{Ledger: "l", Epoch: 1, Seq: 4, ID: "four"}
	stateOf := func(seq, revision int64) ledger.State {
		return ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: seq, ID: head.ID}, Current: &ledger.Revision{Number: revision}}
	}
	recorded := state.RecordFile{LedgerRecord: v1alpha1.LedgerRecord{Head: head, Position: ledger.Position{Epoch: 1, Revision: 2}}}
	deleted := recorded
	deleted.Deleted = true
	cases := map[string]struct {
		reason string
		record *state.RecordFile
		asked  ledger.State
		want   xpv2.ConditionReason
	}{
		"Same":     {reason: "A copy that was recorded before is taken again.", record: &recorded, asked: stateOf(4, 2)},
		"Newer":    {reason: "A newer copy is recorded.", record: &recorded, asked: stateOf(5, 2)},
		"Older":    {reason: "An older copy of the same position is refused.", record: &recorded, asked: stateOf(3, 2), want: v1alpha1.ReasonOrderBehind},
		"Behind":   {reason: "An earlier position is refused with any copy.", record: &recorded, asked: stateOf(5, 1), want: v1alpha1.ReasonOrderBehind},
		"Deleted":  {reason: "The tombstone of a deleted delivery refuses no copy.", record: &deleted, asked: stateOf(3, 1)},
		"First":    {reason: "A repository without a record follows.", asked: stateOf(3, 1)},
		"NoLedger": {reason: "A copy of no ledger is refused.", asked: ledger.State{}, want: v1alpha1.ReasonInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := xpv2.ConditionReason("")
			if _, refused := (LedgerFacts{Record: tc.record}).fenceFollower(tc.asked); refused != nil {
				got = refused.Reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfenceFollower(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHeadOf(t *testing.T) {
	stateOf := func(seq int64) *ledger.State {
		return &ledger.State{Head: ledger.Head{Ledger: "one", Epoch: 1, Seq: seq}}
	}
	asks := func(seq int64) *v1alpha1.LedgerUpdate { return &v1alpha1.LedgerUpdate{After: stateOf(seq).Head} }
	cases := map[string]struct {
		reason string
		ledger *ledger.State
		copied *ledger.State
		asked  *v1alpha1.LedgerUpdate
		want   ledger.Head
	}{
		"Nothing":    {reason: "A delivery that reported nothing, and asks for nothing, shows no ledger."},
		"Ledger":     {reason: "A home shows its ledger, also if its spec continues a later head.", ledger: stateOf(2), asked: asks(3), want: stateOf(2).Head},
		"Copy":       {reason: "A follower shows its copy.", copied: stateOf(2), want: stateOf(2).Head},
		"NewerCopy":  {reason: "A home that was left shows the later copy.", ledger: stateOf(2), copied: stateOf(3), want: stateOf(3).Head},
		"Unreported": {reason: "A home that has reported no ledger has the ledger that its spec continues.", asked: asks(2), want: stateOf(2).Head},
		"Opened": {
			reason: "A follower that is asked to open a ledger of its own has its copy still.",
			copied: stateOf(2), asked: &v1alpha1.LedgerUpdate{}, want: stateOf(2).Head,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &v1alpha1.GitDelivery{}
			d.Spec.ForProvider.Ledger, d.Status.AtProvider.Ledger = tc.asked, tc.ledger
			if tc.copied != nil {
				d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Copy: tc.copied}
			}
			if diff := cmp.Diff(tc.want, headOf(d)); diff != "" {
				t.Errorf("\n%s\nheadOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAppendTo appends an event by mandate to a ledger that has one already.
func TestAppendTo(t *testing.T) {
	rejected := ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed", Message: "m"}}}
	back := ledger.Event{RolledBack: &ledger.RolledBack{Target: 1}}
	stateOf := func(seq int64) ledger.State { return ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: seq}} }
	file := state.LedgerFile{State: stateOf(3)}.AppendMandated(stateOf(4), []ledger.Event{rejected})
	cases := map[string]struct {
		reason    string
		knowsHead bool
		want      int64
	}{
		"Behind": {reason: "A spec that knows no event by the mandate is followed by both.", want: 3},
		"Knows":  {reason: "A spec that names the event before is followed by the next one alone.", knowsHead: true, want: 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := Recording{Next: stateOf(5), Taken: stateOf(4), Mandated: []ledger.Event{back}, KnowsHead: tc.knowsHead}
			if got := r.AppendTo(file, time.Time{}).Taken; got == nil || got.Seq != tc.want {
				t.Errorf("\n%s\nappendTo(...): want %d, got %v", tc.reason, tc.want, got)
			}
			if got := r.takenAfter(file.Taken); got == nil || got.Seq != tc.want {
				t.Errorf("\n%s\ntakenAfter(...): want %d, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
