package transition

import (
	gocmp "cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// TestTransitionsAreReportedOnce follows a rollback, with two restarts of the provider and repeated reconciles. Each change is counted
// once, by whichever process.
func TestTransitionsAreReportedOnce(t *testing.T) {
	w := newTestEnv(t)
	w.moveTo(1, forward()[:4]...)
	w.mustReconcile()
	w.mustReconcile()
	w.moveTo(1, "Validating", "Succeeded")
	w.mustReconcile()
	w.restart()
	w.mustReconcile()
	w.moveTo(2, "Pending", "Compiling", "Rendering", "Delivering", "Failed")
	w.status.ValidationResults = []deploymentv1alpha1.ValidationResult{{Name: "a", Site: "edge1", Passed: true}}
	w.mustReconcile()
	w.status.ValidationResults = append(w.status.ValidationResults, deploymentv1alpha1.ValidationResult{Name: "a", Site: "edge2"})
	w.mustReconcile()
	w.restart()
	w.moveTo(2, "RollingBack", "Succeeded")
	w.mustReconcile()
	w.mustReconcile()
	want := []string{"Normal PhaseTransition IntentDeployment shop: Transitioned to Pending"}
	for _, transition := range w.status.Transitions[1:] {
		kind := corev1.EventTypeNormal
		if transition.To == "Failed" || transition.To == "RollingBack" {
			kind = corev1.EventTypeWarning
		}
		reason := map[string]string{"Validating Succeeded": "Verified", "Failed RollingBack": "Rejected", "RollingBack Succeeded": "RolledBack"}[string(transition.From+" "+transition.To)]
		want = append(want, fmt.Sprintf("%s %s IntentDeployment shop: Transitioned from %s to %s", kind, gocmp.Or(reason, "PhaseTransition"), transition.From, transition.To))
	}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(w.currentValues(), w.total(transitions)); diff != "" {
		t.Errorf("%s: -want (status), +got:\n%s", transitions, diff)
	}
	took := map[string]float64{"Pending": 20, "Delivering": 20, "Validating": 10, "Succeeded": 10, "Failed": 10, "RollingBack": 10}
	if diff := cmp.Diff(took, w.total(durations)); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", durations, diff)
	}
	if diff := cmp.Diff(map[string]float64{"passed": 1, "failed": 1}, w.total(validations)); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", validations, diff)
	}
	if diff := cmp.Diff(map[string]float64{"": 1}, w.total(rollbacks)); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", rollbacks, diff)
	}
	outcomes := map[string]float64{"Succeeded": 1, "Failed": 1, "RolledBack": 1}
	if diff := cmp.Diff(outcomes, w.total("intentdeployment_outcomes_total")); diff != "" {
		t.Errorf("intentdeployment_outcomes_total: -want, +got:\n%s", diff)
	}
	w.restart()
	w.mustReconcile()
	for _, name := range []string{transitions, durations, validations, rollbacks, "intentdeployment_outcomes_total"} {
		if diff := cmp.Diff(map[string]float64{}, values(t, w.registry, name)); diff != "" {
			t.Errorf("%s of a process that began when all was counted: -want, +got:\n%s", name, diff)
		}
	}
}

// TestTruncatedTransitions follows more changes than a status holds.
func TestTruncatedTransitions(t *testing.T) {
	w := newTestEnv(t)
	reported := 0
	for revision := range int64(10) {
		w.moveTo(revision+1, forward()...)
		reported += len(forward())
		w.mustReconcile()
	}
	sum := 0.0
	for _, v := range values(t, w.registry, transitions) {
		sum += v
	}
	if diff := cmp.Diff([]int{reported, reported}, []int{int(sum), len(w.events())}); diff != "" {
		t.Errorf("changes counted and reported: -want, +got:\n%s", diff)
	}
	sum = 0
	for _, v := range values(t, w.registry, durations) {
		sum += v
	}
	const unmeasured = 2 * 10 * 10 // Compiling and Rendering.
	if diff := cmp.Diff(float64(10*(reported-1)-unmeasured), sum); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", durations, diff)
	}
}

