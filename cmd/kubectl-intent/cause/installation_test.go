package cause_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func TestReconcileFailure(t *testing.T) {
	cases := map[string]struct {
		reason     string
		generation int64
		says       string
		want       string
	}{
		"Silent": {
			reason:     "Without a word of the provider, only its silence is known.",
			generation: 9, want: "The provider has not observed its current generation.",
		},
		"Fails": {
			reason:     "The error that blocks the provider's current generation is repeated.",
			generation: 9, says: "cannot get state: the state is locked", want: "cannot get state: the state is locked",
		},
		"Observed": {
			reason: "A failure of the current generation that has a reason of its own is not repeated.",
			says:   "cannot observe: denied", want: "git.example.org: 401 Unauthorized",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := cause.FindForDeployment(edit(samples.WrongPassword(), func(f *cause.Facts) {
				f.Deliveries[0].Generation = max(f.Deliveries[0].Generation, tc.generation)
				if tc.says != "" {
					setSynced(f, tc.says)
				}
			}), samples.Now())
			if diff := cmp.Diff(tc.want, f.Cause().Message); diff != "" || f.Actor != advice.PlatformTeam {
				t.Errorf("\n%s\nFindForDeployment(...): -want, +got:\n%s%+v", tc.reason, diff, f)
			}
		})
	}
}
