package ledger

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestBothRolledBackWithoutFunction fails a revision in two repositories while the function is dead. The provider rolls back both repositories, the home
// first. Afterwards the function finds the rollback, and neither repository gets another commit.
func TestBothRolledBackWithoutFunction(t *testing.T) {
	d := newDeployment(t, form{repositories: 2, gated: true})
	d.awaitSucceeded(1)
	d.holdVerdict(2)
	d.pushes.forgetPushes()
	end := withoutFunction().killProgram(d)
	judges.setJudgeAnswer(d.Namespace, bad)
	d.awaitAllBack(firstAttempt)
	end()
	d.wantRollbackReported()
	d.wantPushes("0: 2.1.0 Rejected", "1: 2.1.0", "0: 2.1.0 Rejected restored")

	judges.setJudgeAnswer(d.Namespace, good)
	d.awaitSucceeded(3)
	d.wantLedgerOf(d.ledgerAfterVerified(3), "3", 4, 4)
}

// TestLeaderLostInRollback kills the leader of two replicas of the provider once the home has recorded a rollback, while the function is dead. The next
// leader rolls back the follower.
func TestLeaderLostInRollback(t *testing.T) {
	d := newDeployment(t, form{repositories: 2, gated: true})
	d.startReplicas()
	d.awaitSucceeded(1)
	d.holdVerdict(2)
	d.pushes.forgetPushes()
	end := withoutFunction().killProgram(d)
	d.pushes.callAfterEach(func(p push) {
		if p.repository == d.homeRepository() && p.position == firstAttempt {
			cp.KillProvider()
		}
	})
	judges.setJudgeAnswer(d.Namespace, bad)
	d.awaitAllBack(firstAttempt)
	d.pushes.callAfterEach(nil)
	end()
	d.wantRollbackReported()
	d.wantPushes("0: 2.1.0 Rejected", "1: 2.1.0", "0: 2.1.0 Rejected restored")
}

// TestProviderKilledInRollback kills the provider around its push to the follower, while the function is dead.
func TestProviderKilledInRollback(t *testing.T) {
	for name, m := range momentsOfRollback() {
		t.Run(name, func(t *testing.T) {
			t.Log(m.reason)
			d := newDeployment(t, form{repositories: 2, gated: true})
			if m.isSplit {
				d.Must(d.Git.Configure(t.Context(), d.repositories[1], "receive.advertiseAtomic", "false"))
			}
			d.awaitSucceeded(1)
			d.holdVerdict(2)
			end := withoutFunction().killProgram(d)
			d.killInRollback(m)
			d.awaitAllBack(firstAttempt)
			end()
			d.wantRollbackReported()
		})
	}
}

// TestMandatesNotHonoured has a provider that does not act by mandates. The function records the verdict, and rolls back both repositories.
func TestMandatesNotHonoured(t *testing.T) {
	d := newDeployment(t, form{repositories: 2, gated: true})
	d.restartProvider("--honour-mandates=false")
	d.awaitSucceeded(1)
	d.holdVerdict(2)
	if m := d.mandateOfHome(); m != nil {
		t.Errorf("mandate in the status of the home: want none, got %+v", m)
	}
	judges.setJudgeAnswer(d.Namespace, bad)
	d.wantRollbackReported()
	judges.setJudgeAnswer(d.Namespace, good)
	d.awaitSucceeded(3)
	d.wantLedgerOf(d.ledgerAfterVerified(3), "3", 4, 4)
}

// TestRequestsWithoutFunction has a user who takes a revision back by the command line while the function is dead. Both repositories get the files of the
// first revision, and the request is complete once the function runs again.
func TestRequestsWithoutFunction(t *testing.T) {
	cases := map[string]struct {
		reason string
		// isVerified is true for a revision that was verified before the request.
		isVerified bool
		command    []string
		position   ledger.Position
	}{
		"Abort": {
			reason:  "A revision that a user ends while its Gate measures is rolled back in both repositories.",
			command: []string{"abort", "--yes"}, position: firstAttempt,
		},
		"Rollback": {
			reason: "A verified revision is rolled back in both repositories on the request of a user.", isVerified: true,
			command: []string{"rollback", "--to-revision=1", "--yes"}, position: ledger.Position{Epoch: 1, Revision: 3, Attempt: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			d := newDeployment(t, form{repositories: 2, gated: true})
			d.awaitSucceeded(1)
			d.holdVerdict(2)
			if tc.isVerified {
				judges.setJudgeAnswer(d.Namespace, good)
				d.awaitSucceeded(2)
			}
			end := withoutFunction().killProgram(d)
			d.runPluginWith(cp.Kubeconfig, 0, append(tc.command, claim)...)
			d.awaitAllBack(tc.position)
			end()
			d.awaitRolledBack(2)
			d.Inside("wait", "--timeout="+patience.Limit.String(), "--for=condition=Completed", "rolloutrequests.rollout.intentplane.dev", "--all")
			d.wantReplicas("1 1")
			d.wantCommits(3, 3)
			d.wantInvariants()
		})
	}
}

