package git

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

func TestJudge(t *testing.T) {
	const branch = "refs/heads/main"
	cases := map[string]struct {
		reason   string
		statuses map[string]string
		unpack   string
		said     string
		want     failure.Class
	}{
		"BranchConflict": {
			reason:   "The state fell with the branch",
			statuses: map[string]string{branch: "incorrect old value provided", stateRef: "atomic push failure"},
			want:     failure.ClassConflict,
		},
		"StateRefused": {
			reason:   "The branch fell with the state",
			statuses: map[string]string{stateRef: "deny updating a hidden ref", branch: "atomic push failure"},
			want:     failure.ClassStateRefused,
		},
		"StateAlone": {
			reason:   "Only the state was pushed",
			statuses: map[string]string{stateRef: "hook declined"},
			want:     failure.ClassStateRefused,
		},
		"BothRefused": {
			reason:   "A hook refuses everything: that is not about the state",
			statuses: map[string]string{stateRef: "pre-receive hook declined", branch: "pre-receive hook declined"},
			want:     failure.ClassPolicy,
		},
		"ConflictWins": {
			reason:   "A lost race is solved by looking again, a refusal is not",
			statuses: map[string]string{stateRef: "hook declined", branch: "failed to update ref"},
			want:     failure.ClassConflict,
		},
		"TransactionConflict": {
			reason:   "Git says to people only that a ref was moved while it took the push",
			statuses: map[string]string{stateRef: "atomic transaction failed", branch: "atomic transaction failed"},
			said:     "error: cannot lock ref 'refs/heads/main': is at 1 but expected 2",
			want:     failure.ClassConflict,
		},
		"TransactionFailed": {
			reason:   "Without a reason it may pass",
			statuses: map[string]string{stateRef: "atomic transaction failed", branch: "atomic transaction failed"},
			want:     failure.ClassTransient,
		},
		"Unpack": {
			reason:   "The pack was refused",
			statuses: map[string]string{stateRef: "unpacker error", branch: "unpacker error"},
			unpack:   "index-pack abnormal exit",
			want:     failure.ClassTransient,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Client{remote: Remote{Branch: "main", StateRef: stateRef}, conn: at(t, "https://git.example.org").conn}
			updates := []refUpdate{{name: stateRef}, {name: branch}}
			got := c.findRefusedRefs(updates, tc.statuses, tc.unpack, tc.said)
			if diff := cmp.Diff(tc.want, got.Class); diff != "" {
				t.Errorf("\n%s\njudge(...): -want, +got:\n%s\n%v", tc.reason, diff, got)
			}
		})
	}
}
