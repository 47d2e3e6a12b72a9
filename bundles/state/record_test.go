package state

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// namesOf returns the names of packages.
func namesOf(all []PkgStatus) []string {
	out := []string{}
	for _, p := range all {
		out = append(out, p.Name)
	}
	return out
}

func TestStale(t *testing.T) {
	began := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	s := &BundleState{PkgStatuses: []PkgStatus{
		{Name: "deploying", Status: Deploying, Writer: "a", DateUpdated: began},
		{Name: "removing", Status: Removing, Writer: "b", DateUpdated: began},
		{Name: "late", Status: Deploying, Writer: "a", DateUpdated: began.Add(time.Hour)},
		{Name: "unsigned", Status: Removing, DateUpdated: began},
		{Name: "ended", Status: Success, Writer: "a", DateUpdated: began},
	}}
	cases := map[string]struct {
		reason string
		writer string
		after  time.Duration
		want   []string
	}{
		"Other": {reason: "What another writer began long ago is stale.", writer: "b", after: 2 * time.Minute, want: []string{"deploying", "unsigned"}},
		"Own":   {reason: "What the writer itself began is not stale.", writer: "a", after: 2 * time.Minute, want: []string{"removing", "unsigned"}},
		"Unknown": {
			reason: "A writer without a name takes all that is old for that of others.",
			after:  2 * time.Minute, want: []string{"deploying", "removing", "unsigned"},
		},
		"Recent":   {reason: "What began not longer ago than the limit is not stale.", after: time.Minute, want: []string{}},
		"MuchMore": {reason: "What began later becomes stale later.", after: 2 * time.Hour, want: []string{"deploying", "removing", "late", "unsigned"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, namesOf(s.Stale(began.Add(tc.after), time.Minute, tc.writer))); diff != "" {
				t.Errorf("\n%s\nStale(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFindPackage(t *testing.T) {
	record := func(names ...string) *BundleState {
		s := &BundleState{Name: "shop"}
		for _, name := range names {
			s.PkgStatuses = append(s.PkgStatuses, PkgStatus{Name: name})
		}
		return s
	}
	cases := map[string]struct {
		reason string
		s      *BundleState
		want   string
	}{
		"Recorded": {reason: "A recorded package is found.", s: record("db", "web")},
		"Unknown": {
			reason: "The error names the bundle, the unknown package and the recorded packages.", s: record("db", "api"),
			want: `no such package: bundle "shop" has no package "web": it has db, api`,
		},
		"Empty": {
			reason: "The error says that a record without packages has none.", s: record(),
			want: `no such package: bundle "shop" has no package "web": it has none`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := findPackage(tc.s, "web")
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tc.want, text); diff != "" || err != nil && !errors.Is(err, ErrNoPackage) || err == nil && p.Name != "web" {
				t.Errorf("\n%s\nfindPackage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnreferenced(t *testing.T) {
	s := &BundleState{}
	for _, status := range Statuses() {
		s.PkgStatuses = append(s.PkgStatuses, PkgStatus{Name: string(status), Status: status})
	}
	if diff := cmp.Diff([]string{"unreferenced"}, namesOf(s.Unreferenced())); diff != "" {
		t.Errorf("Unreferenced(): -want, +got:\n%s", diff)
	}
	if s.Pkg("success") != &s.PkgStatuses[2] || s.Pkg("missing") != nil {
		t.Errorf("Pkg(...): want the package of the record, and nil for one that it does not have")
	}
}
