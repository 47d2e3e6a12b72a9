package readiness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCounts has the rows of both contracts for the version and the counts of replicas.
func TestCounts(t *testing.T) {
	type counts struct {
		Version                string
		ControlPlanes, Workers Replicas
	}
	silent := func(v, c Contract) Input {
		in := good(v, c)
		in.Kubeconfig.Answer.Version = ""
		return in
	}
	cases := map[string]struct {
		reason string
		in     func() Input
		want   counts
	}{
		"VersionV1Beta1": {
			reason: "A control plane of v1beta1 reports its version while the API server does not.",
			in:     func() Input { return silent(V1Beta2, V1Beta1) }, want: counts{Version: "v1.34.0"},
		},
		"VersionV1Beta2": {
			reason: "A control plane of v1beta2 reports its version in the same field.",
			in:     func() Input { return silent(V1Beta2, V1Beta2) }, want: counts{Version: "v1.34.0"},
		},
		"VersionAsked": {
			reason: "The version that the API server reports wins over the version in the objects.",
			in:     func() Input { return good(V1Beta1, V1Beta1) }, want: counts{Version: "v1.34.2"},
		},
		"VersionOfNone": {reason: "The version that is asked for in spec.version is not reported as running.", in: func() Input {
			in := silent(V1Beta2, V1Beta1)
			set(in.ControlPlane.Unstructured, "spec.version=v1.35.0", "status.version=")
			return in
		}},
		"ReplicasV1Beta2": {reason: "A Cluster of v1beta2 counts its replicas in its status.", in: func() Input {
			in := silent(V1Beta2, V1Beta2)
			set(in.Cluster.Unstructured, "status.controlPlane.desiredReplicas=3", "status.controlPlane.readyReplicas=2", "status.workers.desiredReplicas=5", "status.workers.readyReplicas=4")
			return in
		}, want: counts{Version: "v1.34.0", ControlPlanes: Replicas{Desired: 3, Ready: 2}, Workers: Replicas{Desired: 5, Ready: 4}}},
		"ReplicasV1Beta1": {reason: "A Cluster of v1beta1 counts its replicas below status.v1beta2.", in: func() Input {
			in := silent(V1Beta1, V1Beta1)
			set(in.Cluster.Unstructured, "status.v1beta2.controlPlane.desiredReplicas=3", "status.v1beta2.controlPlane.readyReplicas=2", "status.workers.readyReplicas=4")
			return in
		}, want: counts{Version: "v1.34.0", ControlPlanes: Replicas{Desired: 3, Ready: 2}}},
		"ReplicasOfPlane": {reason: "The control plane counts its replicas where the Cluster does not.", in: func() Input {
			in := silent(V1Beta1, V1Beta1)
			set(in.ControlPlane.Unstructured, "spec.replicas=3", "status.readyReplicas=1")
			return in
		}, want: counts{Version: "v1.34.0", ControlPlanes: Replicas{Desired: 3, Ready: 1}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := Read(tc.in())
			if diff := cmp.Diff(tc.want, counts{Version: r.Version, ControlPlanes: r.ControlPlanes, Workers: r.Workers}); diff != "" {
				t.Errorf("\n%s\nRead(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
