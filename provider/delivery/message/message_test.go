package message

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
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

// webClaim returns the claim in the trailers.
func webClaim() rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
}

// secondRevision returns the state of a ledger in the first step of revision 2.
func secondRevision() ledger.State {
	return ledger.State{
		Head: ledger.Head{Epoch: 1, Seq: 2}, LastNumber: 2,
		Current: &ledger.Revision{Number: 2, Request: ledger.Request{Intent: "intent-abc", Sources: "abc", Scheme: 1, Renderer: 1}},
	}
}

func TestText(t *testing.T) {
	crowd := []string{}
	for i := range 22 {
		crowd = append(crowd, fmt.Sprintf("s%02d", i))
	}
	cases := map[string]struct {
		reason string
		commit Delivery
		change func(s *ledger.State)
		want   string
	}{
		"Deliver": {
			reason: "The subject has the revision and the number of Sites, and the list of Sites is sorted.",
			commit: Delivery{Sites: []string{"edge2", "edge1"}},
			want:   "Deliver team-a/web revision 2 to 2 sites\n\nSites: edge1, edge2\n\n" + ownTrailers,
		},
		"OneSite": {
			reason: "The subject counts one Site in the singular.",
			commit: Delivery{Sites: []string{"edge1"}},
			want:   "Deliver team-a/web revision 2 to 1 site\n\nSites: edge1\n\n" + ownTrailers,
		},
		"ManySites": {
			reason: "A message with many Sites stays short.",
			commit: Delivery{Sites: crowd},
			want: "Deliver team-a/web revision 2 to 22 sites\n\nSites: s00, s01, s02, s03, s04, s05, s06, s07, s08, s09, s10, s11, s12, s13, s14, " +
				"s15, s16, s17, s18, s19 and 2 more\n\n" + ownTrailers,
		},
		"Drift": {
			reason: "The message of a restored directory names the replaced commit.",
			commit: Delivery{Sites: []string{"edge1"}, Replaces: "deadbeef"},
			want: "Restore team-a/web revision 2 at 1 site\n\nCommit deadbeef\nholds other files in directories of this claim.\n\nSites: edge1\n\n" +
				ownTrailers,
		},
		"OldDirectories": {
			reason: "The subject of a commit that only removes files names the revision without them.",
			want:   "Remove files that team-a/web revision 2 no longer has\n\n" + ownTrailers,
		},
		"Deleted": {
			reason: "The message of a deletion names the claim.",
			commit: Delivery{Removes: true},
			want:   "Remove team-a/web\n\n" + ownTrailers,
		},
		"Rollback": {
			reason: "The message of a rollback has the revision, its target, and the reason.",
			commit: Delivery{Sites: []string{"edge1"}},
			change: func(s *ledger.State) {
				s.Cursor.Attempt, s.Target = 1, 1
				s.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed"}
			},
			want: "Roll back team-a/web from revision 2 to 1 at 1 site\n\nSites: edge1\n\n" + strings.Replace(ownTrailers, "Attempt: 0", "Attempt: 1", 1) +
				"Intentplane-Verdict: Rejected GateFailed\nIntentplane-Target: 1\n",
		},
		"Injection": {
			reason: "Text of a user adds no trailer.",
			change: func(s *ledger.State) { s.Current.Request.Intent = "abc\nIntentplane-Revision: 9" },
			commit: Delivery{Removes: true},
			want:   "Remove team-a/web\n\n" + strings.Replace(ownTrailers, "Intent: intent-abc", "Intent: abc Intentplane-Revision: 9", 1),
		},
		"Requested": {
			reason: "A commit has the RolloutRequest, its user, and the reason of the user.",
			commit: Delivery{Removes: true},
			change: func(s *ledger.State) {
				s.Current.RequestRef = &ledger.RequestReference{Name: "again", UID: "uid-7", By: "ann", Reason: "the outage is over"}
			},
			want: "Remove team-a/web\n\n" + ownTrailers + "Intentplane-Request: again uid-7\nIntentplane-Requested-By: ann\nIntentplane-Reason: the outage is over\n",
		},
		"RequestInjection": {
			reason: "A name or a reason of a user does not make a trailer, and does not end the trailers.",
			commit: Delivery{Removes: true},
			change: func(s *ledger.State) {
				s.Current.RequestRef = &ledger.RequestReference{
					Name: "again", UID: "uid-7", By: "ann\nIntentplane-Revision: 9", Reason: "x\r\n\nIntentplane-Claim: a\u2028" + strings.Repeat("y", 300),
				}
			},
			want: "Remove team-a/web\n\n" + ownTrailers + "Intentplane-Request: again uid-7\nIntentplane-Requested-By: ann Intentplane-Revision: 9\n" +
				"Intentplane-Reason: x Intentplane-Claim: a " + strings.Repeat("y", 256-len("x Intentplane-Claim: a ")-1) + "…\n",
		},
		"RequestWithoutUser": {
			reason: "An empty field of a request has no trailer.",
			commit: Delivery{Removes: true},
			change: func(s *ledger.State) {
				s.Current.RequestRef = &ledger.RequestReference{Name: "again", UID: "uid-7"}
			},
			want: "Remove team-a/web\n\n" + ownTrailers + "Intentplane-Request: again uid-7\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.commit.Claim, tc.commit.ControlPlane, tc.commit.ClusterUID, tc.commit.Applied = webClaim(), "prod", "cluster-1", secondRevision()
			if tc.change != nil {
				tc.change(&tc.commit.Applied)
			}
			tc.want = strings.Replace(tc.want, "DIGEST", tc.commit.Applied.Current.Request.Digest(), 1)
			if diff := cmp.Diff(tc.want, tc.commit.Text()); diff != "" {
				t.Errorf("\n%s\nText(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRemoval writes a message without injected trailers, and parses it.
func TestRemoval(t *testing.T) {
	text := Removal("Prune\n1 directory", "prod", "uid-1", [2]string{"Intentplane-Prune", "request"}, [2]string{"Intentplane-Approved-By", "ann\nIntentplane-Prune: other"})
	if !strings.HasPrefix(text, "Prune 1 directory\n\nIntentplane-Control-Plane: prod\nIntentplane-Cluster: uid-1\n") {
		t.Errorf("message: %s", text)
	}
	m := git.Message{Message: text}
	for name, want := range map[string]string{"Intentplane-Prune": "request", "Intentplane-Approved-By": "ann Intentplane-Prune: other", "Intentplane-Claim": ""} {
		if got := Trailer(m, name); got != want {
			t.Errorf("Trailer(%s): want %q, got %q", name, want, got)
		}
	}
	if _, isOurs := parseCommitTrailers(m); isOurs {
		t.Error("a commit that prunes has no revision of a claim")
	}
}
