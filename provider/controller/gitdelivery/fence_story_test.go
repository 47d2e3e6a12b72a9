package gitdelivery

import (
	"encoding/json"
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
)

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
