package deployment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// still is a story without faults, with Gates, in two waves where so asked. Its first revision has succeeded.
func still(t *testing.T, waves bool) *walk {
	t.Helper()
	w := newWalk(t, []*Core{New(plain{})}, 1)
	w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"latency_p99": "< 500ms"}
	w.in.Spec.DeliveryConfig.Waves = nil
	w.sites["edge3"].built = true
	if waves {
		w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}}}
	}
	w.wish(2)
	w.until("Succeeded/Succeeded 1")
	return w
}

// until plays rounds until the deployment has a standing. It returns the output of the function then.
func (w *walk) until(want string) *Output {
	w.t.Helper()
	out := &Output{}
	for range 40 {
		if out = w.round(); standing(out) == want {
			return out
		}
	}
	w.t.Fatalf("it does not come to %s: %s: %s\n%s", want, standing(out), out.Status.Message, strings.Join(w.trace, "\n"))
	return nil
}

func standing(out *Output) string {
	return fmt.Sprintf("%s/%s %d", out.Status.Phase, out.Status.Outcome, out.Status.Revision)
}

// path is the phases that were gone through for a revision.
func path(out *Output, revision int64) string {
	var phases []string
	for _, tr := range out.Status.Transitions {
		if tr.Revision == revision {
			phases = append(phases, string(tr.To))
		}
	}
	return strings.Join(phases, " ")
}

// runs are how many replicas the Sites run, as their trees say.
func (w *walk) runs() map[string]quality {
	out := map[string]quality{}
	for name, p := range w.sites {
		for _, id := range p.runs {
			out[name] = w.qualities[id]
		}
	}
	return out
}

func (w *walk) stays(reason, want string) {
	w.t.Helper()
	for range 10 {
		if out := w.round(); standing(out) != want {
			w.t.Fatalf("\n%s\nRun(...): want %s, got %s: %s", reason, want, standing(out), out.Status.Message)
		}
	}
}

// TestBackAndForth rolls back a revision that misses its objectives, stays there in all rounds, and goes on with the next revision.
func TestBackAndForth(t *testing.T) {
	w := still(t, false)
	w.wish(4)
	out := w.until("Succeeded/RolledBack 2")
	if diff := cmp.Diff("Pending Compiling Rendering Delivering Validating Failed RollingBack Succeeded", path(out, 2)); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]quality{"edge1": {}, "edge2": {}, "edge3": {}}, w.runs()); diff != "" {
		t.Errorf("running revisions: -want, +got:\n%s", diff)
	}
	w.wantCondition("The requested revision does not run.", out, deploymentv1alpha1.TypeStalled, corev1.ConditionTrue, deploymentv1alpha1.ReasonRolledBack)
	w.wantCondition("Something does.", out, deploymentv1alpha1.TypeAvailable, corev1.ConditionTrue, deploymentv1alpha1.ReasonRolledBack)
	w.wantCondition("It is rolled back.", out, deploymentv1alpha1.TypeRolledBack, corev1.ConditionTrue, deploymentv1alpha1.ReasonRolledBack)
	w.wantCondition("The Gate says why.", out, deploymentv1alpha1.TypeValidated, corev1.ConditionFalse, deploymentv1alpha1.ReasonGateFailed)
	if r := out.Status.Rollback; out.Ready || out.Status.LiveRevision != 1 || r == nil || r.Active || r.Attempts != 1 || r.Reason != "GateFailed" {
		t.Errorf("Run(...): ready %t, live %d, rollback %+v", out.Ready, out.Status.LiveRevision, out.Status.Rollback)
	}
	if r := out.Status.ValidationResults; len(r) != 3 || r[0].Passed || r[0].Threshold == "" {
		t.Errorf("Run(...): results %+v", out.Status.ValidationResults)
	}
	w.stays("It is held.", "Succeeded/RolledBack 2")
	w.in.Spec.RollbackConfig.MaxRetries, w.in.Spec.DeliveryConfig.SyncWaitTimeout = new(int32(5)), "20m"
	w.set("Site", "edge1", map[string]any{"p": "1"}, "spec", "parameters")
	w.stays("Policies and the catalog do not release it.", "Succeeded/RolledBack 2")
	w.losses()[1].do()
	w.until("Succeeded/RolledBack 2")
	w.stays("Nor does the loss of all objects.", "Succeeded/RolledBack 2")
	w.wish(3)
	w.until("Succeeded/Succeeded 3")
	w.wish(4)
	w.until("Succeeded/RolledBack 4")
	for name, r := range w.repos {
		if n := r.commits[try{epoch: 1, revision: 2, attempt: 1}]; n != 1 {
			t.Errorf("%s has %d commits for the way back from revision 2", name, n)
		}
	}
}