// TestEventFails lets the creation of events fail for a while. No change is counted twice, and all are reported in the end.
func TestEventFails(t *testing.T) {
	w := newTestEnv(t)
	w.refused = true
	w.moveTo(1, forward()[:3]...)
	for range 2 {
		if err := w.reconcile(); err == nil {
			t.Fatal("Reconcile(...): want an error, so that it comes again")
		}
	}
	w.refused = false
	w.moveTo(1, "Delivering")
	w.mustReconcile()
	if diff := cmp.Diff(4, len(w.events())); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(w.currentValues(), values(t, w.registry, transitions)); diff != "" {
		t.Errorf("%s: -want (status), +got:\n%s", transitions, diff)
	}
}

// TestOldTransitions starts a process long after the changes: it reports and counts nothing, since an earlier process may have done it and
// its events may be deleted. A change that this process observes is counted, however late it is reported.
func TestOldTransitions(t *testing.T) {
	w := newTestEnv(t)
	w.moveTo(1, forward()...)
	w.r.now = func() time.Time { return clock().Add(time.Hour) }
	w.mustReconcile()
	if diff := cmp.Diff(map[string]float64{}, values(t, w.registry, transitions)); diff != "" {
		t.Errorf("%s, at the first look: -want, +got:\n%s", transitions, diff)
	}
	w.moveTo(2, "Pending")
	w.mustReconcile()
	if diff := cmp.Diff(map[string]float64{"Succeeded Pending": 1}, values(t, w.registry, transitions)); diff != "" {
		t.Errorf("%s, at the second look: -want, +got:\n%s", transitions, diff)
	}
	if diff := cmp.Diff([]string{}, w.events()); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestRecreatedObject creates a deployment of the same name again, with the same phases at the same time.
func TestRecreatedObject(t *testing.T) {
	w := newTestEnv(t)
	w.moveTo(1, forward()...)
	w.mustReconcile()
	w.uid = "u2"
	w.mustReconcile()
	if diff := cmp.Diff(2*len(forward()), len(w.events())); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestOtherKinds checks the events of kinds beside IntentDeployment, and that each has metrics of its own.
func TestOtherKinds(t *testing.T) {
	cases := map[string]struct {
		kind    string
		metrics func(*telemetry.Metrics) Counter
		begun   string
		done    string
		prefix  string
	}{
		"WorkloadCluster": {
			kind: workloadclusterv1alpha1.Kind, metrics: func(m *telemetry.Metrics) Counter { return m.Clusters() }, begun: "Provisioning",
			done: "Provisioned", prefix: "workloadcluster",
		},
		"Application": {
			kind: applicationv1alpha1.Kind, metrics: func(m *telemetry.Metrics) Counter { return m.Applications() }, begun: "Deploying",
			done: "Running", prefix: "application",
		},
		"Bundle": {
			kind: bundlev1alpha1.Kind, metrics: func(m *telemetry.Metrics) Counter { return m.Bundles() }, begun: "Deploying", done: "Succeeded",
			prefix: "bundle",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t)
			registry := prometheus.NewRegistry()
			m, err := telemetry.New(registry)
			if err != nil {
				t.Fatal(err)
			}
			u := newPhased(tc.kind, "Pending", tc.begun, tc.done, "Degraded")
			r := &Reconciler{kube: w.kube, gvk: u.GroupVersionKind(), changes: tc.metrics(m), metrics: m, now: clock, log: logging.NewNopLogger(), logs: map[types.NamespacedName]*phaseLog{}}
			if err := w.kube.Create(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(u)}); err != nil {
					t.Fatal(err)
				}
			}
			subject := " PhaseTransition " + tc.kind + " shop: Transitioned "
			events := []string{
				"Normal" + subject + "to Pending", "Normal" + subject + "from Pending to " + tc.begun,
				"Normal" + subject + "from " + tc.begun + " to " + tc.done, "Warning" + subject + "from " + tc.done + " to Degraded",
			}
			if diff := cmp.Diff(events, w.events()); diff != "" {
				t.Errorf("events: -want, +got:\n%s", diff)
			}
			for name, want := range map[string]map[string]float64{
				tc.prefix + "_phase_transitions_total": {"None Pending": 1, "Pending " + tc.begun: 1, tc.begun + " " + tc.done: 1, tc.done + " Degraded": 1},
				tc.prefix + "_phase_duration_seconds":  {"Pending": 1, tc.begun: 60, tc.done: 39},
				transitions:                            {},
			} {
				if diff := cmp.Diff(want, values(t, registry, name)); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", name, diff)
				}
			}
			if diff := cmp.Diff(map[string]float64{"Degraded": 1}, gauges(t, registry, tc.prefix+"_current")); diff != "" {
				t.Errorf("%s_current: -want, +got:\n%s", tc.prefix, diff)
			}
		})
	}
}

