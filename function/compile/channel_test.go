package compile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

func TestPinnedBlueprint(t *testing.T) {
	ordered := &ledger.BlueprintReference{Name: "web-1.0.0", Channel: "stable"}
	choice := deploymentv1alpha1.BlueprintChoice{Channel: "stable", UpdatePolicy: deploymentv1alpha1.UpdateManual}
	choiceWith := func(change func(*deploymentv1alpha1.BlueprintChoice)) deploymentv1alpha1.BlueprintChoice {
		c := choice
		change(&c)
		return c
	}
	cases := map[string]struct {
		reason string
		is     *ledger.BlueprintReference
		choice deploymentv1alpha1.BlueprintChoice
		name   string
		want   *ledger.BlueprintReference
	}{
		"Stays":   {reason: "The deployment stays with the ordered Blueprint.", is: ordered, choice: choice, name: "web", want: ordered},
		"Nothing": {reason: "A deployment without a revision stays with no Blueprint.", choice: choice, name: "web"},
		"Automatic": {
			reason: "An automatic update needs no approval.",
			is:     ordered, choice: choiceWith(func(c *deploymentv1alpha1.BlueprintChoice) { c.UpdatePolicy = deploymentv1alpha1.UpdateAutomatic }),
			name: "web",
		},
		"SameVersion": {
			reason: "A Blueprint of a version can be recreated too.", want: &ledger.BlueprintReference{Name: "web-1.0.0"},
			is: &ledger.BlueprintReference{Name: "web-1.0.0"}, choice: choiceWith(func(c *deploymentv1alpha1.BlueprintChoice) { c.Version = "1.0.0" }), name: "web",
		},
		"OtherVersion": {
			reason: "A deployment leaves its Blueprint when the spec names another version.",
			is:     &ledger.BlueprintReference{Name: "web-1.0.0"}, choice: choiceWith(func(c *deploymentv1alpha1.BlueprintChoice) { c.Version = "1.0.1" }), name: "web",
		},
		"Version": {
			reason: "A Blueprint that was chosen by its channel is not kept for a spec with a version.",
			is:     ordered, choice: choiceWith(func(c *deploymentv1alpha1.BlueprintChoice) { c.Version = "1.0.0" }), name: "web",
		},
		"Channel": {
			reason: "A deployment leaves its Blueprint when the spec names another channel.",
			is:     ordered, choice: choiceWith(func(c *deploymentv1alpha1.BlueprintChoice) { c.Channel = "next" }), name: "web",
		},
		"ByVersion": {reason: "A Blueprint that was chosen by its version is not kept for a spec with a channel.", is: &ledger.BlueprintReference{Name: "web-1.0.0"}, choice: choice, name: "web"},
		"Name":      {reason: "A deployment leaves its Blueprint when the spec names another Blueprint.", is: ordered, choice: choice, name: "batch"},
		"Prefix": {
			reason: "A Blueprint whose name begins with the name in the spec is another Blueprint.",
			is:     &ledger.BlueprintReference{Name: "web-2-1.0.0", Channel: "stable"}, choice: choice, name: "web",
		},
		"NoVersion": {reason: "The name of an object without a version names no Blueprint.", is: &ledger.BlueprintReference{Name: "web", Channel: "stable"}, choice: choice, name: "web"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, pinnedBlueprint(tc.is, tc.choice, tc.name)); diff != "" {
				t.Errorf("\n%s\npinnedBlueprint(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
