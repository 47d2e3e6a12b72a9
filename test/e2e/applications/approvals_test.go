package applications

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestApplicationIsApprovedByApprovers has a user who may edit an Application, and may not create RolloutRequests: once the policy of the examples
// is applied, the user cannot change the criteria for a revision.
func TestApplicationIsApprovedByApprovers(t *testing.T) { //nolint:tparallel // Its cases edit one object.
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp)}
	editor, approver := s.Namespace+"-editor", s.Namespace+"-approver"
	for _, user := range []string{editor, approver} {
		grantUserVerbs(s, user, "get,update,patch", applications)
	}
	grantUserVerbs(s, approver, "create", "rolloutrequests.rollout.intentplane.dev")
	s.Apply(s.newApplication(claims))
	const noGates = `{"spec":{"deploy":{"gatesConfig":{"enabled":false}}}}`
	s.Until("the editor may edit", patience.Limit, func() bool { return dryRunPatch(s, editor, noGates) == "" && dryRunPatch(s, approver, noGates) == "" })
	bindApprovals(s)
	s.Until("the policy holds", patience.Limit, func() bool { return dryRunPatch(s, editor, noGates) != "" })
	for name, tc := range map[string]struct{ reason, patch, want string }{
		"Blueprint": {
			reason: "An editor chooses no other Blueprint.",
			patch:  `{"spec":{"deploy":{"blueprint":{"channel":"edge"}}}}`, want: "spec.deploy.blueprint: who may",
		},
		"Gates": {reason: "An editor turns no gate off.", patch: noGates, want: "spec.deploy.gatesConfig: who may"},
		"Waves": {
			reason: "An editor changes no wave.", patch: `{"spec":{"deploy":{"deliveryConfig":{"waves":[{"name":"first","sites":["edge1"]}]}}}}`,
			want: "spec.deploy.deliveryConfig.waves: who may",
		},
		"Canary": {
			reason: "An editor turns no canary off.", patch: `{"spec":{"deploy":{"deliveryConfig":{"canary":{"enabled":false}}}}}`,
			want: "spec.deploy.deliveryConfig.canary: who may",
		},
		"Replicas": {reason: "An editor asks for more pods.", patch: `{"spec":{"replicas":3}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := dryRunPatch(s, editor, tc.patch); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
			if got := dryRunPatch(s, approver, tc.patch); got != "" {
				t.Errorf("\nA user who may create RolloutRequests can change all of these fields.\n%q", got)
			}
		})
	}
}
