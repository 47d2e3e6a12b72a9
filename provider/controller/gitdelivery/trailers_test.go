package gitdelivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
)

func TestParseWitness(t *testing.T) {
	ours := "Deliver team-a/web revision 2 to 1 site\n\nSites: edge1\n\n" + trailers
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(ours) }
	claim := delivery("web", order(1, "a")).Spec.ForProvider.ClaimRef
	order := rolloutv1alpha1.Order{Revision: 2, Request: "abc", Intent: "intent-abc", DigestScheme: 1, RendererVersion: 1, Steps: 1}
	old := order
	old.Intent = "unknown"
	newer := order
	newer.DigestScheme, newer.RendererVersion = 3, 12
	cases := map[string]struct {
		reason  string
		message string
		ok      bool
		want    rolloutv1alpha1.Order
		removes bool
	}{
		"Ours":       {reason: "What we write is read", message: ours, ok: true, want: order},
		"Removed":    {reason: "A commit that removes a claim says so.", message: "Remove team-a/web\n\n" + trailers, ok: true, want: order, removes: true},
		"Versions":   {reason: "The versions of rules are numbers", message: edit("digests 1, renderer 1", "digests 3, renderer 12"), ok: true, want: newer},
		"Old":        {reason: "Commits of earlier versions say less.", message: edit("Intentplane-Intent: intent-abc\n", "", "Intentplane-Versions: digests 1, renderer 1\n", ""), ok: true, want: old},
		"Digest":     {reason: "Commits of earlier versions have the digest where the RolloutRequest stands now.", message: edit("Request-Digest", "Request"), ok: true, want: order},
		"Asked":      {reason: "Who asked is no part of what is rebuilt.", message: ours + "Intentplane-Request: again uid-7\nIntentplane-Reason: Intentplane-Revision: 9\n", ok: true, want: order},
		"Stranger":   {reason: "A stranger's commit says nothing", message: "Fix it\n"},
		"Empty":      {reason: "A commit without a message says nothing.", message: ""},
		"Subject":    {reason: "A commit is read by its trailers alone.", message: "Intentplane-Claim: x/y a/b\n\nhello\n"},
		"NoRevision": {reason: "A revision is a number", message: edit("Revision: 2", "Revision: two")},
		"Zero":       {reason: "A revision is counted from 1.", message: edit("Revision: 2", "Revision: 0")},
		"Huge":       {reason: "A step that no number can hold is refused.", message: edit("Step: 0", "Step: 99999999999")},
		"Negative":   {reason: "An attempt below zero is refused.", message: edit("Attempt: 0", "Attempt: -1")},
		"Rules":      {reason: "Versions that are no numbers are not ours", message: edit("digests 1", "digests x")},
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
			if diff := cmp.Diff(tc.want, got.appliedOrder()); diff != "" {
				t.Errorf("\n%s\norder(): -want, +got:\n%s", tc.reason, diff)
			}
			if got.claim != claim || got.commit != "c1" || got.date != metav1.Unix(7, 0) || got.cluster != "cluster-1" {
				t.Errorf("\n%s\nparseWitness(...): got %v", tc.reason, got)
			}
		})
	}
}

// TestTale puts commits in order, whatever order strangers repeated them in.
func TestTale(t *testing.T) {
	letter := func(revision int64, attempt int32) commitTrailers {
		return commitTrailers{commit: "c", revision: revision, attempt: attempt, request: "r", scheme: 1, renderer: 1, date: metav1.Unix(revision, 0)}
	}
	got := claimHistory{commits: []commitTrailers{letter(1, 0), letter(2, 1), letter(2, 0), letter(1, 0)}}.rebuiltEntry()
	if got.Order.Revision != 2 || got.Order.Attempt != 1 || got.Order.Verdict == nil {
		t.Errorf("\nThe newest order is the last one\nentry(): got %v", got.Order)
	}
	verdicts := []bool{}
	for _, h := range got.History {
		verdicts = append(verdicts, h.Verdict != nil)
	}
	if diff := cmp.Diff([]bool{false, true}, verdicts); diff != "" {
		t.Errorf("\nWho went back was rejected\nentry().History: -want, +got:\n%s", diff)
	}
}
