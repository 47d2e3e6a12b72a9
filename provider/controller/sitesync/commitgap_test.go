package sitesync

import (
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/trailers"
)

// pushFor pushes files with the message of a claim's commit, and returns the commit.
func (w *world) pushFor(claim rolloutv1alpha1.ClaimReference, files map[string]string) string {
	w.Helper()
	id, err := w.git.Commit(w.Context(), repo, "main", files, "Deliver\n\n"+trailers.Line(trailers.Claim, trailers.ClaimValue(claim)))
	w.must(err)
	return id
}

// TestBehind has a directory that changes and changes back, and an engine that is at the first of these commits.
func TestBehind(t *testing.T) {
	w := newWorld(t)
	claim := rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
	dir := func(says string) map[string]string {
		return map[string]string{webAtE1 + "/a.yaml": says, "bare/a.yaml": says}
	}
	w.deliver("stable")
	stable := w.tree
	first := w.pushFor(claim, dir("stable"))
	elsewhere := w.pushFor(claim, map[string]string{"sites/edge2/a.yaml": "x"})
	canary := w.pushFor(claim, dir("canary"))
	back := w.pushFor(claim, dir("stable"))
	opened, _, err := repositoryOf(t.Context(), w.kube, v1alpha1.RepositoryReference{Name: "default"}, "team-a")
	w.must(err)
	want, f := v1alpha1.SiteTree{Name: "edge1", Path: webAtE1, Tree: stable}, testFacts(live())
	f.Spec.ClaimRef = claim
	cases := map[string]struct {
		reason        string
		at, delivered string
		want          bool
	}{
		"Last":      {reason: "An engine at the last commit applied it.", at: back, delivered: back},
		"Before":    {reason: "An engine before both commits has still to apply the other files.", at: first, delivered: back, want: true},
		"Elsewhere": {reason: "A commit of the claim that changes another directory is nothing that the engine has to pass.", at: first, delivered: elsewhere},
		"Ahead":     {reason: "An engine at a commit after the delivery of the directory is not behind.", at: back, delivered: canary},
		"Unknown":   {reason: "Without a delivery nothing is known to be passed.", at: first},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := w.c.prover.readCommitGap(t.Context(), opened, f, want, tc.at, tc.delivered)
			if got.Unknown != "" || got.IsBehind != tc.want {
				t.Errorf("\n%s\nreadGap(...): want behind %t, got %+v", tc.reason, tc.want, got)
			}
			baseline := w.git.Requests(repo)
			if repeated := w.c.prover.readCommitGap(t.Context(), opened, f, want, tc.at, tc.delivered); repeated != got || w.git.Requests(repo) != baseline {
				t.Errorf("\n%s\nreadGap(...) asks again: %d requests", tc.reason, w.git.Requests(repo)-baseline)
			}
		})
	}
}
