package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

func TestStep(t *testing.T) {
	all := map[string]*deliveryv1alpha1.GitDelivery{"d": asking(ledger.Position{}, "a", "b", "new")}
	want := []string{"d a Keep 0", "d b Desired tree-b1", "d new Keep 0"}
	if diff := cmp.Diff(want, actions(Step(all, inWaves(0)))); diff != "" {
		t.Errorf("Step(...): the first step brings nothing to the Sites of the second: -want, +got:\n%s", diff)
	}
	want = []string{"d a Desired tree-a1", "d b Desired tree-b1", "d new Desired tree-new1"}
	if diff := cmp.Diff(want, actions(Step(all, inWaves(1)))); diff != "" {
		t.Errorf("Step(...): the last one has all: -want, +got:\n%s", diff)
	}
}
