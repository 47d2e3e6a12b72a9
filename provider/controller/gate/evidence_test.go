package gate

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/meter"
)

// delivered is a delivery that brought the Site to the position.
func delivered() *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web", Generation: 1}}
	d.Spec.ForProvider = deliveryv1alpha1.GitDeliveryParameters{ClaimRef: claim(), Position: position(), Trees: []deliveryv1alpha1.Tree{{Site: "edge1"}}}
	d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: *position()}
	d.SetConditions(at(xpv2.ReconcileSuccess(), noon()), at(xpv2.Available().WithObservedGeneration(1), noon()))
	return d
}

// rollBackByMandate lets a home show a rollback in its ledger, which its spec does not name.
func rollBackByMandate(d *deliveryv1alpha1.GitDelivery) {
	s := ledger.State{
		Head: ledger.Head{Ledger: "demo", Epoch: 1, Seq: 4, ID: "rolled-back"}, Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Attempt: 1},
		Verdict: &ledger.Verdict{Result: ledger.VerdictRejected},
	}
	d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{}
	d.Spec.ForProvider.Mandate = &deliveryv1alpha1.Mandate{Rules: step.Rules, Ledger: "demo", Epoch: 1, Revision: 2, May: []step.Kind{step.KindRollBack}}
	d.Status.AtProvider.Ledger, d.Status.AtProvider.Mandate = &s, &deliveryv1alpha1.MandateStatus{Revision: 2}
}

// at a time, a condition came to be.
func at(c xpv2.Condition, t time.Time) xpv2.Condition {
	c.LastTransitionTime = metav1.NewTime(t)
	return c
}

// TestEvidenceOfManyDeployments has other deployments in the namespace. A Gate reads none of their deliveries, however many there are.
func TestEvidenceOfManyDeployments(t *testing.T) {
	w := newWorld(t, quick("errors"))
	for i := range 20 {
		d := delivered()
		d.Name = fmt.Sprintf("other-%d", i)
		d.Spec.ForProvider.ClaimRef.Name = d.Name
		w.must(w.kube.Create(t.Context(), d))
	}
	w.must(w.kube.Create(t.Context(), delivered()))
	read := map[string]bool{}
	w.c.kube = interceptor.NewClient(w.kube.(client.WithWatch), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
		err := c.List(ctx, l, opts...)
		if ds, ok := l.(*deliveryv1alpha1.GitDeliveryList); ok {
			for i := range ds.Items {
				read[ds.Items[i].Name] = true
			}
		}
		return err
	}})
	w.reconcile()
	if diff := cmp.Diff(map[string]bool{"web": true}, read); diff != "" {
		t.Errorf("Deliveries of other deployments prove nothing.\nread GitDeliveries: -want, +got:\n%s", diff)
	}
}

// unobserve the Site: no engine reports its tree.
func (w *world) unobserve(isLive *bool) {
	w.Helper()
	s := w.site()
	s.Spec.Engine = catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone, UnobservedIsLive: isLive}
	w.must(w.kube.Update(w.Context(), s))
}

