package transition

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/tracing"
)

// recordedTraces are the lines of the exported traces.
type recordedTraces []string

// Export adds a line for each span, with seconds since the first change of the status.
func (r *recordedTraces) Export(v tracing.Revision) {
	began := clock().Add(-20 * time.Minute)
	line := func(s tracing.Span) string {
		traceName := v.UID
		if v.Epoch > 0 {
			traceName += fmt.Sprintf(" epoch %d", v.Epoch)
		}
		parts := []string{fmt.Sprintf("%s revision %d %s %.0f-%.0f", traceName, v.Number, s.Key, s.Began.Sub(began).Seconds(), s.Ended.Sub(began).Seconds())}
		for _, name := range []string{"intentplane.site", "vcs.ref.head.revision", "intentplane.verdict", "intentplane.failed_checks", "intentplane.request"} {
			if s.Attributes[name] != "" {
				parts = append(parts, s.Attributes[name])
			}
		}
		if s.Failure != "" {
			parts = append(parts, "failed: "+s.Failure)
		}
		return strings.Join(parts, " ")
	}
	if !v.Root.Began.IsZero() {
		root := v.Root
		root.Key = "root"
		*r = append(*r, line(root))
	}
	for _, s := range v.Spans {
		*r = append(*r, line(s))
	}
}

// after returns a time so many seconds after the first change of the status.
func after(seconds int) *metav1.Time {
	return new(metav1.NewTime(clock().Add(-20*time.Minute + time.Duration(seconds)*time.Second)))
}

// composed returns the observed objects of a revision: two Sites, and a Gate.
func composed(revision int64, owner string, verdict rolloutv1alpha1.GateVerdict) []client.Object {
	position := &ledger.Position{Revision: revision}
	ref := rolloutv1alpha1.ClaimReference{APIGroup: gvk().Group, Kind: gvk().Kind, Namespace: "team-a", Name: owner}
	sync := &deliveryv1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: owner + "-sites"}}
	sync.Spec.ForProvider.ClaimRef, sync.Status.AtProvider.Position = ref, position
	sync.Status.AtProvider.Sites = []deliveryv1alpha1.SiteObservation{
		{Name: "edge1", Commit: "8d21c0e", StartedAt: after(33), LiveSince: after(36)},
		{Name: "edge2", StartedAt: after(34), LiveSince: after(38)},
		{Name: "edge3", StartedAt: after(34)},
	}
	g := &rolloutv1alpha1.Gate{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: owner + "-gate"}}
	g.Spec.ForProvider.ClaimRef = ref
	g.Status.AtProvider = rolloutv1alpha1.GateObservation{Position: position, StartedAt: after(38), EndedAt: after(47), Verdict: verdict}
	if verdict != rolloutv1alpha1.GatePassed {
		g.Status.AtProvider.Checks = []rolloutv1alpha1.CheckResult{{Name: "latency_p99", Site: "edge2", Phase: rolloutv1alpha1.CheckFailed}, {Name: "errors", Site: "edge1", Phase: rolloutv1alpha1.CheckPassed}}
	}
	return []client.Object{sync, g}
}

// recordedIn returns a GitDelivery whose ledger is in an epoch.
func recordedIn(epoch int64) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-1"}}
	d.Spec.ForProvider.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: gvk().Group, Kind: gvk().Kind, Namespace: "team-a", Name: "shop"}
	d.Status.AtProvider.Ledger = &ledger.State{Head: ledger.Head{Epoch: epoch, Seq: 1}}
	return d
}

