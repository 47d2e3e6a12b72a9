package gitdelivery

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// inBoth returns a revision that the home delivers to edge1, and the second repository to edge2. Its last step has a Gate.
func inBoth(number int64, intent string) ledger.Event {
	e := gatedEvent(number, intent, "edge1", "edge2")
	e.Ordered.Revision.Parts = []ledger.Part{
		{Delivery: elsewhere, ConfigRef: elsewhere, Sites: []string{"edge2"}}, {Delivery: "web", ConfigRef: "default", Sites: []string{"edge1"}},
	}
	return e
}

// changeFollower changes the delivery to the second repository, as the composite does.
func (w *world) changeFollower(change func(d *v1alpha1.GitDelivery)) {
	w.Helper()
	d := w.get(elsewhere)
	change(d)
	d.Generation++
	w.must(w.kube.Update(w.Context(), d))
}

// composeFollower lets the composite of the home control the delivery to the second repository.
func (w *world) composeFollower() {
	w.Helper()
	w.changeFollower(func(d *v1alpha1.GitDelivery) {
		d.OwnerReferences = controlled().OwnerReferences
		if d.Annotations == nil {
			d.Annotations = map[string]string{}
		}
		d.Annotations["crossplane.io/composition-resource-name"] = elsewhere
	})
}

// verifiedInBoth delivers revision 1 to both repositories, which is verified.
func (w *world) verifiedInBoth() {
	w.Helper()
	w.addFollower()
	w.startHome()
	w.deliverToBoth("a", openedEvent("demo"), inBoth(1, "a"))
	w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1", "edge2"))
	w.composeFollower()
}

// mandatedInBoth delivers revision 2 to both repositories, and gives the home a mandate for it.
func (w *world) mandatedInBoth() {
	w.Helper()
	w.verifiedInBoth()
	w.deliverToBoth("b", inBoth(2, "b"))
	w.giveMandate(2, noChange)
	w.reconcile("web")
	w.reconcile(elsewhere)
	w.bothHold("b", "b")
}

// isBackInBoth fails the story unless both repositories hold revision 1 at attempt 1 of revision 2, and the second one has so many commits.
func (w *world) isBackInBoth(commits int) {
	w.Helper()
	w.bothHold("a", "a")
	s := w.storedLedger(repo).State
	if !s.IsRejected() || s.Target != 1 || s.Cursor.Attempt != 1 {
		w.Fatalf("ledger: want revision 2 rejected and rolled back to revision 1, got verdict %v, target %d, attempt %d", s.Verdict, s.Target, s.Cursor.Attempt)
	}
	if r := w.storedRecord(elsewhere); r.Position != s.Position() || r.Head.Compare(s.Head) > 0 {
		w.Fatalf("record of the follower: want %v, and no head after %v, got %v after %v", s.Position(), s.Head, r.Position, r.Head)
	}
	w.followerCommits(commits)
}

// followerCommits counts commits of the second repository beside the first one.
func (w *world) followerCommits(want int) {
	w.Helper()
	log, err := w.git.Log(w.Context(), elsewhere, "main")
	w.must(err)
	if got := len(log) - 1; got != want {
		w.Fatalf("commits of the follower: want %d, got %d", want, got)
	}
}

// restoring2 returns the tree of the second repository that brings revision 1 back.
func restoring2() v1alpha1.Tree {
	t := restoring1("a")
	t.Site, t.Path = "edge2", webAtE2
	return t
}

