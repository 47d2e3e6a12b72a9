package cause_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/advice"
	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// editApplication changes the facts of a sample.
func editApplication(s *samples.ApplicationSample, change func(*cause.ApplicationFacts)) *cause.ApplicationFacts {
	f := s.Facts()
	change(f)
	return f
}

// withPods returns a sample whose pods at the second Site have a fault.
func withPods(s *samples.ApplicationSample, site deliveryv1alpha1.SiteHealthState) *samples.ApplicationSample {
	site.Name = "edge2"
	s.Sites[1] = site
	return s
}

func invalidApplication() *samples.ApplicationSample {
	s := samples.NewApplication(samples.Verified())
	s.Problem, s.ProblemReason = "IntentDeployment shop exists, and does not belong to this Application.", applicationv1alpha1.ReasonNameTaken
	return s
}

func TestFindForApplication(t *testing.T) {
	type want struct {
		object, reason string
		actor          advice.Actor
		needsPerson    bool
		isGood         bool
		links          int
	}
	crashing := deliveryv1alpha1.SiteHealthState{State: deliveryv1alpha1.HealthUnavailable, Desired: 2, Reason: "CrashLoopBackOff"}
	unobserved := deliveryv1alpha1.SiteHealthState{State: deliveryv1alpha1.HealthNotObserved, CountsAsServing: true, Reason: "KubeconfigGone"}
	starting := deliveryv1alpha1.SiteHealthState{State: deliveryv1alpha1.HealthProgressing, Desired: 2, Reason: "Progressing"}
	cases := map[string]struct {
		reason string
		facts  *cause.ApplicationFacts
		want   want
	}{
		"Runs": {
			reason: "Nothing is in the way of an Application that runs.", facts: samples.NewApplication(samples.Verified()).Facts(),
			want: want{object: "Application shop", reason: "Idle", actor: advice.NoActor, isGood: true, links: 1},
		},
		"Crashing": {
			reason: "The Site whose pods crash is the cause, once the image is deployed.", facts: samples.Crashing().Facts(),
			want: want{object: "Site edge2", reason: "CrashLoopBackOff", actor: advice.Author, needsPerson: true, links: 3},
		},
		"BlindToUnobservedPods": {
			reason: "A Site that counts by its engine is not in the way of an Application that runs, and waits for its route.",
			facts: editApplication(withPods(samples.NewApplication(samples.Verified()), unobserved), func(f *cause.ApplicationFacts) {
				f.Health = nil
				for i := range f.Application.Status.Conditions {
					if c := &f.Application.Status.Conditions[i]; c.Type == applicationv1alpha1.TypeReconciling {
						c.Status, c.Reason = "True", applicationv1alpha1.ReasonProgressing
					}
				}
			}),
			want: want{object: "Application shop", reason: "Progressing", actor: advice.NoActor, links: 1},
		},
		"BlindToPods": {
			reason: "A user without the right to read SiteHealths sees the status of the Site in the Application itself.",
			facts:  editApplication(samples.Crashing(), func(f *cause.ApplicationFacts) { f.Health = nil }),
			want:   want{object: "Site edge2", reason: "CrashLoopBackOff", actor: advice.Author, needsPerson: true, links: 2},
		},
		"Password": {
			reason: "An Application whose deployment is blocked has the same cause.", facts: samples.NewApplication(samples.WrongPassword()).Facts(),
			want: want{object: "GitDelivery shop-fleet", reason: "AuthFailed", actor: advice.PlatformTeam, needsPerson: true, links: 3},
		},
		"CrashingInDelivery": {
			reason: "Pods that only a person can help are the cause while the deployment waits for them.",
			facts:  withPods(samples.NewApplication(samples.New()), crashing).Facts(),
			want:   want{object: "Site edge2", reason: "CrashLoopBackOff", actor: advice.Author, needsPerson: true, links: 3},
		},
		"EngineBeforePods": {
			reason: "An engine that a person has to help comes before the pods.", facts: withPods(samples.NewApplication(samples.EngineFailed()), crashing).Facts(),
			want: want{object: "Kustomization at Site edge1", reason: "EngineFailed", actor: advice.Author, needsPerson: true, links: 5},
		},
		"Starting": {
			reason: "Pods that start end by themselves.", facts: withPods(samples.NewApplication(samples.Verified()), starting).Facts(),
			want: want{object: "Site edge2", reason: "Progressing", actor: advice.NoActor, links: 3},
		},
		"RolledBack": {
			reason: "An image that was rolled back names why its revision was rejected.", facts: samples.NewApplication(samples.RolledBack()).Facts(),
			want: want{object: "revision 7", reason: "GateFailed", actor: advice.Author, needsPerson: true, links: 3},
		},
		"NextCommit": {
			reason: "A commit that is being built waits for its Build, although the previous commit was rolled back.",
			facts: editApplication(samples.NewApplication(samples.RolledBack()), func(f *cause.ApplicationFacts) {
				f.Application.Status.Conditions = cause.Conditions{
					{Type: applicationv1alpha1.TypeValid, Status: "True"},
					{Type: applicationv1alpha1.TypeBuilt, Status: "False", Reason: "Building"},
					{Type: applicationv1alpha1.TypeReconciling, Status: "True", Reason: "Building"},
				}
			}),
			want: want{object: "Application shop", reason: "Building", actor: advice.NoActor, links: 1},
		},
		"NameTaken": {
			reason: "A spec that cannot be carried out is the cause itself.", facts: invalidApplication().Facts(),
			want: want{object: "Application shop", reason: "NameTaken", actor: advice.Author, needsPerson: true, links: 1},
		},
		"Stale": {
			reason: "A status about an earlier spec says that nothing was composed yet.",
			facts:  editApplication(samples.NewApplication(samples.Verified()), func(f *cause.ApplicationFacts) { f.SpecDigest = "another" }),
			want:   want{object: "Application shop", reason: "NotComposed", actor: advice.PlatformTeam, links: 1},
		},
		"ProviderStopped": {
			reason: "A SiteHealth whose current generation was not observed waits for the provider.",
			facts:  editApplication(samples.Crashing(), func(f *cause.ApplicationFacts) { f.Health.Generation = 9 }),
			want:   want{object: "SiteHealth shop", reason: "NotReconciled", actor: advice.PlatformTeam, links: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := cause.FindForApplication(tc.facts, samples.Now())
			got := want{object: f.Cause().Object, reason: f.Reason(), actor: f.Actor, needsPerson: f.NeedsPerson(), isGood: f.IsGood, links: len(f.Chain)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nFindForApplication(...): -want, +got:\n%s%+v", tc.reason, diff, f.Chain)
			}
		})
	}
}