func TestTraceOfRevision(t *testing.T) {
	cases := map[string]struct {
		reason string
		// objects exist beside the deployment, and follow changes it.
		objects []client.Object
		follow  func(*testEnv)
		want    []string
	}{
		"Verified": {
			reason:  "A revision that is verified has its parts in their order, and two reconciles export it once.",
			objects: slices.Concat(composed(1, "shop", rolloutv1alpha1.GatePassed), composed(1, "other", rolloutv1alpha1.GateFailed)),
			follow: func(w *testEnv) {
				w.status.Delivery.GitCommit = "8d21c0e"
				w.status.Requests = []deploymentv1alpha1.RequestStatus{{Name: "again", Result: string(rolloutv1alpha1.ResultTaken)}}
				w.moveTo(1, "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Succeeded")
				w.mustReconcile()
				w.mustReconcile()
			},
			want: []string{
				"u1 revision 1 root 0-50 8d21c0e again", "u1 revision 1 order 0-30", "u1 revision 1 push 30-33 8d21c0e",
				"u1 revision 1 sync edge1 33-36 edge1 8d21c0e", "u1 revision 1 sync edge2 34-38 edge2", "u1 revision 1 gate shop-gate 38-47 Passed",
				"u1 revision 1 verdict 47-50",
			},
		},
		"RolledBack": {
			reason: "A rejected revision says why, and another process adds its rollback.", objects: composed(1, "shop", rolloutv1alpha1.GateFailed),
			follow: func(w *testEnv) {
				w.moveTo(1, "Pending", "Delivering", "Validating", "RollingBack")
				w.status.Phase, w.status.Rollback = "RollingBack", &deploymentv1alpha1.RollbackStatus{Active: true, Reason: "GateFailed"}
				w.mustReconcile()
				w.restartWithTracer(w.r.tracer)
				w.moveTo(1, "Succeeded")
				w.status.Phase = "Succeeded"
				w.mustReconcile()
			},
			want: []string{
				"u1 revision 1 root 0-30 failed: GateFailed", "u1 revision 1 order 0-10", "u1 revision 1 push 10-33",
				"u1 revision 1 sync edge1 33-36 edge1 8d21c0e", "u1 revision 1 sync edge2 34-38 edge2",
				"u1 revision 1 gate shop-gate 38-47 Failed latency_p99 at edge2 failed: Failed",
				"u1 revision 1 verdict 47-30 failed: GateFailed", "u1 revision 1 rollback 30-40",
			},
		},
		"MovedOn": {
			reason:  "Sites that go on to the rollback at once are as they were when the revision began to be validated.",
			objects: composed(1, "shop", rolloutv1alpha1.GateFailed),
			follow: func(w *testEnv) {
				w.moveTo(1, "Pending", "Delivering", "Validating")
				w.mustReconcile()
				w.moveSites(2)
				w.moveTo(1, "RollingBack")
				w.status.Rollback = &deploymentv1alpha1.RollbackStatus{Active: true, Reason: "GateFailed"}
				w.mustReconcile()
			},
			want: []string{
				"u1 revision 1 root 0-30 failed: GateFailed", "u1 revision 1 order 0-10", "u1 revision 1 push 10-33",
				"u1 revision 1 sync edge1 33-36 edge1 8d21c0e", "u1 revision 1 sync edge2 34-38 edge2",
				"u1 revision 1 gate shop-gate 38-47 Failed latency_p99 at edge2 failed: Failed",
				"u1 revision 1 verdict 47-30 failed: GateFailed",
			},
		},
		"Unobserved": {
			reason: "A span without an object is left out.", objects: composed(2, "shop", rolloutv1alpha1.GatePassed),
			follow: func(w *testEnv) {
				w.moveTo(1, "Pending", "Delivering", "Validating", "Succeeded")
				w.mustReconcile()
			},
			want: []string{"u1 revision 1 root 0-30", "u1 revision 1 order 0-10", "u1 revision 1 push 10-20", "u1 revision 1 verdict 20-30"},
		},
		"Again": {
			reason: "A revision that succeeds again, after a spec that could not be carried out, keeps its trace.",
			follow: func(w *testEnv) {
				w.moveTo(1, "Pending", "Delivering", "Validating", "Succeeded")
				w.mustReconcile()
				w.restartWithTracer(w.r.tracer)
				w.moveTo(1, "Failed", "Pending", "Delivering", "Validating", "Succeeded")
				w.mustReconcile()
			},
			want: []string{"u1 revision 1 root 0-30", "u1 revision 1 order 0-10", "u1 revision 1 push 10-20", "u1 revision 1 verdict 20-30"},
		},
		"TakenBack": {
			reason: "A verified revision that a user rolls back keeps its root, and gets its rollback.",
			follow: func(w *testEnv) {
				w.moveTo(1, "Pending", "Delivering", "Validating", "Succeeded")
				w.mustReconcile()
				w.restartWithTracer(w.r.tracer)
				w.moveTo(1, "RollingBack", "Succeeded")
				w.mustReconcile()
			},
			want: []string{
				"u1 revision 1 root 0-30", "u1 revision 1 order 0-10", "u1 revision 1 push 10-20", "u1 revision 1 verdict 20-30",
				"u1 revision 1 rollback 40-50",
			},
		},
		"Epoch": {
			reason: "A trace has the epoch of the ledger, in which its revision is unique.", objects: []client.Object{recordedIn(3)},
			follow: func(w *testEnv) {
				w.moveTo(1, "Pending", "Delivering", "Validating", "Succeeded")
				w.mustReconcile()
			},
			want: []string{
				"u1 epoch 3 revision 1 root 0-30", "u1 epoch 3 revision 1 order 0-10", "u1 epoch 3 revision 1 push 10-20", "u1 epoch 3 revision 1 verdict 20-30",
			},
		},
		"UnderWay": {
			reason: "A revision without a verdict is not exported.",
			follow: func(w *testEnv) {
				w.moveTo(1, "Pending", "Delivering", "Validating")
				w.mustReconcile()
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, got := newTestEnv(t), new(recordedTraces)
			w.r.tracer = got
			for _, o := range tc.objects {
				if err := w.kube.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			tc.follow(w)
			if diff := cmp.Diff(recordedTraces(tc.want), *got); diff != "" {
				t.Errorf("\n%s\nspans: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// moveSites lets the SiteSync go on to another revision.
func (w *testEnv) moveSites(revision int64) {
	w.t.Helper()
	sync := &deliveryv1alpha1.SiteSync{}
	if err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: "team-a", Name: "shop-sites"}, sync); err != nil {
		w.t.Fatal(err)
	}
	sync.Status.AtProvider.Position, sync.Status.AtProvider.Sites = &ledger.Position{Revision: revision}, nil
	if err := w.kube.Update(w.t.Context(), sync); err != nil {
		w.t.Fatal(err)
	}
}

// restartWithTracer replaces the process of the provider by a process that exports to the same collector.
func (w *testEnv) restartWithTracer(tracer Tracer) {
	w.t.Helper()
	w.restart()
	w.r.tracer = tracer
}

func TestHasSucceededBefore(t *testing.T) {
	cases := map[string]struct {
		reason string
		seen   []change
		want   bool
	}{
		"First": {reason: "A revision that comes to its end has not done so before.", seen: []change{{Index: 1, To: "Validating", Revision: 4}}},
		"Again": {
			reason: "A revision that passes through its phases again has succeeded before.",
			seen:   []change{{Index: 1, To: "Succeeded", Revision: 4}, {Index: 2, To: "RollingBack", Revision: 4}}, want: true,
		},
		"Later": {reason: "A later step does not count.", seen: []change{{Index: 9, To: "Succeeded", Revision: 4}}},
		"NewEpoch": {
			reason: "A revision that had the number in an earlier epoch does not count.",
			seen: []change{
				{Index: 1, To: "Succeeded", Revision: 4}, {Index: 2, To: "Succeeded", Revision: 5}, {Index: 3, To: "Validating", Revision: 4},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &phaseLog{seen: tc.seen}
			if got := s.hasSucceededBefore(step{change: change{Index: 7, To: "Succeeded", Revision: 4}}); got != tc.want {
				t.Errorf("\n%s\nhasSucceededBefore(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
