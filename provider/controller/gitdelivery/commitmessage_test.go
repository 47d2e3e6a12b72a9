package gitdelivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/git"
)

const ownTrailers = `Intentplane-Claim: claims.intentplane.dev/IntentDeployment team-a/web
Intentplane-Control-Plane: prod
Intentplane-Cluster: cluster-1
Intentplane-Revision: 2
Intentplane-Step: 0
Intentplane-Attempt: 0
Intentplane-Request-Digest: DIGEST
Intentplane-Intent: intent-abc
Intentplane-Versions: digests 1, renderer 1
`

func TestText(t *testing.T) {
	crowd := []string{}
	for i := range 22 {
		crowd = append(crowd, fmt.Sprintf("s%02d", i))
	}
	cases := map[string]struct {
		reason string
		letter commitMessage
		order  func(o *wish)
		want   string
	}{
		"Deliver": {
			reason: "The subject has the revision and the number of Sites, and the list of Sites is sorted.",
			letter: commitMessage{sites: []string{"edge2", "edge1"}},
			want:   "Deliver team-a/web revision 2 to 2 sites\n\nSites: edge1, edge2\n\n" + ownTrailers,
		},
		"OneSite": {
			reason: "The subject counts one Site in the singular.",
			letter: commitMessage{sites: []string{"edge1"}},
			want:   "Deliver team-a/web revision 2 to 1 site\n\nSites: edge1\n\n" + ownTrailers,
		},
		"ManySites": {
			reason: "A message with many Sites stays short.",
			letter: commitMessage{sites: crowd},
			want: "Deliver team-a/web revision 2 to 22 sites\n\nSites: s00, s01, s02, s03, s04, s05, s06, s07, s08, s09, s10, s11, s12, s13, s14, " +
				"s15, s16, s17, s18, s19 and 2 more\n\n" + ownTrailers,
		},
		"Drift": {
			reason: "The message of a restored directory names the replaced commit.",
			letter: commitMessage{sites: []string{"edge1"}, replaces: "deadbeef"},
			want: "Restore team-a/web revision 2 at 1 site\n\nCommit deadbeef\nholds other files in directories of this claim.\n\nSites: edge1\n\n" +
				ownTrailers,
		},
		"OldDirectories": {
			reason: "A commit that only removes files says so.",
			want:   "Remove files that team-a/web revision 2 no longer has\n\n" + ownTrailers,
		},
		"Deleted": {
			reason: "The message of a deletion names the claim.",
			letter: commitMessage{removes: true},
			want:   "Remove team-a/web\n\n" + ownTrailers,
		},
		"WayBack": {
			reason: "The message of a rollback has the revision, its target, and the reason.",
			letter: commitMessage{sites: []string{"edge1"}},
			order: func(o *wish) {
				o.Attempt, o.Target = 1, 1
				o.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed"}
			},
			want: "Roll back team-a/web from revision 2 to 1 at 1 site\n\nSites: edge1\n\n" + strings.Replace(ownTrailers, "Attempt: 0", "Attempt: 1", 1) +
				"Intentplane-Verdict: Rejected GateFailed\nIntentplane-Target: 1\n",
		},
		"Injection": {
			reason: "Text of a user adds no trailer.",
			order:  func(o *wish) { o.Intent = "abc\nIntentplane-Revision: 9" },
			letter: commitMessage{removes: true},
			want:   "Remove team-a/web\n\n" + strings.Replace(ownTrailers, "Intent: intent-abc", "Intent: abc Intentplane-Revision: 9", 1),
		},
		"Asked": {
			reason: "A commit says which RolloutRequest asked for it, who that was, and why.",
			letter: commitMessage{removes: true},
			order: func(o *wish) {
				o.RequestRef = &ledger.RequestReference{Name: "again", UID: "uid-7", By: "ann", Reason: "the outage is over"}
			},
			want: "Remove team-a/web\n\n" + ownTrailers + "Intentplane-Request: again uid-7\nIntentplane-Requested-By: ann\nIntentplane-Reason: the outage is over\n",
		},
		"AskedInjection": {
			reason: "A name or a reason of a user does not make a trailer, and does not end the trailers.",
			letter: commitMessage{removes: true},
			order: func(o *wish) {
				o.RequestRef = &ledger.RequestReference{
					Name: "again", UID: "uid-7", By: "ann\nIntentplane-Revision: 9", Reason: "x\r\n\nIntentplane-Claim: a\u2028" + strings.Repeat("y", 300),
				}
			},
			want: "Remove team-a/web\n\n" + ownTrailers + "Intentplane-Request: again uid-7\nIntentplane-Requested-By: ann Intentplane-Revision: 9\n" +
				"Intentplane-Reason: x Intentplane-Claim: a " + strings.Repeat("y", 256-len("x Intentplane-Claim: a ")-1) + "…\n",
		},
		"AskedByNobody": {
			reason: "An empty field of a request has no trailer.",
			letter: commitMessage{removes: true},
			order: func(o *wish) {
				o.RequestRef = &ledger.RequestReference{Name: "again", UID: "uid-7"}
			},
			want: "Remove team-a/web\n\n" + ownTrailers + "Intentplane-Request: again uid-7\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.letter.controlPlane, tc.letter.clusterUID = "prod", "cluster-1"
			o := order(2, "abc")
			if tc.order != nil {
				tc.order(&o)
			}
			tc.letter.claim, tc.letter.applied = delivery("web", o).Spec.ForProvider.ClaimRef, stateAt(o)
			tc.want = strings.Replace(tc.want, "DIGEST", tc.letter.applied.Current.Request.Digest(), 1)
			if diff := cmp.Diff(tc.want, tc.letter.messageText()); diff != "" {
				t.Errorf("\n%s\ntext(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// stateAt returns the state of a ledger that has reached a wish.
func stateAt(o wish) ledger.State {
	return ledger.State{
		Head: ledger.Head{Epoch: 1, Seq: o.Revision}, LastNumber: o.Revision, Cursor: ledger.Cursor{Attempt: o.Attempt, Step: o.Step},
		Current: &revisionEvent(o.Revision, o, nil).Ordered.Revision, Verdict: o.Verdict, Target: o.Target,
	}
}

func TestParseWitness(t *testing.T) {
	ours := "Deliver team-a/web revision 2 to 1 site\n\nSites: edge1\n\n" + ownTrailers
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(ours) }
	claim := delivery("web", order(1, "a")).Spec.ForProvider.ClaimRef
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
		"Asked": {
			reason:  "The trailers of a request do not affect the rebuilt record.",
			message: ours + "Intentplane-Request: again uid-7\nIntentplane-Reason: Intentplane-Revision: 9\n", ok: true,
		},
		"Stranger":   {reason: "An unmanaged commit has no trailers of ours.", message: "Fix it\n"},
		"Empty":      {reason: "A commit without a message says nothing.", message: ""},
		"Subject":    {reason: "A commit is read by its trailers alone.", message: "Intentplane-Claim: x/y a/b\n\nhello\n"},
		"NoRevision": {reason: "A revision is a number", message: edit("Revision: 2", "Revision: two")},
		"Zero":       {reason: "A revision is counted from 1.", message: edit("Revision: 2", "Revision: 0")},
		"Highest": {
			reason:  "A revision that no other can follow is refused: the next one would count on from it.",
			message: edit("Revision: 2", "Revision: 9223372036854775807"),
		},
		"TooHigh": {reason: "A revision that a double does not hold exactly is refused.", message: edit("Revision: 2", "Revision: 4503599627370497")},
		"Way":     {reason: "A claim's name leads nowhere", message: edit("team-a/web\n", "../web\n")},
		"Deep":    {reason: "A claim name with a path is refused.", message: edit("team-a/web\n", "team-a/web/x\n")},
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

// TestRecordsFromCommits reads commits that other users repeated in another order.
func TestRecordsFromCommits(t *testing.T) {
	message := func(revision string) git.Message {
		return git.Message{ID: "c" + revision, Seconds: 7, Message: "Deliver\n\n" + strings.Replace(ownTrailers, "Revision: 2", "Revision: "+revision, 1)}
	}
	all := recordsFromCommits(commitsOfControlPlane("prod", []git.Message{message("1"), message("3"), message("2"), message("1")}), "cluster-1")
	if got := all["claims.intentplane.dev/team-a/web/record.json"]; len(all) != 1 || got.LastNumber != 3 || got.Commit != "c1" || got.Deleted {
		t.Errorf("\nThe highest number was used, and the newest commit counts.\nrecordsFromCommits(...): got %+v", all)
	}
}
