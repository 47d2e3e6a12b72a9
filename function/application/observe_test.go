package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
)

// runUnwritten calls the function, whose status waits for the call that follows.
func (w *world) runUnwritten() {
	w.Helper()
	before := w.in.Status
	w.run()
	w.in.Status = before
}

// TestHandingOver has a commit whose image was just built: what the status says waits until the deployment has taken it up.
func TestHandingOver(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		want   bool
	}{
		"Built": {reason: "A status that waits for the image waits for the deployment, too.", want: true},
		"Given": {reason: "A deployment that has not taken up the image is waited for.", change: func(w *world) {
			w.runUnwritten()
			w.observe(DeploymentName, `{intentDigest: "sha256:before"}`)
		}, want: true},
		"Taken": {reason: "A deployment that has taken up the image is shown.", change: func(w *world) {
			w.runUnwritten()
			w.deployed()
		}},
		"Refused": {reason: "A deployment that Crossplane does not carry out is shown.", change: func(w *world) {
			w.runUnwritten()
			w.observe(DeploymentName, `{conditions: [{type: Synced, status: "False", reason: ReconcilePaused}]}`)
		}},
		"Commit":  {reason: "A status about another commit is written at once.", change: func(w *world) { w.in.Status.Source.Commit = secondCommit }},
		"Spec":    {reason: "A status about another spec is written at once.", change: func(w *world) { w.in.Status.SpecDigest = "sha256:other" }},
		"Running": {reason: "An image that runs is not reported for the next one.", change: func(w *world) { w.in.Status.Phase = v1alpha1.PhaseRunning }},
		"Problem": {reason: "A spec that cannot be carried out is shown.", change: func(w *world) { w.in.Name = "1shop" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.run()
			w.builds("Building", atCommit(firstCommit))
			w.run()
			w.builds("Built", imageOf(firstCommit, newImage))
			if tc.change != nil {
				tc.change(w)
			}
			w.run()
			if diff := cmp.Diff(tc.want, w.out.Passing); diff != "" {
				t.Errorf("\n%s\nPassing: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
