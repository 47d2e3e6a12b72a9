package state

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// What the fields of a status hold at most, as the API has it.
const (
	maxBranch = 200
	maxObject = 253
	maxCommit = 40
	maxDigest = 80
	maxName   = 63
	maxPath   = 700
	maxPause  = 32
	maxPerson = 253
	maxReason = 64
	maxWords  = 1024
)

// namesOf are what an object of the API may have: each as long as its field may be, of characters of some bytes.
type namesOf struct {
	letter string
	// long is the share of the most that a name may have, in percent.
	long int
}

func (n namesOf) of(most int) string { return strings.Repeat(n.letter, max(1, most*n.long/100)) }

// trees at a place, of which there are others with another number.
func (n namesOf) trees(count, place int, revision int64) []Tree {
	var out []Tree
	for i := range count {
		t := treeAt(n.of(maxName-4)+fmt.Sprintf("-%03d", i), fmt.Sprintf("%040d", place*maxNamed+i), revision)
		t.Path, t.Branch = n.of(maxPath-8)+fmt.Sprintf("/%03d/%03d", place, i), n.of(maxBranch)
		out = append(out, t)
	}
	return out
}

// order returns the ledger after a revision that a user asked for.
func (n namesOf) order(revision int64, sites []Tree) ledger.State {
	s := stateAt(revision)
	s.Current.Request.Intent, s.Current.Request.Sources = n.of(maxDigest), n.of(maxDigest)
	s.Current.Blueprint = &ledger.BlueprintReference{Name: n.of(maxObject), Channel: n.of(maxName), Digest: n.of(maxDigest)}
	s.Current.RequestRef = &ledger.RequestReference{Name: n.of(maxObject), UID: n.of(maxUID), By: n.of(maxPerson)}
	s.Current.Plan[0].Pause = n.of(maxPause)
	for _, t := range sites {
		s.Current.Plan[0].Sites = append(s.Current.Plan[0].Sites, t.Site)
	}
	return s
}

func (n namesOf) verdict(verified bool) *ledger.Verdict {
	if verified {
		return &ledger.Verdict{Result: ledger.VerdictVerified}
	}
	return &ledger.Verdict{Result: ledger.VerdictRejected, Reason: n.of(maxReason), Message: n.of(maxWords)}
}

// TestMoved moves all Sites of a claim. What is written can always be read.
func TestMoved(t *testing.T) {
	cases := map[string]struct {
		reason string
		names  namesOf
		sites  int
		// moves that were not verified.
		moves int
		err   string
	}{
		"Some":     {reason: "Three hundred Sites move at once.", names: namesOf{"s", 50}, sites: 300, moves: 1},
		"All":      {reason: "All directories that there can be have room.", names: namesOf{"s", 50}, sites: 500, moves: 1},
		"Longest":  {reason: "Directories with the longest names have room.", names: namesOf{"s", 100}, sites: 500, moves: 1},
		"Again":    {reason: "They move on before they were verified.", names: namesOf{"s", 20}, sites: 500, moves: 3},
		"TooOften": {reason: "There is an end to that.", names: namesOf{"s", 20}, sites: 500, moves: 4, err: "cannot encode state: trees has more than 2000 items"},
		"TooLong":  {reason: "What does not fit is refused.", names: namesOf{"s", 100}, sites: 500, moves: 3, err: "are more than the 2097152 that fit"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			good := tc.names.order(1, tc.names.trees(tc.sites, 0, 1))
			good.Verdict = tc.names.verdict(true)
			e := RecordFile{Header: Header{Claim: claim(), ClusterUID: "uid-1"}}.After(Delivery{Applied: good, Trees: tc.names.trees(tc.sites, 0, 1), Commit: "c1", At: at(0)})
			for move := 1; move <= tc.moves; move++ {
				left, trees := e.Trees, tc.names.trees(tc.sites, move, int64(move+1))
				e = e.After(Delivery{Applied: tc.names.order(int64(move+1), trees), Trees: trees, Left: left, Commit: "c2", At: at(move)})
			}
			content, err := e.Encode()
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || content != nil {
					t.Errorf("\n%s\nEncode(): want %q and no content, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nEncode(): %v", tc.reason, err)
			}
			got, err := DecodeRecord(content)
			if diff := cmp.Diff(e.Trees, got.Trees); err != nil || diff != "" {
				t.Errorf("\n%s\nDecode(...).Trees: %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if len(got.Revisions[0].Trees) != tc.sites {
				t.Errorf("\n%s\nhistory: want the trees of the rollback target, got %d", tc.reason, len(got.Revisions[0].Trees))
			}
			shown := e.ShownTrees()
			if len(shown) > maxNamed || !strings.HasPrefix(shown[tc.sites-1].Path, e.Trees[tc.sites-1].Path) {
				t.Errorf("\n%s\nShownTrees(): want those that the order names first, and no more than %d, got %d", tc.reason, maxNamed, len(shown))
			}
		})
	}
}

// FuzzEncode records deliveries of any size, by any names that the API takes: what is written can be read, and is refused only because it
// is too much.
func FuzzEncode(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		names := namesOf{[]string{"s", "é", "<", "\x00", "\"", "\xff"}[r.IntN(6)], r.IntN(101)}
		e := RecordFile{Header: Header{Claim: claim(), ClusterUID: names.of(maxUID)}}
		for revision := range int64(1 + r.IntN(14)) {
			trees := names.trees(r.IntN(maxNamed+1), r.IntN(5), revision+1)
			d := Delivery{Applied: names.order(revision+1, trees), Trees: trees, Commit: names.of(maxCommit), At: at(int(revision))}
			d.Attempt = &rolloutv1alpha1.Attempt{Revision: revision + 1, StartedAt: at(int(revision))}
			if r.IntN(3) > 0 {
				d.Applied.Verdict = names.verdict(r.IntN(2) > 0)
			}
			if !d.Applied.IsVerified() {
				d.Left = e.Trees
			}
			e = e.After(d)
			content, err := e.Encode()
			if err != nil {
				if len(e.Trees) <= maxTrees && !strings.HasSuffix(err.Error(), "that fit") {
					t.Fatalf("Encode(): %v", err)
				}
				return
			}
			if _, err := DecodeRecord(content); err != nil {
				t.Fatalf("Decode(...): %v", err)
			}
		}
	})
}