// TestWaveGoesBack lets the first of two waves fail: the second one is not touched.
func TestWaveGoesBack(t *testing.T) {
	w := still(t, true)
	baseline := len(w.repos["default"].did)
	w.wish(4)
	out := w.until("Succeeded/RolledBack 2")
	if diff := cmp.Diff(baseline, len(w.repos["default"].did)); diff != "" {
		t.Errorf("commits where the revision never came: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("Pending Compiling Rendering Delivering Failed RollingBack Succeeded", path(out, 2)); diff != "" {
		t.Errorf("transitions: -want, +got:\n%s", diff)
	}
}

// TestNoWayBack stops where there is nothing to do, and says so.
func TestNoWayBack(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*walk)
		want   string
		why    string
		// live revision that is known of.
		live int64
	}{
		"Off":     {reason: "The spec switches rollbacks off.", change: func(w *walk) { w.in.Spec.RollbackConfig.AutoRollback = new(false); w.wish(4) }, want: "Failed/Failed 2", why: deploymentv1alpha1.ReasonRollbackOff},
		"Refused": {reason: "A revision that every repository refused left nothing to restore.", change: func(w *walk) { w.repos["default"].refuses, w.repos["other"].refuses = true, true; w.wish(3) }, want: "Failed/Failed 2", why: deploymentv1alpha1.ReasonNothingToRestore, live: 1},
		"Spent": {
			reason: "The Sites do not come back.", want: "Failed/Failed 2", why: deploymentv1alpha1.ReasonAttemptsSpent,
			change: func(w *walk) {
				w.wish(4)
				w.until("Validating/ 2")
				for _, s := range w.sites {
					s.stuck = true
				}
			},
		},
		"Gone": {
			reason: "A target whose trees are gone cannot be restored.", want: "Failed/Failed 2", why: deploymentv1alpha1.ReasonAttemptsSpent,
			change: func(w *walk) {
				w.wish(4)
				w.until("Validating/ 2")
				for _, r := range w.repos {
					clear(r.objects)
				}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := still(t, false)
			tc.change(w)
			out := w.until(tc.want)
			for range 30 {
				out = w.round()
			}
			if diff := cmp.Diff(tc.want, standing(out)); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			w.wantCondition(tc.reason, out, deploymentv1alpha1.TypeRolledBack, corev1.ConditionFalse, tc.why)
			if c := conditionOf(out, deploymentv1alpha1.TypeStalled); c.Status != corev1.ConditionTrue || c.Message == "" {
				t.Errorf("\n%s\nRun(...): %+v", tc.reason, c)
			}
			if diff := cmp.Diff(tc.live, out.Status.LiveRevision); diff != "" {
				t.Errorf("\n%s\nRun(...): live revision: -want, +got:\n%s", tc.reason, diff)
			}
			if name == "Spent" && out.Status.Rollback.Attempts != 3 {
				t.Errorf("\n%s\nRun(...): %d attempts", tc.reason, out.Status.Rollback.Attempts)
			}
		})
	}
}

// TestWakesUp lets a failed rollback succeed once its Sites recover.
func TestWakesUp(t *testing.T) {
	w := still(t, false)
	w.wish(4)
	w.until("Validating/ 2")
	for _, s := range w.sites {
		s.stuck = true
	}
	w.until("RollingBack/ 2")
	w.until("Failed/Failed 2")
	for _, s := range w.sites {
		s.stuck = false
	}
	w.until("Succeeded/RolledBack 2")
}

// TestOrderedBack lets a user roll back a working revision.
func TestOrderedBack(t *testing.T) {
	w := still(t, false)
	w.wish(3)
	w.until("Succeeded/Succeeded 2")
	w.in.Spec.RollbackConfig.AutoRollback = new(false)
	w.ask("back", 2, action(rolloutv1alpha1.ActionRollbackTo), func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.ToRevision = new(int64(1)) })
	out := w.until("Succeeded/RolledBack 3")
	if r := out.Status.Requests; len(r) != 1 || r[0].Result != string(rolloutv1alpha1.ResultDone) {
		t.Errorf("Run(...): requests %+v", r)
	}
	reason := "A rollback that a user asked for is not a failure, and the message says how to go on."
	w.wantCondition(reason, out, deploymentv1alpha1.TypeStalled, corev1.ConditionFalse, deploymentv1alpha1.ReasonIdle)
	w.wantCondition(reason, out, deploymentv1alpha1.TypeReconciling, corev1.ConditionFalse, deploymentv1alpha1.ReasonRolledBack)
	want := "A user asked for the rollback: RolloutRequest back of ann. The Sites run revision 1 again. " +
		"To go on, change the intent, or deliver it again: kubectl intent retry " + w.in.Claim.Name + " -n " + w.in.Claim.Namespace + "."
	if diff := cmp.Diff(want, out.Status.Message); diff != "" {
		t.Errorf("\n%s\nRun(...): message: -want, +got:\n%s", reason, diff)
	}
	w.stays("It is held.", "Succeeded/RolledBack 3")
	w.ask("again", 3, action(rolloutv1alpha1.ActionRetry), uid("again"))
	out = w.until("Succeeded/Succeeded 4")
	if r := out.Status.Requests; len(r) != 2 || r[0].Result != string(rolloutv1alpha1.ResultStale) && r[1].Result != string(rolloutv1alpha1.ResultStale) {
		t.Errorf("Run(...): requests %+v", r)
	}
}

