package state

import (
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
			reason: "A delivery is a revision of the history",
			with:   Delivery{Applied: stateAt(1), Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c1", At: at(0)},
			want:   []deliveryv1alpha1.HistoryEntry{first},
			commit: "c1",
		},
		"Verdict": {
			reason: "A verdict is added to its revision, whose commit and trees stay",
			entry:  entry(),
			with:   Delivery{Applied: verified, Trees: []Tree{treeAt("edge1", "t1", 1)}, At: judged},
			want:   []deliveryv1alpha1.HistoryEntry{firstJudged},
			commit: "c1",
		},
		"WayBack": {
			reason: "The trees of a way back are not those of the revision",
			entry:  entry(),
			with:   Delivery{Applied: back, Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c2", At: judged},
			want:   []deliveryv1alpha1.HistoryEntry{first, wayBack},
			commit: "c2",
		},
		"AfterTombstone": {
			reason: "A claim of the same name starts a history of its own",
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

func TestRemember(t *testing.T) {
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
			reason: "A revision that was withdrawn is no target of a rollback, so an older one is remembered.", verified: 4, older: 3, withdrawn: 4,
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

// TestHistoryTrees looks at a directory whose target in the history is another tree than what it has: a folder of it.
func TestHistoryTrees(t *testing.T) {
	target := deliveryv1alpha1.HistoryTree{Site: "edge1", Tree: "t1", Part: "p1"}
	has := func(tracks ...deliveryv1alpha1.DeliveredTrack) Tree {
		is := treeAt("edge1", "t2", 2)
		is.Tracks = tracks
		return is
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
		"Whole":   {reason: "A directory in which the revision has all requests keeps its target.", tree: has(blue(2, 100)), want: target},
		"Half":    {reason: "A directory in which the revision has some of the requests is no target.", tree: has(blue(2, 50), deliveryv1alpha1.DeliveredTrack{Name: "green", Revision: 1, Weight: 50}), want: deliveryv1alpha1.HistoryTree{Site: "edge1", Tree: "t2"}},
		"Other":   {reason: "A directory in which another revision has all requests is no target.", tree: has(blue(1, 100)), want: deliveryv1alpha1.HistoryTree{Site: "edge1", Tree: "t2"}},
		"Given":   {reason: "A target that comes with the delivery replaces the one before.", tree: has(blue(2, 100)), targets: map[string]deliveryv1alpha1.HistoryTree{"clusters/edge1": {Site: "edge1", Tree: "t3", Part: "p3"}}, want: deliveryv1alpha1.HistoryTree{Site: "edge1", Tree: "t3", Part: "p3"}},
		"Another": {reason: "The target of another Site is not that of the directory.", tree: treeAt("edge2", "t2", 2), want: deliveryv1alpha1.HistoryTree{Site: "edge2", Tree: "t2"}},
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
