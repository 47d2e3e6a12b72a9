package main

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/deployment"
)

// waiter is a core whose answer changes after some time.
type waiter time.Duration

// Run says so.
func (w waiter) Run(context.Context, deployment.Input) (*deployment.Output, error) {
	return &deployment.Output{Status: &deploymentv1alpha1.IntentDeploymentStatus{}, Dated: true, Wait: time.Duration(w)}, nil
}

func TestRunFunctionComesBack(t *testing.T) {
	cases := map[string]struct {
		reason string
		wait   time.Duration
		want   time.Duration
	}{
		"Never": {reason: "An answer that does not change by itself counts as long as any.", want: testTTL},
		"Soon":  {reason: "One that does counts until then.", wait: time.Second, want: time.Second},
		"Late":  {reason: "But not longer than any.", wait: testTTL + time.Hour, want: testTTL},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := NewFunction(waiter(tc.wait), logging.NewNopLogger(), testTTL, time.Now)
			rsp := run(t, f, request(t, "metadata: {namespace: team-a, name: shop}\nspec: {}"))
			if diff := cmp.Diff(tc.want, rsp.GetMeta().GetTtl().AsDuration()); diff != "" {
				t.Errorf("\n%s\nRunFunction(...): TTL: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
