package gitops

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	claims   = "claims.intentplane.dev/v1alpha1"
	delivery = "delivery.intentplane.dev/v1alpha1"
	rollout  = "rollout.intentplane.dev/v1alpha1"
)

func is(typ, status, reason string) any {
	return map[string]any{"type": typ, "status": status, "reason": reason, "message": reason + ".", "observedGeneration": int64(3)}
}

func TestArgoCDHealth(t *testing.T) {
	idle, busy := is("Reconciling", "False", "Idle"), is("Reconciling", "True", "Progressing")
	calm, stuck := is("Stalled", "False", "Progressing"), is("Stalled", "True", "SyncTimedOut")
	ready, unready := is("Ready", "True", "Available"), is("Ready", "False", "Creating")
	cases := map[string]struct {
		reason     string
		apiVersion string
		kind       string
		message    string
		conditions []any
		change     func(*unstructured.Unstructured)
		want       [2]string
	}{
		"New":       {reason: "A deployment without conditions is in progress.", apiVersion: claims, kind: "IntentDeployment", want: [2]string{"Progressing", "it was not observed yet"}},
		"Succeeded": {reason: "A deployment that is live is healthy.", apiVersion: claims, kind: "IntentDeployment", message: "Live.", conditions: []any{ready, idle, calm}, want: [2]string{"Healthy", "Live."}},
		"Composite": {reason: "The same for what a claim makes.", apiVersion: claims, kind: "XIntentDeployment", conditions: []any{ready, idle, calm}, want: [2]string{"Healthy", "it was not observed yet"}},
		"Namespaced": {
			reason: "A namespaced composite that delivers is in progress.", apiVersion: "intentplane.dev/v1alpha1", kind: "IntentDeployment", conditions: []any{unready, busy, calm}, message: "Delivering.",
			want: [2]string{"Progressing", "Delivering."},
		},
		"Failed": {reason: "A deployment that needs a person is degraded.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, idle, stuck}, want: [2]string{"Degraded", "SyncTimedOut."}},
		"Suspended": {
			reason: "A deployment that the user suspended is suspended.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, is("Reconciling", "False", "Suspended"), calm},
			message: "Held back.", want: [2]string{"Suspended", "Held back."},
		},
		"AwaitsPromotion": {
			reason: "A canary that waits for a user is suspended.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, is("Reconciling", "True", "AwaitingPromotion"), calm},
			message: "Waits at 20 %.", want: [2]string{"Suspended", "Waits at 20 %."},
		},
		"Held": {
			reason: "A canary whose Gate came to no verdict is suspended until a user decides.", apiVersion: "intentplane.dev/v1alpha1", kind: "IntentDeployment",
			conditions: []any{unready, is("Reconciling", "True", "Held"), calm}, message: "Held.", want: [2]string{"Suspended", "Held."},
		},
		"Paused": {
			reason: "A canary whose pause ends by itself is in progress.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, is("Reconciling", "True", "Paused"), calm},
			message: "Pauses.", want: [2]string{"Progressing", "Pauses."},
		},
		"Edited": {
			reason: "What is Ready is what it said before.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{ready, idle, calm},
			change: func(o *unstructured.Unstructured) { o.SetGeneration(4) }, want: [2]string{"Progressing", "nobody has looked since the last change"},
		},
		"EditedAfterFailure": {
			reason: "What failed is what it said before.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, idle, stuck},
			change: func(o *unstructured.Unstructured) { o.SetGeneration(4) }, want: [2]string{"Progressing", "nobody has looked since the last change"},
		},
		"FunctionGone": {
			reason: "Ready stays as it was.", apiVersion: claims, kind: "XIntentDeployment", conditions: []any{ready, idle, calm, is("Synced", "False", "ReconcileError")},
			want: [2]string{"Degraded", "ReconcileError."},
		},
		"Deleted": {
			reason: "A deployment that is being deleted is in progress.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{ready},
			change: func(o *unstructured.Unstructured) {
				o.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2031-12-17T13:14:15Z"
			},
			want: [2]string{"Progressing", "its files are being removed"},
		},
		"Delivered": {reason: "A GitDelivery whose files are in Git is healthy.", apiVersion: delivery, kind: "GitDelivery", conditions: []any{is("Ready", "True", "Delivered")}, want: [2]string{"Healthy", "Delivered."}},
		"Pushing":   {reason: "A GitDelivery that pushes is in progress.", apiVersion: delivery, kind: "GitDelivery", conditions: []any{is("Ready", "False", "Pushing")}, want: [2]string{"Progressing", "Pushing."}},
		"NotOwner":  {reason: "A GitDelivery that does not own its directory is degraded.", apiVersion: delivery, kind: "GitDelivery", conditions: []any{is("Ready", "False", "NotOwner")}, want: [2]string{"Degraded", "NotOwner."}},
		"TimedOut":  {reason: "A Site took too long.", apiVersion: delivery, kind: "SiteSync", conditions: []any{is("Ready", "False", "TimedOut")}, want: [2]string{"Degraded", "TimedOut."}},
		"Unsynced": {
			reason: "A SiteSync that cannot observe its Sites is degraded.", apiVersion: delivery, kind: "SiteSync", conditions: []any{is("Ready", "True", "Live"), is("Synced", "False", "ReconcileError")},
			want: [2]string{"Degraded", "ReconcileError."},
		},
		"Passed":    {reason: "A Gate whose checks all passed is healthy.", apiVersion: rollout, kind: "Gate", conditions: []any{is("Ready", "True", "Passed")}, want: [2]string{"Healthy", "Passed."}},
		"Measuring": {reason: "A Gate that measures is in progress.", apiVersion: rollout, kind: "Gate", conditions: []any{is("Ready", "False", "Measuring")}, want: [2]string{"Progressing", "Measuring."}},
		"Violated":  {reason: "A Gate whose check failed stays degraded.", apiVersion: rollout, kind: "Gate", conditions: []any{is("Ready", "False", "Failed")}, want: [2]string{"Degraded", "Failed."}},
		"Asked":     {reason: "A RolloutRequest without conditions is in progress.", apiVersion: rollout, kind: "RolloutRequest", want: [2]string{"Progressing", "it was not observed yet"}},
		"Taken": {
			reason: "A RolloutRequest whose revision goes on is in progress.", apiVersion: rollout, kind: "RolloutRequest", conditions: []any{is("Accepted", "True", "Taken"), is("Completed", "False", "Taken")},
			want: [2]string{"Progressing", "Taken."},
		},
		"Done": {
			reason: "A RolloutRequest that is completed is healthy.", apiVersion: rollout, kind: "RolloutRequest", conditions: []any{is("Accepted", "True", "Taken"), is("Completed", "True", "Done")},
			want: [2]string{"Healthy", "Done."},
		},
		"Refused": {
			reason: "Another one has to be made.", apiVersion: rollout, kind: "RolloutRequest", conditions: []any{is("Accepted", "False", "Stale"), is("Completed", "False", "Stale")},
			want: [2]string{"Degraded", "Stale."},
		},
		"Changed": {
			reason: "What is Live is what was asked before.", apiVersion: delivery, kind: "SiteSync", conditions: []any{is("Ready", "True", "Live")},
			change: func(o *unstructured.Unstructured) { o.SetGeneration(4) }, want: [2]string{"Progressing", "nobody has looked since the last change"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generation": int64(3)}}}
			o.SetAPIVersion(tc.apiVersion)
			o.SetKind(tc.kind)
			if tc.conditions != nil {
				o.Object["status"] = map[string]any{"conditions": tc.conditions}
			}
			if tc.message != "" {
				o.Object["status"].(map[string]any)["message"] = tc.message
			}
			if tc.change != nil {
				tc.change(o)
			}
			status, message, err := ArgoCDHealth(o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, [2]string{status, message}); diff != "" {
				t.Errorf("\n%s\nArgoCDHealth(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestArgoCDHealthOfOthers(t *testing.T) {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("ConfigMap")
	if _, _, err := ArgoCDHealth(o); err == nil {
		t.Error("ArgoCDHealth(...): a script for an object that is not ours")
	}
}
