package deployment

import (
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

func TestIrreversible(t *testing.T) {
	cases := map[string]struct {
		reason  string
		verdict ledger.Result
		served  string
		want    bool
	}{
		"Added":      {reason: "A Site that was not served keeps its new content.", verdict: ledger.VerdictVerified, served: "other"},
		"Unreadable": {reason: "The earlier content of the Site is unknown.", verdict: ledger.VerdictVerified, served: "edge1", want: true},
		"Unverified": {reason: "The files of the rollback target are not at hand.", verdict: ledger.VerdictRejected, served: "other", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: tc.served, Action: deliveryv1alpha1.ActionKeep}}
			o := Observed{
				state:      ledger.State{Current: &ledger.Revision{}, Verdict: &ledger.Verdict{Result: tc.verdict}},
				deliveries: map[string]*deliveryv1alpha1.GitDelivery{"d": d},
			}
			if got := isIrreversible(nil, o, map[string]string{"edge1": "x"}); got != tc.want {
				t.Errorf("\n%s\nirreversible(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
