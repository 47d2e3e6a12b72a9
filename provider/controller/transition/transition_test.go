package transition

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/telemetry"
)

func clock() time.Time { return time.Date(2031, 12, 17, 13, 0, 0, 0, time.UTC) }

func gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: deploymentv1alpha1.GroupClaims, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
}

// A world has one deployment, and processes of the provider that follow it one after the other.
type world struct {
	t        *testing.T
	kube     client.WithWatch
	refused  bool
	registry *prometheus.Registry
	// ended are the registries of processes that ended.
	ended  []*prometheus.Registry
	r      *Reconciler
	status deploymentv1alpha1.IntentDeploymentStatus
	uid    string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, uid: "u1"}
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if err := deliveryv1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	w.kube = fake.NewClientBuilder().WithScheme(s).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, ok := o.(*corev1.Event); ok && w.refused {
				return errors.New("the API server is busy")
			}
			return c.Create(ctx, o, opts...)
		},
	}).Build()
	w.restart()
	return w
}

// restart the provider: all that it remembers is gone.
func (w *world) restart() {
	w.t.Helper()
	if w.registry != nil {
		w.ended = append(w.ended, w.registry)
	}
	w.registry = prometheus.NewRegistry()
	m, err := telemetry.New(w.registry)
	if err != nil {
		w.t.Fatal(err)
	}
	w.r = &Reconciler{
		kube: w.kube, gvk: gvk(), changes: m, metrics: m, now: clock, log: logging.NewNopLogger(), stories: map[types.NamespacedName]*story{},
	}
}

// goes adds changes, each ten seconds after the one before, and forgets the oldest ones as the function does.
func (w *world) goes(revision int64, to ...deploymentv1alpha1.Phase) {
	for _, p := range to {
		t := deploymentv1alpha1.Transition{To: p, Revision: revision, At: metav1.NewTime(clock().Add(-20 * time.Minute))}
		if log := w.status.Transitions; len(log) > 0 {
			last := log[len(log)-1]
			t.Index, t.From, t.At = last.Index+1, last.To, metav1.NewTime(last.At.Add(10*time.Second))
		}
		w.status.Transitions = append(w.status.Transitions, t)
	}
	w.status.Revision = revision
	w.status.Transitions = w.status.Transitions[max(0, len(w.status.Transitions)-20):]
}

// write the deployment, and let the provider look.
func (w *world) look() error {
	w.t.Helper()
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&w.status)
	if err != nil {
		w.t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	u.SetGroupVersionKind(gvk())
	u.SetNamespace("team-a")
	u.SetName("shop")
	u.SetUID(types.UID(w.uid))
	_ = w.kube.Delete(w.t.Context(), u.DeepCopy())
	if err := w.kube.Create(w.t.Context(), u); err != nil {
		w.t.Fatal(err)
	}
	_, err = w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(u)})
	return err
}

func (w *world) mustLook() {
	w.t.Helper()
	if err := w.look(); err != nil {
		w.t.Fatal(err)
	}
}

// events that were told, sorted.
func (w *world) events() []string {
	w.t.Helper()
	l := &corev1.EventList{}
	if err := w.kube.List(w.t.Context(), l); err != nil {
		w.t.Fatal(err)
	}
	slices.SortStableFunc(l.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	out := []string{}
	for _, e := range l.Items {
		out = append(out, e.Type+" "+e.Reason+" "+e.InvolvedObject.Kind+" "+e.InvolvedObject.Name+": "+e.Message)
	}
	return out
}

// values of a metric that is counted, by its labels. Those that are zero are left out.
func values(t *testing.T, g prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := []string{}
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			if v := m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum(); f.GetName() == name && v != 0 {
				out[strings.Join(labels, " ")] = v
			}
		}
	}
	return out
}

// total is what all processes counted of a metric, by its labels.
func (w *world) total(name string) map[string]float64 {
	w.t.Helper()
	out := values(w.t, w.registry, name)
	for _, r := range w.ended {
		for labels, v := range values(w.t, r, name) {
			out[labels] += v
		}
	}
	return out
}

