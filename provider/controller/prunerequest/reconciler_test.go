package prunerequest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/gitserver"
)

// TestPending reconciles a request while the repository does not answer.
func TestPending(t *testing.T) {
	cases := map[string]struct {
		reason string
		// approved is true for a request that was approved before.
		approved bool
		want     map[string]string
	}{
		"Planning": {reason: "A request without a plan says that the repository does not answer.", want: map[string]string{
			"Planned False": "cannot read the repository: it did not answer yet",
		}},
		"Pruning": {reason: "An approved request names the reason for which its commit waits.", approved: true, want: map[string]string{
			"Planned True": "The plan removes 1 directory, and keeps 0.", "Approved True": "PruneApproval one names the plan.",
			"Completed False": "The commit waits for its turn, or for an answer of the repository.",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.ask(team)
			if tc.approved {
				w.approve(w.step(team))
				w.step(team)
			}
			answer := make(chan struct{})
			t.Cleanup(func() { close(answer) })
			w.git.BeforeFetch(repo, func() { <-answer })
			w.reconciler.opener.Pool = repository.NewPool(repository.Options{
				Now: w.reconciler.now, Pause: func() time.Duration { return 0 }, Wake: func(types.NamespacedName) {}, Patience: time.Millisecond,
			})
			got := map[string]string{}
			for _, c := range w.step(team).Status.Conditions {
				got[string(c.Type)+" "+string(c.Status)] = c.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nconditions: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// metadataOf an object of one of the kinds that name claims.
func metadataOf(kind int, name string, change ...func(*metav1.PartialObjectMetadata)) client.Object {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	o.SetGroupVersionKind(deploymentKinds()[kind])
	for _, fn := range change {
		fn(o)
	}
	return o
}

// TestStory plans, approves and removes, and looks at each step.
func TestStory(t *testing.T) {
	w := newWorld(t, 3, metadataOf(0, "app-1"))
	w.ask(team)
	pr := w.step(team)
	want := []string{"app-0 Prune ", "app-2 Prune ", "app-1 Keep InUse"}
	got := []string{}
	for _, i := range pr.Status.Plan.Items {
		got = append(got, i.Name+" "+i.Verdict+" "+i.Reason)
	}
	if diff := cmp.Diff(want, got); diff != "" || pr.Status.Phase != v1alpha1.PhasePlanned || pr.Status.Plan.Items[0].Objects != 2 {
		t.Fatalf("plan: -want, +got:\n%s\n%+v", diff, pr.Status)
	}
	if w.step(team).Status.Phase != v1alpha1.PhasePlanned || len(w.commits()) != 1 {
		t.Fatal("a plan changes nothing before it is approved")
	}
	w.approve(pr)
	if pr = w.step(team); pr.Status.Phase != v1alpha1.PhasePruning || len(w.commits()) != 1 {
		t.Fatalf("that a removal begins is written before it is pushed: %s, %d commits", pr.Status.Phase, len(w.commits()))
	}
	w.now = w.now.Add(3 * time.Hour)
	pr = w.step(team)
	tip := w.commits()[0]
	if pr.Status.Phase != v1alpha1.PhaseDone || pr.Status.Result.Commit != tip.ID || pr.Status.Result.Pruned != 2 || len(w.commits()) != 2 {
		t.Fatalf("result: %+v, and the tip is %s", pr.Status.Result, tip.ID)
	}
	files := w.files()
	if files[pathOf(0)+"/.intentplane"] != "" || files[pathOf(1)+"/.intentplane"] == "" || files["README.md"] == "" {
		t.Errorf("files after it: %v", files)
	}
	for _, says := range []string{"Prune 2 directories\n", "Intentplane-Prune: request-1\n", "Intentplane-Prune-Request: team-a/one\n", "Intentplane-Approved-By: ann x: y\n"} {
		if !strings.Contains(tip.Message+"\n", says) {
			t.Errorf("want %q in:\n%s", says, tip.Message)
		}
	}
	wantEvents := []string{"Planned: The plan removes 2 directories, and keeps 1.", "Pruned: Commit " + tip.ID + " removed 2 directories."}
	if diff := cmp.Diff(wantEvents, w.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"Prune ": 2, "Keep InUse": 1}, w.counted); diff != "" {
		t.Errorf("metrics: -want, +got:\n%s", diff)
	}
}

// TestLastDirectory prunes all directories of a Site with an engine, and leaves the file that keeps its path.
func TestLastDirectory(t *testing.T) {
	w := newWorld(t, 2)
	w.ask(team)
	w.approve(w.step(team))
	w.step(team)
	w.step(team)
	if diff := cmp.Diff([]string{"README.md", "clusters/edge1/.placeholder/README"}, namesOf(w.files())); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
}

// TestResumed loses the status after the push, as a provider does that was killed: the next one finds the commit.
func TestResumed(t *testing.T) {
	w := newWorld(t, 2)
	w.ask(team)
	w.approve(w.step(team))
	pruning := w.step(team)
	w.step(team)
	tip := w.commits()[0].ID
	stored := &v1alpha1.PruneRequest{}
	w.must(w.kube.Get(context.Background(), client.ObjectKeyFromObject(pruning), stored))
	stored.Status = pruning.Status
	w.must(w.kube.Status().Update(context.Background(), stored))
	w.restart()
	if done := w.step(team); done.Status.Phase != v1alpha1.PhaseDone || done.Status.Result.Commit != tip || len(w.commits()) != 2 {
		t.Errorf("want the commit %s again, and no other one: %+v, %d commits", tip, done.Status, len(w.commits()))
	}
}

// TestPlanChanged makes a change between plan and push, and nothing is removed.
func TestPlanChanged(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		says   string
	}{
		"Claim": {
			reason: "A claim that was made again keeps its directory.",
			change: func(w *world) { w.create(metadataOf(0, "app-0")) }, says: "app-0 is kept, InUse",
		},
		"Composite": {reason: "A namespaced composite of that name keeps it, too.", change: func(w *world) { w.create(metadataOf(2, "app-0")) }, says: "InUse"},
		"XR": {reason: "The composite of a claim keeps it, too.", change: func(w *world) {
			w.create(metadataOf(1, "app-0-x", func(o *metav1.PartialObjectMetadata) {
				o.Namespace, o.Labels = "", map[string]string{labelClaimNamespace: team, labelClaimName: "app-0"}
			}))
		}, says: "InUse"},
		"Delivery": {
			reason: "A delivery of any claim that names the directory keeps it.",
			change: func(w *world) { w.create(w.delivery("other")) }, says: "GitDelivery team-a/other uses it",
		},
		"SiteSync": {reason: "A SiteSync of the claim keeps it.", change: func(w *world) {
			w.create(&deliveryv1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "s"}, Spec: deliveryv1alpha1.SiteSyncSpec{ForProvider: deliveryv1alpha1.SiteSyncParameters{ClaimRef: claimOf(0)}}})
		}, says: "SiteSync"},
		"Pinned": {reason: "A pinned object keeps it.", change: func(w *world) {
			w.create(metadataOf(0, "app-0", func(o *metav1.PartialObjectMetadata) {
				o.Labels = map[string]string{v1alpha1.LabelPrune: v1alpha1.PruneKeep}
			}))
		}, says: "Pinned"},
		"Edited": {
			reason: "A directory that a user edits has a file of that user.",
			change: func(w *world) { w.commit(pathOf(0)+"/notes.yaml", "mine") }, says: "Changed",
		},
		"Gone": {reason: "A directory that a user removed is not removed again.", change: func(w *world) { w.remove(pathOf(0)) }, says: "app-0 is gone"},
		"Marker": {
			reason: "A directory whose marker names another claim belongs to that claim.",
			change: func(w *world) { w.commit(pathOf(0)+"/.intentplane", "{}") }, says: "NotOurs",
		},
		"Forgot":  {reason: "A delivery that shows signs of a restore stops everything.", change: func(w *world) { w.create(w.diverged()) }, says: "Uncertain"},
		"Another": {reason: "Another commit that touches nothing of the plan stops nothing.", change: func(w *world) { w.commit("README.md", "more") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			w.ask(team)
			w.approve(w.step(team))
			w.step(team)
			tc.change(w)
			baseline := len(w.commits())
			pr := w.step(team)
			if pr.Status.Phase == v1alpha1.PhasePruning { // The repository moved after the facts were gathered: they are gathered again.
				pr = w.step(team)
			}
			if tc.says == "" {
				if pr.Status.Phase != v1alpha1.PhaseDone {
					t.Errorf("\n%s\n%+v", tc.reason, pr.Status.Conditions)
				}
				return
			}
			c := pr.Status.GetCondition(v1alpha1.TypeCompleted)
			if pr.Status.Phase != v1alpha1.PhasePlanChanged || !strings.Contains(c.Message, tc.says) || len(w.commits()) != baseline {
				t.Errorf("\n%s\nphase %s, %q, and %d commits more", tc.reason, pr.Status.Phase, c.Message, len(w.commits())-baseline)
			}
			if repeated := w.step(team); repeated.Status.Phase != v1alpha1.PhasePlanChanged || len(w.commits()) != baseline {
				t.Errorf("\n%s\nit is over, and stays so: %s", tc.reason, repeated.Status.Phase)
			}
		})
	}
}

func (w *world) create(o client.Object) { w.must(w.kube.Create(context.Background(), o)) }

func (w *world) delivery(name string) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	d.Spec.ForProvider.ClaimRef = claimOf(99)
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "edge1", Branch: gitserver.Branch, Path: pathOf(0)}}
	d.Spec.ProviderConfigReference = newReference()
	return d
}

