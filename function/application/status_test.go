package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func TestApplicationStatus(t *testing.T) {
	f := change(built(), withSites(site("edge1", deliveryv1alpha1.HealthAvailable, 2), site("edge2", deliveryv1alpha1.HealthUnavailable, 0)))
	f.URL = "http://shop.example.org"
	want := &v1alpha1.ApplicationStatus{
		Phase: "Degraded", Message: "1 of 2 Sites serve the image. Site edge2: CrashLoopBackOff: container shop exits with code 1.", SpecDigest: "sha256:spec",
		Build: v1alpha1.BuildStatus{State: "Succeeded", Commit: "c2", Image: newImage}, Image: newImage, ShortImage: "111111111111", URL: "http://shop.example.org",
		Deployment:        v1alpha1.DeploymentStatus{Name: "shop", Revision: 3, VerifiedRevision: 3, Outcome: "Succeeded"},
		AvailableReplicas: 2, Available: "1/2",
		Sites: map[string]v1alpha1.SiteStatus{
			"edge1": {State: "Available", Available: 2, Updated: 2, Desired: 2},
			"edge2": {State: "Unavailable", Updated: 2, Desired: 2, Reason: "CrashLoopBackOff", Message: "container shop exits with code 1"},
		},
		Transitions: []v1alpha1.Transition{
			{To: "Pending", At: now}, {Index: 1, From: "Pending", To: "Deploying", At: now}, {Index: 2, From: "Deploying", To: "Degraded", At: now},
		},
	}
	first := Project(f, &v1alpha1.ApplicationStatus{}, now).Status
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("Project(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(first, Project(f, first, now).Status); diff != "" {
		t.Errorf("A status that nothing changes stays as it is: -want, +got:\n%s", diff)
	}
}

func TestTransitions(t *testing.T) {
	type steps []v1alpha1.Phase
	last := func(phase v1alpha1.Phase) *v1alpha1.ApplicationStatus {
		return &v1alpha1.ApplicationStatus{Phase: phase, SpecDigest: "sha256:spec", Image: newImage}
	}
	cases := map[string]struct {
		reason string
		facts  *Facts
		last   *v1alpha1.ApplicationStatus
		want   steps
	}{
		"Same": {reason: "An Application that still runs changes nothing.", facts: running(), last: last("Running")},
		"LastPod": {
			reason: "The loss of the last pod is one change.",
			facts:  change(running(), withSites(site("edge1", "Progressing", 0))), last: last("Running"), want: steps{"Deploying"},
		},
		"NewSpec": {
			reason: "A new spec begins at Pending.",
			facts:  change(running(), func(f *Facts) { f.Digest = "sha256:next" }), last: last("Running"),
			want: steps{"Pending", "Deploying", "Running"},
		},
		"NewImage": {
			reason: "A new image begins at Pending.",
			facts:  change(running(), func(f *Facts) { f.Image, f.Health.Image = oldImage, oldImage }), last: last("Failed"),
			want: steps{"Pending", "Deploying", "Running"},
		},
		"NewCommit": {reason: "A new commit begins at Pending.", facts: change(built(), func(f *Facts) {
			f.Build.State, f.Build.Wanted, f.Build.Commit, f.Source.Commit = BuildRunning, "sha256:request/c3", "c3", "c3"
		}), last: last("Running"), want: steps{"Pending", "Building"}},
		"Trouble": {
			reason: "The beginning of trouble with the spec starts at Pending.",
			facts:  change(running(), func(f *Facts) { f.Problem = "spec.port: it is wrong" }), last: last("Running"),
			want: steps{"Pending", "Failed"},
		},
		"Mended": {reason: "An Application that failed is deployed again.", facts: running(), last: last("Failed"), want: steps{"Deploying", "Running"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got steps
			for _, s := range Project(tc.facts, tc.last, now).Status.Transitions {
				got = append(got, s.To)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nProject(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
