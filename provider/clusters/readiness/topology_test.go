package readiness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTopology checks when Cluster API has applied the topology of a Cluster from its ClusterClass.
func TestTopology(t *testing.T) {
	reconciled := func(in Input, status, reason string, generation int64) {
		fields := []string{"status", "conditions"}
		if in.Cluster.contractVersion() == V1Beta1 {
			fields = []string{"status", "v1beta2", "conditions"}
		}
		with(in.Cluster.Unstructured, strings.Join(fields, "."), "TopologyReconciled="+status+"/"+reason+"/words")
		all, _ := in.Cluster.Object["status"].(map[string]any)
		for _, field := range fields[1 : len(fields)-1] {
			all, _ = all[field].(map[string]any)
		}
		list, _ := all["conditions"].([]any)
		last, _ := list[len(list)-1].(map[string]any)
		last["observedGeneration"] = generation
	}
	cases := map[string]struct {
		reason  string
		version Contract
		change  func(Input)
		want    Topology
	}{
		"None": {
			reason: "A Cluster without a ClusterClass waits for no topology.",
			change: func(in Input) { set(in.Cluster.Unstructured, "spec.topology.classRef.name=") },
		},
		"Done": {
			reason: "A topology is done once Cluster API reconciled the Cluster's current generation.",
			change: func(in Input) { reconciled(in, "True", "ReconcileSucceeded", 2) }, want: Topology{Class: "a"},
		},
		"Old": {
			reason:  "The old version has the topology's condition in another place.",
			version: V1Beta1, change: func(in Input) { reconciled(in, "True", "ReconcileSucceeded", 2) }, want: Topology{Class: "a"},
		},
		"Silent": {
			reason: "A Cluster without the condition TopologyReconciled is not reconciled.",
			change: func(Input) {}, want: Topology{Class: "a", Reason: ReasonTopologyNotReconciled},
		},
		"Failed": {
			reason: "The reason and the message of a failure come from the Cluster's condition.",
			change: func(in Input) { reconciled(in, "False", "ReconcileFailed", 2) },
			want:   Topology{Class: "a", Reason: "ReconcileFailed", Message: "words"},
		},
		"Stale": {
			reason: "A condition about an older generation does not count.",
			change: func(in Input) { reconciled(in, "True", "ReconcileSucceeded", 1) },
			want:   Topology{Class: "a", Reason: ReasonTopologyNotReconciled},
		},
		"StaleOld": {
			reason:  "A condition about an older generation does not count in the old version.",
			version: V1Beta1, change: func(in Input) { reconciled(in, "True", "ReconcileSucceeded", 1) },
			want: Topology{Class: "a", Reason: ReasonTopologyNotReconciled},
		},
		"PlaneBehind": {reason: "A control plane that has not observed its own generation is behind.", change: func(in Input) {
			reconciled(in, "True", "", 2)
			set(in.ControlPlane.Unstructured, "metadata.generation=3", "status.observedGeneration=2")
		}, want: Topology{Class: "a", Reason: ReasonTopologyNotReconciled}},
		"PlaneSilent": {reason: "A control plane that reports no observed generation is not waited for.", change: func(in Input) {
			reconciled(in, "True", "", 2)
			set(in.ControlPlane.Unstructured, "metadata.generation=3")
		}, want: Topology{Class: "a"}},
		"RollingOut": {reason: "A topology is not done while the Cluster replaces machines.", change: func(in Input) {
			reconciled(in, "True", "", 2)
			with(in.Cluster.Unstructured, "status.conditions", "RollingOut=True/RollingOut/1 of 3")
		}, want: Topology{Class: "a", Reason: ReasonRollingOut}},
		"PlaneRolls": {reason: "A control plane may report that it rolls out before its Cluster does.", change: func(in Input) {
			reconciled(in, "True", "", 2)
			with(in.ControlPlane.Unstructured, "status.conditions", "RollingOut=True/RollingOut/1 of 3")
		}, want: Topology{Class: "a", Reason: ReasonRollingOut}},
		"OldRolls": {reason: "A control plane object of v1beta1 has the condition RollingOut below status.v1beta2.", change: func(in Input) {
			reconciled(in, "True", "", 2)
			with(in.ControlPlane.Unstructured, "status.v1beta2.conditions", "RollingOut=True/RollingOut/1 of 3")
		}, want: Topology{Class: "a", Reason: ReasonRollingOut}},
		"NotRolling": {reason: "A condition RollingOut that is False keeps nothing back.", change: func(in Input) {
			reconciled(in, "True", "", 2)
			with(in.ControlPlane.Unstructured, "status.conditions", "RollingOut=False/NotRollingOut/")
		}, want: Topology{Class: "a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			version, class := V1Beta2, "spec.topology.classRef.name=a"
			if tc.version == V1Beta1 {
				version, class = V1Beta1, "spec.topology.class=a"
			}
			in := good(version, version)
			set(in.Cluster.Unstructured, class, "metadata.generation=2")
			tc.change(in)
			if diff := cmp.Diff(tc.want, Read(in).Topology); diff != "" {
				t.Errorf("\n%s\nRead(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRolling counts a cluster as healthy while its control plane is replaced, and with no other fault.
func TestRolling(t *testing.T) {
	cases := map[string]struct {
		reason  string
		change  func(*Input)
		want    string
		healthy bool
	}{
		"Rolls": {reason: "A control plane that rolls out is healthy although it is not available.", change: func(*Input) {}, want: ReasonRollingOut, healthy: true},
		"Cluster": {reason: "The Cluster's own condition RollingOut counts when the control plane object has none.", change: func(in *Input) {
			in.ControlPlane.Object["status"] = map[string]any{"initialization": map[string]any{"controlPlaneInitialized": false}}
			with(in.Cluster.Unstructured, "status.conditions", "RollingOut=True/RollingOut/1 of 3")
		}, want: ReasonRollingOut, healthy: true},
		"Lost": {reason: "A control plane that is down without a rollout is not healthy.", change: func(in *Input) {
			in.ControlPlane.Object["status"] = map[string]any{"initialization": map[string]any{"controlPlaneInitialized": false}}
		}, want: ReasonNotReady},
		"New": {reason: "A control plane that was never initialized is not healthy while it rolls out.", change: func(in *Input) {
			set(in.Cluster.Unstructured, "status.initialization.controlPlaneInitialized=false")
		}, want: ReasonNotInitialized},
		"Infrastructure": {reason: "A rollout does not hide that the infrastructure is lost.", change: func(in *Input) {
			set(in.Infrastructure.Unstructured, "status.initialization.provisioned=false")
		}, want: ReasonRollingOut},
		"Endpoint": {reason: "A rollout does not hide that the endpoint is lost.", change: func(in *Input) {
			set(in.Cluster.Unstructured, "spec.controlPlaneEndpoint.host=")
		}, want: ReasonRollingOut},
		"Kubeconfig": {reason: "A rollout does not hide that the API server does not answer.", change: func(in *Input) {
			in.Kubeconfig.Answer = Answer{Asked: true, Reason: ReasonServerUnreachable}
		}, want: ReasonRollingOut},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := good(V1Beta2, V1Beta2)
			with(with(in.ControlPlane.Unstructured, "status.conditions", "RollingOut=True/RollingOut/1 of 3"), "status.conditions", "Available=False/NotAvailable/words")
			tc.change(&in)
			r := Read(in)
			if diff := cmp.Diff([]any{tc.want, tc.healthy}, []any{r.Condition(TypeControlPlaneReady).Reason, r.Healthy()}); diff != "" {
				t.Errorf("\n%s\nRead(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