// TestRollbackToWhatRuns asks for a rollback to the revision that a rollback restored just before.
func TestRollbackToWhatRuns(t *testing.T) {
	w := still(t, false)
	w.wish(3)
	w.until("Succeeded/Succeeded 2")
	toFirst := func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.ToRevision = new(int64(1)) }
	w.ask("back", 2, action(rolloutv1alpha1.ActionRollbackTo), toFirst)
	out := w.until("Succeeded/RolledBack 3")
	if r := out.Status.Requests; len(r) != 1 || r[0].End != string(rolloutv1alpha1.EndRolledBack) {
		t.Errorf("Run(...): a rollback that is Done says how it ended: %+v", r)
	}
	w.ask("again", 3, action(rolloutv1alpha1.ActionRollbackTo), toFirst, uid("again"))
	w.stays("A rollback to the running revision changes nothing.", "Succeeded/RolledBack 3")
	answered := func(r deploymentv1alpha1.RequestStatus) bool {
		return r.Name == "again" && r.Result == string(rolloutv1alpha1.ResultNothingToRestore)
	}
	out = w.round()
	if !slices.ContainsFunc(out.Status.Requests, answered) {
		t.Errorf("Run(...): a rollback to the running revision is answered with NothingToRestore: %+v", out.Status.Requests)
	}
	w.wantCondition("A rollback to the running revision is not a failure.", out, deploymentv1alpha1.TypeStalled, corev1.ConditionFalse, deploymentv1alpha1.ReasonIdle)
}

// TestStepsOver rolls back a revision that fails after a user's rollback: to the user's target, and not to a withdrawn revision.
func TestStepsOver(t *testing.T) {
	w := still(t, false)
	holds := func() map[string]map[string]string {
		out := map[string]map[string]string{}
		for name, r := range w.repos {
			out[name] = maps.Clone(r.dirs)
		}
		return out
	}
	first := holds()
	w.wish(3)
	w.until("Succeeded/Succeeded 2")
	w.wish(6)
	w.until("Succeeded/Succeeded 3")
	w.ask("back", 3, action(rolloutv1alpha1.ActionRollbackTo), func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.ToRevision = new(int64(1)) })
	w.until("Succeeded/RolledBack 4")
	w.wish(4)
	w.until("Succeeded/RolledBack 5")
	if diff := cmp.Diff(first, holds()); diff != "" {
		t.Errorf("content of the repositories: -want, +got:\n%s", diff)
	}
}

// TestOneCommit: of several repositories the same one's commit is named each time.
func TestOneCommit(t *testing.T) {
	w := still(t, false)
	w.wish(4)
	w.until("Succeeded/RolledBack 2")
	for name, d := range w.deliveries {
		d.Status.AtProvider.History = []deliveryv1alpha1.HistoryEntry{{Revision: 1, Commit: "of " + name}}
		w.changed(name)
	}
	want := "of " + slices.Min(slices.Collect(maps.Keys(w.deliveries)))
	for range 20 {
		out := w.makeDecision(w.moment())
		if diff := cmp.Diff(want, out.Status.Rollback.PreviousCommit); diff != "" {
			t.Fatalf("status.rollback.previousCommit: -want, +got:\n%s", diff)
		}
	}
}

// TestFrozenGoesOn lets a begun revision come to its end although the spec cannot be understood any more.
func TestFrozenGoesOn(t *testing.T) {
	w := still(t, false)
	w.wish(4)
	w.until("Validating/ 2")
	w.say("{")
	for range 15 {
		w.round()
	}
	if diff := cmp.Diff(map[string]quality{"edge1": {}, "edge2": {}, "edge3": {}}, w.runs()); diff != "" {
		t.Errorf("running revisions: -want, +got:\n%s", diff)
	}
	w.wish(4)
	w.until("Succeeded/RolledBack 2")
}

