package gitops

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/advice"
)

const (
	claims   = "claims.intentplane.dev/v1alpha1"
	delivery = "delivery.intentplane.dev/v1alpha1"
	rollout  = "rollout.intentplane.dev/v1alpha1"
	own      = "intentplane.dev/v1alpha1"
	clusters = "cluster.intentplane.dev/v1alpha1"
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
		phase      string
		conditions []any
		change     func(*unstructured.Unstructured)
		want       [2]string
	}{
		"New": {
			reason:     "A deployment without conditions is in progress.",
			apiVersion: claims, kind: "IntentDeployment", want: [2]string{"Progressing", "it was not observed yet"},
		},
		"Succeeded": {
			reason:     "A deployment that is live is healthy.",
			apiVersion: claims, kind: "IntentDeployment", message: "Live.", conditions: []any{ready, idle, calm},
			want: [2]string{"Healthy", "Live."},
		},
		"Composite": {
			reason:     "The composite of a claim has the same health.",
			apiVersion: claims, kind: "XIntentDeployment", conditions: []any{ready, idle, calm}, want: [2]string{"Healthy", "it was not observed yet"},
		},
		"Namespaced": {
			reason:     "A namespaced composite that delivers is in progress.",
			apiVersion: "intentplane.dev/v1alpha1", kind: "IntentDeployment", conditions: []any{unready, busy, calm}, message: "Delivering.",
			want: [2]string{"Progressing", "Delivering."},
		},
		"Failed": {
			reason:     "A deployment that needs a person is degraded.",
			apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, idle, stuck}, want: [2]string{"Degraded", "SyncTimedOut."},
		},
		"Suspended": {
			reason:     "A deployment that the user suspended is suspended.",
			apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, is("Reconciling", "False", "Suspended"), calm},
			message: "Held back.", want: [2]string{"Suspended", "Held back."},
		},
		"AwaitsPromotion": {
			reason:     "A canary that waits for a user is suspended.",
			apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, is("Reconciling", "True", "AwaitingPromotion"), calm},
			message: "Waits at 20 %.", want: [2]string{"Suspended", "Waits at 20 %."},
		},
		"Held": {
			reason: "A canary whose Gate came to no verdict is suspended until a user decides.", apiVersion: "intentplane.dev/v1alpha1", kind: "IntentDeployment",
			conditions: []any{unready, is("Reconciling", "True", "Held"), calm}, message: "Held.", want: [2]string{"Suspended", "Held."},
		},
		"Paused": {
			reason:     "A canary whose pause ends by itself is in progress.",
			apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, is("Reconciling", "True", "Paused"), calm},
			message: "Pauses.", want: [2]string{"Progressing", "Pauses."},
		},
		"Edited": {
			reason: "A Ready deployment is in progress after an edit.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{ready, idle, calm},
			change: func(o *unstructured.Unstructured) { o.SetGeneration(4) }, want: [2]string{"Progressing", "the last change was not observed yet"},
		},
		"EditedAfterFailure": {
			reason: "A failed deployment is in progress after an edit.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{unready, idle, stuck},
			change: func(o *unstructured.Unstructured) { o.SetGeneration(4) }, want: [2]string{"Progressing", "the last change was not observed yet"},
		},
		"FunctionGone": {
			reason:     "Ready stays as it was.",
			apiVersion: claims, kind: "XIntentDeployment", conditions: []any{ready, idle, calm, is("Synced", "False", "ReconcileError")},
			want: [2]string{"Degraded", "ReconcileError."},
		},
		"Deleted": {
			reason: "A deployment that is being deleted is in progress.", apiVersion: claims, kind: "IntentDeployment", conditions: []any{ready},
			change: func(o *unstructured.Unstructured) {
				o.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2031-12-17T13:14:15Z"
			},
			want: [2]string{"Progressing", "its files are being removed"},
		},
		"Delivered": {
			reason:     "A GitDelivery whose files are in Git is healthy.",
			apiVersion: delivery, kind: "GitDelivery", conditions: []any{is("Ready", "True", "Delivered")}, want: [2]string{"Healthy", "Delivered."},
		},
		"Pushing": {
			reason:     "A GitDelivery that pushes is in progress.",
			apiVersion: delivery, kind: "GitDelivery", conditions: []any{is("Ready", "False", "Pushing")},
			want: [2]string{"Progressing", "Pushing."},
		},
		"NotOwner": {
			reason:     "A GitDelivery that does not own its directory is degraded.",
			apiVersion: delivery, kind: "GitDelivery", conditions: []any{is("Ready", "False", "NotOwner")}, want: [2]string{"Degraded", "NotOwner."},
		},
		"TimedOut": {
			reason:     "A Site took too long.",
			apiVersion: delivery, kind: "SiteSync", conditions: []any{is("Ready", "False", "TimedOut")}, want: [2]string{"Degraded", "TimedOut."},
		},
		"Unsynced": {
			reason:     "A SiteSync that cannot observe its Sites is degraded.",
			apiVersion: delivery, kind: "SiteSync", conditions: []any{is("Ready", "True", "Live"), is("Synced", "False", "ReconcileError")},
			want: [2]string{"Degraded", "ReconcileError."},
		},
		"Passed": {
			reason:     "A Gate whose checks all passed is healthy.",
			apiVersion: rollout, kind: "Gate", conditions: []any{is("Ready", "True", "Passed")}, want: [2]string{"Healthy", "Passed."},
		},
		"Measuring": {
			reason:     "A Gate that measures is in progress.",
			apiVersion: rollout, kind: "Gate", conditions: []any{is("Ready", "False", "Measuring")}, want: [2]string{"Progressing", "Measuring."},
		},
		"Violated": {
			reason:     "A Gate whose check failed stays degraded.",
			apiVersion: rollout, kind: "Gate", conditions: []any{is("Ready", "False", "Failed")}, want: [2]string{"Degraded", "Failed."},
		},
		"Asked": {
			reason:     "A RolloutRequest without conditions is in progress.",
			apiVersion: rollout, kind: "RolloutRequest", want: [2]string{"Progressing", "it was not observed yet"},
		},
		"Taken": {
			reason:     "A RolloutRequest whose revision goes on is in progress.",
			apiVersion: rollout, kind: "RolloutRequest", conditions: []any{is("Accepted", "True", "Taken"), is("Completed", "False", "Taken")},
			want: [2]string{"Progressing", "Taken."},
		},
		"Done": {
			reason:     "A RolloutRequest that is completed is healthy.",
			apiVersion: rollout, kind: "RolloutRequest", conditions: []any{is("Accepted", "True", "Taken"), is("Completed", "True", "Done")},
			want: [2]string{"Healthy", "Done."},
		},
		"Refused": {
			reason:     "A refused request is degraded: a user has to make another.",
			apiVersion: rollout, kind: "RolloutRequest", conditions: []any{is("Accepted", "False", "Stale"), is("Completed", "False", "Stale")},
			want: [2]string{"Degraded", "Stale."},
		},
		"Running": {
			reason:     "An Application whose image serves is healthy.",
			apiVersion: own, kind: "Application", phase: "Running", message: "Serves.", conditions: []any{ready, idle, calm},
			want: [2]string{"Healthy", "Serves."},
		},
		"Crashing": {
			reason:     "An Application that served before and whose pods crash is degraded.",
			apiVersion: claims, kind: "Application", phase: "Degraded", message: "Crashes.",
			conditions: []any{unready, busy, calm}, want: [2]string{"Degraded", "Crashes."},
		},
		"BuildFailed": {
			reason: "An Application whose build failed is degraded.", apiVersion: claims, kind: "XApplication", phase: "Failed",
			conditions: []any{unready, idle, is("Stalled", "True", "BuildFailed")}, want: [2]string{"Degraded", "BuildFailed."},
		},
		"ApplicationHeldBack": {
			reason: "An Application that its author holds back is suspended.", apiVersion: own, kind: "Application", phase: "Deploying", message: "Held back.",
			conditions: []any{unready, is("Reconciling", "False", "HeldBack"), calm}, want: [2]string{"Suspended", "Held back."},
		},
		"Deploying": {
			reason:     "A Bundle that deploys is in progress.",
			apiVersion: own, kind: "Bundle", phase: "Deploying", message: "Deploys.", conditions: []any{unready, busy, calm},
			want: [2]string{"Progressing", "Deploys."},
		},
		"PackageDegraded": {
			reason:     "A Bundle one of whose packages is not ready any more is degraded.",
			apiVersion: claims, kind: "Bundle", phase: "Degraded", message: "One is not ready.",
			conditions: []any{unready, busy, calm}, want: [2]string{"Degraded", "One is not ready."},
		},
		"Provisioned": {
			reason:     "A WorkloadCluster that is ready is healthy.",
			apiVersion: own, kind: "WorkloadCluster", phase: "Provisioned", message: "Ready.", conditions: []any{ready, idle, calm},
			want: [2]string{"Healthy", "Ready."},
		},
		"Provisioning": {
			reason:     "A WorkloadCluster that is built is in progress.",
			apiVersion: claims, kind: "XWorkloadCluster", phase: "Provisioning", message: "Is built.", conditions: []any{unready, busy, calm},
			want: [2]string{"Progressing", "Is built."},
		},
		"ClusterReady": {
			reason:     "A ManagedCluster that is ready is healthy.",
			apiVersion: clusters, kind: "ManagedCluster", conditions: []any{is("Ready", "True", "Ready")}, want: [2]string{"Healthy", "Ready."},
		},
		"ClusterUnsynced": {
			reason: "A ManagedCluster that cannot be applied is degraded.", apiVersion: clusters, kind: "ManagedCluster",
			conditions: []any{is("Ready", "True", "Ready"), is("Synced", "False", "ReconcileError")}, want: [2]string{"Degraded", "ReconcileError."},
		},
		"ClusterEdited": {
			reason:     "A ManagedCluster that was edited is in progress until it is observed.",
			apiVersion: clusters, kind: "ManagedCluster", conditions: []any{is("Ready", "True", "Ready")},
			change: func(o *unstructured.Unstructured) { o.SetGeneration(4) }, want: [2]string{"Progressing", "the last change was not observed yet"},
		},
		"Changed": {
			reason: "A Live SiteSync is in progress after another request.", apiVersion: delivery, kind: "SiteSync", conditions: []any{is("Ready", "True", "Live")},
			change: func(o *unstructured.Unstructured) { o.SetGeneration(4) }, want: [2]string{"Progressing", "the last change was not observed yet"},
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
			if tc.phase != "" {
				o.Object["status"].(map[string]any)["phase"] = tc.phase
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

// TestArgoCDHealthOfClusters compares the health of a ManagedCluster that is not ready with the advice about the reason.
func TestArgoCDHealthOfClusters(t *testing.T) {
	// Clusters with these reasons recover by themselves, and are shown because the cluster was ready, or takes too long.
	degradedReasons := []string{"Degraded", "InfrastructureTimedOut", "ControlPlaneTimedOut", "DeletionTimedOut"}
	for _, kind := range []advice.Kind{advice.ManagedCluster, advice.Cluster} {
		for _, reason := range advice.Reasons(kind) {
			o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": reason}}}}}
			o.SetAPIVersion(clusters)
			o.SetKind("ManagedCluster")
			got, _, err := ArgoCDHealth(o)
			if err != nil {
				t.Fatal(err)
			}
			entry, _ := advice.For(kind, reason)
			want := "Progressing"
			if entry.NeedsPerson() || slices.Contains(degradedReasons, reason) {
				want = "Degraded"
			}
			if got != want {
				t.Errorf("a ManagedCluster that is not ready for reason %s: want %s, got %s", reason, want, got)
			}
		}
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
