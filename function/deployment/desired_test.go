package deployment

import (
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/slot"
)

// TestNewRenderer upgrades the function, whose files have another line then, under both policies.
func TestNewRenderer(t *testing.T) {
	const line = "# new\n"
	unchanged := updated{Revision: 1, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"}
	renewed := updated{Revision: 2, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0/new"}
	waits := unchanged
	waits.Update.Renderer = "2"
	cases := map[string]struct {
		reason string
		line   string
		manual bool
		spread time.Duration
		// away is how long the time of the deployment is away.
		away time.Duration
		want updated
		// renderer that the status names, and whether the time decided.
		renderer string
		dated    bool
	}{
		"SameBytes": {
			reason: "No byte changes, so nothing is delivered again, and the revision counts as that of the newer renderer.",
			want:   unchanged, renderer: "2",
		},
		"AtOnce":     {reason: "Without a spread it is taken at once.", line: line, want: renewed, renderer: "2"},
		"InTurn":     {reason: "At its time it is taken.", line: line, spread: RendererSpread, want: renewed, renderer: "2"},
		"NotYet":     {reason: "A renderer waits before its slot.", line: line, spread: RendererSpread, away: time.Hour, want: waits, renderer: "1", dated: true},
		"ManualWait": {reason: "A user has to approve the new renderer.", line: line, manual: true, want: waits, renderer: "1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tc.manual {
				w.manual()
			}
			w.settle()
			w.upgrade(tc.line, WithRendererSpread(tc.spread))
			turn := slot.Of(w.in.Claim, w.core.version, tc.spread)
			w.in.Now = metav1.NewTime(w.in.Now.Add(turn.Wait(w.in.Now.Time) - tc.away))
			out := w.settle()
			w.wantUpdated(tc.reason, out, tc.want)
			if out.Dated != tc.dated || out.Wait != tc.away {
				t.Errorf("\n%s\nRun(...): want dated %t for %s, got %t for %s", tc.reason, tc.dated, tc.away, out.Dated, out.Wait)
			}
			if diff := cmp.Diff(tc.renderer, out.Status.Renderer); diff != "" {
				t.Errorf("\n%s\nRun(...): renderer: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHeldRenderer changes fields that do not affect the trees while a new renderer waits, and a change of the intent goes out with it.
func TestHeldRenderer(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.upgrade("# new\n")
	w.settle()
	w.in.Spec.DeliveryConfig.DeletionPolicy = deploymentv1alpha1.DeletionOrphan
	out := w.settle()
	waits := updated{Revision: 1, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0", Update: deploymentv1alpha1.UpdateStatus{Renderer: "2"}}
	w.wantUpdated("How it is deleted changes no tree.", out, waits)
	for name, d := range w.deliveries(out) {
		if slices.Contains(d.Spec.ManagementPolicies, xpv2.ManagementActionAll) {
			t.Errorf("Run(...): %s would still remove its directories: %v", name, d.Spec.ManagementPolicies)
		}
	}
	w.ask("now", 1)
	w.wantUpdated("An approval takes it.", w.settle(), updated{Revision: 2, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0/new", Results: "now=Done"})
	w.remove("RolloutRequest", "now")
	w.upgrade("# newer\n")
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	out = w.settle()
	w.wantUpdated("An intent goes out with the newest renderer.", out, updated{Revision: 3, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"})
	if diff := cmp.Diff("3", out.Status.Renderer); diff != "" {
		t.Errorf("Run(...): renderer: -want, +got:\n%s", diff)
	}
}

// TestHeldAndLost loses the object with the trees while a new renderer waits. The trees cannot be made again any more, so they stay in Git as they are.
func TestHeldAndLost(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.upgrade("# new\n")
	w.settle()
	clear(w.in.Observed)
	w.apply(w.call())
	w.deliver()
	out := w.call()
	w.wantUpdated("Git remembers the order, and its trees are kept.", out, updated{
		Revision: 1, Blueprint: "web-1.0.0", Lines: "Keep", Update: deploymentv1alpha1.UpdateStatus{Renderer: "2"},
	})
	w.apply(out)
	w.deliver()
	w.wantUpdated("They count as delivered.", w.call(), updated{
		Revision: 1, Ready: true, Blueprint: "web-1.0.0", Lines: "Keep", Update: deploymentv1alpha1.UpdateStatus{Renderer: "2"},
	})
}

// TestMovedRepository: a delivery that goes to another repository than its name says is held, and left alone, like any other.
func TestMovedRepository(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.set("ClusterProviderConfig", "default", "https://git.example.org/other.git", "spec", "git", "url")
	moved := updated{Revision: 2, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"}
	w.wantUpdated("Another repository is the next revision.", w.settle(), moved)
	w.upgrade("")
	w.wantUpdated("A renderer that changes no byte changes nothing.", w.settle(), moved)
	w.upgrade("# new\n")
	moved.Update.Renderer = "3"
	w.wantUpdated("A renderer that changes a byte waits.", w.settle(), moved)
}

// TestEqualTrees changes the catalog without changing a tree. That makes no revision, and a later renderer is held back as if the change had not been.
func TestEqualTrees(t *testing.T) {
	unused := func(w *world) { w.set("Site", "edge1", "x", "spec", "parameters", "unused") }
	moved := func(w *world) {
		files := w.object("Blueprint", "web-1.0.0").DeepCopy()
		w.release("1.1.0")
		specFiles, _, _ := unstructured.NestedMap(files.Object, "spec", "files")
		w.set("Blueprint", "web-1.1.0", specFiles, "spec", "files")
	}
	cases := map[string]struct {
		reason string
		change func(*world)
		manual bool
		// update that waits in the end.
		after deploymentv1alpha1.UpdateStatus
		// blueprint that the status names. Empty means the first one.
		blueprint string
	}{
		"Automatic":        {reason: "A parameter that nothing reads.", change: unused, after: deploymentv1alpha1.UpdateStatus{Renderer: "2"}},
		"Manual":           {reason: "Equal trees need no approval.", change: unused, manual: true, after: deploymentv1alpha1.UpdateStatus{Renderer: "2"}},
		"AutomaticChannel": {reason: "A Blueprint has the same files.", blueprint: "web-1.1.0", change: moved, after: deploymentv1alpha1.UpdateStatus{Renderer: "2"}},
		"Both":             {reason: "A renderer and a Blueprint change one after the other.", blueprint: "web-1.1.0", change: func(w *world) { moved(w); w.settle(); unused(w) }, after: deploymentv1alpha1.UpdateStatus{Renderer: "2"}},
		"Frozen": {
			reason: "Equal trees make no new revision after a problem either.", manual: true, after: deploymentv1alpha1.UpdateStatus{Renderer: "2"},
			change: func(w *world) {
				unused(w)
				w.settle()
				w.remove("ClusterProviderConfig", "default")
				w.settle()
				w.objects = newWorld(w.t).objects
				unused(w)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tc.manual {
				w.manual()
			}
			w.settle()
			specs := w.specs()
			tc.change(w)
			blueprint := tc.blueprint
			if blueprint == "" {
				blueprint = "web-1.0.0"
			}
			unchanged := updated{Revision: 1, Ready: true, Blueprint: blueprint, Lines: "1.0.0"}
			w.wantUpdated(tc.reason, w.settle(), unchanged)
			if diff := cmp.Diff(specs, w.specs()); diff != "" {
				t.Errorf("\n%s\nRun(...): nothing is carried out for it: -want, +got:\n%s", tc.reason, diff)
			}
			w.upgrade("# new\n", WithRendererSpread(RendererSpread))
			turn := slot.Of(w.in.Claim, w.core.version, RendererSpread)
			w.in.Now = metav1.NewTime(w.in.Now.Add(turn.Wait(w.in.Now.Time) - time.Hour))
			unchanged.Update = tc.after
			w.wantUpdated(tc.reason+" The renderer waits.", w.settle(), unchanged)
			w.wantUpdated(tc.reason+" It still does.", w.settle(), unchanged)
			w.in.Now = metav1.NewTime(w.in.Now.Add(time.Hour))
			if tc.manual {
				w.wantUpdated(tc.reason+" The time alone approves nothing.", w.settle(), unchanged)
				return
			}
			if out := w.settle(); out.Status.Revision != 2 {
				t.Errorf("\n%s\nRun(...): it is the deployment's turn: want revision 2, got %d", tc.reason, out.Status.Revision)
			}
			for name, o := range w.in.Observed {
				if len(o.GetAnnotations()) > 0 {
					t.Errorf("\n%s\nRun(...): %s of a new revision has annotations %v", tc.reason, name, o.GetAnnotations())
				}
			}
		})
	}
}

// specs are the specs of observed deliveries, except for the events to record.
func (w *world) specs() map[string]any {
	out := map[string]any{}
	for name, o := range w.in.Observed {
		o = o.DeepCopy()
		unstructured.RemoveNestedField(o.Object, "spec", "forProvider", "ledger")
		out[name] = o.Object["spec"]
	}
	return out
}
