package cause

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCause(t *testing.T) {
	claim, composite := Link{Object: "IntentDeployment shop", Reason: "BlueprintMissing"}, Link{Object: "XIntentDeployment shop-zns7q"}
	delivery := Link{Object: "GitDelivery shop-fleet", Message: "not reconciled"}
	cases := map[string]struct {
		reason string
		chain  []Link
		want   Link
	}{
		"Last":   {reason: "A chain of links ends at the cause.", chain: []Link{claim, composite, delivery}, want: delivery},
		"Silent": {reason: "The composite of a claim is not the cause while it reports nothing: the claim reports it.", chain: []Link{claim, composite}, want: claim},
		"None":   {reason: "An empty chain has no cause."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Finding{Chain: tc.chain}.Cause()); diff != "" {
				t.Errorf("\n%s\nCause(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
