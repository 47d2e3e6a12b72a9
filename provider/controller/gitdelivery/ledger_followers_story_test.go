package gitdelivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// addFollower adds a second repository, which delivers to edge2.
func (w *world) addFollower() {
	w.Helper()
	w.must(w.git.CreateRepo(w.Context(), elsewhere, map[string]string{"README.md": "hello\n"}))
	c := w.config()
	c.Name, c.Spec.Git.URL = elsewhere, w.git.URL(elsewhere)
	w.must(w.kube.Create(w.Context(), c))
}

// follow sets a recorded state in the spec of the follower, as the function does, and creates its delivery if there is none.
func (w *world) follow(s ledger.State, trees ...v1alpha1.Tree) {
	w.Helper()
	essentials := s.Essentials()
	if w.gone(elsewhere) {
		d := newHome(elsewhere, trees...)
		d.Spec.ProviderConfigReference.Name = elsewhere
		d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = nil, &essentials, new(s.Position())
		w.create(d)
		w.reconcile(elsewhere)
		return
	}
	d := w.get(elsewhere)
	d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = nil, &essentials, new(s.Position())
	d.Spec.ForProvider.Trees = trees
	d.Generation++
	w.must(w.kube.Update(w.Context(), d))
	w.reconcile(elsewhere)
}

// deliverToBoth delivers a revision to the home, and then the recorded state to the follower.
func (w *world) deliverToBoth(says string, events ...ledger.Event) {
	w.Helper()
	w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, says)}, events...)
	w.expect("web", v1alpha1.ReasonDelivered)
	w.follow(w.ledgerOf("web"), desired(w.T, "edge2", webAtE2, says))
	w.expect(elsewhere, v1alpha1.ReasonDelivered)
}

// bothHold compares the directories of the claim in both repositories.
func (w *world) bothHold(home, follower string) {
	w.Helper()
	w.holds(map[string]tree.Files{webAtE1: files(home)}, nil)
	got, err := w.git.Files(w.Context(), elsewhere, "main")
	w.must(err)
	if diff := cmp.Diff(string(files(follower)["configmap.yaml"]), got[webAtE2+"/configmap.yaml"]); diff != "" {
		w.Fatalf("the follower's directory: -want, +got:\n%s", diff)
	}
}

