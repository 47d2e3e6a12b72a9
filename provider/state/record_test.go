package state

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func claim() rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
}

func order(revision int64) rolloutv1alpha1.Order {
	return rolloutv1alpha1.Order{Revision: revision, Request: "r", Intent: "i", Marked: "m", DigestScheme: 1, RendererVersion: 2, Steps: 1}
}

func at(minute int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC))
}

func treeAt(site, id string, revision int64) Tree {
	return Tree{Branch: "main", DeliveredTree: deliveryv1alpha1.DeliveredTree{Site: site, Path: "clusters/" + site, Tree: id, Revision: revision}}
}

func entry() Entry {
	return Record(Entry{Claim: claim(), ClusterUID: "uid-1"}, Delivery{
		Order: order(1), Attempt: &rolloutv1alpha1.Attempt{Revision: 1, StartedAt: at(0)},
		Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c1", At: at(0),
	})
}

func TestDecode(t *testing.T) {
	valid, err := entry().Encode()
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, with string) string { return strings.Replace(string(valid), old, with, 1) }

	full := entry()
	full.Order.Blueprint = &rolloutv1alpha1.BlueprintReference{Name: "web-1.0.0", Channel: "stable", Digest: "sha256:0"}
	full.Order.RequestRef = &rolloutv1alpha1.RequestReference{Name: "take-it", UID: "uid-2", By: "ann"}
	said, err := full.Encode()
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason  string
		content string
		want    Entry
		err     string
	}{
		"Ours":         {reason: "What was encoded is decoded", content: string(valid), want: entry()},
		"Whole":        {reason: "An entry that says all that there is can be read.", content: string(said), want: full},
		"Empty":        {reason: "An empty file is not an entry.", content: "", err: "cannot decode state: it is malformed"},
		"UnknownField": {reason: "A field that is not known may change what the entry means", content: edit(`"shard"`, `"x"`), err: "cannot decode state: it is malformed"},
		"Trailing":     {reason: "A file with two entries is refused.", content: string(valid) + "{}", err: "cannot decode state: something follows it"},
		"Version":      {reason: "A newer form is not guessed at", content: edit(`"version": 1`, `"version": 2`), err: "cannot decode state: version 2 is not known"},
		"NoOrder":      {reason: "An entry without an order says nothing", content: `{"version":1}`, err: "cannot decode state: it has no order"},
		"BadOrder":     {reason: "An order that no status can hold would block every status", content: edit(`"request": "r"`, `"request": ""`), err: "cannot decode state: its order is not complete"},
		"Long":         {reason: "The size of an entry is bounded.", content: strings.Repeat(" ", maxBytes+1), err: "cannot decode state: it has more than 2097152 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Decode([]byte(tc.content))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want, +got:\n%s", tc.reason, diff)
			}
			said := ""
			if err != nil {
				said = err.Error()
			}
			if diff := cmp.Diff(tc.err, said); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRecord(t *testing.T) {
	verified := order(1)
	verified.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified}
	back := order(2)
	back.Attempt = 1
	start := at(0)
	judged := at(5)

	first := deliveryv1alpha1.HistoryEntry{
		Revision: 1, Request: "r", Intent: "i", Marked: "m", Commit: "c1", StartedAt: &start,
		Trees: []deliveryv1alpha1.HistoryTree{{Site: "edge1", Tree: "t1"}},
	}
	firstJudged := first
	firstJudged.Verdict, firstJudged.EndedAt = verified.Verdict, &judged
	wayBack := deliveryv1alpha1.HistoryEntry{Revision: 2, Request: "r", Intent: "i", Marked: "m", StartedAt: &judged}

	cases := map[string]struct {
		reason string
		entry  Entry
		with   Delivery
		want   []deliveryv1alpha1.HistoryEntry
		commit string
	}{
		"First": {
			reason: "A delivery is a revision of the history",
			with:   Delivery{Order: order(1), Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c1", At: at(0)},
			want:   []deliveryv1alpha1.HistoryEntry{first},
			commit: "c1",
		},
		"Verdict": {
			reason: "A verdict is added to its revision, whose commit and start stay",
			entry:  entry(),
			with:   Delivery{Order: verified, Trees: []Tree{treeAt("edge1", "t1", 1)}, At: judged},
			want:   []deliveryv1alpha1.HistoryEntry{firstJudged},
			commit: "c1",
		},
		"WayBack": {
			reason: "The trees of a way back are not those of the revision",
			entry:  entry(),
			with:   Delivery{Order: back, Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c2", At: judged},
			want:   []deliveryv1alpha1.HistoryEntry{first, wayBack},
			commit: "c2",
		},
		"AfterTombstone": {
			reason: "A claim of the same name starts a history of its own",
			entry:  Tombstone(entry()),
			with:   Delivery{Order: order(1), Trees: []Tree{treeAt("edge1", "t1", 1)}, Commit: "c1", At: at(0)},
			want:   []deliveryv1alpha1.HistoryEntry{first},
			commit: "c1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Record(tc.entry, tc.with)
			if diff := cmp.Diff(tc.want, got.History); diff != "" {
				t.Errorf("\n%s\nRecord(...).History: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.commit, got.Commit); diff != "" || got.Deleted {
				t.Errorf("\n%s\nRecord(...).Commit: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(&tc.with.Order, got.Order); diff != "" {
				t.Errorf("\n%s\nRecord(...).Order: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRemember(t *testing.T) {
	cases := map[string]struct {
		reason   string
		verified int64
		// older is verified too, withdrawn is taken back by revision 13, which goes back to target, if that is a revision.
		older, withdrawn, target int64
		want                     []int64
	}{
		"None": {reason: "The last ten revisions are remembered", want: []int64{6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		"Old":  {reason: "The newest verified one is remembered however old it is", verified: 3, want: []int64{3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		"Withdrawn": {
			reason: "One that was taken back is nothing to go back to, so an older one is remembered", verified: 4, older: 3, withdrawn: 4,
			want: []int64{3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		},
		"SteppedOver": {
			reason: "A rollback does not go to a revision that a person stepped over.", verified: 4, older: 3, withdrawn: 12, target: 3,
			want: []int64{3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		},
		"Recent": {reason: "A verified one among the last ten is enough", verified: 9, want: []int64{6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := Entry{}
			for revision := int64(1); revision <= 15; revision++ {
				o := order(revision)
				if revision == 13 && tc.withdrawn > 0 {
					o.Withdraws = &tc.withdrawn
					if tc.target > 0 {
						o.Target = &tc.target
					}
				}
				if revision == tc.verified || revision == tc.older {
					o.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified}
				}
				e = Record(e, Delivery{Order: o, At: at(int(revision))})
			}
			got := []int64{}
			for _, h := range e.History {
				got = append(got, h.Revision)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrevisions: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	e := Entry{Trees: []Tree{treeAt("edge1", "c", 1), treeAt("edge2", "a", 1)}, History: []deliveryv1alpha1.HistoryEntry{
		{Trees: []deliveryv1alpha1.HistoryTree{{Site: "edge1", Tree: "b"}, {Site: "edge2", Tree: "a"}}},
	}}
	if diff := cmp.Diff([]string{"a", "b", "c"}, e.TreeIDs()); diff != "" {
		t.Errorf("\nWhat is there and what was there is named, once\nNamed(): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("claims.intentplane.dev/team-a/web/0.trees", TreesDirectory(claim())); diff != "" {
		t.Errorf("\nIt lies beside the entry\nKept(...): -want, +got:\n%s", diff)
	}
}

func TestTombstone(t *testing.T) {
	got := Tombstone(entry())
	want := Entry{Version: 1, Claim: claim(), ClusterUID: "uid-1", Deleted: true, Order: &rolloutv1alpha1.Order{
		Revision: 1, Request: "deleted", Intent: "deleted", DigestScheme: 1, RendererVersion: 2, Steps: 1,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Tombstone(...): -want, +got:\n%s", diff)
	}
	b, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(b); err != nil {
		t.Errorf("Decode(...): a tombstone should be readable: %v", err)
	}
}

func TestPath(t *testing.T) {
	if diff := cmp.Diff("claims.intentplane.dev/team-a/web/0.json", Path(claim())); diff != "" {
		t.Errorf("Path(...): -want, +got:\n%s", diff)
	}
}
