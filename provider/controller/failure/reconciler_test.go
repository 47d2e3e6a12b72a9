package failure

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// A testEnv has one deployment.
type testEnv struct {
	t    *testing.T
	kube client.Client
	r    *Reconciler
	u    *unstructured.Unstructured
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	gvk := schema.GroupVersionKind{Group: deploymentv1alpha1.GroupClaims, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
	w := &testEnv{t: t, u: &unstructured.Unstructured{}}
	w.u.SetGroupVersionKind(gvk)
	w.u.SetNamespace("team-a")
	w.u.SetName("shop")
	w.u.SetUID("u1")
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).
		WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string {
			e, _ := o.(*corev1.Event)
			return []string{string(e.InvolvedObject.UID)}
		})}
	if err := usage.Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	w.kube = b.Build()
	w.r = &Reconciler{kube: w.kube, live: w.kube, gvk: gvk, trees: newTreeCache(), log: logging.NewNopLogger()}
	return w
}

// reconcileStatus writes the status of the deployment, and reconciles.
func (w *testEnv) reconcileStatus(retain bool, status deploymentv1alpha1.IntentDeploymentStatus) {
	w.t.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
	if err != nil {
		w.t.Fatal(err)
	}
	u := w.u.DeepCopy()
	_ = w.kube.Delete(w.t.Context(), w.u.DeepCopy())
	u.Object["status"] = m
	u.Object["spec"] = map[string]any{"rollbackConfig": map[string]any{"retainFailedArtifacts": retain}}
	if err := w.kube.Create(w.t.Context(), u); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(u)}); err != nil {
		w.t.Fatal(err)
	}
}

func rejected(revision int64) deploymentv1alpha1.IntentDeploymentStatus {
	return deploymentv1alpha1.IntentDeploymentStatus{
		Revision: revision, Message: "p99 was too high.", Rollback: &deploymentv1alpha1.RollbackStatus{Reason: rolloutv1alpha1.RejectedGateFailed},
		ValidationResults: []deploymentv1alpha1.ValidationResult{{Name: "latency_p99", Site: "edge1", Value: "900", Threshold: "<= 500ms"}},
	}
}

// newDelivery returns a delivery of one tree to edge1.
func (w *testEnv) newDelivery(revision int64, files tree.Files) *deliveryv1alpha1.GitDelivery {
	w.t.Helper()
	packed, err := tree.Encode(files)
	if err != nil {
		w.t.Fatal(err)
	}
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-1"}}
	p := &d.Spec.ForProvider
	p.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupClaims, Kind: deploymentv1alpha1.Kind, Namespace: "team-a", Name: "shop"}
	p.Copy = &ledger.State{Current: &ledger.Revision{Number: revision}}
	p.Trees = []deliveryv1alpha1.Tree{
		{Site: "edge1", Path: "a/b", Tree: tree.ID(files), Files: packed, Action: deliveryv1alpha1.ActionDesired},
		{Site: "edge2", Action: deliveryv1alpha1.ActionKeep},
	}
	return d
}

// rejectDelivery rejects the revision of a delivery, and passes the update to the event handler.
func (w *testEnv) rejectDelivery(d *deliveryv1alpha1.GitDelivery) {
	w.t.Helper()
	rolledBack := w.rolledBack(d)
	q := w.newQueue()
	rejectionHandler(w.r.trees, deploymentv1alpha1.GroupNamespaced).Update(w.t.Context(), event.UpdateEvent{ObjectOld: d, ObjectNew: rolledBack}, q)
	if q.Len() != 0 {
		w.t.Error("a delivery wakes a deployment of the other shape")
	}
	rejectionHandler(w.r.trees, deploymentv1alpha1.GroupClaims).Update(w.t.Context(), event.UpdateEvent{ObjectOld: d, ObjectNew: rolledBack}, q)
	if woken := q.Len() == 1; woken == d.Spec.ForProvider.Copy.IsRejected() {
		w.t.Errorf("revision %d: woken is %t", d.Spec.ForProvider.AskedPosition().Revision, woken)
	}
	w.putDelivery(rolledBack)
}

