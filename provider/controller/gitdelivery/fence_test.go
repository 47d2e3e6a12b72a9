package gitdelivery

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
)

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
			l := ledgerFacts{record: tc.record, identity: "n", shown: &ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 3, Seq: 7}, Home: "a"}}
			if got, _ := l.fenceHome(v1alpha1.LedgerUpdate{}); got.recovers != tc.want {
				t.Errorf("\n%s\nfenceHome(...).recovers: want %t, got %t", tc.reason, tc.want, got.recovers)
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
		change func(f *facts, t *v1alpha1.Tree)
		want   bool
	}{
		"Seen":    {reason: "A tree replaces the tree that its writer read.", at: now, has: "old"},
		"Done":    {reason: "A tree that the directory has already is not refused.", at: now, has: "new"},
		"Behind":  {reason: "An object from a backup does not restore an earlier tree of the position.", at: now, has: "newer", want: true},
		"Earlier": {reason: "A later position replaces any tree of the directory.", at: earlier, has: "newer"},
		"Rebuilt": {reason: "A record from commits alone refuses no tree.", at: now, has: "newer", change: func(f *facts, _ *v1alpha1.Tree) { f.rebuilt = true }},
		"Lost":    {reason: "Without a record nothing is refused.", at: now, has: "newer", change: func(f *facts, _ *v1alpha1.Tree) { f.memory = nil }},
		"Elsewhere": {
			reason: "A directory that the record does not have is written.",
			at:     now, has: "newer", change: func(_ *facts, t *v1alpha1.Tree) { t.Path = webAtE2 },
		},
		"Stays": {
			reason: "A directory that stays replaces nothing.",
			at:     now, has: "newer", change: func(_ *facts, t *v1alpha1.Tree) { t.Action = v1alpha1.ActionKeep },
		},
		"Unseen": {
			reason: "A tree whose writer saw none replaces any other one, as one of a deployment without tracks does.",
			at:     now, has: "newer", change: func(_ *facts, t *v1alpha1.Tree) { t.After = "" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tested, f := requested, facts{memory: &state.RecordFile{LedgerRecord: v1alpha1.LedgerRecord{Position: tc.at}}}
			f.memory.Trees = []state.Tree{{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{Site: "edge1", Path: webAtE1, Tree: tc.has}}}
			f.recording.applied = ledger.State{Current: &ledger.Revision{Number: 3}, Cursor: ledger.Cursor{Attempt: 1, Stage: ledger.StageBeside}}
			if tc.change != nil {
				tc.change(&f, &tested)
			}
			f.spec.Trees = []v1alpha1.Tree{tested}
			refused := fenceDirectories(f)
			if got := refused != nil && refused.reason == v1alpha1.ReasonOrderBehind; got != tc.want {
				t.Errorf("\n%s\nfenceDirectories(...): want OrderBehind %t, got %+v", tc.reason, tc.want, refused)
			}
		})
	}
}

