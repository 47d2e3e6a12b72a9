package witness

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/mandate"
)

// TestGather has a Gate, a SiteSync and two RolloutRequests of a deployment, and a Gate of another controller.
func TestGather(t *testing.T) {
	otherGate, otherRequest := judgedGate(rolloutv1alpha1.GateFailed), abortRequest("other")
	otherGate.Name, otherGate.OwnerReferences[0].UID = "other-step", "other-uid"
	otherRequest.Spec.DeploymentRef.Name = "api"
	kube := newCache(t, judgedGate(rolloutv1alpha1.GateFailed), otherGate, observedSync("Live"), abortRequest("abort"), otherRequest)
	orphan := newHome("web")
	orphan.OwnerReferences = nil
	cases := map[string]struct {
		reason string
		home   *v1alpha1.GitDelivery
		served []client.Object
		want   []int
	}{
		"Served": {
			reason: "A home gets the objects of its deployment once their kinds are served.", home: newHome("web"),
			served: []client.Object{&rolloutv1alpha1.Gate{}, &rolloutv1alpha1.RolloutRequest{}}, want: []int{1, 1, 1},
		},
		"NotServed": {reason: "A home gets SiteSyncs alone before other kinds are served.", home: newHome("web"), want: []int{0, 1, 0}},
		"Orphan": {
			reason: "A home without a controller gets no evidence.", home: orphan,
			served: []client.Object{&rolloutv1alpha1.Gate{}, &rolloutv1alpha1.RolloutRequest{}}, want: []int{0, 0, 0},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := NewReader(kube)
			for _, o := range tc.served {
				r.Enable(o)
			}
			got, err := r.Gather(t.Context(), mandate.Facts{Home: tc.home})
			if diff := cmp.Diff(tc.want, []int{len(got.Gates), len(got.Syncs), len(got.Requests)}); err != nil || diff != "" {
				t.Errorf("\n%s\nGather(...): %v, numbers of Gates, SiteSyncs and RolloutRequests: -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// limitedLists records the limits of lists.
type limitedLists struct {
	client.Reader

	limits map[string]int64
}

// List objects.
func (l *limitedLists) List(ctx context.Context, all client.ObjectList, options ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	l.limits[fmt.Sprintf("%T", all)] = o.Limit
	return l.Reader.List(ctx, all, options...)
}

// TestGatherIsBounded reads the evidence of a home: a tenant may create any number of the objects.
func TestGatherIsBounded(t *testing.T) {
	lists := &limitedLists{Reader: newCache(t), limits: map[string]int64{}}
	r := NewReader(lists)
	r.Enable(&rolloutv1alpha1.Gate{})
	r.Enable(&rolloutv1alpha1.RolloutRequest{})
	if _, err := r.Gather(t.Context(), mandate.Facts{Home: newHome("web")}); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"*v1alpha1.GateList": maxWitnesses, "*v1alpha1.SiteSyncList": maxWitnesses, "*v1alpha1.RolloutRequestList": maxRequests}
	if diff := cmp.Diff(want, lists.limits); diff != "" {
		t.Errorf("Each list has a limit: -want, +got:\n%s", diff)
	}
}
