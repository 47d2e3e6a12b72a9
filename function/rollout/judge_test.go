package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestHasBrought compares what was carried out with what is asked for at each of two Sites, which have a step each.
func TestHasBrought(t *testing.T) {
	plan := []rolloutv1alpha1.Step{{Sites: []string{"a"}}, {Sites: []string{"b"}}}
	forward := rolloutv1alpha1.Order{Epoch: 1, Revision: 2, Plan: plan, Steps: 2, Step: 1}
	back := forward
	back.Attempt = 1
	cases := map[string]struct {
		reason string
		was    ledger.Position
		order  rolloutv1alpha1.Order
		want   [2]bool
	}{
		"Same":      {reason: "The same position brought both Sites their trees.", was: forward.Position(), order: forward, want: [2]bool{true, true}},
		"FirstStep": {reason: "The first step brought the first Site its tree alone.", was: ledger.Position{Epoch: 1, Revision: 2}, order: forward, want: [2]bool{true, false}},
		"Revision":  {reason: "An earlier revision brought neither Site its tree.", was: ledger.Position{Epoch: 1, Revision: 1, Step: 1}, order: forward},
		"Epoch":     {reason: "A revision of an earlier epoch may have had other trees.", was: ledger.Position{Revision: 2, Step: 1}, order: forward},
		"Rollback":  {reason: "What went forward restored nothing.", was: forward.Position(), order: back},
		"Restored":  {reason: "A rollback reaches all Sites at once.", was: back.Position(), order: back, want: [2]bool{true, true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := [2]bool{HasBrought(tc.was, tc.order, "a"), HasBrought(tc.was, tc.order, "b")}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nHasBrought(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
