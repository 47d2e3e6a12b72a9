package measured

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/gaterecord"
	"github.com/intentplane/intentplane/apis/revisionobject"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A world has one deployment, and the Gates that a test makes.
type world struct {
	*testing.T

	clock time.Time
	kube  client.Client
	r     *Reconciler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, rolloutv1alpha1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	deployment := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop", UID: "shop-1"}}
	deployment.APIVersion, deployment.Kind = deploymentv1alpha1.GroupClaims+"/"+deploymentv1alpha1.Version, deploymentv1alpha1.Kind
	s.AddKnownTypeWithName(deployment.GroupVersionKind(), &metav1.PartialObjectMetadata{})
	w := &world{T: t, clock: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	w.kube = fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&rolloutv1alpha1.Gate{}).WithObjects(deployment).Build()
	w.restart()
	return w
}

// restart the provider, which remembers nothing.
func (w *world) restart() {
	w.r = &Reconciler{kube: w.kube, live: w.kube, log: NewLog(func(types.NamespacedName) {}), now: func() time.Time { return w.clock }, written: map[types.NamespacedName]written{}}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) create(g *rolloutv1alpha1.Gate) *rolloutv1alpha1.Gate {
	w.Helper()
	g.CreationTimestamp = metav1.NewTime(w.clock)
	w.must(w.kube.Create(w.Context(), g))
	return g
}

// judge gives a Gate a verdict.
func (w *world) judge(g *rolloutv1alpha1.Gate, v rolloutv1alpha1.GateVerdict) {
	w.Helper()
	g.Status.AtProvider.Verdict, g.Status.AtProvider.EndedAt = v, &metav1.Time{Time: w.clock}
	w.must(w.kube.Status().Update(w.Context(), g))
}

// after some time reconciles a Gate, and returns when it wants to be looked at again.
func (w *world) after(d time.Duration, g *rolloutv1alpha1.Gate) time.Duration {
	w.Helper()
	w.clock = w.clock.Add(d)
	res, err := w.r.Reconcile(w.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(g)})
	w.must(err)
	return res.RequeueAfter
}

// kept returns the ConfigMap of a revision, or nil.
func (w *world) kept(revision int64) *corev1.ConfigMap {
	w.Helper()
	cm := &corev1.ConfigMap{}
	err := w.kube.Get(w.Context(), types.NamespacedName{Namespace: "team-a", Name: fmt.Sprintf("shop-measured-r%d", revision)}, cm)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return cm
}

// document returns the document of a Gate.
func (w *world) document(g *rolloutv1alpha1.Gate) gaterecord.Gate {
	w.Helper()
	out := gaterecord.Gate{}
	cm := w.kept(g.Spec.ForProvider.Position.Revision)
	if cm == nil {
		return out
	}
	w.must(json.Unmarshal([]byte(cm.Data[gaterecord.KeyOf(g.GetName())]), &out))
	return out
}

// TestReconcile follows one Gate that measures for a minute, and is judged.
func TestReconcile(t *testing.T) {
	w := newWorld(t)
	g := w.create(judging(7, 0))
	writes, version := 0, ""
	for range 12 {
		recordMany(w.r.log, g.GetName(), "edge1/p99", 1)
		w.after(5*time.Second, g)
		if now := w.kept(7).GetResourceVersion(); now != version {
			writes, version = writes+1, now
		}
	}
	w.judge(g, rolloutv1alpha1.GatePassed)
	if wait := w.after(0, g); wait != 0 {
		t.Errorf("a Gate with a verdict waits %s to be written", wait)
	}
	if w.kept(7).GetResourceVersion() != version {
		writes++
	}
	d := w.document(g)
	if writes > 4 || d.Verdict != rolloutv1alpha1.GatePassed || len(d.Checks[0].Measurements) != 12 {
		t.Errorf("%d writes in a minute, verdict %q, %d measurements", writes, d.Verdict, len(d.Checks[0].Measurements))
	}
	want := []metav1.OwnerReference{{APIVersion: "claims.intentplane.dev/v1alpha1", Kind: "IntentDeployment", Name: "shop", UID: "shop-1"}}
	if diff := cmp.Diff(want, w.kept(7).GetOwnerReferences()); diff != "" {
		t.Errorf("owners of the ConfigMap: -want, +got:\n%s", diff)
	}
	recordMany(w.r.log, g.GetName(), "edge1/p99", 1)
	if w.after(time.Minute, g); len(w.document(g).Checks[0].Measurements) != 12 || len(w.r.log.gates) != 0 {
		t.Error("an answer that comes after the verdict is kept")
	}
	w.must(w.kube.Delete(t.Context(), g))
	if w.after(0, g); len(w.r.written) != 0 || w.kept(7) == nil {
		t.Error("a Gate that is gone is remembered, or what it measured is not")
	}
}

