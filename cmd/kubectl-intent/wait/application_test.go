package wait

import (
	"encoding/json"
	"testing"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func TestProgressOfApplication(t *testing.T) {
	suspended := func(f *cause.ApplicationFacts) {
		for i := range f.Application.Status.Conditions {
			if c := &f.Application.Status.Conditions[i]; c.Type == applicationv1alpha1.TypeReconciling {
				c.Status, c.Reason = "False", applicationv1alpha1.ReasonHeldBack
			}
		}
	}
	building := func(f *cause.ApplicationFacts) {
		f.Application.Status.Phase, f.Application.Status.Conditions = applicationv1alpha1.PhaseBuilding, nil
	}
	commit := func(f *cause.ApplicationFacts) {
		f.Application.Status.Source.Commit = "1111111111111111111111111111111111111111"
	}
	cases := map[string]struct {
		reason string
		sample *samples.ApplicationSample
		edit   func(*cause.ApplicationFacts)
		goal   goal
		// commit that the ImageBuild looked for last.
		commit string
		want   result
	}{
		"NextCommit": {
			reason: "A commit after a rolled back commit is being built.",
			sample: samples.NewApplication(samples.RolledBack()), edit: building, want: resultGoesOn,
		},
		"Pushed": {
			reason: "A commit that the provider found after the rolled back commit is not judged yet.",
			sample: samples.NewApplication(samples.RolledBack()), edit: commit, commit: "2222222222222222222222222222222222222222", want: resultGoesOn,
		},
		"SameCommit": {
			reason: "The last commit that the provider found is the rolled back commit.",
			sample: samples.NewApplication(samples.RolledBack()), edit: commit, commit: "1111111111111111111111111111111111111111", want: resultRolledBack,
		},
		"Running":      {reason: "An Application that runs is reached.", sample: samples.NewApplication(samples.Verified()), want: resultSucceeded},
		"Crashing":     {reason: "An Application whose pods crash is not, although its deployment succeeded.", sample: samples.Crashing(), want: resultGoesOn},
		"CrashingLive": {reason: "Its Sites are live nevertheless.", sample: samples.Crashing(), goal: goal{isLive: true}, want: resultSucceeded},
		"Unobserved": {
			reason: "Sites that run the previous spec of the Application prove nothing.",
			sample: samples.NewApplication(samples.New()), goal: goal{isLive: true},
			edit: func(f *cause.ApplicationFacts) { f.Deployment.Deployment.Status.IntentDigest = "other" }, want: resultGoesOn,
		},
		"LiveBuilding": {
			reason: "Sites that are live with the image of the previous commit do not run the commit that is being built.",
			sample: samples.NewApplication(samples.Verified()), goal: goal{isLive: true}, edit: building, want: resultGoesOn,
		},
		"StepBuilding": {
			reason: "A step of the previous commit's canary is not a step of the commit that is being built.",
			sample: samples.NewApplication(samples.Canary(false)), goal: goal{step: 2}, edit: building, want: resultGoesOn,
		},
		"Step": {
			reason: "A step of a canary is reached when it is live.",
			sample: samples.NewApplication(samples.Canary(false)), goal: goal{step: 2}, want: resultSucceeded,
		},
		"StepNotYet": {reason: "A later step is not reached.", sample: samples.NewApplication(samples.Canary(false)), goal: goal{step: 3}, want: resultGoesOn},
		"RolledBack": {
			reason: "An image that was rolled back has an end of its own.",
			sample: samples.NewApplication(samples.RolledBack()), want: resultRolledBack,
		},
		"Invalid": {
			reason: "A spec that cannot be carried out has failed.",
			sample: samples.NewApplication(samples.Verified()),
			edit:   func(f *cause.ApplicationFacts) { f.Application.Status.Phase = applicationv1alpha1.PhaseFailed }, want: resultFailed,
		},
		"Suspended": {reason: "A suspended Application ends the wait.", sample: samples.NewApplication(samples.Verified()), edit: suspended, want: resultFailed},
		"Earlier": {
			reason: "A status of an earlier spec does not end the wait.",
			sample: samples.NewApplication(samples.Verified()),
			edit:   func(f *cause.ApplicationFacts) { f.Application.Spec.Image = "registry.example.org/shop:3.0" }, want: resultGoesOn,
		},
		"NoDeployment": {
			reason: "An Application whose deployment cannot be read is judged by itself.",
			sample: samples.NewApplication(samples.Verified()), edit: func(f *cause.ApplicationFacts) { f.Deployment = nil }, want: resultSucceeded,
		},
		"Superseded": {
			reason: "Another spec supersedes the awaited spec.",
			sample: samples.NewApplication(samples.Verified()), goal: goal{isFixed: true, digest: "of the file", seen: "of the file"}, want: resultSuperseded,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := tc.sample.Facts()
			if tc.edit != nil {
				tc.edit(f)
			}
			composed := composedApplication(t, f)
			composed.Commit = tc.commit
			got, err := (&waiter{goal: tc.goal}).progressOfApplication(composed)
			if err != nil || got.result != tc.want {
				t.Errorf("\n%s\nprogressOfApplication(...): %+v, %v, want %s", tc.reason, got, err, tc.want)
			}
		})
	}
}

func composedApplication(t *testing.T, f *cause.ApplicationFacts) *cluster.ComposedApplication {
	t.Helper()
	encode := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	out := &cluster.ComposedApplication{Application: encode(f.Application)}
	if f.Deployment != nil {
		out.Deployment = encode(f.Deployment.Deployment)
	}
	return out
}

// TestDigestOfApplicationFile reads the example of an Application.
func TestDigestOfApplicationFile(t *testing.T) {
	const file = "../../../examples/applications/namespaced.yaml"
	got, err := digestOfApplicationFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := manifest.ReadObjects[applicationv1alpha1.Application](nil, file, applicationv1alpha1.Kind, manifest.ClaimVersions()...)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := digest.Application(&all[0].Spec); err != nil || got != want {
		t.Errorf("digestOfApplicationFile(%q): %q, %v, want %q", file, got, err, want)
	}
	if _, err := digestOfApplicationFile(examples+"40-claim.yaml", nil); err == nil {
		t.Error("digestOfApplicationFile(...): a file without an Application gives no error")
	}
}