func newReference() *xpv2.ProviderConfigReference {
	return &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
}

// diverged is a delivery of another claim whose branch was rewritten.
func (w *world) diverged() *deliveryv1alpha1.GitDelivery {
	d := w.delivery("diverged")
	d.Spec.ForProvider.Trees = nil
	d.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: deliveryv1alpha1.ReasonDiverged})
	return d
}

func namesOf(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

func (w *world) commit(path, content string) {
	_, err := w.git.Commit(context.Background(), repo, gitserver.Branch, map[string]string{path: content}, "A user's commit")
	w.must(err)
}

func (w *world) remove(path string) {
	_, err := w.git.Remove(context.Background(), repo, gitserver.Branch, []string{path}, "A user's commit")
	w.must(err)
}

// TestExpired lets the hour pass.
func TestExpired(t *testing.T) {
	w := newWorld(t, 1)
	w.ask(team)
	pr := w.step(team)
	w.now = noon.Add(time.Hour)
	w.approve(pr)
	if pr = w.step(team); pr.Status.Phase != v1alpha1.PhaseExpired || len(w.commits()) != 1 {
		t.Errorf("an approval after an hour removes nothing: %s", pr.Status.Phase)
	}
	a := &v1alpha1.PruneApproval{}
	w.must(w.kube.Get(context.Background(), client.ObjectKeyFromObject(pr), a))
	if got := a.Status.GetCondition(v1alpha1.TypeAccepted).Reason; got != v1alpha1.ReasonTooLate {
		t.Errorf("want the approval %s, got %s", v1alpha1.ReasonTooLate, got)
	}
}

// TestOlder lets a directory become old enough between plan and push. It stays, since the plan does not list it as a directory to
// prune.
func TestOlder(t *testing.T) {
	w := newWorld(t, young+1)
	w.ask(team)
	pr := w.step(team)
	if pr.Status.Plan.Pruned != young || pr.Status.Plan.Kept != 1 {
		t.Fatalf("plan: %+v", pr.Status.Plan)
	}
	w.now = noon.Add(59 * time.Minute)
	w.approve(pr)
	w.step(team)
	if pr = w.step(team); pr.Status.Phase != v1alpha1.PhaseDone || w.files()[pathOf(young)+"/.intentplane"] == "" || w.files()[pathOf(0)+"/.intentplane"] != "" {
		t.Errorf("%s: %v", pr.Status.Phase, namesOf(w.files()))
	}
}

// TestPartOfRecord prunes one of two directories of a claim: the record keeps the other one, and the ledger goes on.
func TestPartOfRecord(t *testing.T) {
	w := newWorld(t, 1)
	otherPath := strings.Replace(pathOf(0), "edge1", "edge2", 1)
	two := record{RecordFile: w.record(0, w.commits()[0].ID)}
	two.Trees = append(two.Trees, two.Trees[0])
	two.Trees[1].Path = otherPath
	tr := &removal{gatherer: &gatherer{Reconciler: w.reconciler, request: &v1alpha1.PruneRequest{}}}
	tr.opened.Config = &configv1alpha1.ProviderConfigSpec{Git: configv1alpha1.GitRemote{Branch: gitserver.Branch}}
	tr.opened.ClusterUID = "cluster-2"
	c := git.Change{Remove: []string{otherPath}, State: map[string][]byte{}, Retain: map[string]git.Trees{}}
	w.must(tr.forgetDirectories(&c, two))
	got, err := state.DecodeRecord(c.State[state.RecordPath(claimOf(0))])
	w.must(err)
	if len(got.Trees) != 1 || got.Trees[0].Path != pathOf(0) || got.Deleted || got.ClusterUID != "cluster-2" || len(c.State) != 1 || len(c.Retain) != 0 {
		t.Errorf("record: %+v", got)
	}
}

// TestFiveHundred prunes 500 directories in one commit.
func TestFiveHundred(t *testing.T) {
	w := newWorld(t, 500)
	w.ask(team, func(s *v1alpha1.PruneRequestSpec) { s.MinAge = &metav1.Duration{} })
	w.approve(w.step(team))
	w.step(team)
	if pr := w.step(team); pr.Status.Phase != v1alpha1.PhaseDone || pr.Status.Result.Pruned != 500 || len(w.commits()) != 2 {
		t.Errorf("%s, %d commits", pr.Status.Phase, len(w.commits())-1)
	}
}

// BenchmarkDirectories makes the plan of 5,000 directories, of which 100 have no owner, with a provider that remembers nothing, and removes 500.
func BenchmarkDirectories(b *testing.B) {
	w := newWorld(b, 5_000)
	for n := range 4_900 {
		w.create(metadataOf(0, claimOf(n+100).Name))
	}
	w.ask(team)
	b.ResetTimer()
	for b.Loop() {
		w.restart()
		began := time.Now()
		pr := w.step(team)
		if pr.Status.Plan == nil || pr.Status.Plan.Pruned != 99 {
			b.Fatalf("%+v", pr.Status.Conditions)
		}
		b.ReportMetric(time.Since(began).Seconds(), "plan_s")
		pr.Status = v1alpha1.PruneRequestStatus{}
		w.must(w.kube.Status().Update(context.Background(), pr))
	}
	b.StopTimer()
	half := newWorld(b, 500)
	half.ask(team, func(s *v1alpha1.PruneRequestSpec) { s.MinAge = &metav1.Duration{} })
	half.approve(half.step(team))
	half.step(team)
	if pr := half.step(team); pr.Status.Phase != v1alpha1.PhaseDone {
		b.Fatalf("%+v", pr.Status.Conditions)
	}
	b.ReportMetric(float64(len(half.commits())-1), "commits")
}