// TestLedgerFollowers plays a deployment with two repositories: the home of its ledger, and a follower.
func TestLedgerFollowers(t *testing.T) {
	t.Parallel()
	eventsOf := func(says string) []ledger.Event {
		return []ledger.Event{openedEvent("demo"), orderedEvent(1, says, "edge1", "edge2")}
	}
	tellLedger(t, map[string]story{
		"First": {reason: "A follower delivers the position that the home recorded, and stores a copy of the ledger.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			w.bothHold("a", "a")
			s := w.ledgerOf("web")
			observed := w.get(elsewhere).Status.AtProvider
			if observed.Ledger == nil || observed.Ledger.Seq != 0 {
				w.Errorf("the follower says that it holds no ledger: got %+v", observed.Ledger)
			}
			essentials := s.Essentials()
			want := &v1alpha1.LedgerRecord{Home: "default", Head: s.Head, Position: s.Position(), Copy: &essentials}
			if diff := cmp.Diff(want, observed.Record); diff != "" {
				w.Errorf("record: -want, +got:\n%s", diff)
			}
			if w.hasStateFile(elsewhere, state.LedgerPath(w.first().Spec.ForProvider.ClaimRef)) {
				w.Error("the follower's state has no ledger")
			}
			w.reconcile(elsewhere)
			if diff := cmp.Diff(observed, w.get(elsewhere).Status.AtProvider); diff != "" {
				w.Errorf("an observation says the same as the push before: -want, +got:\n%s", diff)
			}
			tip := w.tipOf(elsewhere)
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1", "edge2"))
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			if got := w.tipOf(elsewhere); got != tip {
				w.Error("a verdict in the home makes the follower push")
			}
		}},
		"Unreached": {reason: "A follower that is asked for no position is read, and not written, until it is.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, eventsOf("a")...)
			tip, essentials := w.tipOf(elsewhere), w.ledgerOf("web").Essentials()
			d := newHome(elsewhere, desired(w.T, "edge2", webAtE2, "a"))
			d.Spec.ProviderConfigReference.Name = elsewhere
			d.Spec.ForProvider.Trees[0].Action, d.Spec.ForProvider.Trees[0].Tree, d.Spec.ForProvider.Trees[0].Files = v1alpha1.ActionKeep, "", nil
			d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = nil, &essentials, nil
			w.create(d)
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonPushing)
			observed := w.get(elsewhere).Status.AtProvider
			if observed.Ledger == nil || observed.Record != nil || w.tipOf(elsewhere) != tip || w.hasStateFile(elsewhere, state.RecordPath(w.first().Spec.ForProvider.ClaimRef)) {
				w.Errorf("a follower that is asked for nothing was written: %+v", observed)
			}
			w.follow(w.ledgerOf("web"), desired(w.T, "edge2", webAtE2, "a"))
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.bothHold("a", "a")
		}},
		"SecondWriter": {reason: "Of two writers that saw one head only the first is recorded, and no follower acts on the other.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			observed := w.ledgerOf("web")
			verdict := verifiedEvent("a", "edge1", "edge2")
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verdict)
			w.writeProposal(observed, []v1alpha1.Tree{restoring1("a")}, rejectedEvent("DeliveryRefused"))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			s := w.ledgerOf("web")
			if !s.IsVerified() || !w.storedLedger(repo).State.IsVerified() {
				w.Errorf("ledger: want the verdict of the first writer, got %+v", s.Verdict)
			}
			w.follow(s, desired(w.T, "edge2", webAtE2, "a"))
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			if c := w.storedRecord(elsewhere).Copy; c == nil || !c.IsVerified() {
				w.Errorf("copy: want the recorded state, got %+v", c)
			}
		}},
		"RaceForTheHead": {reason: "A writer that loses the race of the push is refused, although it was first to look.", run: func(w *world) {
			w.verifiedRevision()
			s := w.ledgerOf("web")
			rival := newHome("rival", desired(w.T, "edge1", webAtE1, "x"))
			rival.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: []ledger.Event{orderedEvent(2, "x", "edge1")}}
			w.create(rival)
			w.writeProposal(s, []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.begun = func() { w.begun = func() {}; w.reconcile("rival") }
			w.reconcile("web")
			w.expect("rival", v1alpha1.ReasonDelivered)
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.holds(map[string]tree.Files{webAtE1: files("x")}, nil)
			if got := w.ledgerOf("web").Current.Request.Intent; got != "intent-x" {
				w.Errorf("intent: want intent-x, got %s", got)
			}
		}},
		"LowerPosition": {reason: "A follower refuses a lower position than its recorded position, and leaves its trees.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			previous := w.ledgerOf("web")
			w.deliverToBoth("b", orderedEvent(2, "b", "edge1", "edge2"))
			w.follow(previous, desired(w.T, "edge2", webAtE2, "a"))
			w.expect(elsewhere, v1alpha1.ReasonOrderBehind)
			w.bothHold("b", "b")
			if r := w.get(elsewhere).Status.AtProvider.Record; r.Position.Revision != 2 {
				w.Errorf("record: want revision 2, got %+v", r.Position)
			}
		}},
		"LowerPositionOfNewerHead": {reason: "A follower refuses a lower position, also with a newer head.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			previous := w.ledgerOf("web")
			w.deliverToBoth("b", orderedEvent(2, "b", "edge1", "edge2"))
			previous.Seq += 10
			w.follow(previous, desired(w.T, "edge2", webAtE2, "a"))
			w.expect(elsewhere, v1alpha1.ReasonOrderBehind)
			w.bothHold("b", "b")
		}},
		"OlderCopy": {reason: "A follower refuses an older copy of the ledger at the same position.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			previous := w.ledgerOf("web")
			w.deliverToBoth("a", verifiedEvent("a", "edge1", "edge2"))
			w.follow(previous, desired(w.T, "edge2", webAtE2, "a"))
			w.expect(elsewhere, v1alpha1.ReasonOrderBehind)
			if c := w.storedRecord(elsewhere).Copy; !c.IsVerified() {
				w.Errorf("copy: want the newer one, got %+v", c)
			}
		}},
		"Recreated": {reason: "A follower that lost its state and its object gets the recorded position again.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			w.deliverToBoth("b", orderedEvent(2, "b", "edge1", "edge2"))
			w.lose(elsewhere)
			_, err := w.git.Git(w.Context(), elsewhere, "update-ref", "-d", stateRef)
			w.must(err)
			w.restart()
			w.follow(w.ledgerOf("web"), desired(w.T, "edge2", webAtE2, "b"))
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			if got := w.storedRecord(elsewhere).Position; got != w.ledgerOf("web").Position() {
				w.Errorf("position: want that of the ledger, got %+v", got)
			}
		}},
		"HomeLost": {reason: "A ledger whose home and objects were lost continues from the copy of a follower.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			w.deliverToBoth("a", verifiedEvent("a", "edge1", "edge2"))
			w.deliverToBoth("b", orderedEvent(2, "b", "edge1", "edge2"))
			w.disaster()
			w.lose(elsewhere)
			w.create(newHome("web"))
			w.reconcile("web")
			if s := w.ledgerOf("web"); s.Seq != 0 {
				w.Fatalf("ledger: want none, got %+v", s)
			}
			recorded := *w.storedRecord(elsewhere).Copy
			w.deliverToBoth("b", openedEvent("again"), ledger.Event{Recovered: &ledger.Recovered{Copy: recorded}})
			s := w.ledgerOf("web")
			w.positionIs(s, ledger.Position{Epoch: 2, Revision: 2})
			if s.Stable != 1 || s.LastNumber != 2 || len(s.Targets()) != 1 {
				w.Errorf("ledger: want the verdict that the follower knew, got %+v", s)
			}
			if got := w.storedRecord(elsewhere).Position; got != s.Position() {
				w.Errorf("position: want that of the new epoch, got %+v", got)
			}
		}},
		"RolledBack": {reason: "A follower restores the trees of the stable revision from its own state.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1", "edge2"))
			w.deliverToBoth("b", orderedEvent(2, "b", "edge1", "edge2"))
			_, err := w.git.Git(w.Context(), elsewhere, "-c", "gc.reflogExpire=now", "gc", "--prune=now", "--quiet")
			w.must(err)
			w.restart()
			w.propose([]v1alpha1.Tree{restoring1("a")}, rejectedEvent("GateFailed"), rolledBackEvent(1))
			restore := restoring1("a")
			restore.Site, restore.Path = "edge2", webAtE2
			w.follow(w.ledgerOf("web"), restore)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.bothHold("a", "a")
		}},
		"Moved": {reason: "The home that a ledger left closes its own when it follows.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			moved := ledger.Event{Moved: &ledger.Moved{Home: elsewhere, RequestRef: ledger.RequestReference{Name: "move", UID: "u1"}}}
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, moved)
			sealed := w.ledgerOf("web")
			w.moveHome(sealed)
			claim := w.first().Spec.ForProvider.ClaimRef
			if w.hasStateFile(repo, state.LedgerPath(claim)) || !w.hasStateFile(elsewhere, state.LedgerPath(claim)) {
				w.Error("the ledger is in its new home, and there alone")
			}
			if s := w.ledgerOf("web"); s.Seq != 0 {
				w.Errorf("ledger of the follower: want none, got %+v", s.Head)
			}
			if r := w.storedRecord(repo); r.Home != elsewhere || r.Copy == nil || r.Position.Epoch != 2 {
				w.Errorf("record of the follower: want a copy of the moved ledger, got %+v", r.Head)
			}
		}},
		"MovedAndLost": {reason: "A home that lost the ledger after it moved away does not continue it.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			moved := ledger.Event{Moved: &ledger.Moved{Home: elsewhere, RequestRef: ledger.RequestReference{Name: "move", UID: "u1"}}}
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, moved)
			_, err := w.git.Git(w.Context(), repo, "update-ref", "-d", stateRef)
			w.must(err)
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if s := w.ledgerOf("web"); s.Seq != 0 {
				w.Errorf("ledger: want none, got %+v", s.Head)
			}
		}},
		"Deleted": {reason: "A follower whose delivery is deleted keeps the number of the ledger and removes its directories.", run: func(w *world) {
			w.addFollower()
			w.startHome()
			w.deliverToBoth("a", eventsOf("a")...)
			w.must(w.kube.Delete(w.Context(), w.get(elsewhere)))
			w.reconcile(elsewhere)
			w.reconcile(elsewhere)
			if !w.gone(elsewhere) {
				w.Fatal("object: want it gone")
			}
			r := w.storedRecord(elsewhere)
			if !r.Deleted || r.Copy == nil || r.Copy.LastNumber != 1 || r.Copy.Current != nil {
				w.Errorf("record: want a tombstone with number 1, got %+v", r)
			}
			got, err := w.git.Files(w.Context(), elsewhere, "main")
			w.must(err)
			for name := range got {
				if strings.HasPrefix(name, webAtE2) {
					w.Errorf("file %s: want it removed", name)
				}
			}
			w.follow(w.ledgerOf("web"), desired(w.T, "edge2", webAtE2, "a"))
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
		}},
	})
}

// moveHome makes the second repository the home of a ledger that was sealed, and lets the first one follow.
func (w *world) moveHome(sealed ledger.State) {
	w.Helper()
	events := []ledger.Event{{Opened: &ledger.Opened{Ledger: "moved", Home: elsewhere}}, {Recovered: &ledger.Recovered{Copy: sealed}}}
	next, err := ledger.Append(ledger.State{}, w.now(), events...)
	w.must(err)
	d := w.get(elsewhere)
	d.Spec.ForProvider.Copy, d.Spec.ForProvider.Ledger = nil, &v1alpha1.LedgerUpdate{Events: events}
	d.Spec.ForProvider.Position = new(next.Position())
	d.Generation++
	w.must(w.kube.Update(w.Context(), d))
	w.reconcile(elsewhere)
	w.expect(elsewhere, v1alpha1.ReasonDelivered)
	essentials := w.ledgerOf(elsewhere).Essentials()
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = nil, &essentials, new(essentials.Position())
	})
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
}

// tipOf returns the commit of the state of a repository.
func (w *world) tipOf(repository string) string {
	w.Helper()
	refs, err := w.git.Refs(w.Context(), repository)
	w.must(err)
	return refs[stateRef]
}