// rolledBack returns a delivery after the rollback: it carries no files any more, and its history holds the trees that it delivered.
func (w *testEnv) rolledBack(d *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
	out := d.DeepCopy()
	p := &out.Spec.ForProvider
	p.Copy.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected}
	h := deliveryv1alpha1.HistoryEntry{Revision: p.AskedPosition().Revision}
	for i, t := range p.Trees {
		p.Trees[i].Action, p.Trees[i].Tree, p.Trees[i].Files = deliveryv1alpha1.ActionKeep, "", nil
		if t.Tree != "" {
			h.Trees = append(h.Trees, deliveryv1alpha1.HistoryTree{Site: t.Site, Tree: t.Tree})
		}
	}
	out.Status.AtProvider.History = append(out.Status.AtProvider.History, h)
	return out
}

// putDelivery creates or updates a delivery.
func (w *testEnv) putDelivery(d *deliveryv1alpha1.GitDelivery) {
	w.t.Helper()
	_ = w.kube.Delete(w.t.Context(), d.DeepCopy())
	if err := w.kube.Create(w.t.Context(), d.DeepCopy()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testEnv) newQueue() workqueue.TypedRateLimitingInterface[reconcile.Request] {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	w.t.Cleanup(q.ShutDown)
	return q
}

func configMap(o metav1.Object, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: o.GetName(), Labels: labels}}
}

func (w *testEnv) reportNames() []string {
	w.t.Helper()
	l := &corev1.ConfigMapList{}
	if err := w.kube.List(w.t.Context(), l); err != nil {
		w.t.Fatal(err)
	}
	out := []string{}
	for _, cm := range l.Items {
		out = append(out, cm.GetName())
	}
	return out
}

func (w *testEnv) getReport(name string) (*corev1.ConfigMap, summary) {
	w.t.Helper()
	cm, s := &corev1.ConfigMap{}, summary{}
	if err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: "team-a", Name: name}, cm); err != nil {
		w.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(cm.Data[summaryKey]), &s); err != nil {
		w.t.Fatal(err)
	}
	return cm, s
}

const plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

