package overview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func TestForApplication(t *testing.T) {
	f := samples.Crashing().Facts()
	got := Lines(ForApplication(f, cause.FindForApplication(f, samples.Now())), Style{Now: samples.Now(), Width: 80})
	want := []string{
		"shop  team-a  Application intentplane.dev                         Degraded 0m41s",
		"1 of 2 Sites serve the image. Site edge2: CrashLoopBackOff: container shop of",
		"pod shop-7c9 exited with 1.",
		"Next: Read the log of the container named in the message, and correct the",
		"service (for the author).",
		"image shop:2.0  serving 1/2",
		"revision  commit   verdict            sites     requested by        since",
		"7         8d21c0e  Verified (live)    2/2       the intent          14:02:59",
		"├─ delivery fleet   Delivered          8d21c0e   git.example.org/fleet, main",
		"├─ site edge1       Live     Flux 2/2  8d21c0e   14:03:10",
		"└─ site edge2       Live     Flux 0/2  8d21c0e   CrashLoopBackOff: container...",
		"6         11b9e02  Withdrawn          -         the intent          13:20:40",
		"5         5f77a90  Verified           2/2       -                   11:47:40",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nAn Application is shown with its pods, and with the revisions of its deployment.\nLines(...): -want, +got:\n%s", diff)
	}
}

// TestForEditedApplication has a status about an earlier spec: image, URL and pods are of that one, and the revisions are what the Sites run.
func TestForEditedApplication(t *testing.T) {
	f := samples.Crashing().Facts()
	f.SpecDigest, f.Application.Status.URL = "another", "http://old.example.org"
	got := Lines(ForApplication(f, cause.Finding{IsGood: true}), Style{Now: samples.Now(), Width: 80})
	want := []string{
		"shop  team-a  Application intentplane.dev                                Pending",
		"The status does not describe the current spec yet.",
		"revision  commit   verdict            sites     requested by        since",
		"7         8d21c0e  Verified (live)    2/2       the intent          14:02:59",
		"├─ delivery fleet   Delivered          8d21c0e   git.example.org/fleet, main",
		"├─ site edge1       Live     Flux      8d21c0e   14:03:10",
		"└─ site edge2       Live     Flux      8d21c0e   14:03:10",
	}
	if diff := cmp.Diff(want, got[:min(len(want), len(got))]); diff != "" {
		t.Errorf("\nAn edited Application has nothing of the earlier spec.\nLines(...): -want, +got:\n%s", diff)
	}
}

// TestPartsOfUnobservedSites has an Application at a Site whose pods cannot be observed.
func TestPartsOfUnobservedSites(t *testing.T) {
	const why = "KubeconfigGone: the Secret with the kubeconfig does not exist"
	cases := map[string]struct {
		reason string
		counts bool
		want   Part
	}{
		"Counts": {
			reason: "A Site that counts by its engine serves, and nobody need look at it.", counts: true, want: Part{Note: "Flux", IsGood: true},
		},
		"Unknown": {reason: "A Site that does not count is named with the reason.", want: Part{Note: "Flux", Detail: why}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := samples.NewApplication(samples.Verified())
			s.Sites[1] = deliveryv1alpha1.SiteHealthState{
				Name: "edge2", State: deliveryv1alpha1.HealthNotObserved, CountsAsServing: tc.counts,
				Reason: "KubeconfigGone", Message: "the Secret with the kubeconfig does not exist",
			}
			f := s.Facts()
			for _, p := range ForApplication(f, cause.FindForApplication(f, samples.Now())).Parts {
				if p.Name != "edge2" {
					continue
				}
				if diff := cmp.Diff(tc.want, Part{Note: p.Note, Detail: p.Detail, IsGood: p.IsGood}); diff != "" {
					t.Errorf("\n%s\nForApplication(...): -want, +got:\n%s", tc.reason, diff)
				}
				return
			}
			t.Errorf("\n%s\nForApplication(...): no part edge2", tc.reason)
		})
	}
}

func TestRowForApplication(t *testing.T) {
	cases := map[string]struct {
		reason string
		facts  *cause.ApplicationFacts
		want   []string
	}{
		"Crashing": {
			reason: "The line has the phase of the Application, the Sites that serve, and the revisions of its deployment.", facts: samples.Crashing().Facts(),
			want: []string{"NAME  PHASE     REV  LIVE  SITES  SINCE  REASON            WHO", "shop  Degraded  7    7     1/2    0m41s  CrashLoopBackOff  author"},
		},
		"RolledBack": {
			reason: "An image that was rolled back does not read as another fault.", facts: samples.NewApplication(samples.RolledBack()).Facts(),
			want: []string{"NAME  PHASE       REV  LIVE  SITES  SINCE  REASON      WHO", "shop  RolledBack  7    5     2/2    0m41s  GateFailed  author"},
		},
		"NextCommit": {
			reason: "A commit after a rolled back commit is being built.",
			facts: func() *cause.ApplicationFacts {
				f := samples.NewApplication(samples.RolledBack()).Facts()
				f.Application.Status.Phase = applicationv1alpha1.PhaseBuilding
				f.Application.Status.Conditions = cause.Conditions{
					{Type: applicationv1alpha1.TypeValid, Status: "True"},
					{Type: applicationv1alpha1.TypeBuilt, Status: "False", Reason: applicationv1alpha1.ReasonBuilding},
					{Type: applicationv1alpha1.TypeReconciling, Status: "True", Reason: applicationv1alpha1.ReasonBuilding},
				}
				return f
			}(),
			want: []string{"NAME  PHASE     REV  LIVE  SITES  SINCE  REASON", "shop  Building  7    5     2/2    0m41s  Building"},
		},
		"Edited": {
			reason: "Of a spec that the status does not speak about, nothing was rolled back, and no Site serves it.",
			facts: func() *cause.ApplicationFacts {
				f := samples.NewApplication(samples.RolledBack()).Facts()
				f.SpecDigest = "another"
				return f
			}(),
			want: []string{"NAME  PHASE    REV  LIVE  REASON", "shop  Pending  7    5     NotComposed"},
		},
		"Undeployed": {
			reason: "An Application without a deployment has no revisions.",
			facts: func() *cause.ApplicationFacts {
				f := samples.Crashing().Facts()
				f.Deployment, f.Application.Status.Deployment.Revision = nil, 0
				return f
			}(),
			want: []string{"NAME  PHASE     SITES  SINCE  REASON            WHO", "shop  Degraded  1/2    0m41s  CrashLoopBackOff  author"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Table([]Row{RowForApplication(tc.facts, cause.FindForApplication(tc.facts, samples.Now()))}, Style{Now: samples.Now()}, false)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nTable(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
