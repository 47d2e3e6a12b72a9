package receivepack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
)

func TestFindRefusedRefs(t *testing.T) {
	const stateRef, branch = "refs/intentplane/demo/state", "refs/heads/main"
	conn, err := transport.New(transport.Server{URL: "https://git.example.org/team/shop.git"}, transport.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	p := New(conn, budget.New())
	cases := map[string]struct {
		reason   string
		statuses map[string]string
		unpack   string
		said     string
		want     failure.Class
	}{
		"BranchConflict": {
			reason:   "A branch that moved is a conflict, also if the state fell with it.",
			statuses: map[string]string{branch: "incorrect old value provided", stateRef: "atomic push failure"},
			want:     failure.ClassConflict,
		},
		"StateRefused": {
			reason:   "A refused state is reported as such, also if the branch fell with it.",
			statuses: map[string]string{stateRef: "deny updating a hidden ref", branch: "atomic push failure"},
			want:     failure.ClassStateRefused,
		},
		"StateAlone": {
			reason:   "A refusal of the state alone is reported as one of the state.",
			statuses: map[string]string{stateRef: "hook declined"},
			want:     failure.ClassStateRefused,
		},
		"BothRefused": {
			reason:   "A hook that refuses everything has nothing against the state.",
			statuses: map[string]string{stateRef: "pre-receive hook declined", branch: "pre-receive hook declined"},
			want:     failure.ClassPolicy,
		},
		"ConflictWins": {
			reason:   "A conflict counts before a refusal, for a new look solves it.",
			statuses: map[string]string{stateRef: "hook declined", branch: "failed to update ref"},
			want:     failure.ClassConflict,
		},
		"TransactionConflict": {
			reason:   "A ref that moved during an atomic push is a conflict, though Git says so in its messages only.",
			statuses: map[string]string{stateRef: "atomic transaction failed", branch: "atomic transaction failed"},
			said:     "error: cannot lock ref 'refs/heads/main': is at 1 but expected 2",
			want:     failure.ClassConflict,
		},
		"TransactionFailed": {
			reason:   "An atomic push that fails without a reason is transient.",
			statuses: map[string]string{stateRef: "atomic transaction failed", branch: "atomic transaction failed"},
			want:     failure.ClassTransient,
		},
		"Unpack": {
			reason:   "A pack that the server cannot unpack is transient.",
			statuses: map[string]string{stateRef: "unpacker error", branch: "unpacker error"},
			unpack:   "index-pack abnormal exit",
			want:     failure.ClassTransient,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			updates := []Update{{Ref: stateRef, IsState: true}, {Ref: branch}}
			got := p.findRefusedRefs(updates, tc.statuses, tc.unpack, tc.said)
			if diff := cmp.Diff(tc.want, got.Class); diff != "" {
				t.Errorf("\n%s\nfindRefusedRefs(...): -want, +got:\n%s\n%v", tc.reason, diff, got)
			}
		})
	}
}
