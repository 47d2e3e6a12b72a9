package gitdelivery

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// judgedGate returns a Gate of the claim of deliveries, with a verdict.
func judgedGate(v rolloutv1alpha1.GateVerdict) *rolloutv1alpha1.Gate {
	g := &rolloutv1alpha1.Gate{ObjectMeta: controlled()}
	g.Name = "web-step"
	g.Spec.ForProvider.ClaimRef = delivery("web", wish{}).Spec.ForProvider.ClaimRef
	g.Spec.ForProvider.Position, g.Status.AtProvider.Position = &ledger.Position{Revision: 2}, &ledger.Position{Revision: 2}
	g.Status.AtProvider.Verdict = v
	g.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: "Failed", ObservedGeneration: 1})
	return g
}

// observedSync returns a SiteSync of the claim of deliveries, which gives a reason.
func observedSync(reason xpv2.ConditionReason) *v1alpha1.SiteSync {
	s := &v1alpha1.SiteSync{ObjectMeta: controlled()}
	s.Name = "web-sync"
	s.Spec.ForProvider.ClaimRef = delivery("web", wish{}).Spec.ForProvider.ClaimRef
	s.Status.AtProvider.Position = &ledger.Position{Revision: 2}
	s.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: reason, ObservedGeneration: 1})
	return s
}

// shownHome returns a home with a mandate that it acts by, whose status shows a state.
func shownHome(s ledger.State) *v1alpha1.GitDelivery {
	d := newHome("web")
	d.OwnerReferences = controlled().OwnerReferences
	d.Status.AtProvider.Ledger, d.Status.AtProvider.Mandate = &s, &v1alpha1.MandateStatus{Revision: 2}
	return d
}