// TestHeldRollbackWithoutFunction fails a revision while the function is dead, where only a user may begin the rollback. The provider records the rejection
// alone. Afterwards the function reports why nothing was restored.
func TestHeldRollbackWithoutFunction(t *testing.T) {
	cases := map[string]struct {
		reason string
		form   form
		// rejected is the number of revisions that are rejected and rolled back before.
		rejected int
		want     string
	}{
		"Off": {
			reason: "A policy that rolls nothing back by itself ends with the rejection.", want: "RollbackOff",
			form: form{repositories: 2, gated: true, rollback: map[string]any{"autoRollback": false}},
		},
		"Irreversible": {
			reason: "A revision that changed irreversible objects is not rolled back.", want: "Irreversible",
			form: form{repositories: 2, gated: true, irreversible: true},
		},
		"TooMany": {
			reason: "After as many rejections in the hour as the policy allows no rollback begins.", rejected: 1, want: "TooManyRollbacks",
			form: form{repositories: 2, gated: true, rollback: map[string]any{"maxPerHour": int64(1)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			d := newDeployment(t, tc.form)
			d.awaitSucceeded(1)
			last := 2 + tc.rejected
			for replicas := 2; replicas < last; replicas++ {
				d.holdVerdict(replicas)
				judges.setJudgeAnswer(d.Namespace, bad)
				d.awaitRolledBack(replicas)
			}
			d.holdVerdict(last)
			end := withoutFunction().killProgram(d)
			judges.setJudgeAnswer(d.Namespace, bad)
			d.awaitRejected(int64(last))
			end()
			d.Reach(d.describeShop(last), "not rolled back", func(u *unstructured.Unstructured) bool {
				return scene.Is(u, "RolledBack", corev1.ConditionFalse, tc.want)
			})
			d.WantEqual("attempts in the ledger", int32(0), d.recordedLedger().State.Cursor.Attempt)
			d.wantReplicas(strings.Repeat(fmt.Sprintf("%d ", last), 2))
			d.wantCommits(2+2*tc.rejected, 2+2*tc.rejected)
			d.wantInvariants()
		})
	}
}

// TestWavesWithoutCore kills Crossplane's core once a revision of two waves is ordered, whose second wave is another repository. A user edits the claim
// meanwhile, or leaves it as it is, and then the judge answers.
func TestWavesWithoutCore(t *testing.T) {
	suspend := func(d *deployment) { d.Apply(d.Set(d.describeShop(2), true, "spec", "suspend")) }
	isHeld := func(hold deliveryv1alpha1.MandateHold) func(d *deployment) {
		return func(d *deployment) {
			d.awaitMandateHold(hold)
			d.WantEqual("position", ledger.Position{Epoch: 1, Revision: 2}, d.recordedLedger().State.Position())
			d.wantReplicas("2 1")
		}
	}
	cases := map[string]struct {
		reason string
		edit   func(d *deployment)
		answer string
		// meanwhile checks the ledger and the files while the core is dead, and finally once the core runs again.
		meanwhile, finally func(d *deployment)
	}{
		"Unchanged": {
			reason: "A revision goes through its waves and is verified, and the core has nothing left to deliver.", answer: good,
			edit: func(*deployment) {},
			meanwhile: func(d *deployment) {
				d.awaitLedger("verifies revision 2", func(s ledger.State) bool { return s.Current.Number == 2 && s.IsVerified() })
				d.wantLedgerOf(d.ledgerAfterVerified(2), "2", 2, 2)
			},
			finally: func(d *deployment) {
				d.awaitSucceeded(2)
				d.wantLedgerOf(d.ledgerAfterVerified(2), "2", 2, 2)
				d.wantPushes("0: 2.0.0", "0: 2.0.1", "1: 2.0.1", "0: 2.0.1 Verified")
			},
		},
		"Suspended": {
			reason: "A suspended revision takes no further wave until a user resumes it.", answer: good,
			edit: suspend, meanwhile: isHeld(deliveryv1alpha1.HoldClaimChanged),
			finally: func(d *deployment) {
				d.awaitSucceeded(2)
				d.wantLedgerOf(d.ledgerAfterVerified(2), "2", 2, 2)
			},
		},
		"Edited": {
			reason: "A revision that a user replaces takes no further wave, and the next revision goes through all waves.", answer: good,
			edit: func(d *deployment) { d.Apply(d.describeShop(3)) }, meanwhile: isHeld(deliveryv1alpha1.HoldClaimChanged),
			finally: func(d *deployment) {
				d.awaitSucceeded(3)
				d.wantLedgerOf(d.ledgerAfterVerified(3), "3", 3, 2)
			},
		},
		"Deleted": {
			reason: "A revision of a claim that a user deletes takes no further wave.", answer: good,
			edit: func(d *deployment) { d.Delete(d.describeShop(2)) }, meanwhile: isHeld(deliveryv1alpha1.HoldClaimDeleted),
			finally: func(d *deployment) {
				d.Gone(d.describeShop(2))
				d.awaitReplicas("")
			},
		},
		"SuspendedAndFailed": {
			reason: "A suspended revision that its Gate fails is rolled back.", answer: bad,
			edit: suspend, meanwhile: func(d *deployment) { d.awaitPosition(0, firstAttempt); d.awaitReplicas("1") },
			finally: func(d *deployment) {
				d.awaitRolledBack(2)
				d.wantLedgerOf(d.ledgerAfterRollback(2, 1), "1", 3, 1)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			d := newDeployment(t, form{repositories: 2, waves: true, gated: true})
			d.awaitSucceeded(1)
			d.pushes.forgetPushes()
			judges.setJudgeAnswer(d.Namespace, held)
			d.Apply(d.describeShop(2))
			d.awaitOrdered(2)
			end := withoutCore().killProgram(d)
			tc.edit(d)
			judges.setJudgeAnswer(d.Namespace, tc.answer)
			tc.meanwhile(d)
			end()
			tc.finally(d)
		})
	}
}
