package deployment

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/render"
)

// TestLossesAtEachStep loses each kind of object, all of them, and the state of the repository, at each step of a canary that Gates measure, when
// a user gives one up and in its rollback. The directory goes through the same steps as without a loss.
func TestLossesAtEachStep(t *testing.T) {
	steps := map[string]func(w *world){
		"Prepare": func(w *world) { w.until("edge1", "blue 1: 100, green 2: 0", cluster{}) },
		"At20":    func(w *world) { w.until("edge1", "blue 1: 80, green 2: 20", cluster{}) },
		"At50":    func(w *world) { w.until("edge1", "blue 1: 50, green 2: 50", cluster{}) },
		"At100":   func(w *world) { w.until("edge1", "blue 1: 0, green 2: 100", cluster{}) },
		"Draining": func(w *world) {
			w.until("edge1", "blue 1: 0, green 2: 100", cluster{})
			w.untilVerdict()
		},
		"Aborted": func(w *world) {
			w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
			w.ask("a", 2, action("Abort"))
		},
		"RollingBack": func(w *world) {
			w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
			w.ask("a", 2, action("Abort"))
			w.until("edge1", "blue 1: 100, green 2: 0", cluster{})
		},
		"Beside": func(w *world) {
			w.story("edge1", cluster{})
			w.ask("b", 2, action("RollbackTo"), toRevision(1))
			w.until("edge1", "blue 1: 0, green 2: 100", cluster{})
		},
		"Clearing": func(w *world) {
			w.story("edge1", cluster{})
			w.sayCanary("three", 4)
			w.until("edge1", "blue 3: 50, green 2: 50", cluster{})
			w.ask("b", 3, action("RollbackTo"), toRevision(1))
			w.until("edge1", "blue 3: 0, green 2: 100", cluster{})
		},
	}
	losses := map[string]func(w *world){
		"SiteSync":    func(w *world) { w.loseKind("SiteSync") },
		"GitDelivery": func(w *world) { w.loseKind("GitDelivery") },
		"Gate":        func(w *world) { w.loseKind("Gate") },
		"Everything":  func(w *world) { clear(w.in.Observed) },
		"State":       func(w *world) { w.loseStateOfRepositories() },
		"GitDeliveryAndTime": func(w *world) {
			w.loseKind("GitDelivery")
			w.canaryRound(cluster{})
			w.cannotRender()
		},
	}
	for step, reach := range steps {
		t.Run(step, func(t *testing.T) {
			calm := aMeasuredCanary(t)
			reach(calm)
			start := calm.identified("edge1")
			want, end := calm.storyAfter("edge1", start)
			for loss, lose := range losses {
				t.Run(loss, func(t *testing.T) {
					w := aMeasuredCanary(t)
					reach(w)
					lose(w)
					got, out := w.storyAfter("edge1", start)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("the directory after the loss: -without, +with:\n%s\n%s: %s", diff, out.Status.Phase, out.Status.Message)
					}
					if out.Status.Phase != end.Status.Phase || out.Status.LiveRevision != end.Status.LiveRevision || out.Ready != end.Ready {
						t.Errorf("want %s, revision %d live and ready %t, got %s, %d, %t: %s", end.Status.Phase, end.Status.LiveRevision, end.Ready, out.Status.Phase, out.Status.LiveRevision, out.Ready, out.Status.Message)
					}
				})
			}
		})
	}
}

// TestBackupOfRequests restores objects from before the requests left a canary, which a user retries: their reports of the directory are outdated, and the
// canary gets no requests again before its first step.
func TestBackupOfRequests(t *testing.T) {
	retried := func() (*world, map[string]*unstructured.Unstructured) {
		w := aMeasuredCanary(t)
		w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
		w.canaryRound(cluster{})
		backup := map[string]*unstructured.Unstructured{}
		for name, o := range w.in.Observed {
			backup[name] = o.DeepCopy()
		}
		w.ask("r", 2, action("Retry"), uid("r"))
		w.until("edge1", "blue 1: 100, green 2: 0", cluster{})
		return w, backup
	}
	calm, _ := retried()
	start := calm.identified("edge1")
	want, _ := calm.storyAfter("edge1", start)
	w, backup := retried()
	w.loseStateOfRepositories()
	w.canaryRound(cluster{})
	w.in.Observed = backup
	got, out := w.storyAfter("edge1", start)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the directory after the backup: -without, +with:\n%s\n%s: %s", diff, out.Status.Phase, out.Status.Message)
	}
}

// cannotRender is a round in which a function that started again takes too long to render.
func (w *world) cannotRender() {
	w.t.Helper()
	timeout := w.in.Spec.CompileConfig.RenderTimeout
	w.core = New(render.NewRenderer())
	w.core.version = firstRenderer
	w.in.Spec.CompileConfig.RenderTimeout = "1ns"
	out := w.canaryRound(cluster{})
	w.wantCondition("Nothing is rendered in no time.", out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonRenderTimeout)
	w.in.Spec.CompileConfig.RenderTimeout = timeout
}

// storyAfter returns the successive states of a Site's directory after a first state, each with the id of its files, until nothing changes for 12 rounds.
func (w *world) storyAfter(site, first string) ([]string, *Output) {
	w.t.Helper()
	var story []string
	var out *Output
	last := first
	for calm := 0; calm < 12; calm++ {
		out = w.canaryRound(cluster{})
		if current := w.identified(site); w.directory(site) != "" && current != last {
			story, last, calm = append(story, current), current, 0
		}
	}
	return story, out
}

// identified returns the state of a Site's directory, with the id of its files.
func (w *world) identified(site string) string { return w.directory(site) + ": " + w.heldTrees()[site] }

// heldTrees are the ids of the trees in the directories of Sites, by Site.
func (w *world) heldTrees() map[string]string {
	out := map[string]string{}
	for _, r := range w.repositories {
		if r.memory.record == nil {
			for _, t := range r.rebuilt {
				out[t.Site] = t.Tree
			}
			continue
		}
		for _, t := range r.memory.record.trees {
			out[t.Site] = t.Tree
		}
	}
	return out
}

// untilVerdict lets all parts act until the ledger has a verdict.
func (w *world) untilVerdict() {
	w.t.Helper()
	for range 40 {
		if w.ledger().Verdict != nil {
			return
		}
		w.canaryRound(cluster{})
	}
	w.t.Fatal("the revision never has a verdict")
}

// loseKind loses the objects of a kind.
func (w *world) loseKind(kind string) {
	maps.DeleteFunc(w.in.Observed, func(_ string, o *unstructured.Unstructured) bool { return o.GetKind() == kind })
}

// loseStateOfRepositories loses all refs of the repositories beside their branch.
func (w *world) loseStateOfRepositories() {
	for _, r := range w.repositories {
		r.memory.ledger = ledger.State{}
		r.rebuilt, r.memory.record = slices.Clone(r.memory.record.trees), nil
	}
}