// TestFollowed delivers a revision that the repository has recorded, with a verdict after it that no spec contained.
func TestFollowed(t *testing.T) {
	events := []ledger.Event{openedEvent("l"), orderedEvent(1, "a", "edge1")}
	record := func(events ...ledger.Event) ledger.State {
		s, err := ledger.Append(ledger.State{}, time.Time{}, events...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ordered := record(events...)
	rejected := record(events[0], events[1], rejectedEvent("SyncFailed"))
	update, verified := v1alpha1.LedgerUpdate{Events: events}, v1alpha1.LedgerUpdate{After: ordered.Head, Events: []ledger.Event{verifiedEvent("a", "edge1")}}
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
			f := facts{ledger: ledgerFacts{recorded: rejected, taken: tc.taken}}
			f.spec.Ledger, f.spec.Position = &tc.update, tc.at
			r, refused := f.fenceLedger()
			if f.recording = r; refused == nil {
				refused = fencePosition(f)
			}
			got := xpv2.ConditionReason("")
			if refused != nil {
				got = refused.reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || !r.isEmpty() || r.next.Head != rejected.Head {
				t.Errorf("\n%s\nfenceLedger(): -want, +got:\n%s\nrecords %d events on event %d", tc.reason, diff, len(r.events), r.next.Seq)
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
			known:  ledger.Head{Ledger: "l", Epoch: 1, Seq: 1}, events: append(slices.Clone(opened), orderedEvent(1, "a", "edge1")), want: true,
		},
		"Own": {
			reason: "A ledger goes on from the event that another repository has of it.",
			known:  ledger.Head{Ledger: "n", Epoch: 1, Seq: 1}, events: append(slices.Clone(opened), orderedEvent(1, "a", "edge1")),
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
			_, refused := ledgerFacts{known: tc.known}.fenceHome(v1alpha1.LedgerUpdate{Events: tc.events})
			if got := refused != nil && refused.reason == v1alpha1.ReasonOrderBehind; got != tc.want {
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
			_, refused := ledgerFacts{recorded: tc.recorded}.fenceHome(v1alpha1.LedgerUpdate{After: tc.recorded.Head, Events: []ledger.Event{orderedEvent(1, "a", "edge1")}})
			if refused == nil || refused.reason != tc.want {
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
			if _, refused := (ledgerFacts{record: tc.record}).fenceFollower(tc.asked); refused != nil {
				got = refused.reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfenceFollower(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// forceElsewhere lets the second repository continue the ledger of a home that cannot be reached.
func (w *world) forceElsewhere(s ledger.State) {
	w.Helper()
	events := []ledger.Event{{Opened: &ledger.Opened{Ledger: "forced", Home: elsewhere}}, {Recovered: &ledger.Recovered{Copy: s}}}
	next, err := ledger.Append(ledger.State{}, w.now(), events...)
	w.must(err)
	d := w.get(elsewhere)
	d.Spec.ForProvider.Copy, d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Position = nil, &v1alpha1.LedgerUpdate{Events: events}, new(next.Position())
	d.Generation++
	w.must(w.kube.Update(w.Context(), d))
	w.reconcile(elsewhere)
	w.expect(elsewhere, v1alpha1.ReasonDelivered)
	if got := w.ledgerOf(elsewhere).Epoch; got != 2 {
		w.Fatalf("epoch of the ledger that was forced elsewhere: want 2, got %d", got)
	}
}

// asksToFollow lets the first repository follow the ledger of the second with trees, which may be refused.
func (w *world) asksToFollow(trees ...v1alpha1.Tree) {
	w.Helper()
	essentials := w.ledgerOf(elsewhere).Essentials()
	w.change(func(d *v1alpha1.GitDelivery) {
		p := &d.Spec.ForProvider
		p.Ledger, p.Copy, p.Position, p.Trees = nil, &essentials, new(essentials.Position()), trees
	})
	_ = w.try("web") // It is in the condition.
}

// recordByMandate appends events to the ledger in the repository that no spec contains.
func (w *world) recordByMandate(events ...ledger.Event) {
	w.Helper()
	f := w.storedLedger(repo)
	next, err := ledger.Append(f.State, w.now(), events...)
	w.must(err)
	b, err := f.AppendMandated(next, events).Encode()
	w.must(err)
	w.rewriteState(func(path string, content map[string]any) {
		if path == state.LedgerPath(w.first().Spec.ForProvider.ClaimRef) {
			clear(content)
			w.must(json.Unmarshal(b, &content))
		}
	})
}

// TestRecordedByMandate plays a home whose ledger has events that no spec contains.
func TestRecordedByMandate(t *testing.T) {
	tellLedger(t, map[string]story{
		"Verdict": {reason: "A spec whose events are recorded is not behind because a verdict follows them, and a later spec goes on from that.", run: func(w *world) {
			w.firstRevision()
			takenHead := w.ledgerOf("web").Head
			w.recordByMandate(rejectedEvent("SyncFailed"))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			observed := w.get("web").Status.AtProvider
			if observed.Taken == nil || *observed.Taken != takenHead || observed.Ledger.Verdict == nil || observed.Record.Head != observed.Ledger.Head {
				w.Errorf("status: want the verdict, and the head %v that it follows, got %v, %v of record %v", takenHead, observed.Ledger.Verdict, observed.Taken, observed.Record.Head)
			}
			commits := w.stateCommits()
			w.reconcile("web")
			if got := w.stateCommits(); got != commits {
				w.Errorf("commits of the state at rest: want %d, got %d", commits, got)
			}
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
			if laterObserved, f := w.get("web").Status.AtProvider, w.storedLedger(repo); laterObserved.Taken != nil || f.Taken != nil {
				w.Errorf("taken after events of a spec: want none, got %v in the status and %v in the repository", laterObserved.Taken, f.Taken)
			}
		}},
		"Rollback": {reason: "The trees of a spec stay away from a position that no spec contains, and come once a spec asks for it.", run: func(w *world) {
			w.secondRevision()
			w.recordByMandate(rejectedEvent("SyncFailed"), rolledBackEvent(1))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			s := w.ledgerOf("web")
			w.positionIs(s, ledger.Position{Epoch: 1, Revision: 2, Attempt: 1})
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees = new(s.Position()), []v1alpha1.Tree{restoring1("a")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			if lastObserved := w.get("web").Status.AtProvider; lastObserved.Record.Position != s.Position() || lastObserved.Trees[0].Tree != restoring1("a").Tree {
				w.Errorf("delivered tree: want the tree of revision 1 at %v, got %v at %v", s.Position(), lastObserved.Trees, lastObserved.Record.Position)
			}
		}},
		"Older": {reason: "A version that does not know the field keeps it and records the events of a spec: then an earlier spec is behind.", run: func(w *world) {
			w.firstRevision()
			previous := w.get("web").Spec.ForProvider
			w.recordByMandate(rejectedEvent("SyncFailed"))
			takenHead := w.storedLedger(repo).Taken
			w.reconcile("web")
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.rewriteState(func(path string, content map[string]any) {
				if path == state.LedgerPath(w.first().Spec.ForProvider.ClaimRef) {
					content["taken"] = takenHead
				}
			})
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider = previous })
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
		}},
	})
}

// TestElsewhere plays homes of a ledger that goes on in another repository.
func TestElsewhere(t *testing.T) {
	first := []ledger.Event{openedEvent("demo"), orderedEvent(1, "a", "edge1", "edge2")}
	tellLedger(t, map[string]story{
		"Back": {reason: "A former home, from which the ledger was forced away, records none of its earlier events once it is back.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", first...)
			recorded := w.ledgerOf("web")
			w.git.Fail(repo, 503)
			w.writeProposal(recorded, []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1", "edge2"))
			_ = w.try("web") // It is in the condition.
			w.forceElsewhere(recorded)
			w.git.Fail(repo, 0)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if got := w.storedLedger(repo).State.Head; got != recorded.Head {
				w.Errorf("head of the ledger that was left: want %v, got %v", recorded.Head, got)
			}
			w.bothHold("a", "a")
		}},
		"StatusLeft": {reason: "A home that lost the ledger does not continue it from the status after it was forced elsewhere.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", first...)
			w.forceElsewhere(w.ledgerOf("web"))
			w.deleteState()
			w.restart()
			w.reconcile("web")
			if w.hasStateFile(repo, state.LedgerPath(w.first().Spec.ForProvider.ClaimRef)) {
				w.Error("ledger of the home that was left: want none")
			}
		}},
		"Unreported": {reason: "No second ledger is opened while another home, whose object was lost, has not reported the ledger that it is asked to continue.", run: func(w *world) {
			w.addFollower()
			w.firstRevision()
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: d.Status.AtProvider.Ledger.Head, Events: []ledger.Event{verifiedEvent("a", "edge1")}}
			})
			previous := w.get("web")
			w.lose("web")
			previous.ResourceVersion, previous.UID, previous.Status = "", "", v1alpha1.GitDeliveryStatus{}
			w.create(previous)
			d := newHome(elsewhere)
			d.Spec.ProviderConfigReference.Name = elsewhere
			d.Spec.ForProvider.Ledger.Events = []ledger.Event{{Opened: &ledger.Opened{Ledger: "second", Home: elsewhere}}, orderedEvent(1, "a", "edge2")}
			w.create(d)
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonOrderBehind)
			if w.hasStateFile(elsewhere, state.LedgerPath(d.Spec.ForProvider.ClaimRef)) {
				w.Error("ledger of the second repository: want none")
			}
		}},
		"NoCopy": {reason: "A home that the ledger was forced away from keeps its own until it records a copy of the later one, whatever it is refused before.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", first...)
			left := w.ledgerOf("web").Head
			w.forceElsewhere(w.ledgerOf("web"))
			w.asksToFollow(desired(w.T, "edge9", "clusters/edge9/team-a/web", "a"))
			w.expect("web", v1alpha1.ReasonSiteMissing)
			w.hook("update", `case "$1" in refs/heads/main) echo "only on Mondays" >&2; exit 1;; esac`)
			w.asksToFollow(desired(w.T, "edge1", webAtE1, "b"))
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Position = nil })
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonPushing)
			if got := w.storedLedger(repo).State.Head; got != left {
				w.Errorf("ledger of the home that was left: want it to stay at %v, got %v", left, got)
			}
			w.hook("update", "exit 0")
			w.asksToFollow(desired(w.T, "edge1", webAtE1, "a"))
			w.expect("web", v1alpha1.ReasonDelivered)
			if w.hasStateFile(repo, state.LedgerPath(w.first().Spec.ForProvider.ClaimRef)) {
				w.Error("ledger of the home that was left: want it removed with the copy of the later one")
			}
			if r := w.storedRecord(repo); r.Copy == nil || r.Copy.Epoch != 2 {
				w.Errorf("record of the home that was left: want a copy of epoch 2, got %+v", r.Copy)
			}
			if s := w.ledgerOf("web"); s.Seq != 0 {
				w.Errorf("ledger that the status shows: want none, got %+v", s.Head)
			}
		}},
		"Follows": {reason: "A repository that follows a later state opens no ledger that continues from an earlier one.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", first...)
			early := w.ledgerOf("web")
			w.deleteState()
			w.restart()
			w.reconcile("web")
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1", "edge2"))
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1", "edge2"))
			w.follow(w.ledgerOf("web"), desired(w.T, "edge2", webAtE2, "b"))
			w.lose("web")
			d := w.get(elsewhere)
			d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = nil, nil
			d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{Events: []ledger.Event{{Opened: &ledger.Opened{Ledger: "forced", Home: elsewhere}}, {Recovered: &ledger.Recovered{Copy: early}}}}
			d.Generation++
			w.must(w.kube.Update(w.Context(), d))
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonOrderBehind)
			if w.hasStateFile(elsewhere, state.LedgerPath(d.Spec.ForProvider.ClaimRef)) {
				w.Error("ledger of the second repository: want none")
			}
		}},
	})
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
			r := recording{next: stateOf(5), taken: stateOf(4), mandated: []ledger.Event{back}, knowsHead: tc.knowsHead}
			if got := r.appendTo(file, time.Time{}).Taken; got == nil || got.Seq != tc.want {
				t.Errorf("\n%s\nappendTo(...): want %d, got %v", tc.reason, tc.want, got)
			}
			if got := r.takenAfter(file.Taken); got == nil || got.Seq != tc.want {
				t.Errorf("\n%s\ntakenAfter(...): want %d, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
