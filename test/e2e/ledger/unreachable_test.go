package ledger

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestHomeUnreachable makes the home unavailable at each moment at which an event has to be recorded. Nothing is started, judged or rolled back then in any
// repository, the claim names the home, and all deployments continue when the home is available again.
func TestHomeUnreachable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		form   form
		// fails selects the push to the home after which the home is unavailable. Nil: before the revision, or before its verdict.
		fails  func(p push) bool
		answer string
		// judged is true if the Gate fails the revision meanwhile.
		judged bool
		// meanwhile is the position of the follower while the home does not answer, and replicas the replicas in the repositories.
		meanwhile ledger.Position
		replicas  string
		end       func(d *deployment) summary
		commits   []int
	}{
		"Ordered": {
			reason: "A revision is not ordered, and the follower stays at the previous revision.",
			form:   form{repositories: 2}, answer: good,
			meanwhile: ledger.Position{Epoch: 1, Revision: 1}, replicas: "1 1",
			end: func(d *deployment) summary { return d.ledgerAfterVerified(2) }, commits: []int{2, 2},
		},
		"Advanced": {
			reason: "A wave does not begin, and its follower stays at the revision before.",
			form:   form{repositories: 2, waves: true}, answer: good,
			fails:     func(p push) bool { return p.ledger.Position().Revision == 2 },
			meanwhile: ledger.Position{Epoch: 1, Revision: 1, Step: 1}, replicas: "2 1",
			end: func(d *deployment) summary { return d.ledgerAfterVerified(2) }, commits: []int{2, 2},
		},
		"Verified": {
			reason: "A revision that is live everywhere is not verified, and the claim does not succeed.",
			form:   form{repositories: 2}, answer: good,
			fails:     func(p push) bool { return p.ledger.Position().Revision == 2 },
			meanwhile: ledger.Position{Epoch: 1, Revision: 2}, replicas: "2 2",
			end: func(d *deployment) summary { return d.ledgerAfterVerified(2) }, commits: []int{2, 2},
		},
		"Rejected": {
			reason: "A revision that its Gate fails is neither rejected nor rolled back, also in the follower that answers.",
			form:   form{repositories: 2, gated: true}, answer: bad, judged: true,
			meanwhile: ledger.Position{Epoch: 1, Revision: 2}, replicas: "2 2",
			end: func(d *deployment) summary { return d.ledgerAfterRollback(2, 1) }, commits: []int{3, 3},
		},
		"RolledBack": {
			reason: "A rollback that was recorded reaches the follower, and its end waits for the home.",
			form:   form{repositories: 2, gated: true}, answer: bad,
			fails:     func(p push) bool { return p.ledger.Position().Attempt == 1 },
			meanwhile: ledger.Position{Epoch: 1, Revision: 2, Attempt: 1}, replicas: "1 1",
			end: func(d *deployment) summary { return d.ledgerAfterRollback(2, 1) }, commits: []int{3, 3},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			d := newDeployment(t, tc.form)
			d.awaitSucceeded(1)
			if tc.answer == bad { // A Gate may fail a Site before another Site has the revision.
				judges.setJudgeAnswer(d.Namespace, held)
				d.awaitMeasuring(2)
			}
			if tc.fails == nil {
				d.Git.Fail(d.homeRepository(), http.StatusServiceUnavailable)
			}
			d.pushes.callAfterEach(func(p push) {
				if p.repository == d.homeRepository() && tc.fails != nil && tc.fails(p) {
					d.Git.Fail(d.homeRepository(), http.StatusServiceUnavailable)
				}
			})
			judges.setJudgeAnswer(d.Namespace, tc.answer)
			d.Apply(d.describeShop(2))
			d.awaitPosition(1, tc.meanwhile)
			if tc.judged {
				d.awaitGateReason("Failed")
			}
			d.awaitReason(ledgerUnreachable)
			previous := d.refsOfRepositories()
			d.Patch(d.describeShop(1), `{"metadata":{"annotations":{"example.org/touched":"yes"}}}`)
			d.Await(d.XR(d.Now(d.describeShop(1))), "called again", func(u *unstructured.Unstructured) bool { return u.GetAnnotations()["example.org/touched"] == "yes" })
			d.awaitReason(ledgerUnreachable)
			d.wantReplicas(tc.replicas)
			d.wantUntouched(previous, d.repositories...)
			if got := d.statusOfRevision(); strings.HasPrefix(got, "Succeeded ") && strings.HasSuffix(got, " 2") {
				t.Errorf("the claim came to its end while the home does not answer: %s", got)
			}

			d.pushes.callAfterEach(nil)
			d.Git.Fail(d.homeRepository(), 0)
			d.awaitVerdictEnd(2, tc.answer)
			d.wantLedgerOf(tc.end(d), map[string]string{good: "2", bad: "1"}[tc.answer], tc.commits...)
		})
	}
}

