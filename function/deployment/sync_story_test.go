package deployment

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/compose"
)

// observe gives Sites engines, which a SiteSync can ask.
func (w *world) observe(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.set("Site", name, map[string]any{"type": "Flux", "objectRef": map[string]any{"apiVersion": "v1", "kind": "Kustomization", "name": "{site}"}}, "spec", "engine")
	}
}

// sync lets the SiteSync say something about all of its Sites whose wave has come.
func (w *world) sync(reason, state string) {
	w.t.Helper()
	o := w.in.Observed[compose.SyncName]
	if o == nil {
		w.t.Fatal("there is no SiteSync")
		return
	}
	position, _, _ := unstructured.NestedMap(o.Object, "spec", "forProvider", "position")
	sites, _, _ := unstructured.NestedSlice(o.Object, "spec", "forProvider", "sites")
	var observed []any
	for _, s := range sites {
		if s, ok := s.(map[string]any); ok {
			observed = append(observed, map[string]any{"name": s["name"], "state": state})
		}
	}
	status := "False"
	if reason == "Live" {
		status = "True"
	}
	o.Object["status"] = map[string]any{
		"conditions": []any{condition("Ready", status, reason, o), condition("Synced", "True", "ReconcileSuccess", o)},
		"atProvider": map[string]any{"position": position, "sites": observed, "sitesLive": int64(0)},
	}
}

// round calls, applies, delivers, and lets the SiteSync report the current state.
func (w *world) round(reason, state string) *Output {
	w.t.Helper()
	w.apply(w.call())
	w.deliver()
	w.sync(reason, state)
	return w.call()
}

func TestProvenLive(t *testing.T) {
	w := newWorld(t)
	w.observe("edge1", "edge2")
	out := w.round("Syncing", "Syncing")
	w.want("Delivered is not live.", out, view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "0/2", Trees: bothFirst})
	w.wantCondition("It is in the repository.", out, deploymentv1alpha1.TypeDelivered, corev1.ConditionTrue, deploymentv1alpha1.ReasonDelivered)
	w.wantCondition("Nothing runs yet.", out, deploymentv1alpha1.TypeAvailable, corev1.ConditionFalse, deploymentv1alpha1.ReasonNotLive)
	w.wantCondition("All of this works.", out, deploymentv1alpha1.TypeSupported, corev1.ConditionTrue, deploymentv1alpha1.ReasonSupported)
	w.sync("Live", "Live")
	out = w.call()
	w.want("Live, it is to be remembered.", out, view{Phase: deploymentv1alpha1.PhaseValidating, Revision: 1, Sites: "2/2", Trees: bothFirst})
	original := w.in.Observed[compose.SyncName].DeepCopy()
	w.apply(out)
	if diff := cmp.Diff(original.Object["spec"], w.in.Observed[compose.SyncName].Object["spec"]); diff != "" {
		t.Errorf("Run(...): a verdict changes the SiteSync, which costs: -want, +got:\n%s", diff)
	}
	w.deliver()
	out = w.call()
	w.want("Then it succeeded.", out, view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "2/2", Trees: bothFirst})
	w.wantCondition("It runs.", out, deploymentv1alpha1.TypeAvailable, corev1.ConditionTrue, deploymentv1alpha1.ReasonLive)
	w.sync("TimedOut", "TimedOut")
	out = w.call()
	w.want("The phase does not move when it does not run any more.", out, view{Phase: deploymentv1alpha1.PhaseSucceeded, Revision: 1, Sites: "0/2", Trees: bothFirst})
	w.wantCondition("It says so.", out, deploymentv1alpha1.TypeReconciling, corev1.ConditionTrue, deploymentv1alpha1.ReasonDrifted)
	w.wantFrozen("And nothing is ordered.", out)

	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.want("The live state of an earlier revision proves nothing.", w.round("Syncing", "Syncing"), view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "0/2", Trees: bothSecond})
}