// inStatus are the changes that the status remembers, by their labels.
func (w *world) inStatus() map[string]float64 {
	out := map[string]float64{}
	for _, t := range w.status.Transitions {
		from := string(t.From)
		if from == "" {
			from = telemetry.None
		}
		out[from+" "+string(t.To)]++
	}
	return out
}

const (
	transitions = "intentdeployment_phase_transitions_total"
	durations   = "intentdeployment_phase_duration_seconds"
	validations = "intentdeployment_validation_results_total"
	rollbacks   = "intentdeployment_rollback_total"
	syncs       = "intentdeployment_sync_duration_seconds"
)

func forward() []deploymentv1alpha1.Phase {
	return []deploymentv1alpha1.Phase{"Pending", "Compiling", "Rendering", "Delivering", "Validating", "Succeeded"}
}

// TestStory follows a rollback, with two restarts of the provider in it, and looks that come twice. Each change is counted once, whichever
// process counts it.
func TestStory(t *testing.T) {
	w := newWorld(t)
	w.goes(1, forward()[:4]...)
	w.mustLook()
	w.mustLook()
	w.goes(1, "Validating", "Succeeded")
	w.mustLook()
	w.restart()
	w.mustLook()
	w.goes(2, "Pending", "Compiling", "Rendering", "Delivering", "Failed")
	w.status.ValidationResults = []deploymentv1alpha1.ValidationResult{{Name: "a", Site: "edge1", Passed: true}}
	w.mustLook()
	w.status.ValidationResults = append(w.status.ValidationResults, deploymentv1alpha1.ValidationResult{Name: "a", Site: "edge2"})
	w.mustLook()
	w.restart()
	w.goes(2, "RollingBack", "Succeeded")
	w.mustLook()
	w.mustLook()
	want := []string{"Normal PhaseTransition IntentDeployment shop: Transitioned to Pending"}
	for _, one := range w.status.Transitions[1:] {
		kind := corev1.EventTypeNormal
		if one.To == "Failed" || one.To == "RollingBack" {
			kind = corev1.EventTypeWarning
		}
		want = append(want, fmt.Sprintf("%s PhaseTransition IntentDeployment shop: Transitioned from %s to %s", kind, one.From, one.To))
	}
	if diff := cmp.Diff(want, w.events()); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(w.inStatus(), w.total(transitions)); diff != "" {
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
	w.mustLook()
	for _, name := range []string{transitions, durations, validations, rollbacks, "intentdeployment_outcomes_total"} {
		if diff := cmp.Diff(map[string]float64{}, values(t, w.registry, name)); diff != "" {
			t.Errorf("%s of a process that began when all was counted: -want, +got:\n%s", name, diff)
		}
	}
}

// TestLongStory has more changes than a status remembers.
func TestLongStory(t *testing.T) {
	w := newWorld(t)
	told := 0
	for revision := range int64(10) {
		w.goes(revision+1, forward()...)
		told += len(forward())
		w.mustLook()
	}
	sum := 0.0
	for _, v := range values(t, w.registry, transitions) {
		sum += v
	}
	if diff := cmp.Diff([]int{told, told}, []int{int(sum), len(w.events())}); diff != "" {
		t.Errorf("changes counted and told: -want, +got:\n%s", diff)
	}
	sum = 0
	for _, v := range values(t, w.registry, durations) {
		sum += v
	}
	const unmeasured = 2 * 10 * 10 // Compiling and Rendering.
	if diff := cmp.Diff(float64(10*(told-1)-unmeasured), sum); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", durations, diff)
	}
}

// TestBusy cannot make events for a while. What was counted is not counted again, and all is told in the end.
func TestBusy(t *testing.T) {
	w := newWorld(t)
	w.refused = true
	w.goes(1, forward()[:3]...)
	for range 2 {
		if err := w.look(); err == nil {
			t.Fatal("Reconcile(...): want an error, so that it comes again")
		}
	}
	w.refused = false
	w.goes(1, "Delivering")
	w.mustLook()
	if diff := cmp.Diff(4, len(w.events())); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(w.inStatus(), values(t, w.registry, transitions)); diff != "" {
		t.Errorf("%s: -want (status), +got:\n%s", transitions, diff)
	}
}

