package deployment

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// recordingWorld has a deployment whose first revision is delivered, and whose verdict the call asks the repository to record.
func recordingWorld(t *testing.T) (*world, *Output) {
	t.Helper()
	w := newWorld(t)
	for _, site := range []string{"edge1", "edge2"} {
		w.set("Site", site, true, "spec", "engine", "unobservedIsLive")
	}
	out := w.call()
	if out.Recording {
		t.Fatal("the status of a new revision is held")
	}
	w.apply(out)
	w.deliver()
	return w, w.call()
}

// TestRecording holds the status of a revision from the call that requests its verdict until the repository reports about it: the calls in between would
// write conditions that the next call writes again.
func TestRecording(t *testing.T) {
	w, out := recordingWorld(t)
	for range 3 {
		if !out.Recording || out.Ready {
			t.Fatalf("the status is shown before the repository reports the verdict: %s", out.Status.Message)
		}
		w.apply(out)
		out = w.call()
	}
	w.deliver()
	if out = w.call(); out.Recording || out.Status.Phase != deploymentv1alpha1.PhaseSucceeded || !out.Ready {
		t.Errorf("the status hides that the verdict is recorded: %s", out.Status.Message)
	}
}

// TestRecordingEnds writes the current state as soon as the record takes longer than usual, or the status is about another spec.
func TestRecordingEnds(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
	}{
		"Seen": {
			reason: "A repository that takes its time is waited for, and the status says so.",
			change: func(w *world) { w.reportReady(deliveryv1alpha1.ReasonPushing) },
		},
		"Unreachable": {reason: "A repository that cannot be reached is reported.", change: func(w *world) {
			w.reportReady(deliveryv1alpha1.ReasonUnreachable)
		}},
		"Edited": {reason: "A change of the intent is shown at once.", change: func(w *world) {
			w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
		}},
		"Suspended": {reason: "A suspended deployment is shown at once.", change: func(w *world) { w.in.Spec.Suspend = new(true) }},
		"Unseen": {
			reason: "A status that is about no revision yet is written.",
			change: func(w *world) { w.in.Status = deploymentv1alpha1.IntentDeploymentStatus{} },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, out := recordingWorld(t)
			w.apply(out)
			tc.change(w)
			if diff := cmp.Diff(false, w.call().Recording); diff != "" {
				t.Errorf("\n%s\nRecording: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRecordingLeft holds the status of a revision whose verdict is left to the provider until the repository reports about it.
func TestRecordingLeft(t *testing.T) {
	w := newWorld(t)
	for _, site := range []string{"edge1", "edge2"} {
		w.set("Site", site, true, "spec", "engine", "unobservedIsLive")
	}
	w.apply(w.call())
	w.deliver()
	for _, o := range w.in.Observed {
		if o.GetKind() == "GitDelivery" {
			echo := map[string]any{"rules": int64(step.Rules), "revision": int64(1), "may": []any{"Verify"}}
			w.must(unstructured.SetNestedMap(o.Object, echo, "status", "atProvider", "mandate"))
		}
	}
	out := w.call()
	if !out.Recording || out.Ready {
		t.Errorf("the status is shown before the provider records the verdict: %s", out.Status.Message)
	}
	for _, e := range w.homeOfWorld(out).Spec.ForProvider.Ledger.Events {
		if e.Judged != nil {
			t.Errorf("the function asks for a verdict that it leaves to the provider")
		}
	}
}

// reportReady lets the provider report about the deliveries as they are, without carrying them out.
func (w *world) reportReady(reason xpv2.ConditionReason) {
	w.t.Helper()
	for name, o := range w.in.Observed {
		status, _ := o.Object["status"].(map[string]any)
		if status == nil {
			w.t.Fatalf("%s has no status", name)
		}
		status["conditions"] = []any{condition("Ready", "False", string(reason), o), condition("Synced", "True", "ReconcileSuccess", o)}
	}
}
