package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRevisionsInRepositories delivers a first revision and a second one to repositories at once. A step costs one push in the home and one in each follower, and
// the verdict is one push in the home.
func TestRevisionsInRepositories(t *testing.T) {
	t.Parallel()
	for _, repositories := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(repositories), func(t *testing.T) {
			t.Parallel()
			d := newDeployment(t, form{repositories: repositories})
			for revision := range int64(2) {
				revision++
				d.awaitSucceeded(int(revision))
				d.wantLedgerOf(d.ledgerAfterVerified(revision), fmt.Sprint(revision), slices.Repeat([]int{int(revision)}, repositories)...)
				want := []string{fmt.Sprintf("0: %d.0.0", revision)}
				for i := range d.namesOfFollowers() {
					want = append(want, fmt.Sprintf("%d: %d.0.0", i+1, revision))
				}
				d.wantPushes(append(want, fmt.Sprintf("0: %d.0.0 Verified", revision))...)
			}
		})
	}
}

// TestWavesOfRepositories delivers to three repositories, one after the other. Each wave is recorded in the home before its repository gets anything.
func TestWavesOfRepositories(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, form{repositories: 3, waves: true})
	for revision := 1; revision <= 2; revision++ {
		d.awaitSucceeded(revision)
		d.wantLedgerOf(d.ledgerAfterVerified(int64(revision)), fmt.Sprint(revision), revision, revision, revision)
		d.wantPushes(strings.Split(strings.ReplaceAll("0: N.0.0|0: N.0.1|1: N.0.1|0: N.0.2|2: N.0.2|0: N.0.2 Verified", "N", fmt.Sprint(revision)), "|")...)
	}
}

// TestRolledBack rejects a second revision, which the judge takes for bad, and rolls it back.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		form    form
		end     func(d *deployment) summary
		commits []int
		pushes  []string
	}{
		"Two": {
			reason:  "The rejection and the rollback are recorded in the home before any follower restores the trees of the first revision.",
			form:    form{repositories: 2, gated: true},
			end:     func(d *deployment) summary { return d.ledgerAfterRollback(2, 1) },
			commits: []int{3, 3},
			pushes:  []string{"0: 2.0.0", "1: 2.0.0", "0: 2.1.0 Rejected", "1: 2.1.0", "0: 2.1.0 Rejected restored"},
		},
		"ThreeWaves": {
			reason:  "A revision that is rejected in its first wave reaches no follower, and nothing is restored there.",
			form:    form{repositories: 3, gated: true, waves: true},
			end:     func(d *deployment) summary { return d.ledgerAfterRollback(2, 1) },
			commits: []int{3, 1, 1},
			pushes:  []string{"0: 2.0.0", "0: 2.1.0 Rejected", "0: 2.1.0 Rejected restored"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			d := newDeployment(t, tc.form)
			d.awaitSucceeded(1)
			d.pushes.forgetPushes()
			if !tc.form.waves { // A Gate may fail a Site before another Site has the revision.
				judges.setJudgeAnswer(d.Namespace, held)
				d.awaitMeasuring(2)
			}
			judges.setJudgeAnswer(d.Namespace, bad)
			d.awaitRolledBack(2)
			d.wantLedgerOf(tc.end(d), "1", tc.commits...)
			d.wantPushes(tc.pushes...)

			judges.setJudgeAnswer(d.Namespace, good)
			d.awaitSucceeded(3)
			d.wantLedgerSummary(d.ledgerAfterVerified(3))
			d.wantReplicas(strings.Repeat("3 ", len(d.repositories)))
			d.wantInvariants()
		})
	}
}

// TestFollowerRefuses has a hook of a follower that refuses the second revision. The home records the rejection, and rolls its own part back.
func TestFollowerRefuses(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, form{repositories: 2})
	d.awaitSucceeded(1)
	d.setReceiveHook(d.repositories[1], `while read -r old new ref; do case "$ref" in refs/heads/*) echo "not today" >&2; exit 1;; esac; done`)
	d.awaitRolledBack(2)
	d.wantLedgerSummary(d.ledgerAfterRollback(2, 1))
	d.wantReplicas("1 1")
	d.wantCommits(3, 1)
	d.setReceiveHook(d.repositories[1], "exit 0")
	d.awaitSucceeded(3)
	d.wantLedgerOf(d.ledgerAfterVerified(3), "3", 4, 2)
}