// TestOld begins when all has long happened: nothing is reported or counted, for an earlier process may have done it and its events may be
// forgotten. What this process sees happen is counted, however late it comes to report it.
func TestOld(t *testing.T) {
	w := newWorld(t)
	w.goes(1, forward()...)
	w.r.now = func() time.Time { return clock().Add(time.Hour) }
	w.mustLook()
	if diff := cmp.Diff(map[string]float64{}, values(t, w.registry, transitions)); diff != "" {
		t.Errorf("%s, at the first look: -want, +got:\n%s", transitions, diff)
	}
	w.goes(2, "Pending")
	w.mustLook()
	if diff := cmp.Diff(map[string]float64{"Succeeded Pending": 1}, values(t, w.registry, transitions)); diff != "" {
		t.Errorf("%s, at the second look: -want, +got:\n%s", transitions, diff)
	}
	if diff := cmp.Diff([]string{}, w.events()); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestAnew makes a deployment of the same name again, which goes the same way at the same time.
func TestAnew(t *testing.T) {
	w := newWorld(t)
	w.goes(1, forward()...)
	w.mustLook()
	w.uid = "u2"
	w.mustLook()
	if diff := cmp.Diff(2*len(forward()), len(w.events())); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

func TestFollow(t *testing.T) {
	cases := map[string]struct {
		reason string
		// Each look is a log: a letter is a phase, and the digit its index. What stands in it again has another time.
		looks []string
		want  []int
	}{
		"First":   {reason: "All that is there at first is new.", looks: []string{"a0 b1"}, want: []int{2}},
		"Same":    {reason: "Nothing is new twice, also if it was written again later.", looks: []string{"a0 b1", "a0 b1"}, want: []int{2, 0}},
		"More":    {reason: "What was added is new.", looks: []string{"a0", "a0 b1 c2"}, want: []int{1, 2}},
		"CutOff":  {reason: "What was cut off is not.", looks: []string{"a0 b1 c2", "b1 c2 d3"}, want: []int{3, 1}},
		"Again":   {reason: "The same change may come in the same second.", looks: []string{"a0", "a0 a1"}, want: []int{1, 1}},
		"Back":    {reason: "A status may be restored, and go on.", looks: []string{"a0 b1 c2", "a0", "a0 b1 c2"}, want: []int{3, 0, 0}},
		"Lost":    {reason: "A status that was lost comes back the same.", looks: []string{"a0 b1", "", "a0 b1"}, want: []int{2, 0, 0}},
		"Other":   {reason: "Or another one, which is new.", looks: []string{"a0 b1", "", "a0 c1 d2"}, want: []int{2, 0, 2}},
		"Cleared": {reason: "A status that was cleared begins its log anew, however far that was.", looks: []string{"d5 e6", "a0 b1", "a0 b1 c2"}, want: []int{2, 2, 1}},
		"Further": {reason: "Also when it has come to where the other was.", looks: []string{"d2 e3", "a0 b1 c2"}, want: []int{2, 3}},
		"Longer":  {reason: "One that goes back in time says the same, as far as it is known.", looks: []string{"b1 c2 d3", "a0 b1 c2"}, want: []int{3, 0}},
		"TooLate": {reason: "Of what came and went meanwhile nobody knows.", looks: []string{"a0 b1", "d3 e4"}, want: []int{2, 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &story{uid: "u1"}
			var got []int
			for n, look := range tc.looks {
				got = append(got, len(s.follow(logOf(look, n))))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfollow(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func logOf(look string, second int) []change {
	out := []change{}
	for one := range strings.FieldsSeq(look) {
		out = append(out, change{
			Index: int64(one[1] - '0'), To: one[:1], At: metav1.NewTime(clock().Add(time.Duration(second) * time.Second)),
		})
	}
	return out
}

// TestSteps tells equal changes apart, and does not measure what nobody saw.
func TestSteps(t *testing.T) {
	at := metav1.NewTime(clock())
	s := &story{uid: "u1"}
	twice := s.follow([]change{{To: "Pending", At: at}, {Index: 1, To: "Pending", At: at}})
	if twice[0].key == twice[1].key {
		t.Error("follow(...): two changes have one key")
	}
	later := metav1.NewTime(at.Add(time.Minute))
	gap := s.follow([]change{{Index: 2, From: "Delivering", To: "Failed", At: later}})
	if diff := cmp.Diff([]bool{false, false, false}, []bool{twice[0].long, twice[1].long, gap[0].long}); diff != "" {
		t.Errorf("follow(...): what is measured: -want, +got:\n%s", diff)
	}
}

// TestSites measures each wait of a Site once.
func TestSites(t *testing.T) {
	w := newWorld(t)
	registry := prometheus.NewRegistry()
	m, err := telemetry.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	r := &SiteReconciler{kube: w.kube, metrics: m, begun: map[types.NamespacedName]map[string]time.Time{}}
	at := func(s int) *metav1.Time { t := metav1.NewTime(clock().Add(time.Duration(s) * time.Second)); return &t }
	look := func(sites ...deliveryv1alpha1.SiteObservation) {
		t.Helper()
		s := &deliveryv1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop"}}
		_ = w.kube.Delete(t.Context(), s.DeepCopy())
		s.Status.AtProvider.Sites = sites
		if err := w.kube.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
			t.Fatal(err)
		}
	}
	look(deliveryv1alpha1.SiteObservation{Name: "a", StartedAt: at(0)})
	look(deliveryv1alpha1.SiteObservation{Name: "a", StartedAt: at(0), LiveSince: at(7)}, deliveryv1alpha1.SiteObservation{Name: "b", StartedAt: at(0)})
	look(deliveryv1alpha1.SiteObservation{Name: "a", StartedAt: at(0)}, deliveryv1alpha1.SiteObservation{Name: "b", StartedAt: at(0), LiveSince: at(20)})
	look(deliveryv1alpha1.SiteObservation{Name: "a", StartedAt: at(0), LiveSince: at(7)}, deliveryv1alpha1.SiteObservation{Name: "b", StartedAt: at(30), LiveSince: at(130)})
	if diff := cmp.Diff(map[string]float64{"": 127}, values(t, registry, syncs)); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", syncs, diff)
	}
}

// TestClusters tells what WorkloadClusters go through, with metrics of their own.
func TestClusters(t *testing.T) {
	w := newWorld(t)
	registry := prometheus.NewRegistry()
	m, err := telemetry.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupVersionKind{Group: workloadclusterv1alpha1.GroupNamespaced, Version: workloadclusterv1alpha1.Version, Kind: workloadclusterv1alpha1.Kind}
	r := &Reconciler{kube: w.kube, gvk: kind, changes: m.Clusters(), metrics: m, now: clock, log: logging.NewNopLogger(), stories: map[types.NamespacedName]*story{}}
	at := func(s int) metav1.Time { return metav1.NewTime(clock().Add(time.Duration(s) * time.Second)) }
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&workloadclusterv1alpha1.WorkloadClusterStatus{Transitions: []workloadclusterv1alpha1.Transition{
		{To: "Pending", At: at(0)}, {Index: 1, From: "Pending", To: "Provisioning", At: at(1)}, {Index: 2, From: "Provisioning", To: "Provisioned", At: at(61)}, {Index: 3, From: "Provisioned", To: "Degraded", At: at(100)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace("team-a")
	u.SetName("east")
	if err := w.kube.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(u)}); err != nil {
			t.Fatal(err)
		}
	}
	events := []string{
		"Normal PhaseTransition WorkloadCluster east: Transitioned to Pending", "Normal PhaseTransition WorkloadCluster east: Transitioned from Pending to Provisioning",
		"Normal PhaseTransition WorkloadCluster east: Transitioned from Provisioning to Provisioned", "Warning PhaseTransition WorkloadCluster east: Transitioned from Provisioned to Degraded",
	}
	if diff := cmp.Diff(events, w.events()); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	for name, want := range map[string]map[string]float64{
		"workloadcluster_phase_transitions_total": {"None Pending": 1, "Pending Provisioning": 1, "Provisioning Provisioned": 1, "Provisioned Degraded": 1},
		"workloadcluster_phase_duration_seconds":  {"Pending": 1, "Provisioning": 60, "Provisioned": 39},
		transitions:                               {},
	} {
		if diff := cmp.Diff(want, values(t, registry, name)); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
}