// TestUnobserved is of Sites without an engine. The live status in their SiteSync counts for nothing there.
func TestUnobserved(t *testing.T) {
	type change = func(*deliveryv1alpha1.GitDelivery)
	cases := map[string]struct {
		reason string
		isLive *bool
		change change
		want   bool
	}{
		"Delivered": {reason: "A delivery counts as live if the spec of the Site says so.", isLive: new(true), want: true},
		"LaterStep": {reason: "A delivery in a later step counts as live.", isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) {
			d.Spec.ForProvider.Position.Step, d.Status.AtProvider.Record.Position.Step = 1, 1
		}, want: true},
		"Followed": {
			reason: "A delivery that followed the ledger to its first wave at the Site counts as live.", isLive: new(true),
			change: func(d *deliveryv1alpha1.GitDelivery) {
				p := &d.Spec.ForProvider
				p.Later, p.Trees = []deliveryv1alpha1.LaterTree{{Tree: p.Trees[0]}}, nil
			}, want: true,
		},
		"Mandated": {
			reason: "A delivery that the provider rolls back by a mandate does not count.",
			isLive: new(true),
			change: rollBackByMandate,
		},
		"Unsaid": {reason: "A delivery does not count as live if the spec of the Site does not mention it.", isLive: nil},
		"Denied": {reason: "A delivery does not count as live if the spec of the Site denies it.", isLive: new(false)},
		"OtherSite": {
			reason: "The delivery of another Site does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Trees[0].Site = "edge2" },
		},
		"OtherClaim": {
			reason: "The delivery of another claim does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.ClaimRef.Name = "other" },
		},
		"OtherRevision": {
			reason: "The delivery of another revision does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Revision = 1 },
		},
		"OtherEpoch": {
			reason: "The delivery of a revision with that number from before a loss does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Epoch = 0 },
		},
		"EarlierStep": {
			reason: "The delivery of an earlier step does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Step = -1 },
		},
		"GoingBack": {
			reason: "A delivery that is rolled back does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Position.Attempt = 1 },
		},
		"NotYet": {
			reason: "A delivery to a repository without a record does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record = nil },
		},
		"NotReady": {
			reason: "A delivery that is not ready does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.SetConditions(xpv2.Creating().WithObservedGeneration(1)) },
		},
		"OldStatus": {
			reason: "A status about an older generation does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.Generation = 2 },
		},
		"Trouble": {
			reason: "A delivery that was not reconciled does not count.",
			isLive: new(true), change: func(d *deliveryv1alpha1.GitDelivery) { d.SetConditions(xpv2.ReconcilePaused()) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, quick("errors"))
			recording := &recorder{measurer: w.c.meter}
			w.c.meter = recording
			w.unobserve(tc.isLive)
			d := delivered()
			if tc.change != nil {
				tc.change(d)
			}
			w.must(w.kube.Create(t.Context(), d))
			w.reconcile()
			want := "NotLive//Pending"
			if tc.want {
				want = "Measuring//Running"
			}
			if got := w.state(); got != want {
				t.Errorf("%s\nstate: want %s, got %s", tc.reason, want, got)
			}
			if len(recording.tasks) != 1 || recording.tasks[0].LiveSince.IsZero() == tc.want {
				t.Errorf("%s\nmeasured: %+v", tc.reason, recording.tasks)
			}
		})
	}
}

