package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestFollowedLine(t *testing.T) {
	type status = deploymentv1alpha1.IntentDeploymentStatus
	cases := map[string]struct {
		reason string
		status status
		want   string
	}{
		"Succeeded": {
			reason: "An outcome with the name of the phase is printed once.", status: status{Phase: "Succeeded", Outcome: "Succeeded", Revision: 1},
			want: "team-a/shop Succeeded revision 1 ",
		},
		"RolledBack": {
			reason: "An outcome that differs from the phase is printed behind it.", status: status{Phase: "Succeeded", Outcome: "RolledBack", Revision: 2},
			want: "team-a/shop Succeeded/RolledBack revision 2 ",
		},
		"UnderWay": {
			reason: "A deployment that is under way has no outcome.",
			status: status{Phase: "Delivering", Revision: 3}, want: "team-a/shop Delivering revision 3 ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, followedLine(tc.status)); diff != "" {
				t.Errorf("\n%s\nfollowedLine(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
