package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// recordOf returns a record with a history in short: for each revision v if it is verified, w if it was withdrawn, r if it was rejected.
func recordOf(verdicts string, sites int) RecordFile {
	e := RecordFile{Header: Header{Claim: claim(), ClusterUID: "uid-1"}}
	for i, v := range verdicts {
		s := stateAt(int64(i + 1))
		s.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected}
		if v != 'r' {
			s.Verdict.Result = ledger.VerdictVerified
		}
		d := Delivery{Applied: s, Commit: "c", At: at(i)}
		for s := range sites {
			d.Trees = append(d.Trees, treeAt(fmt.Sprintf("%s%03d", strings.Repeat("s", 60), s), strings.Repeat(string(rune('a'+i)), 40), int64(i+1)))
		}
		e = e.After(d)
	}
	for i, v := range verdicts[len(verdicts)-len(e.Revisions):] {
		e.Revisions[i].IsTarget = v == 'v'
	}
	return e
}

// withTrees are the revisions of a history that have trees.
func withTrees(history []deliveryv1alpha1.HistoryEntry) []int64 {
	var out []int64
	for _, h := range history {
		if len(h.Trees) > 0 {
			out = append(out, h.Revision)
		}
	}
	return out
}

func TestShown(t *testing.T) {
	cases := map[string]struct {
		reason   string
		verdicts string
		sites    int
		want     []int64
	}{
		"None":      {reason: "A status without a history shows none."},
		"Few":       {reason: "A status shows the revisions that fit.", verdicts: "vrr", sites: 100, want: []int64{1, 2, 3}},
		"Rejected":  {reason: "Ten rejections do not hide the rollback target.", verdicts: "vrrrrrrrrrr", sites: 100, want: []int64{1, 8, 9, 10, 11}},
		"Many":      {reason: "One rejection does not hide a good revision with many Sites.", verdicts: "vr", sites: 251, want: []int64{1}},
		"Most":      {reason: "Rejections do not hide a good revision with as many Sites as there can be.", verdicts: "vrr", sites: 500, want: []int64{1}},
		"Before":    {reason: "A user rolls back from the running revision to the previous revision.", verdicts: "vvvr", sites: 500, want: []int64{2, 3}},
		"Older":     {reason: "Older verified revisions come before rejected revisions.", verdicts: "vrvrvr", sites: 150, want: []int64{1, 3, 5}},
		"Withdrawn": {reason: "A withdrawn revision is not a rollback target.", verdicts: "vvww", sites: 260, want: []int64{1, 2}},
		"OneIsGood": {reason: "Only a verified revision is always shown.", verdicts: "vw", sites: 300, want: []int64{1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := recordOf(tc.verdicts, tc.sites)
			published := e.Shown()
			if diff := cmp.Diff(tc.want, withTrees(published)); diff != "" {
				t.Errorf("\n%s\nrevisions with trees: -want, +got:\n%s", tc.reason, diff)
			}
			for i, h := range published {
				if h.Revision != e.Revisions[i].Revision || len(h.Trees) != 0 && len(h.Trees) != tc.sites {
					t.Errorf("\n%s\nplace %d: want revision %d with all of its trees or none, got %d with %d", tc.reason, i, e.Revisions[i].Revision, h.Revision, len(h.Trees))
				}
			}
			if diff := cmp.Diff(len(tc.verdicts), len(withTrees(e.Revisions))); diff != "" {
				t.Errorf("\n%s\nrevisions with trees in the entry afterwards: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEncodeFits has more than fits into the file.
func TestEncodeFits(t *testing.T) {
	cases := map[string]struct {
		reason   string
		verdicts string
		// worth are revisions that keep their trees, and lost is a revision without its tree.
		worth []int64
		lost  int64
	}{
		"Rejected": {
			reason:   "Rejected revisions lose their trees first, the oldest of them before the others.",
			verdicts: "vrrrrrrrrrr", worth: []int64{1, 11}, lost: 2,
		},
		"Withdrawn": {reason: "A withdrawn revision loses its trees before a verified revision.", verdicts: "vwvvvvvvvv", worth: []int64{1, 10}, lost: 2},
		"Good":      {reason: "The oldest of the verified revisions loses its trees first.", verdicts: "vvvvvvvvvv", worth: []int64{2, 10}, lost: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := recordOf(tc.verdicts, 500)
			e.Trees = slices.Concat(e.Trees, e.Trees, e.Trees, e.Trees)
			for i := range e.Trees {
				e.Trees[i].Path = strings.Repeat("p", 480)
			}
			content, err := e.Encode()
			if err != nil {
				t.Fatalf("\n%s\nEncode(): %v", tc.reason, err)
			}
			got, err := DecodeRecord(content)
			if err != nil {
				t.Fatalf("\n%s\nDecode(...): %v", tc.reason, err)
			}
			retained := map[int64]bool{}
			for _, n := range withTrees(got.Revisions) {
				retained[n] = true
			}
			for _, n := range tc.worth {
				if !retained[n] {
					t.Errorf("\n%s\nrevision %d: want its trees, got none", tc.reason, n)
				}
			}
			if retained[tc.lost] {
				t.Errorf("\n%s\nrevision %d: want none of its trees", tc.reason, tc.lost)
			}
			if len(withTrees(e.Revisions)) != len(e.Revisions) {
				t.Errorf("\n%s\nthe entry itself lost trees", tc.reason)
			}
		})
	}
}

// numbers returns a record with the last number of a deleted delivery, the revision that it was brought to, and the last number of a copy.
func numbers(last, revision, copied int64) RecordFile {
	r := RecordFile{LastNumber: last}
	r.Position.Revision = revision
	if copied > 0 {
		r.Copy = &ledger.State{LastNumber: copied}
	}
	return r
}

// TestHighestNumber finds the highest number of a revision in each place of a record that has a number.
func TestHighestNumber(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   RecordFile
		want   int64
	}{
		"None":     {reason: "A record of nothing has no number."},
		"Last":     {reason: "The number of a delivery that was deleted counts.", file: numbers(3, 2, 0), want: 3},
		"Position": {reason: "The revision that the repository was brought to counts.", file: numbers(1, 2, 0), want: 2},
		"Copy":     {reason: "A number that the ledger used since counts.", file: numbers(0, 2, 5), want: 5},
		"OldCopy":  {reason: "A copy that is behind does not lower the number.", file: numbers(0, 7, 5), want: 7},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.file.HighestNumber(); got != tc.want {
				t.Errorf("\n%s\nHighestNumber(): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

func TestTreeIDs(t *testing.T) {
	e := RecordFile{Trees: []Tree{treeAt("edge1", "c", 1), treeAt("edge2", "a", 1)}, Revisions: []deliveryv1alpha1.HistoryEntry{
		{Trees: []deliveryv1alpha1.HistoryTree{{Site: "edge1", Tree: "b"}, {Site: "edge2", Tree: "a"}}},
	}}
	e.Trees[0].Tracks = []deliveryv1alpha1.DeliveredTrack{{Name: "blue", Tree: "d"}}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, e.TreeIDs()); diff != "" {
		t.Errorf("\nPresent and earlier trees are named once each.\nTreeIDs(): -want, +got:\n%s", diff)
	}
}

// TestFindTree looks for directories by branch and path.
func TestFindTree(t *testing.T) {
	trees := []Tree{treeAt("edge1", "t1", 1), treeAt("edge2", "t2", 1)}
	cases := map[string]struct {
		reason, branch, path, want string
	}{
		"Second": {reason: "A directory is found by its path.", branch: "main", path: "clusters/edge2", want: "t2"},
		"Branch": {reason: "The directory of another branch is another directory.", branch: "prod", path: "clusters/edge1"},
		"Path":   {reason: "A path that no directory has finds none.", branch: "main", path: "clusters/edge3"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, found := FindTree(trees, tc.branch, tc.path)
			if diff := cmp.Diff(tc.want, got.Tree); diff != "" || found != (tc.want != "") {
				t.Errorf("\n%s\nFindTree(...): found: %t, -want, +got:\n%s", tc.reason, found, diff)
			}
		})
	}
}

// TestFindTrack looks for a track of a directory with two.
func TestFindTrack(t *testing.T) {
	tracks := []deliveryv1alpha1.DeliveredTrack{{Name: "blue", Weight: 80}, {Name: "green", Weight: 20}}
	if got := FindTrack(tracks, "green"); got != &tracks[1] {
		t.Errorf("\nA track is found by its name, in its place.\nFindTrack(...): got %v", got)
	}
	if got := FindTrack(tracks, "plain"); got != nil {
		t.Errorf("\nA track that the directory does not have is nil.\nFindTrack(...): got %v", got)
	}
}
