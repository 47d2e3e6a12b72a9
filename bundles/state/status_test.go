package state

import (
	"errors"
	"slices"
	"testing"
)

// TestNext holds the table of legal changes to the pairs that the design names, in both directions: these are legal, and all others are not.
func TestNext(t *testing.T) {
	legal := map[[2]Status]bool{}
	for _, pair := range [][2]Status{
		{NotDeployed, Deploying},
		{Deploying, Success},
		{Deploying, Failed},
		{Success, Deploying},
		{Success, Removing},
		{Success, Unreferenced},
		{Failed, Deploying},
		{Failed, Removing},
		{Failed, Unreferenced},
		{Unreferenced, Deploying},
		{Unreferenced, Removing},
		{Removing, Removed},
		{Removing, FailedRemove},
		{FailedRemove, Removing},
		{FailedRemove, Deploying},
		{Removed, Deploying},
	} {
		legal[pair] = true
	}
	for _, current := range append(Statuses(), "stranger") {
		for _, next := range append(Statuses(), "stranger") {
			want := legal[[2]Status{current, next}] || current == next
			previous := &BundleState{Name: "a", Status: Success, PkgStatuses: []PkgStatus{{Name: "p", Status: current}}}
			changed := &BundleState{Name: "a", Status: Success, PkgStatuses: []PkgStatus{{Name: "p", Status: next}}}
			err := checkChange(previous, changed)
			if current.CanBecome(next) != want || (err == nil) != want || err != nil && !errors.Is(err, ErrTransition) {
				t.Errorf("%s to %s: legal is %t with error %v, want %t", current, next, current.CanBecome(next), err, want)
			}
		}
	}
}

func TestCheckChange(t *testing.T) {
	recordOf := func(name string, status Status, packages ...PkgStatus) *BundleState {
		return &BundleState{Name: name, Status: status, PkgStatuses: packages}
	}
	cases := map[string]struct {
		reason        string
		before, after *BundleState
		want          error
	}{
		"Renamed": {
			reason: "A record does not become that of another bundle.",
			before: recordOf("a", Success), after: recordOf("b", Success), want: ErrName,
		},
		"BundleRemoved": {
			reason: "A bundle is never removed: its record goes then.",
			before: recordOf("a", Success), after: recordOf("a", Removed), want: ErrTransition,
		},
		"BundleFailedRemove": {
			reason: "Only a package can fail to be removed.",
			before: recordOf("a", Success), after: recordOf("a", FailedRemove), want: ErrTransition,
		},
		"BundleUnreferenced": {
			reason: "Only a package can be unreferenced.",
			before: recordOf("a", Success), after: recordOf("a", Unreferenced), want: ErrTransition,
		},
		"Added": {
			reason: "A new package may have any status.",
			before: recordOf("a", Success), after: recordOf("a", Success, PkgStatus{Name: "p", Status: Success}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := checkChange(tc.before, tc.after); !errors.Is(err, tc.want) {
				t.Errorf("\n%s\ncheckChange(...): got %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}

// TestDrop holds for packages that leave a record: only those of which nothing is deployed, or that left the bundle.
func TestDrop(t *testing.T) {
	for _, status := range Statuses() {
		want := slices.Contains([]Status{NotDeployed, Removing, Removed, Unreferenced}, status)
		err := checkChange(&BundleState{Name: "a", Status: Success, PkgStatuses: []PkgStatus{{Name: "p", Status: status}}}, &BundleState{Name: "a", Status: Success})
		if (err == nil) != want {
			t.Errorf("a package that is %s leaves the record with error %v, want none: %t", status, err, want)
		}
	}
}
