package cause_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/advice"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// bundleFacts returns the facts of a Bundle, after a change of the sample.
func bundleFacts(s *samples.BundleSample, change func(*samples.BundleSample)) *cause.BundleFacts {
	change(s)
	return s.Facts()
}

// editBundle changes the facts of a sample.
func editBundle(s *samples.BundleSample, change func(*cause.BundleFacts)) *cause.BundleFacts {
	f := s.Facts()
	change(f)
	return f
}

func TestFindForBundle(t *testing.T) {
	type want struct {
		object, reason string
		actor          advice.Actor
		needsPerson    bool
		isGood         bool
		links          int
	}
	unchanged := func(*samples.BundleSample) {}
	waitsForDatabase := func(s *samples.BundleSample) {
		s.Database.Status, s.Database.Ready, s.Database.Reason = statev1alpha1.StatusNotDeployed, false, statev1alpha1.PackageReasonMissing
		s.Web.Status, s.Web.Reason, s.Web.Message = statev1alpha1.StatusNotDeployed, statev1alpha1.PackageReasonAwaitingDependency, "package database"
	}
	cases := map[string]struct {
		reason string
		facts  *cause.BundleFacts
		want   want
	}{
		"Runs": {
			reason: "Nothing is in the way of a Bundle whose packages run.", facts: bundleFacts(samples.NewBundle(samples.Verified()), unchanged),
			want: want{object: "Bundle platform", reason: "Idle", actor: advice.NoActor, isGood: true, links: 1},
		},
		"Password": {
			reason: "The cause of a package's deployment blocks the Bundle.", facts: bundleFacts(samples.InProgress(samples.WrongPassword()), unchanged),
			want: want{object: "GitDelivery shop-fleet", reason: "AuthFailed", actor: advice.PlatformTeam, needsPerson: true, links: 4},
		},
		"Unread": {
			reason: "Without the right to read the package, the Bundle names the package.",
			facts:  editBundle(samples.InProgress(samples.WrongPassword()), func(f *cause.BundleFacts) { f.Deployment = nil }),
			want:   want{object: "package shop", reason: "InProgress", actor: advice.NoActor, links: 2},
		},
		"Missing": {
			reason: "An awaited package is the cause, and not the package that waits.", facts: bundleFacts(samples.NewBundle(samples.New()), waitsForDatabase),
			want: want{object: "package database", reason: "Missing", actor: advice.Author, needsPerson: true, links: 2},
		},
		"RolledBack": {
			reason: "A package whose revision was rolled back leads to why that was rejected.",
			facts: bundleFacts(samples.InProgress(samples.RolledBack()), func(s *samples.BundleSample) {
				s.Web.Status, s.Web.Reason = statev1alpha1.StatusFailed, statev1alpha1.PackageReasonRolledBack
			}),
			want: want{object: "revision 7", reason: "GateFailed", actor: advice.Author, needsPerson: true, links: 4},
		},
		"Suspended": {
			reason: "A Bundle that is suspended waits for its author.",
			facts:  bundleFacts(samples.InProgress(samples.New()), func(s *samples.BundleSample) { s.IsSuspended = true }),
			want:   want{object: "Bundle platform", reason: "HeldBack", actor: advice.Author, needsPerson: true, links: 1},
		},
		"Invalid": {
			reason: "A spec that cannot be carried out is the cause itself.",
			facts: bundleFacts(samples.NewBundle(samples.Verified()), func(s *samples.BundleSample) {
				s.Problem = "spec.packages[shop].dependsOn: the packages wait for each other."
			}),
			want: want{object: "Bundle platform", reason: "InvalidSpec", actor: advice.Author, needsPerson: true, links: 1},
		},
		"NotRecorded": {
			reason: "A record that cannot be written is named although all packages run.",
			facts: bundleFacts(samples.NewBundle(samples.Verified()), func(s *samples.BundleSample) {
				s.RecordProblem = "secrets is forbidden."
			}),
			want: want{object: "Bundle platform", reason: "NotRecorded", actor: advice.PlatformTeam, needsPerson: true, links: 1},
		},
		"ProviderStopped": {
			reason: "A BundleState whose current generation was not observed waits for the provider.",
			facts:  editBundle(samples.InProgress(samples.New()), func(f *cause.BundleFacts) { f.State.Generation = 9 }),
			want:   want{object: "BundleState platform.ns", reason: "NotReconciled", actor: advice.PlatformTeam, links: 2},
		},
		"Stale": {
			reason: "A status about an earlier spec says that nothing was composed yet.",
			facts:  editBundle(samples.NewBundle(samples.Verified()), func(f *cause.BundleFacts) { f.SpecDigest = "another" }),
			want:   want{object: "Bundle platform", reason: "NotComposed", actor: advice.PlatformTeam, links: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := cause.FindForBundle(tc.facts, samples.Now())
			got := want{object: f.Cause().Object, reason: f.Reason(), actor: f.Actor, needsPerson: f.NeedsPerson(), isGood: f.IsGood, links: len(f.Chain)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nFindForBundle(...): -want, +got:\n%s%+v", tc.reason, diff, f.Chain)
			}
		})
	}
}