// TestMandateFollowers plays a function that is silent from revision 2 on, which two repositories have.
func TestMandateFollowers(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"GateFailed": {reason: "A revision whose Gate fails is rolled back in both repositories, in one push each, and then nothing is written.", run: func(w *world) {
			w.mandatedInBoth()
			w.failGate()
			w.reconcile("web")
			w.bothHold("a", "b")
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.isBackInBoth(3)
			d, position := w.get(elsewhere), w.storedLedger(repo).State.Position()
			if diff := cmp.Diff(&v1alpha1.FollowStatus{Position: position, AttemptTimeout: "2m0s"}, d.Status.AtProvider.Follows); diff != "" {
				w.Errorf("status.atProvider.follows: -want, +got:\n%s", diff)
			}
			home, tip := w.get("web").Status, w.tipOf(elsewhere)
			for range 3 {
				w.reconcile("web")
				w.reconcile(elsewhere)
			}
			if diff := cmp.Diff(d.Status, w.get(elsewhere).Status); diff != "" || w.tipOf(elsewhere) != tip {
				w.Errorf("writes at rest: want none, got state %s after %s, and in the status -before, +after:\n%s", w.tipOf(elsewhere), tip, diff)
			}
			if diff := cmp.Diff(home, w.get("web").Status); diff != "" {
				w.Errorf("status of the home at rest: -before, +after:\n%s", diff)
			}
		}},
		"HomeFirst": {reason: "A follower writes nothing before the status of the home shows the recorded events.", run: func(w *world) {
			w.mandatedInBoth()
			w.failGate()
			w.reconcile(elsewhere)
			w.bothHold("b", "b")
			w.dead = true
			_ = w.try("web") // The recorded events do not reach the status.
			w.dead = false
			w.reconcile(elsewhere)
			w.followerCommits(2)
		}},
		"Follows": {reason: "A spec that names the rollback afterwards makes no commit, and counts from then on.", run: func(w *world) {
			w.mandatedInBoth()
			w.failGate()
			w.reconcile("web")
			w.reconcile(elsewhere)
			tip := w.tipOf(elsewhere)
			w.follow(w.ledgerOf("web"), restoring2())
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.isBackInBoth(3)
			if observed := w.get(elsewhere).Status.AtProvider; observed.Follows != nil || w.tipOf(elsewhere) != tip {
				w.Errorf("status.atProvider.follows: want none, and no push, got %v", observed.Follows)
			}
		}},
		"Older": {reason: "A spec of the revision that is applied again by a stale call delivers nothing of it.", run: func(w *world) {
			w.mandatedInBoth()
			older := w.get(elsewhere).Spec.ForProvider
			w.failGate()
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.follow(w.ledgerOf("web"), restoring2())
			w.changeFollower(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider = older })
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.isBackInBoth(3)
		}},
		"Refused": {reason: "A revision that the follower refuses is rejected by the home, and rolled back in both repositories.", run: func(w *world) {
			w.verifiedInBoth()
			w.hookIn(elsewhere, "update", `case "$1" in refs/heads/main) git show "$3:`+webAtE2+`/configmap.yaml" | grep -q "says: b" && { echo "no b here" >&2; exit 1; };; esac; exit 0`)
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, inBoth(2, "b"))
			w.giveMandate(2, noChange)
			w.reconcile("web")
			s := w.ledgerOf("web")
			w.changeFollower(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = new(s.Essentials()), new(s.Position())
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge2", webAtE2, "b")}
			})
			_ = w.try(elsewhere) // It is in the condition.
			w.expect(elsewhere, v1alpha1.ReasonPolicyDenied)
			w.reconcile("web")
			if s := w.storedLedger(repo).State; !s.IsRejected() || s.Verdict.Reason != rolloutv1alpha1.RejectedDeliveryRefused {
				w.Fatalf("ledger: want revision 2 rejected since the follower refused it, got %v", s.Verdict)
			}
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.isBackInBoth(1)
		}},
		"Rejected": {reason: "After a verdict without a rollback the follower delivers nothing of the revision any more.", run: func(w *world) {
			w.verifiedInBoth()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, inBoth(2, "b"))
			w.giveMandate(2, func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.AutoRollback = false })
			w.reconcile("web")
			s := w.ledgerOf("web")
			w.failGate()
			w.reconcile("web")
			w.follow(s, desired(w.T, "edge2", webAtE2, "b"))
			w.bothHold("b", "a")
			w.followerCommits(1)
			if observed := w.get(elsewhere).Status.AtProvider; observed.Follows != nil {
				w.Errorf("status.atProvider.follows: want none, got %v", observed.Follows)
			}
		}},
		"RefusedBack": {reason: "The next attempt begins after the follower refused the trees of the first attempt.", run: func(w *world) {
			w.mandatedInBoth()
			w.failGate()
			w.reconcile("web")
			w.hookIn(elsewhere, "update", `case "$1" in refs/heads/main) echo "nothing here" >&2; exit 1;; esac; exit 0`)
			_ = w.try(elsewhere) // It is in the condition.
			w.expect(elsewhere, v1alpha1.ReasonPolicyDenied)
			w.reconcile("web")
			if s := w.storedLedger(repo).State; s.Cursor.Attempt != 2 {
				w.Fatalf("ledger: want attempt 2, got %d", s.Cursor.Attempt)
			}
			w.hookIn(elsewhere, "update", "exit 0")
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.bothHold("a", "a")
		}},
		"NotHonoured": {reason: "A provider that does not act by mandates leaves the follower to the function.", run: func(w *world) {
			w.mandatedInBoth()
			w.failGate()
			w.reconcile("web")
			w.refusesMandates = true
			w.reconcile(elsewhere)
			w.bothHold("a", "b")
			w.followerCommits(2)
		}},
		"Observed": {reason: "A follower that may only be observed is left as it is.", run: func(w *world) {
			w.mandatedInBoth()
			w.changeFollower(func(d *v1alpha1.GitDelivery) {
				d.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			})
			w.failGate()
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.bothHold("a", "b")
			w.followerCommits(2)
		}},
		"Void": {reason: "A rollback that a follower has stays once the mandate of the home is void, until the function asks for more.", run: func(w *world) {
			w.mandatedInBoth()
			w.failGate()
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Revision = 1 })
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonOrderBehind)
			w.isBackInBoth(3)
		}},
		"Superseded": {reason: "A follower goes by no home whose ledger goes on in a later epoch elsewhere.", run: func(w *world) {
			w.mandatedInBoth()
			w.failGate()
			w.reconcile("web")
			d := newHome("forced")
			d.OwnerReferences = controlled().OwnerReferences
			w.create(d)
			d.Status.AtProvider.Ledger = &ledger.State{Head: ledger.Head{Ledger: "forced", Epoch: 2, Seq: 2}}
			w.must(w.kube.Status().Update(w.Context(), d))
			w.reconcile(elsewhere)
			w.bothHold("a", "b")
			w.followerCommits(2)
		}},
	})
}

// TestMandateFollowerCrashes lets the provider die while it rolls the second repository back.
func TestMandateFollowerCrashes(t *testing.T) {
	t.Parallel()
	for moment, crash := range crashesIn(elsewhere) {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mandatedInBoth()
			w.failGate()
			w.reconcile("web")
			crash(w)
			_ = w.try(elsewhere) // Who is dead cannot say so.
			w.recoverIn(elsewhere)
			for range 3 {
				w.reconcile(elsewhere)
			}
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.isBackInBoth(3)
		})
	}
}