// newPhased returns an object of a kind that is in the last phase, after 0, 1, 61 and 100 seconds.
func newPhased(kind string, phases ...string) *unstructured.Unstructured {
	from, log := "", []any{}
	for i, target := range phases {
		timestamp := clock().Add(time.Duration([]int{0, 1, 61, 100}[i]) * time.Second).Format(time.RFC3339)
		log = append(log, map[string]any{"index": int64(i), "from": from, "to": target, "at": timestamp})
		from = target
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": from, "transitions": log}}}
	u.SetAPIVersion("intentplane.dev/v1alpha1")
	u.SetKind(kind)
	u.SetNamespace("team-a")
	u.SetName("shop")
	return u
}

// now returns how many deployments are in each phase and outcome. Zeros are left out.
func now(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if n := m.GetGauge().GetValue(); f.GetName() == "intentdeployment_current" && n != 0 {
				out[labels["phase"]+" "+labels["outcome"]] = n
			}
		}
	}
	return out
}

// TestCurrentPhases follows a deployment over a restart of the provider, and then a recreated one until it is deleted.
func TestCurrentPhases(t *testing.T) {
	w := newTestEnv(t)
	step := func(reason string, want map[string]float64) {
		t.Helper()
		w.mustReconcile()
		w.mustReconcile()
		if diff := cmp.Diff(want, now(t, w.registry)); diff != "" {
			t.Errorf("\n%s\nintentdeployment_current: -want, +got:\n%s", reason, diff)
		}
	}
	step("A new deployment has no series.", map[string]float64{})
	w.status.Phase = deploymentv1alpha1.PhaseDelivering
	step("A deployment that delivers has a series of its phase.", map[string]float64{"Delivering None": 1})
	w.status.Phase, w.status.Outcome = deploymentv1alpha1.PhaseSucceeded, deploymentv1alpha1.OutcomeRolledBack
	step("A deployment that was rolled back has a series of its outcome.", map[string]float64{"Succeeded RolledBack": 1})
	w.restart()
	step("Another provider sees the same.", map[string]float64{"Succeeded RolledBack": 1})
	w.uid, w.status.Outcome = "u2", deploymentv1alpha1.OutcomeSucceeded
	step("The deployment was recreated.", map[string]float64{string(w.status.Phase) + " " + string(w.status.Outcome): 1})
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk())
	u.SetNamespace("team-a")
	u.SetName("shop")
	if err := w.kube.Delete(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := w.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(u)}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]float64{}, now(t, w.registry)); diff != "" {
		t.Errorf("A deleted deployment has no series: intentdeployment_current: -want, +got:\n%s", diff)
	}
}

// A logbook records log lines.
type logbook struct {
	logging.Logger

	lines *[]string
}

// Info records a line.
func (l logbook) Info(message string, values ...any) {
	*l.lines = append(*l.lines, strings.TrimSpace(message+": "+fmt.Sprintln(values...)))
}

// TestTransitionIsLogged checks that a transition is logged once, with the request that caused it. The line of the present phase has the commit.
func TestTransitionIsLogged(t *testing.T) {
	w := newTestEnv(t)
	lines := []string{}
	w.r.log = logbook{Logger: logging.NewNopLogger(), lines: &lines}
	w.moveTo(1, "Pending", "Delivering")
	w.mustReconcile()
	w.mustReconcile()
	w.status.Requests = []deploymentv1alpha1.RequestStatus{{Name: "early", Result: "Stale"}, {Name: "again", Result: "Taken"}, {Name: "late", Result: "Waiting"}}
	w.status.Delivery.GitCommit = "8d21c0e4"
	w.moveTo(2, "Syncing", "Failed")
	w.status.Phase = "Failed"
	w.mustReconcile()
	w.mustReconcile()
	begins := "Phase changed: kind IntentDeployment claim team-a/shop group " + gvk().Group + " from "
	want := []string{
		begins + " phase Pending revision 1 commit  rolloutRequest",
		begins + "Pending phase Delivering revision 1 commit  rolloutRequest",
		begins + "Delivering phase Syncing revision 2 commit  rolloutRequest again",
		begins + "Syncing phase Failed revision 2 commit 8d21c0e4 rolloutRequest again",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}
