package witness

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// controlled returns the metadata of an object of the deployment web.
func controlled(name string) metav1.ObjectMeta {
	isController := true
	return metav1.ObjectMeta{Namespace: "team-a", Name: name, Generation: 1, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Name: "web", UID: "web-uid", Controller: &isController},
	}}
}

func webClaim() rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
}

// newHome returns a home of the deployment web.
func newHome(name string) *v1alpha1.GitDelivery {
	d := &v1alpha1.GitDelivery{ObjectMeta: controlled(name)}
	d.Annotations = map[string]string{"crossplane.io/composition-resource-name": name}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{ClaimRef: webClaim(), Ledger: &v1alpha1.LedgerUpdate{}}
	return d
}

// abortRequest returns a RolloutRequest that aborts revision 2 of the deployment web.
func abortRequest(name string) *rolloutv1alpha1.RolloutRequest {
	r := &rolloutv1alpha1.RolloutRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	r.Spec = rolloutv1alpha1.RolloutRequestSpec{
		DeploymentRef: webClaim().DeploymentRef(), Action: rolloutv1alpha1.ActionAbort, Revision: 2, RequestedBy: "ann", Reason: "It is slow.",
	}
	return r
}

// otherKind returns an object that is not evidence.
func otherKind() client.Object {
	return &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "edge1"}}
}

// judgedGate returns a Gate of the claim, with a verdict.
func judgedGate(v rolloutv1alpha1.GateVerdict) *rolloutv1alpha1.Gate {
	g := &rolloutv1alpha1.Gate{ObjectMeta: controlled("web-step")}
	g.Spec.ForProvider.ClaimRef = webClaim()
	g.Spec.ForProvider.Position, g.Status.AtProvider.Position = &ledger.Position{Revision: 2}, &ledger.Position{Revision: 2}
	g.Status.AtProvider.Verdict = v
	g.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: "Failed", ObservedGeneration: 1})
	return g
}

// observedSync returns a SiteSync of the claim, with a reason.
func observedSync(reason xpv2.ConditionReason) *v1alpha1.SiteSync {
	s := &v1alpha1.SiteSync{ObjectMeta: controlled("web-sync")}
	s.Spec.ForProvider.ClaimRef = webClaim()
	s.Status.AtProvider.Position = &ledger.Position{Revision: 2}
	s.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: reason, ObservedGeneration: 1})
	return s
}

// shownHome returns a home that acts by its mandate, with a state in its status.
func shownHome(s ledger.State) *v1alpha1.GitDelivery {
	d := newHome("web")
	d.Status.AtProvider.Ledger, d.Status.AtProvider.Mandate = &s, &v1alpha1.MandateStatus{Revision: 2}
	return d
}

// shownFollower returns a delivery to another repository, with a reason about revision 2.
func shownFollower(reason xpv2.ConditionReason) *v1alpha1.GitDelivery {
	d, position := newHome("elsewhere"), ledger.Position{Epoch: 1, Revision: 2}
	d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = nil, &ledger.State{}, &position
	status := corev1.ConditionFalse
	if reason == v1alpha1.ReasonDelivered {
		status = corev1.ConditionTrue
	}
	d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Position: position}
	d.SetConditions(
		xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: reason, ObservedGeneration: 1},
		xpv2.Condition{Type: xpv2.TypeSynced, Status: corev1.ConditionTrue, Reason: xpv2.ReasonReconcileSuccess, ObservedGeneration: 1},
	)
	return d
}

// drainedSync returns a SiteSync of a Site whose track green gets no new requests, with or without requests in progress.
func drainedSync(isIdle bool) *v1alpha1.SiteSync {
	s := observedSync("Live")
	s.Status.AtProvider.Sites = []v1alpha1.SiteObservation{{Name: "edge1", Traffic: &v1alpha1.SiteTrafficObservation{
		Tracks: []v1alpha1.TrackObservation{{Name: "green", Idle: isIdle, ProvenAt: &ledger.Position{Revision: 2}}},
	}}}
	return s
}

