package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/state"
)

func TestParseCommitTrailers(t *testing.T) {
	ours := "Deliver team-a/web revision 2 to 1 site\n\nSites: edge1\n\n" + ownTrailers
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(ours) }
	claim := webClaim()
	cases := map[string]struct {
		reason  string
		message string
		ok      bool
		removes bool
	}{
		"Ours": {reason: "Our own message is parsed.", message: ours, ok: true},
		"Removed": {
			reason:  "A commit that removes a claim is recognized by its subject.",
			message: "Remove team-a/web\n\n" + ownTrailers, ok: true, removes: true,
		},
		"Requested": {
			reason:  "The trailers of a request do not affect the rebuilt record.",
			message: ours + "Intentplane-Request: again uid-7\nIntentplane-Reason: Intentplane-Revision: 9\n", ok: true,
		},
		"Unmanaged":  {reason: "An unmanaged commit has no trailers of ours.", message: "Fix it\n"},
		"Empty":      {reason: "A commit without a message has no trailers.", message: ""},
		"Subject":    {reason: "A subject in the form of a trailer is not a trailer.", message: "Intentplane-Claim: x/y a/b\n\nhello\n"},
		"NoRevision": {reason: "A revision that is not a number is refused.", message: edit("Revision: 2", "Revision: two")},
		"Zero":       {reason: "Revision 0 is refused: the first revision is 1.", message: edit("Revision: 2", "Revision: 0")},
		"Highest": {
			reason:  "The highest number is refused: the next revision would have no number.",
			message: edit("Revision: 2", "Revision: 9223372036854775807"),
		},
		"TooHigh": {reason: "A revision that a double does not hold exactly is refused.", message: edit("Revision: 2", "Revision: 4503599627370497")},
		"PathOut": {reason: "A claim with a namespace that leads out of its directory is refused.", message: edit("team-a/web\n", "../web\n")},
		"Deep":    {reason: "A claim name with a path is refused.", message: edit("team-a/web\n", "team-a/web/x\n")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := parseCommitTrailers(git.Message{ID: "c1", Seconds: 7, Message: tc.message})
			if ok != tc.ok || got.removes != tc.removes {
				t.Fatalf("\n%s\nparseCommitTrailers(...): want %t, %t, got %t, %t", tc.reason, tc.ok, tc.removes, ok, got.removes)
			}
			if !ok {
				return
			}
			if got.claim != claim || got.commit != "c1" || got.date != metav1.Unix(7, 0) || got.cluster != "cluster-1" || got.revision != 2 {
				t.Errorf("\n%s\nparseCommitTrailers(...): got %v", tc.reason, got)
			}
		})
	}
}

// TestRecords reads commits that other users repeated in another order.
func TestRecords(t *testing.T) {
	message := func(revision string) git.Message {
		return git.Message{ID: "c" + revision, Seconds: 7, Message: "Deliver\n\n" + strings.Replace(ownTrailers, "Revision: 2", "Revision: "+revision, 1)}
	}
	all := ReadHistory("prod", []git.Message{message("1"), message("3"), message("2"), message("1")}).Records("cluster-1")
	if got := all["claims.intentplane.dev/team-a/web/record.json"]; len(all) != 1 || got.LastNumber != 3 || got.Commit != "c1" || got.Deleted {
		t.Errorf("\nThe record has the highest number of all commits, and the newest commit.\nRecords(...): got %+v", all)
	}
}

// TestHistoryOfControlPlane reads commits of two control planes, the newest first.
func TestHistoryOfControlPlane(t *testing.T) {
	message := func(controlPlane, cluster string) git.Message {
		text := strings.NewReplacer("Plane: prod", "Plane: "+controlPlane, "Cluster: cluster-1", "Cluster: "+cluster).Replace(ownTrailers)
		return git.Message{ID: cluster, Message: "Deliver\n\n" + text}
	}
	h := ReadHistory("prod", []git.Message{message("staging", "cluster-3"), {Message: "Fix it\n"}, message("prod", "cluster-2"), message("prod", "cluster-1")})
	if len(h) != 2 || h.Cluster() != "cluster-2" {
		t.Errorf("\nA control plane has its own commits alone, and the cluster of the newest commit.\nReadHistory(...): got %+v, Cluster(): got %q", h, h.Cluster())
	}
	if got := (History{}).Cluster(); got != "" {
		t.Errorf("\nA history without a commit has no cluster.\nCluster(): got %q", got)
	}
}

// TestTracksOf writes the tracks of two commits into messages, and reads them again.
func TestTracksOf(t *testing.T) {
	earlier, newest := secondRevision(), secondRevision()
	newest.Cursor.Step = 1
	message := func(applied ledger.State, tracks ...v1alpha1.DeliveredTrack) git.Message {
		d := Delivery{Claim: webClaim(), Applied: applied, ControlPlane: "prod", ClusterUID: "cluster-1", Sites: []string{"edge1"}}
		d.Trees = []state.Tree{{DeliveredTree: v1alpha1.DeliveredTree{Site: "edge1", Tracks: tracks}}}
		return git.Message{Message: d.Text()}
	}
	h := ReadHistory("prod", []git.Message{
		message(newest, v1alpha1.DeliveredTrack{Name: "blue", Revision: 1}, v1alpha1.DeliveredTrack{Name: "green", Revision: 2, Weight: 100}),
		message(earlier, v1alpha1.DeliveredTrack{Name: "blue", Revision: 1, Weight: 80}, v1alpha1.DeliveredTrack{Name: "green", Revision: 2, Weight: 20}),
	})
	otherClaim := webClaim()
	otherClaim.Name = "api"
	cases := map[string]struct {
		reason string
		got    []v1alpha1.DeliveredTrack
		want   []v1alpha1.DeliveredTrack
	}{
		"Site": {
			reason: "The newest commit has the tracks. A track without requests got its last requests at the position of an earlier commit.",
			got:    h.TracksOf(webClaim())("edge1"),
			want: []v1alpha1.DeliveredTrack{
				{Name: "blue", Revision: 1, ChangedAt: new(newest.Position()), WeighedAt: new(earlier.Position())},
				{Name: "green", Revision: 2, Weight: 100, ChangedAt: new(newest.Position()), WeighedAt: new(newest.Position())},
			},
		},
		"OtherSite":  {reason: "A Site that no trailer names has no tracks.", got: h.TracksOf(webClaim())("edge2")},
		"OtherClaim": {reason: "The commits of another claim have the tracks of that claim.", got: h.TracksOf(otherClaim)("edge1")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("\n%s\nTracksOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