// TestUnobservedAfterMove is of a Site whose deployment moved to another repository: until the revision is verified it has a GitDelivery in each.
func TestUnobservedAfterMove(t *testing.T) {
	cases := map[string]struct {
		reason  string
		left    string
		arrived bool
		want    string
	}{
		"LeftFirst": {
			reason: "The delivery of the previous repository does not hide the later delivery of the list.",
			left:   "app", arrived: true, want: "Measuring//Running",
		},
		"LeftLast": {
			reason: "The delivery of the previous repository does not count after the delivery of the revision.",
			left:   "web-z", arrived: true, want: "Measuring//Running",
		},
		"NotYet": {reason: "A Site is not live while no repository has the revision.", left: "app", want: "NotLive//Pending"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, quick("errors"))
			w.unobserve(new(true))
			left, next := delivered(), delivered()
			left.Name = tc.left
			left.Spec.ForProvider.Position.Revision, left.Status.AtProvider.Record.Position.Revision = 1, 1
			if !tc.arrived {
				next.Status.AtProvider.Record = nil
			}
			w.must(w.kube.Create(t.Context(), left))
			w.must(w.kube.Create(t.Context(), next))
			w.reconcile()
			if got := w.state(); got != tc.want {
				t.Errorf("%s\nstate: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

// TestUnobservedSince counts a delivered tree from its first observation, also after a restart.
func TestUnobservedSince(t *testing.T) {
	w := newWorld(t, quick("errors"))
	w.unobserve(new(true))
	noon, recording := noon(), &recorder{measurer: nothing{}}
	w.c.meter, w.c.now = recording, func() time.Time { return noon }
	w.must(w.kube.Create(t.Context(), delivered()))
	for _, later := range []time.Duration{0, time.Minute, time.Hour} {
		w.c.now = func() time.Time { return noon.Add(later) }
		w.c.memory = newNoteMemory()
		w.reconcile()
		if got := recording.tasks[0].LiveSince; !got.Equal(noon) {
			t.Errorf("%s later it is live since %s, want %s", later, got, noon)
		}
	}
}

// TestUnobservedAgain restarts the window after a divergence or a gap in the observations: the window never reaches back over either.
func TestUnobservedAgain(t *testing.T) {
	cases := map[string]struct {
		reason   string
		lost, is xpv2.Condition
	}{
		"Diverged": {
			reason: "A delivery that was changed in Git counts from when it was restored.",
			lost:   xpv2.Unavailable().WithObservedGeneration(1), is: xpv2.Available().WithObservedGeneration(1),
		},
		"NotLooked": {
			reason: "A delivery that could not be observed counts from when it was again.",
			lost:   xpv2.ReconcileError(errors.New("boom")), is: xpv2.ReconcileSuccess(),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, quick("errors"))
			w.unobserve(new(true))
			now, recording := noon(), &recorder{measurer: nothing{}}
			w.c.meter, w.c.now = recording, func() time.Time { return now }
			d := delivered()
			w.must(w.kube.Create(t.Context(), d))
			w.reconcile()
			starts := []time.Time{recording.tasks[0].LiveSince}
			for _, c := range []xpv2.Condition{tc.lost, tc.is} {
				now = now.Add(10 * time.Minute)
				d.SetConditions(at(c, now))
				w.must(w.kube.Update(t.Context(), d))
				w.c.memory = newNoteMemory()
				w.reconcile()
				starts = append(starts, recording.tasks[0].LiveSince.UTC())
			}
			if diff := cmp.Diff([]time.Time{noon(), {}, noon().Add(20 * time.Minute)}, starts); diff != "" {
				t.Errorf("%s\nlive since: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// nothing measures, so that a check goes on.
type nothing struct{}

func (nothing) Forget(types.NamespacedName) {}

func (nothing) Measure(_ types.NamespacedName, _ types.UID, tasks []meter.Task) []gates.Judgement {
	return make([]gates.Judgement, len(tasks))
}

// TestSiteSyncOfClaim finds the SiteSync that proves the live position of a Gate from before the field existed, and the SiteSync
// wakes the Gate.
func TestSiteSyncOfClaim(t *testing.T) {
	w := newWorld(t, quick("errors"))
	s := &deliveryv1alpha1.SiteSync{}
	w.must(w.kube.Get(t.Context(), types.NamespacedName{Namespace: "team-a", Name: "web"}, s))
	otherSync := s.DeepCopy()
	otherSync.SetName("other")
	otherSync.Spec.ForProvider.ClaimRef.Name = "other"
	for _, isNamed := range []bool{true, false} {
		w.name(isNamed)
		if got := []int{w.wokenBy(s), w.wokenBy(otherSync)}; !cmp.Equal([]int{1, 0}, got) {
			t.Errorf("A Gate is woken by its own SiteSync alone, named (%t) or found by its claim: want [1 0] requests, got %v", isNamed, got)
		}
	}
	stranger := &deliveryv1alpha1.SiteSync{}
	stranger.SetNamespace("team-a")
	stranger.SetName("a") // The foreign SiteSync comes first in the list.
	stranger.Spec.ForProvider.ClaimRef = claim()
	stranger.Spec.ForProvider.ClaimRef.Name = "other"
	w.must(w.kube.Create(t.Context(), stranger))
	w.until("Passed/Passed/Passed")
}
