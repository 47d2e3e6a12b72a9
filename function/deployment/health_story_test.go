package deployment

import (
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/gitops"
)

// shown is a deployment as Crossplane shows it after an output.
func (w *world) shown(out *Output) *unstructured.Unstructured {
	w.t.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(out.Status)
	if err != nil {
		w.t.Fatal(err)
	}
	conditions := []any{
		map[string]any{"type": "Synced", "status": "True", "reason": "ReconcileSuccess"},
		map[string]any{"type": "Ready", "status": map[bool]string{true: "True", false: "False"}[out.Ready], "reason": "Available"},
	}
	for _, c := range out.Conditions {
		conditions = append(conditions, map[string]any{"type": c.Type, "status": string(c.Status), "reason": c.Reason, "message": c.Message})
	}
	m["conditions"] = conditions
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "shop", "generation": int64(1)}, "status": m}}
	u.SetAPIVersion(deploymentv1alpha1.GroupClaims + "/" + deploymentv1alpha1.Version)
	u.SetKind(deploymentv1alpha1.Kind)
	return u
}

// TestHealth lets kstatus, as kubectl wait's relatives and Flux read it, and Argo CD judge where a deployment may stand.
func TestHealth(t *testing.T) {
	observed := func(w *world) { w.observe("edge1", "edge2") }
	cases := map[string]struct {
		reason string
		reach  func(*world) *Output
		phase  deploymentv1alpha1.Phase
		want   [2]string
	}{
		"Succeeded": {
			reason: "The desired revision runs.", phase: deploymentv1alpha1.PhaseSucceeded, want: [2]string{"Current", "Healthy"},
			reach: func(w *world) *Output { return w.settle() },
		},
		"Delivering": {
			reason: "A revision that is being delivered is in progress.", phase: deploymentv1alpha1.PhaseDelivering, want: [2]string{"InProgress", "Progressing"},
			reach: func(w *world) *Output { w.apply(w.call()); return w.call() },
		},
		"Invalid": {
			reason: "A person has to say it better.", phase: deploymentv1alpha1.PhaseFailed, want: [2]string{"Failed", "Degraded"},
			reach: func(w *world) *Output { w.say("{}"); return w.call() },
		},
		"Missing": {
			reason: "A deployment begins when its Site appears.", phase: deploymentv1alpha1.PhasePending, want: [2]string{"InProgress", "Progressing"},
			reach: func(w *world) *Output { w.remove("Site", "edge1"); return w.call() },
		},
		"SyncFailed": {
			reason: "The revision has no rollback target.", phase: deploymentv1alpha1.PhaseFailed, want: [2]string{"Failed", "Degraded"},
			reach: func(w *world) *Output {
				observed(w)
				w.apply(w.call())
				w.deliver()
				w.sync("Failed", "Failed")
				w.apply(w.call())
				w.deliver()
				return w.call()
			},
		},
		"Drifted": {
			reason: "The phase is about the verdict, and not about the running state.", phase: deploymentv1alpha1.PhaseSucceeded,
			want: [2]string{"InProgress", "Progressing"},
			reach: func(w *world) *Output {
				observed(w)
				w.settleLive()
				w.sync("Syncing", "Syncing")
				return w.call()
			},
		},
		"RolledBack": {
			reason: "A deployment that a user rolled back waits for the user, and is not a failure.", phase: deploymentv1alpha1.PhaseSucceeded,
			want: [2]string{"InProgress", "Suspended"},
			reach: func(*world) *Output {
				w := still(t, false)
				w.wish(3)
				w.until("Succeeded/Succeeded 2")
				w.ask("back", 2, action(rolloutv1alpha1.ActionRollbackTo), func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.ToRevision = new(int64(1)) })
				return w.until("Succeeded/RolledBack 3")
			},
		},
		"Suspended": {
			reason: "A deployment that spec.suspend holds back is suspended.", phase: deploymentv1alpha1.PhaseSucceeded, want: [2]string{"InProgress", "Suspended"},
			reach: func(w *world) *Output {
				w.settle()
				yes := true
				w.in.Spec.Suspend = &yes
				w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
				return w.call()
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			out := tc.reach(w)
			if diff := cmp.Diff(tc.phase, out.Status.Phase); diff != "" {
				t.Fatalf("\n%s\nRun(...): phase: -want, +got:\n%s", tc.reason, diff)
			}
			u := w.shown(out)
			r, err := status.Compute(u)
			if err != nil {
				t.Fatal(err)
			}
			health, _, err := gitops.ArgoCDHealth(u)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, [2]string{r.Status.String(), health}); diff != "" {
				t.Errorf("\n%s\nkstatus (%s) and Argo CD: -want, +got:\n%s", tc.reason, r.Message, diff)
			}
		})
	}
}

// TestMessageWhileUnobserved reads the message of a deployment whose Sites ran the revision, and cannot be observed any more.
func TestMessageWhileUnobserved(t *testing.T) {
	w := newWorld(t)
	w.observe("edge1", "edge2")
	w.settleLive()
	if diff := cmp.Diff("Every Site runs the revision.", w.call().Status.Message); diff != "" {
		t.Errorf("Run(...) while every Site is proven to run the revision: message: -want, +got:\n%s", diff)
	}
	w.sync("Syncing", "Syncing")
	out := w.call()
	want := "The revision was verified, and not every Site is known to run it now: "
	if !strings.HasPrefix(out.Status.Message, want) || out.Status.Phase != deploymentv1alpha1.PhaseSucceeded {
		t.Errorf("Run(...) while no Site is proven to run the revision: want %s and a message that begins with %q, got %s and %q",
			deploymentv1alpha1.PhaseSucceeded, want, out.Status.Phase, out.Status.Message)
	}
}

// TestHealthOfWaysBack judges a deployment whose revision breaks its objectives.
func TestHealthOfWaysBack(t *testing.T) {
	w := still(t, false)
	w.wish(4)
	for _, tc := range []struct {
		reason, where string
		want          [2]string
	}{
		{reason: "A revision that is judged is in progress.", where: "Validating/ 2", want: [2]string{"InProgress", "Progressing"}},
		{reason: "A rollback that goes on is in progress.", where: "RollingBack/ 2", want: [2]string{"InProgress", "Progressing"}},
		{reason: "The desired revision does not run.", where: "Succeeded/RolledBack 2", want: [2]string{"Failed", "Degraded"}},
	} {
		u := w.shown(w.until(tc.where))
		r, err := status.Compute(u)
		if err != nil {
			t.Fatal(err)
		}
		health, _, err := gitops.ArgoCDHealth(u)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, [2]string{r.Status.String(), health}); diff != "" {
			t.Errorf("\n%s\nkstatus (%s) and Argo CD: -want, +got:\n%s", tc.reason, r.Message, diff)
		}
	}
}