// TestLongGateIsWrittenRarely follows a Gate that measures each half minute for eight hours: it is written ever more rarely, and at once when it is judged.
func TestLongGateIsWrittenRarely(t *testing.T) {
	w := newWorld(t)
	g := w.create(judging(7, 0))
	measure := func(hours int) int {
		writes, version := 0, ""
		for range hours * 120 {
			recordMany(w.r.log, g.GetName(), "edge1/p99", 1)
			w.after(30*time.Second, g)
			if now := w.kept(7).GetResourceVersion(); now != version {
				writes, version = writes+1, now
			}
		}
		return writes
	}
	first, rest := measure(1), measure(7)
	if first > 40 || rest < 7*5 || rest > 7*6+3 {
		t.Errorf("A Gate is written at most 40 times in its first hour and every ten minutes in the end: %d writes, and %d in the seven hours after it", first, rest)
	}
	version := w.kept(7).GetResourceVersion()
	w.judge(g, rolloutv1alpha1.GatePassed)
	w.after(time.Second, g)
	if w.kept(7).GetResourceVersion() == version || w.document(g).Verdict != rolloutv1alpha1.GatePassed {
		t.Error("A Gate of eight hours is written at once when it is judged.")
	}
}

// TestRestart keeps what an earlier provider wrote, and writes nothing about Gates that were judged long ago.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	g := w.create(judging(7, 0))
	recordMany(w.r.log, g.GetName(), "edge1/p99", 3)
	w.after(0, g)
	w.restart()
	w.judge(g, rolloutv1alpha1.GateFailed)
	w.after(time.Second, g)
	if d := w.document(g); d.Verdict != rolloutv1alpha1.GateFailed || len(d.Checks[0].Measurements) != 3 {
		t.Errorf("after a restart: verdict %q, %d measurements", d.Verdict, len(d.Checks[0].Measurements))
	}
	version := w.kept(7).GetResourceVersion()
	w.restart()
	w.after(time.Second, g)
	w.must(w.kube.Delete(t.Context(), w.kept(7)))
	w.restart()
	if w.after(time.Hour, g); w.kept(7) != nil {
		t.Errorf("a Gate that was judged long ago is written again, at version %s", version)
	}
}

// TestLastRevisionsAreKept deletes the ConfigMaps of the earliest revisions, and no other ConfigMap.
func TestLastRevisionsAreKept(t *testing.T) {
	w := newWorld(t)
	labels := map[string]string{gaterecord.LabelDeployment: revisionobject.DeploymentDigest(deploymentv1alpha1.GroupClaims, "shop"), gaterecord.LabelRevision: "1"}
	w.must(w.kube.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "of-a-user", Labels: labels}}))
	for revision := range int64(12) {
		g := w.create(judging(revision+1, 0))
		recordMany(w.r.log, g.GetName(), "edge1/p99", 1)
		w.after(0, g)
	}
	l := &corev1.ConfigMapList{}
	w.must(w.kube.List(t.Context(), l))
	var got []string
	for _, cm := range l.Items {
		got = append(got, cm.GetName())
	}
	want := []string{"of-a-user"}
	for revision := range maxRevisions {
		want = append(want, fmt.Sprintf("shop-measured-r%d", revision+3))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ConfigMaps: -want, +got:\n%s", diff)
	}
}

// TestNothingIsKept is of Gates whose measurements have no place.
func TestNothingIsKept(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world, g *rolloutv1alpha1.Gate)
		want   map[string]string
	}{
		"Gone":   {reason: "The deployment is gone.", change: func(_ *world, g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.ClaimRef.Name = "none" }},
		"Kind":   {reason: "The Gate names another kind than a deployment.", change: func(_ *world, g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.ClaimRef.Kind = "Secret" }},
		"Group":  {reason: "The Gate names a kind of another API group.", change: func(_ *world, g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.ClaimRef.APIGroup = "example.org" }},
		"Abroad": {reason: "The Gate names a deployment of another namespace.", change: func(_ *world, g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.ClaimRef.Namespace = "team-b" }},
		"Taken": {reason: "A user made a ConfigMap of the name.", change: func(w *world, _ *rolloutv1alpha1.Gate) {
			w.must(w.kube.Create(w.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-measured-r7"}, Data: map[string]string{"a": "b"}}))
		}, want: map[string]string{"a": "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			g := judging(7, 0)
			tc.change(w, g)
			w.create(g)
			recordMany(w.r.log, g.GetName(), "edge1/p99", 1)
			w.after(0, g)
			got := map[string]string(nil)
			if cm := w.kept(7); cm != nil {
				got = cm.Data
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReconcile(...): ConfigMap: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