func TestReport(t *testing.T) {
	w := newTestEnv(t)
	for i, uid := range []types.UID{"u1", "u2"} {
		e := &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("e%d", i)},
			InvolvedObject: corev1.ObjectReference{UID: uid}, Reason: "PhaseTransition", Type: "Normal", Message: "of " + string(uid),
		}
		if err := w.kube.Create(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	files := tree.Files{"a.yaml": []byte(plain)}
	d := w.newDelivery(2, files)
	w.rejectDelivery(d)
	w.reconcileStatus(true, rejected(2))
	// The status changes during the rollback.
	repeated := rejected(2)
	repeated.Message = "It is rolled back."
	w.reconcileStatus(true, repeated)

	cm, got := w.getReport("shop-failed-r2")
	want := summary{
		Revision: 2, Reason: "GateFailed", Message: "p99 was too high.", Results: rejected(2).ValidationResults,
		Trees:  []treeSummary{{Site: "edge1", Path: "a/b", Tree: tree.ID(files)}},
		Events: []eventSummary{{Type: "Normal", Reason: "PhaseTransition", Message: "of u1"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary: -want, +got:\n%s", diff)
	}
	unpacked, err := tree.Decode(cm.BinaryData["edge1.tar.gz"])
	if diff := cmp.Diff(files, unpacked); err != nil || diff != "" {
		t.Errorf("tree: %v: -want, +got:\n%s", err, diff)
	}
	if diff := cmp.Diff([]metav1.OwnerReference{{APIVersion: w.u.GetAPIVersion(), Kind: "IntentDeployment", Name: "shop", UID: "u1"}}, cm.GetOwnerReferences()); diff != "" {
		t.Errorf("owner: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(0, len(w.r.trees.cachedTrees(revisionKey{w.r.gvk.Group, client.ObjectKeyFromObject(w.u), 2}))); diff != "" {
		t.Errorf("trees that are still kept: -want, +got:\n%s", diff)
	}
}

// TestNoReport reconciles deployments that were not rejected, or ask for no report.
func TestNoReport(t *testing.T) {
	cases := map[string]struct {
		reason string
		retain bool
		change func(*deploymentv1alpha1.IntentDeploymentStatus)
	}{
		"NotAsked": {reason: "A deployment that does not ask for reports gets none.", change: func(*deploymentv1alpha1.IntentDeploymentStatus) {}},
		"NotRejected": {
			reason: "A revision that was not rejected is not reported.",
			retain: true, change: func(s *deploymentv1alpha1.IntentDeploymentStatus) { s.Rollback = nil },
		},
		"NotOrdered": {
			reason: "A spec that does not compile never became a revision and is not reported.",
			retain: true, change: func(s *deploymentv1alpha1.IntentDeploymentStatus) { s.Revision = 0 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t)
			status := rejected(2)
			tc.change(&status)
			w.rejectDelivery(w.newDelivery(2, tree.Files{"a.yaml": []byte(plain)}))
			w.reconcileStatus(tc.retain, status)
			if diff := cmp.Diff([]string{}, w.reportNames()); diff != "" {
				t.Errorf("\n%s\nReconcile(...): ConfigMaps: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A logbook records log lines.
type logbook struct {
	logging.Logger

	lines *[]string
}

// Info records a line.
func (l logbook) Info(message string, values ...any) {
	*l.lines = append(*l.lines, message+": "+fmt.Sprintln(values...))
}

// TestReportIsInTheWay does not change a ConfigMap of another owner, and logs which request has no report.
func TestReportIsInTheWay(t *testing.T) {
	w := newTestEnv(t)
	lines := []string{}
	w.r.log = logbook{Logger: logging.NewNopLogger(), lines: &lines}
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-failed-r2"}}
	if err := w.kube.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	d := w.newDelivery(2, tree.Files{"a.yaml": []byte(plain)})
	d.Spec.ForProvider.Copy.Current.Request = ledger.Request{Intent: "sha256:1"}
	if err := w.kube.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.reconcileStatus(true, rejected(2))
	want := "Cannot report a rejected revision: claim team-a/shop group claims.intentplane.dev revision 2 request " + ledger.Request{Intent: "sha256:1"}.Digest() + " error "
	if len(lines) != 1 || !strings.HasPrefix(lines[0], want) {
		t.Errorf("log: want one line that begins with %q, got %q", want, lines)
	}
}

// TestDeliveryStillHoldsTrees reads the trees from a delivery that does not show the rejection yet.
func TestDeliveryStillHoldsTrees(t *testing.T) {
	w := newTestEnv(t)
	if err := w.kube.Create(t.Context(), w.newDelivery(2, tree.Files{"a.yaml": []byte(plain)})); err != nil {
		t.Fatal(err)
	}
	w.reconcileStatus(true, rejected(2))
	if cm, _ := w.getReport("shop-failed-r2"); len(cm.BinaryData) != 1 {
		t.Errorf("trees in the report: want 1, got %d", len(cm.BinaryData))
	}
}

// TestListsHoldNoContent lists a report and an event that a tenant annotated with a large text.
func TestListsHoldNoContent(t *testing.T) {
	w, large := newTestEnv(t), map[string]string{"text": strings.Repeat("x", 200<<10)}
	owner := []metav1.OwnerReference{{UID: w.u.GetUID()}}
	labels := map[string]string{LabelDeployment: deploymentLabel(w.u), LabelRevision: "3", "theirs": strings.Repeat("y", 60)}
	report := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-failed-r3", Annotations: large, Labels: labels, OwnerReferences: owner}}
	e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "event", Annotations: large}, Type: "Warning", Reason: "Failed", Message: "it failed"}
	e.InvolvedObject = corev1.ObjectReference{Namespace: "team-a", UID: w.u.GetUID()}
	for _, o := range []client.Object{report, e} {
		if err := w.kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	reports, err := w.r.listReports(t.Context(), w.u)
	if err != nil {
		t.Fatal(err)
	}
	events, err := w.r.listRecentEvents(t.Context(), w.u)
	if err != nil {
		t.Fatal(err)
	}
	wantReports := []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "shop-failed-r3", Labels: map[string]string{LabelRevision: "3"}}}}
	if diff := cmp.Diff(wantReports, reports); diff != "" {
		t.Errorf("\nOf a report the list holds its name and its revision.\nlistReports(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]corev1.Event{{Type: "Warning", Reason: "Failed", Message: "it failed"}}, events); diff != "" {
		t.Errorf("\nOf an event the list holds the fields of a report.\nlistEvents(...): -want, +got:\n%s", diff)
	}
}
