package mandate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// TestEcho shows which kinds a home with a mandate for all of them leaves to the function.
func TestEcho(t *testing.T) {
	back, forward := allKinds[:3], allKinds
	cases := map[string]struct {
		reason string
		change func(c *canaryScene)
		want   []step.Kind
		hold   v1alpha1.MandateHold
	}{
		"Canary": {reason: "A canary whose files the spec has is concluded by the provider.", want: forward},
		"Unread": {
			reason: "A claim that was not read yet leaves nothing to the function.",
			change: func(c *canaryScene) { c.IsGuardRead = false }, want: forward,
		},
		"Changed": {
			reason: "The function decides about steps while the claim holds them back.", want: back, hold: v1alpha1.HoldClaimChanged,
			change: func(c *canaryScene) { c.Guard = v1alpha1.HoldClaimChanged },
		},
		"ChangedEarly": {
			reason: "A claim that would hold back a step that is not proven holds back none.", want: forward,
			change: func(c *canaryScene) { c.Guard, c.Gates = v1alpha1.HoldClaimChanged, nil },
		},
		"NoFiles": {
			reason: "The function takes steps whose files the spec does not have.", want: slices.DeleteFunc(slices.Clone(forward), isAdvance),
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Trees[0].Tracks = nil },
		},
		"Void": {
			reason: "A void mandate leaves everything to the function.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Epoch = 9 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 1, 20)
			c.goForward()
			if tc.change != nil {
				tc.change(c)
			}
			var want *v1alpha1.MandateStatus
			if tc.want != nil {
				want = &v1alpha1.MandateStatus{Rules: step.Rules, Revision: 2, May: tc.want, Hold: tc.hold}
			}
			if diff := cmp.Diff(want, c.Echo(c.recorded)); diff != "" {
				t.Errorf("\n%s\nEcho(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func isAdvance(k step.Kind) bool { return k == step.KindAdvance }
