package main

import (
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
)

// TestRunFunctionForBundles serves Bundles of both shapes beside the deployments.
func TestRunFunctionForBundles(t *testing.T) {
	cases := map[string]struct{ reason, composite, want string }{
		"Claim": {reason: "The claim of a Bundle provides name and namespace.", want: "platform", composite: `
apiVersion: claims.intentplane.dev/v1alpha1
kind: XBundle
metadata: {name: platform-x7k2p, generation: 3, uid: u}
spec:
  claimRef: {apiVersion: claims.intentplane.dev/v1alpha1, kind: Bundle, namespace: team-a, name: platform}
  compositionRef: {name: bundles}
  version: "1"
  packages: [{name: shop, deployment: {intent: "{}", rollbackConfig: {maxRetries: 2}}}]
`},
		"Namespaced": {reason: "A namespaced Bundle is used as its own claim.", want: "platform.ns", composite: `
apiVersion: intentplane.dev/v1alpha1
kind: Bundle
metadata: {name: platform, namespace: team-a, uid: u}
spec:
  crossplane: {compositionRef: {name: bundles}}
  version: "1"
  packages: [{name: shop, deployment: {intent: "{}", rollbackConfig: {maxRetries: 2}}}]
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, req := newFunction().Remember(1<<20), request(t, tc.composite)
			rsp := run(t, f, req)
			r := rsp.GetDesired().GetResources()["state"].GetResource()
			meta := r.GetFields()["metadata"].GetStructValue().GetFields()
			got := []string{kindOf(r), r.GetFields()["apiVersion"].GetStringValue(), meta["namespace"].GetStringValue(), meta["name"].GetStringValue(), statusOf(rsp, "phase")}
			if diff := cmp.Diff([]string{"BundleState", "state.intentplane.dev/v1alpha1", "team-a", tc.want, "Pending"}, got); diff != "" {
				t.Errorf("\n%s\nRunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(rsp.GetResults()) > 0 || rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_FALSE {
				t.Errorf("\n%s\nRunFunction(...): %v", tc.reason, rsp)
			}
			// The same request has the same bytes, from a cache or not.
			req.Observed.Composite.Resource.Fields["status"] = rsp.GetDesired().GetComposite().GetResource().GetFields()["status"]
			second, third, fourth := run(t, f, req), run(t, f, req), run(t, newFunction(), req)
			if !proto.Equal(second, third) || !proto.Equal(second, fourth) {
				t.Errorf("\n%s\nRunFunction(...): the same request has another answer", tc.reason)
			}
		})
	}
}