// TestRejected lets a Site fail, and a repository refuse.
func TestRejected(t *testing.T) {
	cases := map[string]struct {
		reason string
		fail   func(*world)
		why    string
	}{
		"Failed":   {reason: "An engine tried and failed.", fail: func(w *world) { w.deliver(); w.sync("Failed", "Failed") }, why: deploymentv1alpha1.ReasonSyncFailed},
		"TimedOut": {reason: "A Site took too long.", fail: func(w *world) { w.deliver(); w.sync("TimedOut", "TimedOut") }, why: deploymentv1alpha1.ReasonSyncTimedOut},
		"Refused":  {reason: "A refusal of a repository rejects the revision.", fail: func(w *world) { w.refuseWith("PolicyDenied"); w.deliver() }, why: deploymentv1alpha1.ReasonDeliveryRefused},
		"Trouble":  {reason: "A delivery that fails for too long rejects the revision.", fail: func(w *world) { w.refuseWith("DeliveryTimedOut"); w.deliver() }, why: deploymentv1alpha1.ReasonDeliveryTimedOut},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.observe("edge1", "edge2")
			w.apply(w.call())
			tc.fail(w)
			out := w.call()
			rejected := view{Phase: deploymentv1alpha1.PhaseFailed, Revision: 1, Trees: []string{"1 edge1 Keep", "1 edge2 Keep"}, Sites: "0/2"}
			w.want(tc.reason, out, rejected)
			w.wantCondition(tc.reason, out, deploymentv1alpha1.TypeStalled, corev1.ConditionTrue, tc.why)
			if !strings.Contains(out.Status.Message, "Words.") {
				t.Errorf("\n%s\nRun(...): the message does not say why: %q", tc.reason, out.Status.Message)
			}
			w.apply(out)
			w.deliver()
			out = w.call()
			w.wantCondition("It is remembered.", out, deploymentv1alpha1.TypeRecorded, corev1.ConditionTrue, deploymentv1alpha1.ReasonRecorded)
			w.wantFrozen("And held.", out)
			w.set("Site", "edge1", map[string]any{"tenant": "b"}, "spec", "parameters")
			w.wantFrozen("Whatever the catalog says.", w.call())
			w.in.Spec.DeliveryConfig.DeletionPolicy = deploymentv1alpha1.DeletionOrphan
			for _, d := range w.deliveries(w.call()) {
				if len(d.Spec.ManagementPolicies) < 2 {
					t.Errorf("Run(...): deletion follows the spec, got %v", d.Spec.ManagementPolicies)
				}
			}
			w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
			w.want("Another intent is another revision.", w.call(), view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Trees: bothSecond, Sites: "0/2"})
		})
	}
}

func TestAdoptReleases(t *testing.T) {
	w := newWorld(t)
	w.apply(w.call())
	w.refuseWith("NotOwner")
	w.deliver()
	w.apply(w.call())
	w.deliver()
	if diff := cmp.Diff(ledger.VerdictRejected, w.ledger().Verdict.Result); diff != "" {
		t.Fatalf("verdict: -want, +got:\n%s", diff)
	}
	w.refuseWith("")
	w.in.Spec.DeliveryConfig.Adopt = new(true)
	w.want("Files may be overwritten.", w.settle(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 2, Sites: "2/2", Trees: bothSecond})
}

// TestWaves goes out to edge2 first, and to edge1 after that.
func TestWaves(t *testing.T) {
	w := newWorld(t)
	w.observe("edge1", "edge2")
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}}}
	first := view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "0/2", Trees: []string{"1 edge1 Keep", "1 edge2 Desired"}}
	out := w.round("Syncing", "Syncing")
	w.want("The first wave is delivered.", out, first)
	w.wantCondition("That is not all.", out, deploymentv1alpha1.TypeDelivered, corev1.ConditionFalse, deploymentv1alpha1.ReasonDelivering)
	w.sync("Live", "Live")
	second := view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "1/2", Trees: bothFirst}
	w.in.Spec.Suspend = new(true)
	w.want("Suspended, it does not go on.", w.call(), view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "1/2", Trees: first.Trees})
	w.in.Spec.Suspend = nil
	w.want("Live, the next one goes.", w.call(), second)
	w.apply(w.call())
	w.want("The proof of the first step does not prove the second.", w.call(), second)
	w.want("And it waits.", w.round("Syncing", "Syncing"), view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "0/2", Trees: bothFirst})
	w.sync("Live", "Live")
	w.apply(w.call())
	w.deliver()
	w.want("Live everywhere.", w.call(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "2/2", Trees: bothFirst})
}

