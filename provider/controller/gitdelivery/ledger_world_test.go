package gitdelivery

import (
	"encoding/json"
	"fmt"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// newHome returns a delivery that reads the ledger of the home repository.
func newHome(name string, trees ...v1alpha1.Tree) *v1alpha1.GitDelivery {
	d := delivery(name, wish{}, trees...)
	d.Annotations = map[string]string{"crossplane.io/composition-resource-name": name}
	d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{}
	return d
}

func openedEvent(identity string) ledger.Event {
	return ledger.Event{Opened: &ledger.Opened{Ledger: identity, Home: "default"}}
}

// orderedEvent begins a revision that delivers one intent to Sites in one step.
func orderedEvent(number int64, intent string, sites ...string) ledger.Event {
	return ledger.Event{Ordered: &ledger.Ordered{Revision: ledger.Revision{
		Number: number, Request: ledger.Request{Intent: "intent-" + intent, Sources: "sources", Scheme: 1, Renderer: 1},
		Plan: []ledger.Step{{Sites: sites}}, Parts: []ledger.Part{{Delivery: "web", ConfigRef: "default", Sites: sites}},
	}}}
}

// verifiedEvent returns the event that verifies a revision with the given files at Sites.
func verifiedEvent(says string, sites ...string) ledger.Event {
	j := &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}}
	for _, site := range sites {
		j.Trees = append(j.Trees, ledger.SiteTree{Site: site, ID: tree.ID(files(says))})
	}
	return ledger.Event{Judged: j}
}

func rejectedEvent(reason string) ledger.Event {
	return ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: reason, Message: "as the test has it"}}}
}

func rolledBackEvent(target int64) ledger.Event {
	return ledger.Event{RolledBack: &ledger.RolledBack{Target: target}}
}

func restoring1(says string) v1alpha1.Tree {
	return v1alpha1.Tree{Site: "edge1", Branch: "main", Path: webAtE1, Layout: "Kustomization", Action: v1alpha1.ActionRestore, Tree: tree.ID(files(says))}
}

// ledgerOf returns the ledger that a status shows.
func (w *world) ledgerOf(name string) ledger.State {
	w.Helper()
	s := w.get(name).Status.AtProvider.Ledger
	if s == nil {
		w.Fatalf("status.atProvider.ledger of %s: want one, got none", name)
	}
	return *s
}

// startHome creates the delivery to the home, and reconciles it until it reports an empty ledger.
func (w *world) startHome() {
	w.Helper()
	w.create(newHome("web"))
	w.reconcile("web")
	if s := w.ledgerOf("web"); s.Seq != 0 {
		w.Fatalf("a repository without a ledger says so: got seq %d", s.Seq)
	}
}

// propose events on top of the head that the status shows, with the trees that follow, and reconciles.
func (w *world) propose(trees []v1alpha1.Tree, events ...ledger.Event) {
	w.Helper()
	w.writeProposal(w.ledgerOf("web"), trees, events...)
	w.reconcile("web")
}

// writeProposal writes events on top of a state into the delivery to the home.
func (w *world) writeProposal(s ledger.State, trees []v1alpha1.Tree, events ...ledger.Event) {
	w.Helper()
	next, err := ledger.Append(s, w.now(), events...)
	w.must(err)
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: events}
		d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees = new(next.Position()), trees
	})
}

// firstRevision opens the ledger and delivers revision 1 to edge1.
func (w *world) firstRevision() {
	w.Helper()
	w.startHome()
	w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, openedEvent("demo"), orderedEvent(1, "a", "edge1"))
	w.expect("web", v1alpha1.ReasonDelivered)
}

// verifiedRevision delivers revision 1, which is verified.
func (w *world) verifiedRevision() {
	w.Helper()
	w.firstRevision()
	w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1"))
	w.expect("web", v1alpha1.ReasonDelivered)
}

// secondRevision delivers revision 2 after a verified revision 1.
func (w *world) secondRevision() {
	w.Helper()
	w.verifiedRevision()
	w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
	w.expect("web", v1alpha1.ReasonDelivered)
}

// storedLedger returns the ledger that the repository holds.
func (w *world) storedLedger(repository string) state.LedgerFile {
	w.Helper()
	f, err := state.DecodeLedger([]byte(w.stateFile(repository, state.LedgerPath(w.first().Spec.ForProvider.ClaimRef))))
	w.must(err)
	return f
}

// storedRecord returns the record that the repository holds.
func (w *world) storedRecord(repository string) state.RecordFile {
	w.Helper()
	r, err := state.DecodeRecord([]byte(w.stateFile(repository, state.RecordPath(w.first().Spec.ForProvider.ClaimRef))))
	w.must(err)
	return r
}

// stateFile returns a file of the state, or nothing.
func (w *world) stateFile(repository, path string) string {
	w.Helper()
	out, err := w.git.Git(w.Context(), repository, "show", stateRef+":"+path)
	if err != nil {
		return ""
	}
	return out
}

// hasStateFile reports whether the state has a file.
func (w *world) hasStateFile(repository, path string) bool {
	w.Helper()
	return w.stateFile(repository, path) != ""
}

// rewriteState changes JSON files of the state, like another version of the provider, or a user who may push any ref.
func (w *world) rewriteState(change func(path string, content map[string]any)) {
	w.Helper()
	claim := w.first().Spec.ForProvider.ClaimRef
	all := map[string]string{state.OwnerPath: w.stateFile(repo, state.OwnerPath)}
	for _, path := range []string{state.LedgerPath(claim), state.RecordPath(claim)} {
		content := map[string]any{}
		w.must(json.Unmarshal([]byte(w.stateFile(repo, path)), &content))
		change(path, content)
		b, err := json.Marshal(content)
		w.must(err)
		all[path] = string(b)
	}
	w.forgeAll(all)
	w.restart()
}

// positionIs compares the position of a ledger.
func (w *world) positionIs(s ledger.State, want ledger.Position) {
	w.Helper()
	if diff := cmp.Diff(want, s.Position()); diff != "" {
		w.Fatalf("position: -want, +got:\n%s", diff)
	}
}

// says returns reason and message of Ready.
func (w *world) says(name string) string {
	w.Helper()
	c := w.get(name).GetCondition(xpv2.TypeReady)
	return fmt.Sprintf("%s: %s", c.Reason, c.Message)
}

// tellLedger runs stories on a ledger.
func tellLedger(t *testing.T, stories map[string]story) {
	t.Helper()
	tell(t, stories)
}

// stateCommits returns how many commits the state has.
func (w *world) stateCommits() int {
	w.Helper()
	out, err := w.git.Git(w.Context(), repo, "rev-list", "--count", stateRef)
	if err != nil {
		return 0
	}
	n := 0
	_, err = fmt.Sscan(out, &n)
	w.must(err)
	return n
}

// secondClaim delivers another claim to the home repository, and deletes it.
func (w *world) secondClaim() {
	w.Helper()
	events := []ledger.Event{openedEvent("api"), orderedEvent(1, "a", "edge1")}
	d := newHome("api", desired(w.T, "edge1", "clusters/edge1/team-a/api", "api"))
	d.Spec.ForProvider.ClaimRef.Name = "api"
	d.Spec.ForProvider.Ledger.Events = events
	w.create(d)
	w.reconcile("api")
	w.expect("api", v1alpha1.ReasonDelivered)
	w.must(w.kube.Delete(w.Context(), w.get("api")))
	w.reconcile("api")
	w.reconcile("api")
	if !w.gone("api") {
		w.Fatal("object: want it gone")
	}
}
