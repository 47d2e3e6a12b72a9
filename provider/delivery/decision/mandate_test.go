package decision

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
)

// TestMandatedSince has a ledger whose events 3 and 4 were recorded by a mandate.
func TestMandatedSince(t *testing.T) {
	head := func(name string, seq int64) *ledger.State {
		return &ledger.State{Head: ledger.Head{Ledger: name, Epoch: 1, Seq: seq}}
	}
	cases := map[string]struct {
		reason string
		shown  *ledger.State
		want   int
	}{
		"Before":  {reason: "Events by the mandate are new to a status with the events of the spec.", shown: head("l", 2), want: 2},
		"Earlier": {reason: "Events of specs are left out.", shown: head("l", 1), want: 2},
		"One":     {reason: "An event in the status is not reported again.", shown: head("l", 3), want: 1},
		"All":     {reason: "Nothing is new to a status that shows the head.", shown: head("l", 4)},
		"Lost":    {reason: "A lost status does not show the reported events.", shown: nil},
		"None":    {reason: "A status without a ledger does not show the reported events.", shown: head("", 0)},
		"Other":   {reason: "A status with another ledger does not show the reported events.", shown: head("m", 2)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := &state.LedgerFile{State: *head("l", 4)}
			for seq := range int64(4) {
				e := state.LoggedEvent{Seq: seq + 1}
				if e.Seq > 2 {
					e.By = state.RecorderMandate
				}
				file.Events = append(file.Events, e)
			}
			f := Facts{Ledger: LedgerFacts{File: file, Recorded: file.State}}
			if got := len(f.MandatedSince(tc.shown)); got != tc.want {
				t.Errorf("\n%s\nmandatedSince(...): want %d events, got %d", tc.reason, tc.want, got)
			}
		})
	}
	if got := (Facts{}).MandatedSince(head("l", 1)); got != nil {
		t.Errorf("\nA repository without a ledger has no events.\nmandatedSince(...): want none, got %v", got)
	}
}

// TestVersionByMandate compares pushes of one spec.
func TestVersionByMandate(t *testing.T) {
	rejected := ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 4, ID: "four"}, Current: &ledger.Revision{Number: 2}}
	back := rejected
	back.Seq, back.ID, back.Cursor.Attempt = 5, "five", 1
	versionOf := func(s ledger.State, isAhead bool, events ...ledger.Event) string {
		return Facts{IsAhead: isAhead, Recording: Recording{Next: s, Applied: s, Mandated: events}}.VersionByMandate()
	}
	if got := versionOf(rejected, false); got != "" {
		t.Errorf("\nWithout anything by a mandate the spec alone makes the version.\nversionByMandate(): want none, got %q", got)
	}
	if refused, rollback := versionOf(rejected, true), versionOf(back, true); refused == rollback || rollback == "" {
		t.Errorf("\nA refused revision does not hold back its rollback.\nversionByMandate(): want two versions, got %q and %q", refused, rollback)
	}
	if refused, rollback := versionOf(back, false, ledger.Event{RolledBack: &ledger.RolledBack{Target: 1}}), versionOf(back, true); refused != rollback {
		t.Errorf("\nA push that was refused is waited out whether its events were recorded meanwhile or not.\nversionByMandate(): want one version, got %q and %q",
			refused, rollback)
	}
}

// TestDeliveredByPath has a repository with the directory of the present step, that of a later step, and another one.
func TestDeliveredByPath(t *testing.T) {
	at := func(path string) v1alpha1.Tree { return v1alpha1.Tree{Branch: "main", Path: path} }
	f := Facts{Spec: v1alpha1.GitDeliveryParameters{Trees: []v1alpha1.Tree{at("first")}, Later: []v1alpha1.LaterTree{{Tree: at("second")}, {Tree: at("third")}}}}
	for _, path := range []string{"first", "second", "other"} {
		f.Delivered = append(f.Delivered, state.Tree{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{Path: path, Tree: "tree of " + path}})
	}
	want := map[string]v1alpha1.DeliveredTree{"first": {Path: "first", Tree: "tree of first"}, "second": {Path: "second", Tree: "tree of second"}}
	if diff := cmp.Diff(want, f.DeliveredByPath()); diff != "" {
		t.Errorf("\nThe directories of all steps are known where they were delivered.\ndeliveredByPath(): -want, +got:\n%s", diff)
	}
}
