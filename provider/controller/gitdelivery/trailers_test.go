package gitdelivery

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/marker"
)

func TestParseWitness(t *testing.T) {
	ours := "Deliver team-a/web revision 2 to 1 site\n\nSites: edge1\n\n" + trailers
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(ours) }
	claim := delivery("web", order(1, "a")).Spec.ForProvider.ClaimRef
	cases := map[string]struct {
		reason  string
		message string
		ok      bool
		removes bool
	}{
		"Ours":       {reason: "What we write is read", message: ours, ok: true},
		"Removed":    {reason: "A commit that removes a claim says so.", message: "Remove team-a/web\n\n" + trailers, ok: true, removes: true},
		"Asked":      {reason: "Who asked is no part of what is rebuilt.", message: ours + "Intentplane-Request: again uid-7\nIntentplane-Reason: Intentplane-Revision: 9\n", ok: true},
		"Stranger":   {reason: "A stranger's commit says nothing", message: "Fix it\n"},
		"Empty":      {reason: "A commit without a message says nothing.", message: ""},
		"Subject":    {reason: "A commit is read by its trailers alone.", message: "Intentplane-Claim: x/y a/b\n\nhello\n"},
		"NoRevision": {reason: "A revision is a number", message: edit("Revision: 2", "Revision: two")},
		"Zero":       {reason: "A revision is counted from 1.", message: edit("Revision: 2", "Revision: 0")},
		"Way":        {reason: "A claim's name leads nowhere", message: edit("team-a/web\n", "../web\n")},
		"Deep":       {reason: "A claim name with a path is refused.", message: edit("team-a/web\n", "team-a/web/x\n")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := parseCommitTrailers(git.Message{ID: "c1", Seconds: 7, Message: tc.message})
			if ok != tc.ok || got.removes != tc.removes {
				t.Fatalf("\n%s\nparseWitness(...): want %t, %t, got %t, %t", tc.reason, tc.ok, tc.removes, ok, got.removes)
			}
			if !ok {
				return
			}
			if got.claim != claim || got.commit != "c1" || got.date != metav1.Unix(7, 0) || got.cluster != "cluster-1" || got.revision != 2 {
				t.Errorf("\n%s\nparseWitness(...): got %v", tc.reason, got)
			}
		})
	}
}

// TestRecordsFromCommits puts commits in order, whatever order strangers repeated them in.
func TestRecordsFromCommits(t *testing.T) {
	said := func(revision string) git.Message {
		return git.Message{ID: "c" + revision, Seconds: 7, Message: "Deliver\n\n" + strings.Replace(trailers, "Revision: 2", "Revision: "+revision, 1)}
	}
	m := marker.Marker{ControlPlane: "prod", ClusterUID: "cluster-1"}
	all := recordsFromCommits([]git.Message{said("1"), said("3"), said("2"), said("1")}, m)
	if got := all["claims.intentplane.dev/team-a/web/record.json"]; len(all) != 1 || got.LastNumber != 3 || got.Commit != "c1" || got.Deleted {
		t.Errorf("\nThe highest number was used, and the newest commit counts.\nrecordsFromCommits(...): got %+v", all)
	}
}
