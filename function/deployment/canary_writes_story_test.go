package deployment

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/phase"
)

// gateNames are the Gates that a call asks for.
func gateNames(out *Output) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(out.Resources)) {
		if out.Resources[name].Object.GetKind() == "Gate" {
			names = append(names, name)
		}
	}
	return names
}

// TestGatesComeTogether composes the Gates of all steps with the revision, and removes them with the next one: each time that Gates come or go costs the
// composite more than a step.
func TestGatesComeTogether(t *testing.T) {
	w := aMeasuredCanary(t)
	all := []string{"gate-2-1", "gate-2-2", "gate-2-3"}
	for range 40 {
		if diff := cmp.Diff(all, gateNames(w.canaryRound(cluster{}))); diff != "" {
			t.Fatalf("\nA revision has all of its Gates from its first step to the next revision.\n-want, +got:\n%s", diff)
		}
	}
	if v := w.ledger().Verdict; v == nil {
		t.Fatal("the revision has no verdict after 40 rounds")
	}
	w.sayCanary("three", 4)
	if diff := cmp.Diff([]string{"gate-3-1", "gate-3-2", "gate-3-3"}, gateNames(w.call())); diff != "" {
		t.Errorf("\nThe next revision has Gates of its own.\n-want, +got:\n%s", diff)
	}
}

// TestGatesOfManyChecks composes the Gate of each step with the step where all together would be too large.
func TestGatesOfManyChecks(t *testing.T) {
	w := aMeasuredCanary(t)
	w.apply(w.call())
	w.deliver()
	w.call()
	o, err := w.core.observe(w.in)
	if err != nil {
		t.Fatal(err)
	}
	k := Compiled{}
	for range maxChecksAhead/3 + 1 {
		k.checks = append(k.checks, rolloutv1alpha1.GateCheck{Check: deploymentv1alpha1.Check{Site: "edge1"}})
	}
	k.canaryChecks = k.checks
	d := Decision{composed: map[string]any{}}
	d.State = o.state
	if got := (decider{in: w.in, observed: o, compiled: k}).statesToJudge(d); len(got) != 1 {
		t.Errorf("Gates with more than %d checks together are composed ahead: %d of them", maxChecksAhead, len(got))
	}
	k.checks, k.canaryChecks = k.checks[1:], k.checks[1:]
	if got := (decider{in: w.in, observed: o, compiled: k}).statesToJudge(d); len(got) != 4 {
		t.Errorf("Gates with %d checks together are not composed ahead: %d states of 4", maxChecksAhead, len(got))
	}
}

// TestStepsKeepConditions goes through the steps of a canary, and compares its conditions until the last one is delivered: each change of one is a write of its own.
func TestStepsKeepConditions(t *testing.T) {
	w := aMeasuredCanary(t)
	conditions := map[string]map[phase.Condition]bool{}
	for range 40 {
		out := w.canaryRound(cluster{})
		if c := out.Status.Canary; c == nil || out.Conditions == nil || isDelivered(out) {
			break
		}
		for _, c := range out.Conditions {
			if conditions[c.Type] == nil {
				conditions[c.Type] = map[phase.Condition]bool{}
			}
			conditions[c.Type][c] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(conditions)) {
		if n := len(conditions[name]); n != 1 {
			t.Errorf("condition %s says %d things from step to step: %v", name, n, slices.Collect(maps.Keys(conditions[name])))
		}
	}
	if len(conditions) == 0 {
		t.Error("no step was seen before the last one")
	}
}

// isDelivered is true once the repository holds the last step.
func isDelivered(out *Output) bool {
	return slices.ContainsFunc(out.Conditions, func(c phase.Condition) bool {
		return c.Type == deploymentv1alpha1.TypeDelivered && c.Status == corev1.ConditionTrue
	})
}

// TestPassingStatus asks for the next step of a canary, whose status is shown when the repository reports the step, or why it does not take it.
func TestPassingStatus(t *testing.T) {
	w := newCanaryWorld(t, weightStep(20), pauseStep(""), weightStep(50))
	if _, out := w.story("edge1", cluster{}); !out.Ready {
		t.Fatalf("the first revision does not run: %s", out.Status.Message)
	}
	w.sayCanary("two", 4)
	if out := w.call(); out.Passing {
		t.Error("the status of a new revision is shown at once")
	}
	w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
	w.statusStory(cluster{})
	if out := w.call(); out.Passing {
		t.Error("the status of a step is shown that waits for a user")
	}
	w.ask("p", 2, action("Promote"), stepNumber(2))
	out := w.call()
	w.apply(out)
	for range 3 {
		if !out.Passing {
			t.Fatalf("the status of a step that was asked for is shown before the repository reports: %s", canaryLine(out))
		}
		out = w.call()
	}
	w.refuseWith(deliveryv1alpha1.ReasonPolicyDenied)
	w.deliver()
	if out = w.call(); out.Passing {
		t.Errorf("the status hides why the step is not delivered: %s", out.Status.Message)
	}
	w.refuseWith("")
	w.deliver()
	if out = w.call(); out.Passing {
		t.Errorf("the status of a step is hidden that the repository holds: %s", canaryLine(out))
	}
	w.wantCondition("A step is delivered.", out, deploymentv1alpha1.TypeDelivered, corev1.ConditionFalse, deploymentv1alpha1.ReasonDelivering)
}

// TestUnseenGates waits for longer than a provider may take with the Gates of steps to come, which have no status.
func TestUnseenGates(t *testing.T) {
	w := aMeasuredCanary(t)
	w.core.providerTimeout = time.Second
	w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
	for _, u := range w.in.Observed {
		if u.GetKind() == "Gate" {
			earlier := metav1.NewTime(w.in.Now.Add(-time.Minute))
			u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "crossplane", Operation: metav1.ManagedFieldsOperationApply, Time: &earlier}})
			u.SetGeneration(1)
			delete(u.Object, "status")
		}
	}
	o, err := w.core.observe(w.in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Gate shop-gate-2-1"}, o.unobserving); diff != "" {
		t.Errorf("\nThe provider has to report about the Gate of the live step, and not about the Gates of later steps.\n-want, +got:\n%s", diff)
	}
}