func TestHasNewStatement(t *testing.T) {
	unjudged := ledger.State{Head: ledger.Head{ID: "two"}, Current: &ledger.Revision{Number: 2}}
	rejectedState := unjudged
	rejectedState.ID, rejectedState.Verdict = "three", &ledger.Verdict{Result: ledger.VerdictRejected}
	rolledBackState := rejectedState
	rolledBackState.ID, rolledBackState.Cursor.Attempt = "four", 1
	later := func(s *v1alpha1.SiteSync) *v1alpha1.SiteSync {
		s.Status.AtProvider.Position.Attempt = 1
		return s
	}
	stale := observedSync("Failed")
	stale.Generation = 2
	cases := map[string]struct {
		reason      string
		old, object client.Object
		want        bool
	}{
		"Verdict":  {reason: "A verdict requeues a home.", old: judgedGate(""), object: judgedGate(rolloutv1alpha1.GateFailed), want: true},
		"Measured": {reason: "A Gate that continues to measure has no new evidence.", old: judgedGate(""), object: judgedGate("")},
		"SameVerdict": {
			reason: "An unchanged verdict is not new evidence.",
			old:    judgedGate(rolloutv1alpha1.GateFailed), object: judgedGate(rolloutv1alpha1.GateFailed),
		},
		"New":         {reason: "A Gate that is listed with its verdict, after a restart, has new evidence.", object: judgedGate(rolloutv1alpha1.GateFailed), want: true},
		"NewUnjudged": {reason: "A Gate that is listed without a verdict has no evidence.", object: judgedGate("")},
		"Failed":      {reason: "A Site that failed requeues a home.", old: observedSync("Syncing"), object: observedSync("Failed"), want: true},
		"SameReason":  {reason: "A SiteSync with the same reason has no new evidence.", old: observedSync("Failed"), object: observedSync("Failed")},
		"NextPosition": {
			reason: "The same reason about another position requeues a home.",
			old:    observedSync("Failed"), object: later(observedSync("Failed")), want: true,
		},
		"Stale":    {reason: "A condition of a SiteSync about an earlier generation is not evidence.", old: &v1alpha1.SiteSync{}, object: stale},
		"Draining": {reason: "A track with requests in progress is not new evidence.", old: drainedSync(false), object: drainedSync(false)},
		"Drained":  {reason: "A track whose requests have ended requeues a home.", old: drainedSync(false), object: drainedSync(true), want: true},
		"Other":    {reason: "An object of another kind has no evidence.", old: otherKind(), object: otherKind()},
		"Rejected": {
			reason: "A home whose ledger rejects the revision requeues the other repositories.",
			old:    shownHome(unjudged), object: shownHome(rejectedState), want: true,
		},
		"RolledBack": {
			reason: "A home whose rollback begins requeues the other repositories.",
			old:    shownHome(rejectedState), object: shownHome(rolledBackState), want: true,
		},
		"SameHead": {reason: "A home with an unchanged ledger has no new evidence.", old: shownHome(rolledBackState), object: shownHome(rolledBackState)},
		"Unjudged": {
			reason: "A home whose revision begins, or continues, requeues the other repositories.",
			old:    shownHome(ledger.State{}), object: shownHome(unjudged), want: true,
		},
		"SamePosition": {
			reason: "A home whose revision stays at its step has no new evidence.",
			old:    shownHome(unjudged), object: shownHome(unjudged),
		},
		"Refused": {
			reason: "A follower that refuses the revision requeues the home.",
			old:    shownFollower(v1alpha1.ReasonPushing), object: shownFollower(v1alpha1.ReasonPolicyDenied), want: true,
		},
		"Delivered": {
			reason: "A follower that has the revision requeues the home.",
			old:    shownFollower(v1alpha1.ReasonPushing), object: shownFollower(v1alpha1.ReasonDelivered), want: true,
		},
		"Pushing": {reason: "A follower that pushes has no evidence yet.", old: shownFollower(""), object: shownFollower(v1alpha1.ReasonPushing)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := false
			if tc.old == nil {
				got = HasNewStatement().Create(event.CreateEvent{Object: tc.object})
			}
			if tc.old != nil {
				got = HasNewStatement().Update(event.UpdateEvent{ObjectOld: tc.old, ObjectNew: tc.object})
			}
			if got != tc.want {
				t.Errorf("\n%s\nHasNewStatement(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
	if HasNewStatement().Delete(event.DeleteEvent{Object: judgedGate(rolloutv1alpha1.GateFailed)}) {
		t.Error("\nA deleted Gate is not evidence.\nDelete(...): want false, got true")
	}
}

func TestIsNewRequest(t *testing.T) {
	done := abortRequest("done")
	done.Status.SetConditions(xpv2.Condition{Type: rolloutv1alpha1.TypeCompleted, Status: corev1.ConditionTrue, Reason: "Done"})
	if isNewRequest().Create(event.CreateEvent{Object: done}) || !isNewRequest().Create(event.CreateEvent{Object: abortRequest("open")}) {
		t.Error("\nAn open request requeues the home, and a closed request does not.")
	}
}
