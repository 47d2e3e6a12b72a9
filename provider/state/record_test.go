package state

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func claim() rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
}

// stateAt returns the state of a ledger that has come to a revision.
func stateAt(revision int64) ledger.State {
	return ledger.State{
		Head: ledger.Head{Ledger: "demo", Epoch: 1, Seq: revision, ID: "1"}, Home: "platform", LastNumber: revision,
		Current: &ledger.Revision{Number: revision, Request: ledger.Request{Intent: "i", Sources: "r", Scheme: 1, Renderer: 2}, Marked: "m", Plan: []ledger.Step{{}}},
	}
}

func at(minute int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC))
}

func treeAt(site, id string, revision int64) Tree {
	return Tree{Branch: "main", DeliveredTree: deliveryv1alpha1.DeliveredTree{Site: site, Path: "clusters/" + site, Tree: id, Revision: revision}}
}

func entry() RecordFile {
	return RecordFile{Header: Header{Claim: claim(), ClusterUID: "uid-1"}}.After(Delivery{
		Applied: stateAt(1), Attempt: &rolloutv1alpha1.Attempt{Revision: 1, StartedAt: at(0)},
		Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c1", At: at(0),
	})
}

func TestRecord(t *testing.T) {
	verified, back, judged := stateAt(1), stateAt(2), at(5)
	verified.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
	back.Cursor.Attempt = 1

	first := deliveryv1alpha1.HistoryEntry{
		Revision: 1, Commit: "c1",
		Trees: []deliveryv1alpha1.HistoryTree{{Site: "edge1", Tree: "t1"}},
	}
	firstJudged := first
	firstJudged.IsTarget = true
	wayBack := deliveryv1alpha1.HistoryEntry{Revision: 2}

	cases := map[string]struct {
		reason string
		entry  RecordFile
		with   Delivery
		want   []deliveryv1alpha1.HistoryEntry
		commit string
	}{
		"First": {
			reason: "A delivery is a revision of the history.",
			with:   Delivery{Applied: stateAt(1), Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c1", At: at(0)},
			want:   []deliveryv1alpha1.HistoryEntry{first},
			commit: "c1",
		},
		"Verdict": {
			reason: "A verdict is added to its revision, whose commit and trees stay.",
			entry:  entry(),
			with:   Delivery{Applied: verified, Trees: []Tree{treeAt("edge1", "t1", 1)}, At: judged},
			want:   []deliveryv1alpha1.HistoryEntry{firstJudged},
			commit: "c1",
		},
		"WayBack": {
			reason: "The trees of a rollback differ from the trees of the revision.",
			entry:  entry(),
			with:   Delivery{Applied: back, Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c2", At: judged},
			want:   []deliveryv1alpha1.HistoryEntry{first, wayBack},
			commit: "c2",
		},
		"AfterTombstone": {
			reason: "A claim of the same name starts a history of its own.",
			entry:  entry().Tombstone(),
			with:   Delivery{Applied: stateAt(1), Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c1", At: at(0)},
			want:   []deliveryv1alpha1.HistoryEntry{first},
			commit: "c1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.entry.After(tc.with)
			if diff := cmp.Diff(tc.want, got.Revisions); diff != "" {
				t.Errorf("\n%s\nAfter(...).Revisions: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.commit, got.Commit); diff != "" || got.Deleted {
				t.Errorf("\n%s\nRecord(...).Commit: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRetainedRevisions(t *testing.T) {
	cases := map[string]struct {
		reason   string
		verified int64
		// older is verified too, withdrawn is rolled back by revision 13.
		older, withdrawn int64
		want             []int64
	}{
		"None": {reason: "The last ten revisions are remembered.", want: []int64{6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		"Old":  {reason: "The newest verified revision is remembered, however old it is.", verified: 3, want: []int64{3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		"Withdrawn": {
			reason: "A withdrawn revision cannot be a target of a rollback, so an older revision is remembered.", verified: 4, older: 3, withdrawn: 4,
			want: []int64{3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		},
		"Recent": {reason: "A verified revision among the last ten is enough.", verified: 9, want: []int64{6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := RecordFile{}
			for revision := int64(1); revision <= 15; revision++ {
				s := stateAt(revision)
				if revision == tc.verified || revision == tc.older {
					s.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
				}
				if revision >= 13 && tc.withdrawn > 0 {
					s.History = []ledger.Past{{Number: tc.withdrawn, Withdrawn: true, Verdict: &ledger.Verdict{Result: ledger.VerdictVerified}}}
				}
				r = r.After(Delivery{Applied: s, At: at(int(revision))})
			}
			got := []int64{}
			for _, h := range r.Revisions {
				got = append(got, h.Revision)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrevisions: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRevisionsInOrder delivers a revision again that is not the newest one.
func TestRevisionsInOrder(t *testing.T) {
	history := []deliveryv1alpha1.HistoryEntry{{Revision: 1}, {Revision: 2}, {Revision: 3}}
	want := []deliveryv1alpha1.HistoryEntry{{Revision: 1}, {Revision: 2, Commit: "c"}, {Revision: 3}}
	if diff := cmp.Diff(want, lastRevisions(history, deliveryv1alpha1.HistoryEntry{Revision: 2, Commit: "c"})); diff != "" {
		t.Errorf("\nA revision that is delivered again takes its own place in the history.\nlastRevisions(...): -want, +got:\n%s", diff)
	}
}

// TestHistoryTrees has a directory whose target in the history is another tree than its present tree: a folder of it.
func TestHistoryTrees(t *testing.T) {
	target := deliveryv1alpha1.HistoryTree{Site: "edge1", Tree: "t1", Part: "p1"}
	treeWith := func(tracks ...deliveryv1alpha1.DeliveredTrack) Tree {
		result := treeAt("edge1", "t2", 2)
		result.Tracks = tracks
		return result
	}
	blue := func(revision int64, weight int32) deliveryv1alpha1.DeliveredTrack {
		return deliveryv1alpha1.DeliveredTrack{Name: "blue", Revision: revision, Weight: weight}
	}
	cases := map[string]struct {
		reason  string
		tree    Tree
		targets map[string]deliveryv1alpha1.HistoryTree
		want    deliveryv1alpha1.HistoryTree
	}{
		"Whole": {reason: "A directory in which the revision has all requests keeps its target.", tree: treeWith(blue(2, 100)), want: target},
		"Half": {
			reason: "A directory in which the revision has some of the requests is not a target.",
			tree:   treeWith(blue(2, 50), deliveryv1alpha1.DeliveredTrack{Name: "green", Revision: 1, Weight: 50}),
			want:   deliveryv1alpha1.HistoryTree{Site: "edge1", Tree: "t2"},
		},
		"Other": {
			reason: "A directory in which another revision has all requests is not a target.",
			tree:   treeWith(blue(1, 100)), want: deliveryv1alpha1.HistoryTree{Site: "edge1", Tree: "t2"},
		},
		"Given": {
			reason:  "A target that comes with the delivery replaces the previous target.",
			tree:    treeWith(blue(2, 100)),
			targets: map[string]deliveryv1alpha1.HistoryTree{"clusters/edge1": {Site: "edge1", Tree: "t3", Part: "p3"}},
			want:    deliveryv1alpha1.HistoryTree{Site: "edge1", Tree: "t3", Part: "p3"},
		},
		"Another": {
			reason: "The target of another Site is not that of the directory.",
			tree:   treeAt("edge2", "t2", 2), want: deliveryv1alpha1.HistoryTree{Site: "edge2", Tree: "t2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := historyTrees(Delivery{Applied: stateAt(2), Trees: []Tree{tc.tree}, Targets: tc.targets}, []deliveryv1alpha1.HistoryTree{target})
			if diff := cmp.Diff([]deliveryv1alpha1.HistoryTree{tc.want}, got); diff != "" {
				t.Errorf("\n%s\nhistoryTrees(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// The limits of the fields of a status, as the API has them.
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

// namesOf has the longest names of an object of the API: each as long as its field may be, of characters of several bytes.
type namesOf struct {
	letter string
	// long is the share of the most that a name may have, in percent.
	long int
}

func (n namesOf) of(percent int) string { return strings.Repeat(n.letter, max(1, percent*n.long/100)) }

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

// TestMoved moves all Sites of a claim. An encoded record can always be decoded.
func TestMoved(t *testing.T) {
	cases := map[string]struct {
		reason string
		names  namesOf
		sites  int
		// moves that were not verified.
		moves int
		err   string
	}{
		"Some":    {reason: "Three hundred Sites move at once.", names: namesOf{"s", 50}, sites: 300, moves: 1},
		"All":     {reason: "All directories that there can be have room.", names: namesOf{"s", 50}, sites: 500, moves: 1},
		"Longest": {reason: "Directories with the longest names have room.", names: namesOf{"s", 100}, sites: 500, moves: 1},
		"Again":   {reason: "Sites that move again before their trees were verified have room.", names: namesOf{"s", 20}, sites: 500, moves: 3},
		"TooOften": {
			reason: "Sites that move too often are refused.",
			names:  namesOf{"s", 20}, sites: 500, moves: 4, err: "cannot encode state: trees has more than 2000 items",
		},
		"TooLong": {reason: "A record over the limit is refused.", names: namesOf{"s", 100}, sites: 500, moves: 3, err: "are more than the 2097152 that fit"},
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
			published := e.ShownTrees()
			if len(published) > maxNamed || !strings.HasPrefix(published[tc.sites-1].Path, e.Trees[tc.sites-1].Path) {
				t.Errorf("\n%s\nShownTrees(): want the first trees of the order, and no more than %d, got %d", tc.reason, maxNamed, len(published))
			}
		})
	}
}

// FuzzEncode records deliveries of any size, by any names that the API takes: an encoded record can be decoded, and is refused only
// because of its size.
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