// shownFollower returns a delivery to another repository that gives a reason for revision 2.
func shownFollower(reason xpv2.ConditionReason) *v1alpha1.GitDelivery {
	d, position := newHome(elsewhere), ledger.Position{Epoch: 1, Revision: 2}
	d.OwnerReferences = controlled().OwnerReferences
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

// drainedSync returns a SiteSync of a Site whose track green gets no requests, and has none under way or some.
func drainedSync(isIdle bool) *v1alpha1.SiteSync {
	s := observedSync("Live")
	s.Status.AtProvider.Sites = []v1alpha1.SiteObservation{{Name: "edge1", Traffic: &v1alpha1.SiteTrafficObservation{
		Tracks: []v1alpha1.TrackObservation{{Name: "green", Idle: isIdle, ProvenAt: &ledger.Position{Revision: 2}}},
	}}}
	return s
}

func TestSaidOtherThings(t *testing.T) {
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
		"Measured": {reason: "A Gate that measures on says nothing.", old: judgedGate(""), object: judgedGate("")},
		"SameVerdict": {
			reason: "A verdict that is there already says nothing.",
			old:    judgedGate(rolloutv1alpha1.GateFailed), object: judgedGate(rolloutv1alpha1.GateFailed),
		},
		"New":         {reason: "A Gate that comes with its verdict, after a restart, says that.", object: judgedGate(rolloutv1alpha1.GateFailed), want: true},
		"NewUnjudged": {reason: "A Gate that comes without a verdict says nothing.", object: judgedGate("")},
		"Failed":      {reason: "A Site that failed requeues a home.", old: observedSync("Syncing"), object: observedSync("Failed"), want: true},
		"SameReason":  {reason: "A SiteSync that gives the same reason says nothing.", old: observedSync("Failed"), object: observedSync("Failed")},
		"NextPosition": {
			reason: "The same reason about another position requeues a home.",
			old:    observedSync("Failed"), object: later(observedSync("Failed")), want: true,
		},
		"Stale":    {reason: "A condition of a SiteSync about an earlier generation is no evidence.", old: &v1alpha1.SiteSync{}, object: stale},
		"Draining": {reason: "A track that drains on says nothing.", old: drainedSync(false), object: drainedSync(false)},
		"Drained":  {reason: "A track whose requests have ended requeues a home.", old: drainedSync(false), object: drainedSync(true), want: true},
		"Other":    {reason: "An object of another kind says nothing.", old: site("edge1"), object: site("edge1")},
		"Rejected": {
			reason: "A home whose ledger rejects the revision requeues the other repositories.",
			old:    shownHome(unjudged), object: shownHome(rejectedState), want: true,
		},
		"RolledBack": {
			reason: "A home whose rollback begins requeues the other repositories.",
			old:    shownHome(rejectedState), object: shownHome(rolledBackState), want: true,
		},
		"SameHead": {reason: "A home whose ledger stays says nothing.", old: shownHome(rolledBackState), object: shownHome(rolledBackState)},
		"Unjudged": {
			reason: "A home whose revision begins, or goes on, requeues the other repositories.",
			old:    shownHome(ledger.State{}), object: shownHome(unjudged), want: true,
		},
		"SamePosition": {
			reason: "A home whose revision stays at its step says nothing.",
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
		"Pushing": {reason: "A follower that is under way says nothing.", old: shownFollower(""), object: shownFollower(v1alpha1.ReasonPushing)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := false
			if tc.old == nil {
				got = saidOtherThings().Create(event.CreateEvent{Object: tc.object})
			}
			if tc.old != nil {
				got = saidOtherThings().Update(event.UpdateEvent{ObjectOld: tc.old, ObjectNew: tc.object})
			}
			if got != tc.want {
				t.Errorf("\n%s\nsaidOtherThings(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
	if saidOtherThings().Delete(event.DeleteEvent{Object: judgedGate(rolloutv1alpha1.GateFailed)}) {
		t.Error("\nA Gate that is gone proves nothing.\nDelete(...): want false, got true")
	}
}

// TestRequestsForWitness has a home with a mandate, one without, one of another deployment, and a follower.
func TestRequestsForWitness(t *testing.T) {
	homes := map[string]func(d *v1alpha1.GitDelivery){
		"mandated": func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate = &v1alpha1.Mandate{} },
		"plain":    func(*v1alpha1.GitDelivery) {},
		"other": func(d *v1alpha1.GitDelivery) {
			d.Spec.ForProvider.Mandate, d.OwnerReferences[0].UID = &v1alpha1.Mandate{}, "other"
		},
		"follower": func(d *v1alpha1.GitDelivery) {
			d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy = nil, &ledger.State{}
		},
	}
	b := cacheclient.Indexer{ClientBuilder: kubefake.NewClientBuilder().WithScheme(scheme(t))}
	for name, change := range homes {
		d := newHome(name)
		d.OwnerReferences = controlled().OwnerReferences
		change(d)
		b.WithObjects(d)
	}
	if err := usage.Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	w := waker{kube: b.Build(), log: logging.NewNopLogger()}
	elsewhere := judgedGate(rolloutv1alpha1.GateFailed)
	elsewhere.Namespace = "team-b"
	cases := map[string]struct {
		reason string
		object client.Object
		want   []string
	}{
		"Gate": {
			reason: "A Gate requeues the home with a mandate that its controller has.",
			object: judgedGate(rolloutv1alpha1.GateFailed), want: []string{"mandated"},
		},
		"Sync":      {reason: "A SiteSync requeues the home with a mandate that its controller has.", object: observedSync("Failed"), want: []string{"mandated"}},
		"Namespace": {reason: "A Gate of another namespace requeues no home.", object: elsewhere},
		"Other":     {reason: "An object of another kind requeues no home.", object: site("edge1")},
		"Home":      {reason: "A home requeues the other repositories.", object: shownHome(ledger.State{}), want: []string{"follower"}},
		"Follower":  {reason: "Another repository requeues the home with a mandate.", object: shownFollower(v1alpha1.ReasonDelivered), want: []string{"mandated"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range w.requestsForWitness(t.Context(), tc.object) {
				got = append(got, r.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrequestsForWitness(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClosedSites changes the Site of a later tree.
func TestClosedSites(t *testing.T) {
	north := map[string]string{"region": "north"}
	cases := map[string]struct {
		reason      string
		matchLabels map[string]string
		change      func(s *catalogv1alpha1.Site)
		want        map[string]bool
	}{
		"Same": {reason: "A Site gets its later tree.", change: func(*catalogv1alpha1.Site) {}, want: map[string]bool{}},
		"Labels": {
			reason: "A Site with the labels of the selector gets its later tree, whatever other labels it has.", matchLabels: north,
			change: func(s *catalogv1alpha1.Site) { s.Labels = map[string]string{"region": "north", "tier": "a"} }, want: map[string]bool{},
		},
		"LostLabel": {
			reason: "A Site that lost a label of the selector gets no later tree.", matchLabels: north,
			change: func(s *catalogv1alpha1.Site) { s.Labels = map[string]string{"tier": "a"} }, want: map[string]bool{"edge1": true},
		},
		"OtherLabel": {
			reason: "A Site with another value of a label gets no later tree.", matchLabels: north,
			change: func(s *catalogv1alpha1.Site) { s.Labels = map[string]string{"region": "south"} }, want: map[string]bool{"edge1": true},
		},
		"Moved": {
			reason: "A Site with another directory gets no later tree.",
			change: func(s *catalogv1alpha1.Site) { s.Spec.Repository.Path = "clusters/moved" }, want: map[string]bool{"edge1": true},
		},
		"Layout": {
			reason: "A Site with another layout gets no later tree.",
			change: func(s *catalogv1alpha1.Site) { s.Spec.Repository.Layout = catalogv1alpha1.LayoutManifests }, want: map[string]bool{"edge1": true},
		},
		"Forbidden": {
			reason: "A Site that the namespace may not use gets no later tree.",
			change: func(s *catalogv1alpha1.Site) { s.Spec.AllowedNamespaces = nil }, want: map[string]bool{"edge1": true},
		},
		"Missing": {reason: "A Site that is missing gets no later tree.", want: map[string]bool{"edge1": true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := delivery("web", wish{}).Spec.ForProvider
			p.Later = []v1alpha1.LaterTree{{Tree: desired(t, "edge1", webAtE1, "b"), Revision: 2, Step: 1}}
			sites := map[string]*catalogv1alpha1.Site{}
			if tc.change != nil {
				sites["edge1"] = site("edge1")
				tc.change(sites["edge1"])
			}
			if diff := cmp.Diff(tc.want, closedSites(p, tc.matchLabels, sites)); diff != "" {
				t.Errorf("\n%s\nclosedSites(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDeliveredByPath has a repository with the directory of the present step, that of a later step, and another one.
func TestDeliveredByPath(t *testing.T) {
	at := func(path string) v1alpha1.Tree { return v1alpha1.Tree{Branch: "main", Path: path} }
	f := facts{spec: v1alpha1.GitDeliveryParameters{Trees: []v1alpha1.Tree{at("first")}, Later: []v1alpha1.LaterTree{{Tree: at("second")}, {Tree: at("third")}}}}
	for _, path := range []string{"first", "second", "other"} {
		f.delivered = append(f.delivered, state.Tree{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{Path: path, Tree: "tree of " + path}})
	}
	want := map[string]v1alpha1.DeliveredTree{"first": {Path: "first", Tree: "tree of first"}, "second": {Path: "second", Tree: "tree of second"}}
	if diff := cmp.Diff(want, f.deliveredByPath()); diff != "" {
		t.Errorf("\nThe directories of all steps are known where they were delivered.\ndeliveredByPath(): -want, +got:\n%s", diff)
	}
}
