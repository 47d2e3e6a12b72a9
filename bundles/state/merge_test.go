package state

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMergeBundle(t *testing.T) {
	cases := map[string]struct {
		reason string
		known  []PkgStatus
		asked  []Package
		want   []PkgStatus
	}{
		"New": {
			reason: "A new package is not deployed, and says which version is asked for.",
			asked:  []Package{{Name: "p", Version: "1", Kind: "Application", DependsOn: []string{"q"}}},
			want:   []PkgStatus{{Name: "p", Status: NotDeployed, WantedVersion: "1", Kind: "Application", DependsOn: []string{"q"}}},
		},
		"Equal": {
			reason: "A package whose version is asked for stays as it is.",
			known:  []PkgStatus{{Name: "p", Version: "1", Status: Success, Commit: "c", Message: "m", Kind: "Application"}},
			asked:  []Package{{Name: "p", Version: "1"}},
			want:   []PkgStatus{{Name: "p", Version: "1", Status: Success, Commit: "c", Message: "m", Kind: "Application"}},
		},
		"Newer": {
			reason: "A package keeps the version that is deployed while another one is asked for.",
			known:  []PkgStatus{{Name: "p", Version: "1", Status: Success}},
			asked:  []Package{{Name: "p", Version: "2"}},
			want:   []PkgStatus{{Name: "p", Version: "1", Status: Success, WantedVersion: "2"}},
		},
		"NoLongerNewer": {
			reason: "A package whose version is asked for again wants no other one.",
			known:  []PkgStatus{{Name: "p", Version: "1", Status: Success, WantedVersion: "2"}},
			asked:  []Package{{Name: "p", Version: "1"}},
			want:   []PkgStatus{{Name: "p", Version: "1", Status: Success}},
		},
		"Returned": {
			reason: "A package that came back is not unreferenced any more, so that no prune takes it away, and may still be there.",
			known:  []PkgStatus{{Name: "p", Version: "1", Status: Unreferenced, Message: "m"}},
			asked:  []Package{{Name: "p", Version: "2"}},
			want:   []PkgStatus{{Name: "p", Version: "1", Status: NotDeployed, WantedVersion: "2", Present: true}},
		},
		"ReturnedAndGone": {
			reason: "A package that came back and left again, undeployed, is still in the cluster.",
			known:  []PkgStatus{{Name: "p", Version: "1", Status: NotDeployed, Present: true}},
			want:   []PkgStatus{{Name: "p", Version: "1", Status: Unreferenced}},
		},
		"Left": {
			reason: "A package that left the bundle is unreferenced, however its deployment ended, and stands behind the others.",
			known: []PkgStatus{
				{Name: "a", Status: Success, Version: "1", WantedVersion: "2", Message: "m"},
				{Name: "b", Status: Failed},
				{Name: "c", Status: Deploying},
				{Name: "d", Status: FailedRemove},
				{Name: "e", Status: Unreferenced},
			},
			asked: []Package{{Name: "p"}},
			want: []PkgStatus{
				{Name: "p", Status: NotDeployed},
				{Name: "a", Status: Unreferenced, Version: "1"},
				{Name: "b", Status: Unreferenced},
				{Name: "c", Status: Unreferenced},
				{Name: "d", Status: Unreferenced},
				{Name: "e", Status: Unreferenced},
			},
		},
		"LeftWithoutTrace": {
			reason: "A package of which nothing is in the cluster leaves the record with the bundle.",
			known:  []PkgStatus{{Name: "a", Status: NotDeployed}, {Name: "b", Status: Removed}},
			want:   []PkgStatus{},
		},
		"LeftInRemoval": {
			reason: "A removal that is under way goes on when its package is not in the bundle.",
			known:  []PkgStatus{{Name: "a", Status: Removing, Version: "1"}},
			want:   []PkgStatus{{Name: "a", Status: Removing, Version: "1"}},
		},
		"Kept": {
			reason: "A package that is in the bundle keeps every other status.",
			known:  []PkgStatus{{Name: "a", Status: Deploying}, {Name: "b", Status: Removing}, {Name: "c", Status: Removed}, {Name: "d", Status: FailedRemove}},
			asked:  []Package{{Name: "d"}, {Name: "c"}, {Name: "b"}, {Name: "a"}},
			want:   []PkgStatus{{Name: "d", Status: FailedRemove}, {Name: "c", Status: Removed}, {Name: "b", Status: Removing}, {Name: "a", Status: Deploying}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &BundleState{Name: "a", Version: "0", Status: Failed, PkgStatuses: tc.known}
			mergeBundle(s, Bundle{Name: "a", Version: "1", Packages: tc.asked}, Deploying)
			want := &BundleState{Name: "a", Version: "1", Status: Deploying, PkgStatuses: tc.want}
			if diff := cmp.Diff(want, s, cmpopts.IgnoreUnexported(BundleState{}, PkgStatus{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nmergeBundle(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestApplyStatus(t *testing.T) {
	setVersion := func(v string) func(*PkgStatus) { return func(p *PkgStatus) { p.Version = v } }
	cases := map[string]struct {
		reason string
		p      PkgStatus
		status Status
		more   []func(*PkgStatus)
		want   PkgStatus
	}{
		"Success": {
			reason: "Success makes the wanted version the deployed one.",
			p:      PkgStatus{Status: Deploying, Version: "1", WantedVersion: "2", Message: "m"}, status: Success,
			want: PkgStatus{Status: Success, Version: "2"},
		},
		"SuccessAgain": {
			reason: "A success that is said again does not mean the version that is wanted since.",
			p:      PkgStatus{Status: Success, Version: "1", WantedVersion: "2", Message: "m"}, status: Success,
			want: PkgStatus{Status: Success, Version: "1", WantedVersion: "2", Message: "m"},
		},
		"SuccessOfAnother": {
			reason: "Success of a version that is not wanted any more leaves open what is wanted.",
			p:      PkgStatus{Status: Deploying, Version: "1", WantedVersion: "3"}, status: Success, more: []func(*PkgStatus){setVersion("2")},
			want: PkgStatus{Status: Success, Version: "2", WantedVersion: "3"},
		},
		"SuccessOfEqual": {
			reason: "Success of the version that was deployed before leaves a newer one wanted.",
			p:      PkgStatus{Status: Deploying, Version: "1", WantedVersion: "2"}, status: Success, more: []func(*PkgStatus){setVersion("1")},
			want: PkgStatus{Status: Success, Version: "1", WantedVersion: "2"},
		},
		"Failed": {
			reason: "A failure leaves the version that is deployed, and the one that is wanted.",
			p:      PkgStatus{Status: Deploying, Version: "1", WantedVersion: "2"}, status: Failed,
			more: []func(*PkgStatus){func(p *PkgStatus) { p.Message = "no" }},
			want: PkgStatus{Status: Failed, Version: "1", WantedVersion: "2", Message: "no"},
		},
		"Removed": {
			reason: "Of a removed package nothing is deployed, and its version is the one that would be deployed again.",
			p:      PkgStatus{Status: Removing, Version: "1", Revision: 3, Commit: "c", Digest: "d"}, status: Removed,
			want: PkgStatus{Status: Removed, WantedVersion: "1"},
		},
		"Deploying": {
			reason: "The writer that began a deployment is recorded, and a package under way is not asked whether it is there.",
			p:      PkgStatus{Status: NotDeployed, WantedVersion: "1", Present: true}, status: Deploying,
			want: PkgStatus{Status: Deploying, WantedVersion: "1", Writer: "w"},
		},
		"Fixed": {
			reason: "A function cannot change the name, the status, or what is wanted.",
			p:      PkgStatus{Name: "p", Status: Failed, WantedVersion: "1"}, status: Deploying,
			more: []func(*PkgStatus){func(p *PkgStatus) { p.Name, p.Status, p.WantedVersion = "q", Success, "9" }},
			want: PkgStatus{Name: "p", Status: Deploying, WantedVersion: "1", Writer: "w"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			applyStatus(&tc.p, tc.status, "w", tc.more)
			if diff := cmp.Diff(tc.want, tc.p, cmpopts.IgnoreUnexported(PkgStatus{})); diff != "" {
				t.Errorf("\n%s\napplyStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckBundle(t *testing.T) {
	cases := map[string]struct {
		reason   string
		packages []string
		want     error
	}{
		"Good":   {reason: "Names of Kubernetes are taken.", packages: []string{"a", "b-1", "c.d"}},
		"Twice":  {reason: "A bundle cannot have a package twice.", packages: []string{"a", "b", "a"}, want: ErrName},
		"Upper":  {reason: "A package cannot have capital letters in its name.", packages: []string{"Postgres"}, want: ErrName},
		"Empty":  {reason: "A package has to have a name.", packages: []string{""}, want: ErrName},
		"TooBig": {reason: "A name has at most 253 characters.", packages: []string{strings.Repeat("a", 254)}, want: ErrName},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := Bundle{Name: "a"}
			for _, p := range tc.packages {
				b.Packages = append(b.Packages, Package{Name: p})
			}
			if err := checkBundle(b); !errors.Is(err, tc.want) {
				t.Errorf("\n%s\ncheckBundle(...): %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}