// TestLostGoesBack loses a delivery while the spec cannot be understood, before a user rolls back: the content of its repository is not restored yet.
func TestLostGoesBack(t *testing.T) {
	for _, repository := range []string{"default", "other"} {
		t.Run(repository, func(t *testing.T) {
			w := still(t, false)
			first := map[string]map[string]string{"default": maps.Clone(w.repos["default"].dirs), "other": maps.Clone(w.repos["other"].dirs)}
			w.wish(3)
			w.until("Succeeded/Succeeded 2")
			w.say("{")
			w.ask("back", 2, action(rolloutv1alpha1.ActionRollbackTo), func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.ToRevision = new(int64(1)) })
			delete(w.deliveries, w.deliveryTo(repository))
			for range 15 {
				w.round()
			}
			if w.ledger().Restored {
				t.Errorf("the ledger records that the rollback ended, and the repository %s holds %v", repository, w.repos[repository].dirs)
			}
			w.wish(3)
			w.until("Succeeded/RolledBack 3")
			for name, r := range w.repos {
				if diff := cmp.Diff(first[name], r.dirs); diff != "" {
					t.Errorf("content of the repository %s after the rollback: -want, +got:\n%s", name, diff)
				}
			}
		})
	}
}

// TestAsks does not undo objects by itself that a Blueprint marks.
func TestAsks(t *testing.T) {
	cases := map[string]struct {
		reason string
		paths  []any
		want   string
	}{
		"Whole":   {reason: "A rollback that changes a marked object needs a request.", want: "Failed/Failed 2"},
		"Field":   {reason: "A rollback that changes a marked field needs a request.", paths: []any{"data.replicas"}, want: "Failed/Failed 2"},
		"Another": {reason: "The field that is marked stays as it was.", paths: []any{"data.p"}, want: "Succeeded/RolledBack 2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := still(t, false)
			mark := map[string]any{"kind": "ConfigMap"}
			if tc.paths != nil {
				mark["fieldPaths"] = tc.paths
			}
			w.set("Blueprint", "web-1.0.0", []any{mark}, "spec", "irreversible")
			w.wish(4)
			out := w.until(tc.want)
			if strings.HasPrefix(tc.want, "Succeeded") {
				return
			}
			w.stays(tc.reason, tc.want)
			w.wantCondition(tc.reason, out, deploymentv1alpha1.TypeStalled, corev1.ConditionTrue, deploymentv1alpha1.ReasonIrreversible)
			w.ask("back", 2, action(rolloutv1alpha1.ActionRollbackTo), func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.ToRevision = new(int64(1)) })
			w.until("Succeeded/RolledBack 3")
		})
	}
}

// TestAsksOfTheTarget compares a revision with the target of its rollback, regardless of rejected revisions in between.
func TestAsksOfTheTarget(t *testing.T) {
	cases := map[string]struct {
		reason string
		path   string
		late   bool
		first  string
		want   string
		says   string
	}{
		"Same":   {reason: "The marked content is unchanged.", path: "data.p", first: "Succeeded/RolledBack 3", want: "Succeeded/RolledBack 4"},
		"Edited": {reason: "The revision in between has no verdict.", path: "data.p", first: "Validating/ 3", want: "Succeeded/RolledBack 4"},
		"Changed": {
			reason: "The marked content changed.",
			path:   "data.replicas", first: "Failed/Failed 3", want: "Failed/Failed 4",
			says: "it changes, or may change, objects that its Blueprint marks",
		},
		"Unknown": {
			reason: "The target was made before there were marks.",
			path:   "data.p", late: true, first: "Succeeded/RolledBack 3", want: "Failed/Failed 4",
			says: "the ledger does not have their digest in revision 2",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := still(t, false)
			mark := func() {
				w.set("Blueprint", "web-1.0.0", []any{map[string]any{"kind": "ConfigMap", "fieldPaths": []any{tc.path}}}, "spec", "irreversible")
			}
			if !tc.late {
				mark()
			}
			w.wish(3)
			w.until("Succeeded/Succeeded 2")
			mark()
			w.wish(4)
			w.until(tc.first)
			w.wish(8)
			w.until(tc.want)
			w.stays(tc.reason, tc.want)
			if out := w.round(); !strings.Contains(out.Status.Message, tc.says) {
				t.Errorf("\n%s\nstatus.message: want %q in %q", tc.reason, tc.says, out.Status.Message)
			}
		})
	}
}