// TestWaveFails stops at the first wave that does.
func TestWaveFails(t *testing.T) {
	w := newWorld(t)
	w.observe("edge1", "edge2")
	w.settleLive()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", MatchLabels: map[string]deploymentv1alpha1.LabelValue{"region": "south"}}}
	out := w.round("Failed", "Failed")
	w.want("The other Site keeps its tree.", out, view{Phase: deploymentv1alpha1.PhaseRollingBack, Revision: 2, Sites: "1/2", Trees: []string{"2 edge1 Keep", "2 edge2 Restore"}})
}

// settleLive lets everything be delivered and live.
func (w *world) settleLive() {
	w.t.Helper()
	for range 4 {
		w.round("Live", "Live")
	}
}

func TestBadWaves(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "a", Sites: []deploymentv1alpha1.SiteName{"edge1"}}, {Name: "b", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
	out := w.call()
	w.wantFrozen("A Site in two waves.", out)
	w.wantCondition("It is told.", out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonInvalidSpec)
	w.in.Spec.DeliveryConfig.Waves, w.in.Spec.DeliveryConfig.SyncWaitTimeout = nil, "48h"
	out = w.call()
	w.wantFrozen("A timeout above the limit is refused.", out)
	if c := conditionOf(out, deploymentv1alpha1.TypeValid); !strings.Contains(c.Message, "spec.deliveryConfig.syncWaitTimeout") {
		t.Errorf("Run(...): the message does not name the field: %q", c.Message)
	}
}

// TestNobodyTells has no SiteSync, and takes delivered for live where the Site says so.
func TestNobodyTells(t *testing.T) {
	w := newWorld(t)
	out := w.settle()
	if _, ok := out.Resources[compose.SyncName]; ok || !out.Ready {
		t.Errorf("Run(...): a SiteSync without Sites, ready %t", out.Ready)
	}
	w.set("Site", "edge2", false, "spec", "engine", "unobservedIsLive")
	out = w.call()
	if out.Ready || out.Status.Phase != deploymentv1alpha1.PhaseSucceeded {
		t.Errorf("Run(...): a Site that no longer counts as live is drift: phase %s, ready %t", out.Status.Phase, out.Ready)
	}
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	out = w.settle()
	w.want("It is delivered, and that is all that is known.", out, view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "1/2", Trees: bothSecond})
	w.wantCondition("Unobserved Sites stall a revision.", out, deploymentv1alpha1.TypeStalled, corev1.ConditionTrue, deploymentv1alpha1.ReasonSyncNotObserved)
	w.observe("edge2")
	out = w.call()
	if !slices.Contains(slices.Sorted(maps.Keys(out.Resources)), compose.SyncName) {
		t.Error("Run(...): no SiteSync for a Site that has an engine now")
	}
	w.settleLive()
	third := []string{"3 edge1 Desired", "3 edge2 Desired"} // The engine gets other files than no engine.
	w.want("Then it is known.", w.call(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 3, Sites: "2/2", Trees: third})
	w.set("Site", "edge2", map[string]any{"type": "None", "unobservedIsLive": true}, "spec", "engine")
	out = w.call()
	if _, ok := out.Resources[compose.SyncName]; ok {
		t.Error("Run(...): a SiteSync that is not needed any more stays")
	}
}

// TestLostSync loses the SiteSync of a revision that goes on as it is, since a suspended spec asks for another one.
func TestLostSync(t *testing.T) {
	w := newWorld(t)
	w.observe("edge1", "edge2")
	w.round("Syncing", "Syncing")
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.in.Spec.Suspend = new(true)
	delete(w.in.Observed, compose.SyncName)
	out := w.call()
	w.want("Without the SiteSync nothing is proven to run.", out, view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "0/2", Trees: bothFirst})
	w.apply(out)
	w.deliver() // The mandate is suspended, too.
	w.sync("Live", "Live")
	w.apply(w.call())
	w.deliver()
	w.want("The SiteSync is composed again, and its report is proven.", w.call(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Revision: 1, Sites: "2/2", Trees: bothFirst})
}