// TestHomeAwayTooLong makes the home unavailable for longer than deliveryTimeout while a revision is to be recorded, and while a revision is to be verified.
// The claim is stalled and counted then, and nothing is rejected, also not when the home is back.
func TestHomeAwayTooLong(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// fails selects the push to the home after which the home is unavailable. Nil: before the revision.
		fails func(p push) bool
	}{
		"Ordered":  {reason: "A revision that was ordered late has all its time."},
		"Verified": {reason: "A verdict that is recorded late is the proven verdict.", fails: func(p push) bool { return p.ledger.Position().Revision == 2 }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			d := newDeployment(t, form{repositories: 2})
			d.awaitSucceeded(1)
			d.form.timeout = "30s" // The follower is well, and has to deliver within it.
			if tc.fails == nil {
				d.Git.Fail(d.homeRepository(), http.StatusServiceUnavailable)
			}
			d.pushes.callAfterEach(func(p push) {
				if p.repository == d.homeRepository() && tc.fails != nil && tc.fails(p) {
					d.Git.Fail(d.homeRepository(), http.StatusServiceUnavailable)
				}
			})
			d.Apply(d.describeShop(2))
			d.Await(d.describeShop(2), "stalled by its ledger", func(u *unstructured.Unstructured) bool {
				return scene.Is(u, "Stalled", corev1.ConditionTrue, ledgerUnreachable) && scene.Is(u, "Recorded", corev1.ConditionFalse, ledgerUnreachable)
			})
			d.Until("the metric counts the deployment", patience.Limit, func() bool { return unreachableLedgers(d) > 0 })
			d.pushes.callAfterEach(nil)
			d.Git.Fail(d.homeRepository(), 0)
			d.awaitSucceeded(2)
			d.wantLedgerOf(d.ledgerAfterVerified(2), "2", 2, 2)
		})
	}
}

// TestHomeUnreachableFirst begins a deployment whose home does not answer. No repository gets anything.
func TestHomeUnreachableFirst(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, form{repositories: 3})
	previous := d.refsOfRepositories()
	d.Git.Fail(d.homeRepository(), http.StatusServiceUnavailable)
	d.Apply(d.describeShop(1))
	d.awaitReason(ledgerUnreachable)
	d.awaitReadyReason(d.homeRepository(), "MemoryUnknown")
	d.wantUntouched(previous, d.repositories...)
	d.Git.Fail(d.homeRepository(), 0)
	d.awaitSucceeded(1)
	d.wantLedgerOf(d.ledgerAfterVerified(1), "1", 1, 1, 1)
}

// TestLaterRepositoryUnreachable has a repository of the second wave that does not answer while the first wave is judged. The first wave comes to its end,
// and the second wave delivers once its repository answers again.
func TestLaterRepositoryUnreachable(t *testing.T) {
	t.Parallel()
	const timeout = 30 * time.Second
	firstWave := ledger.Position{Epoch: 1, Revision: 2}
	cases := map[string]struct {
		reason string
		form   form
		// judge decides about the first wave, and lets the repository answer again.
		judge func(d *deployment, later string)
	}{
		"LongerThanTimeout": {
			reason: "A repository that does not answer for longer than deliveryTimeout rejects no earlier wave.",
			form:   form{repositories: 2, waves: true, gated: true, timeout: timeout.String()},
			judge: func(d *deployment, later string) {
				d.awaitOutage(later, timeout)
				if s := d.recordedLedger().State; s.Verdict != nil || s.Position() != firstWave {
					d.T.Fatalf("ledger: want the first wave of revision 2 without a verdict, got %+v with %v", s.Position(), s.Verdict)
				}
				d.Git.Fail(later, 0)
				d.awaitReadyReason(later, deliveryv1alpha1.ReasonDelivered)
				judges.setJudgeAnswer(d.Namespace, good)
			},
		},
		"PassedMeanwhile": {
			reason: "A repository that does not answer holds no earlier wave back.",
			form:   form{repositories: 2, waves: true, gated: true},
			judge: func(d *deployment, later string) {
				d.awaitReadyReason(later, deliveryv1alpha1.ReasonUnreachable)
				judges.setJudgeAnswer(d.Namespace, good)
				d.awaitLedger("begins the second wave", func(s ledger.State) bool { return s.Current.Number == 2 && s.Cursor.Step == 1 })
				d.Git.Fail(later, 0)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			d := newDeployment(t, tc.form)
			d.awaitSucceeded(1)
			judges.setJudgeAnswer(d.Namespace, held)
			later := d.repositories[1]
			d.Git.Fail(later, http.StatusServiceUnavailable)
			d.Apply(d.describeShop(2))
			d.awaitPosition(0, firstWave)
			tc.judge(d, later)
			d.awaitSucceeded(2)
			d.wantLedgerOf(d.ledgerAfterVerified(2), "2", 2, 2)
		})
	}
}
