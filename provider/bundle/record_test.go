package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
)

func TestAdvanceRecord(t *testing.T) {
	shop := state.Bundle{Name: "platform", Packages: []state.Package{{Name: "shop", Version: "2"}}}
	cases := map[string]struct {
		reason   string
		recorded state.PkgStatus
		observed []v1alpha1.PackageObservation
		want     []string
		changed  bool
	}{
		"Equal": {
			reason:   "A record of the observed status and version stays.",
			recorded: state.PkgStatus{Name: "shop", Status: state.Success, Version: "2"},
			observed: []v1alpha1.PackageObservation{{Name: "shop", Status: "success", Version: "2"}}, want: []string{"shop success 2 "},
		},
		"Step": {
			reason:   "A status that may not follow directly is reached by an intermediate status, which keeps the version.",
			recorded: state.PkgStatus{Name: "shop", Status: state.Success, Version: "1"},
			observed: []v1alpha1.PackageObservation{{Name: "shop", Status: "failed", Version: "2"}}, want: []string{"shop deploying 1 "}, changed: true,
		},
		"Described": {
			reason:   "A reached status has the deployed version, and the requested version if they differ.",
			recorded: state.PkgStatus{Name: "shop", Status: state.Deploying},
			observed: []v1alpha1.PackageObservation{{Name: "shop", Status: "success", Version: "1"}}, want: []string{"shop success 1 2"}, changed: true,
		},
		"Gone": {
			reason:   "A package that was deployed, and is not deployed any more, is recorded as removed.",
			recorded: state.PkgStatus{Name: "shop", Status: state.Removing, Version: "1"},
			observed: []v1alpha1.PackageObservation{{Name: "shop", Status: "not_deployed"}}, want: []string{"shop removed  2"}, changed: true,
		},
		"Left": {
			reason:   "A package that left the bundle, and was removed, leaves the record.",
			recorded: state.PkgStatus{Name: "old", Status: state.Removed}, changed: true,
		},
		"Deployed": {
			reason:   "A package that left the bundle stays in the record until it was removed.",
			recorded: state.PkgStatus{Name: "old", Status: state.Success, Version: "1"}, want: []string{"old success 1 "},
		},
		"Unrecorded": {
			reason:   "An observed package without a record is added as unreferenced.",
			recorded: state.PkgStatus{Name: "shop", Status: state.Success, Version: "2"},
			observed: []v1alpha1.PackageObservation{{Name: "old", Status: "unreferenced", Version: "1"}},
			want:     []string{"shop success 2 ", "old unreferenced 1 "}, changed: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &state.BundleState{Name: "platform", PkgStatuses: []state.PkgStatus{tc.recorded}}
			changed := AdvanceRecord(s, shop, tc.observed)
			var got []string
			for _, p := range s.PkgStatuses {
				got = append(got, p.Name+" "+string(p.Status)+" "+p.Version+" "+p.WantedVersion)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || changed != tc.changed {
				t.Errorf("\n%s\nAdvanceRecord(...): changed %t, packages: -want, +got:\n%s", tc.reason, changed, diff)
			}
		})
	}
}

func TestStepTowards(t *testing.T) {
	for _, source := range state.Statuses() {
		for _, target := range state.Statuses() {
			current, steps := source, 0
			next, ok := stepTowards(current, target)
			for ok && current != target && steps <= MaxRecordSteps {
				if !current.CanBecome(next) {
					t.Fatalf("%s may not become %s, on the path from %s to %s", current, next, source, target)
				}
				current = next
				next, ok = stepTowards(current, target)
				steps++
			}
			if steps > MaxRecordSteps || ok && current != target {
				t.Errorf("from %s to %s takes %d steps", source, target, steps)
			}
		}
	}
}
