package main

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// TestRunFunctionForClusters serves WorkloadClusters of both shapes beside the deployments.
func TestRunFunctionForClusters(t *testing.T) {
	cases := map[string]struct {
		reason    string
		composite string
	}{
		"Claim": {reason: "The claim of a WorkloadCluster provides name and namespace.", composite: `
apiVersion: claims.intentplane.dev/v1alpha1
kind: XWorkloadCluster
metadata: {name: north-x7k2p, generation: 3, uid: u}
spec:
  claimRef: {apiVersion: claims.intentplane.dev/v1alpha1, kind: WorkloadCluster, namespace: team-a, name: north}
  compositionRef: {name: clusters}
  type: Existing
`},
		"Namespaced": {reason: "A namespaced WorkloadCluster is used as its own claim.", composite: `
apiVersion: intentplane.dev/v1alpha1
kind: WorkloadCluster
metadata: {name: north, namespace: team-a}
spec:
  crossplane: {compositionRef: {name: clusters}}
  type: Existing
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, req := newFunction().Remember(1<<20), request(t, tc.composite)
			rsp := run(t, f, req)
			r := rsp.GetDesired().GetResources()["cluster"].GetResource().GetFields()
			meta := r["metadata"].GetStructValue().GetFields()
			got := []string{kindOf(rsp.GetDesired().GetResources()["cluster"].GetResource()), meta["namespace"].GetStringValue(), meta["name"].GetStringValue(), statusOf(rsp, "phase")}
			if diff := cmp.Diff([]string{"ManagedCluster", "team-a", "north", "Pending"}, got); diff != "" {
				t.Errorf("\n%s\nRunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(rsp.GetResults()) > 0 || len(rsp.GetRequirements().GetResources()) != 1 || rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_FALSE {
				t.Errorf("\n%s\nRunFunction(...): %v", tc.reason, rsp)
			}
			// The same request has the same bytes, from a cache or not.
			req.Observed.Composite.Resource.Fields["status"] = rsp.GetDesired().GetComposite().GetResource().GetFields()["status"]
			first, second, third := run(t, f, req), run(t, f, req), run(t, newFunction(), req)
			if !proto.Equal(first, second) || !proto.Equal(first, third) {
				t.Errorf("\n%s\nRunFunction(...): the same request has another answer", tc.reason)
			}
		})
	}
	rsp := run(t, newFunction(), request(t, "apiVersion: claims.intentplane.dev/v1alpha1\nkind: XWorkloadCluster\nmetadata: {name: x}\nspec: {type: Existing}"))
	if len(rsp.GetResults()) != 1 || rsp.GetResults()[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL {
		t.Errorf("a composite without a claim: %v", rsp.GetResults())
	}
}

// TestClusterStatusIsDeferred writes conditions of a cluster first, and its phase with the call that follows.
func TestClusterStatusIsDeferred(t *testing.T) {
	f, req := newFunction().Remember(1<<20), request(t, `
apiVersion: intentplane.dev/v1alpha1
kind: WorkloadCluster
metadata: {name: north, namespace: team-a}
spec: {type: Existing}
`)
	first := run(t, f, req)
	observedConditions := []any{map[string]any{"type": "Ready", "status": "False", "reason": "Creating"}}
	for _, c := range first.GetConditions() {
		observedConditions = append(observedConditions, map[string]any{"type": c.GetType(), "status": "Unknown", "reason": c.GetReason(), "message": c.GetMessage()})
	}
	crossplaneTells := func(phase string, conditions []any) {
		t.Helper()
		status, err := structpb.NewValue(map[string]any{"phase": phase, "conditions": conditions})
		if err != nil {
			t.Fatal(err)
		}
		req.Observed.Composite.Resource.Fields["status"] = status
	}
	crossplaneTells("Provisioning", observedConditions)
	if got := statusOf(run(t, f, req), "phase"); got != "Provisioning" {
		t.Errorf("phase %q is told together with other conditions", got)
	}
	for i, c := range first.GetConditions() {
		status := map[fnv1.Status]string{fnv1.Status_STATUS_CONDITION_TRUE: "True", fnv1.Status_STATUS_CONDITION_FALSE: "False", fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown"}[c.GetStatus()]
		observedConditions[i+1] = map[string]any{"type": c.GetType(), "status": status, "reason": c.GetReason(), "message": c.GetMessage()}
	}
	crossplaneTells("Provisioning", observedConditions)
	if got := statusOf(run(t, f, req), "phase"); got != "Pending" {
		t.Errorf("phase %q follows the conditions", got)
	}
}
