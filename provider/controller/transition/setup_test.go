package transition

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
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

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/telemetry"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func clock() time.Time { return time.Date(2031, 12, 17, 13, 0, 0, 0, time.UTC) }

func gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: deploymentv1alpha1.GroupClaims, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
}

// A testEnv has one deployment, and follows it with several processes of the provider one after the other.
type testEnv struct {
	t        *testing.T
	kube     client.WithWatch
	refused  bool
	registry *prometheus.Registry
	// ended are the registries of processes that were stopped.
	ended  []*prometheus.Registry
	r      *Reconciler
	status deploymentv1alpha1.IntentDeploymentStatus
	uid    string
	// recorded is the reason of the condition Recorded. An empty reason stands for no condition.
	recorded string
	// isReconciling gives condition Reconciling the same reason.
	isReconciling bool
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	w := &testEnv{t: t, uid: "u1"}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme, rolloutv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, ok := o.(*corev1.Event); ok && w.refused {
				return errors.New("the API server is busy")
			}
			return c.Create(ctx, o, opts...)
		},
	})}
	if err := errors.Join(usage.Index(t.Context(), b), usage.IndexGates(t.Context(), b)); err != nil {
		t.Fatal(err)
	}
	w.kube = b.Build()
	w.restart()
	return w
}

// restart replaces the process of the provider.
func (w *testEnv) restart() {
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
		kube: w.kube, gvk: gvk(), changes: m, metrics: m, now: clock, log: logging.NewNopLogger(), logs: map[types.NamespacedName]*phaseLog{},
	}
}

// moveTo adds changes, each ten seconds after its predecessor, and truncates the log as the function does.
func (w *testEnv) moveTo(revision int64, phases ...deploymentv1alpha1.Phase) {
	for _, p := range phases {
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

// reconcile writes the deployment, and reconciles it.
func (w *testEnv) reconcile() error {
	w.t.Helper()
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&w.status)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.recorded != "" {
		conditions := []any{map[string]any{"type": deploymentv1alpha1.TypeRecorded, "status": "False", "reason": w.recorded}}
		if w.isReconciling {
			conditions = append(conditions, map[string]any{"type": deploymentv1alpha1.TypeReconciling, "status": "True", "reason": w.recorded})
		}
		status["conditions"] = conditions
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

func (w *testEnv) mustReconcile() {
	w.t.Helper()
	if err := w.reconcile(); err != nil {
		w.t.Fatal(err)
	}
}

// events returns the messages of the events, sorted.
func (w *testEnv) events() []string {
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

// values returns a counter by its labels. Zeros are left out.
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

// total returns the sum of a counter over all processes, by its labels.
func (w *testEnv) total(name string) map[string]float64 {
	w.t.Helper()
	out := values(w.t, w.registry, name)
	for _, r := range w.ended {
		for labels, v := range values(w.t, r, name) {
			out[labels] += v
		}
	}
	return out
}

// currentValues returns the changes in the status, by their labels.
func (w *testEnv) currentValues() map[string]float64 {
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
