package repository

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git"
)

// TestDroppedRepositoryRetainsNothing uses a repository that the pool dropped, as a delivery does that had it from before.
func TestDroppedRepositoryRetainsNothing(t *testing.T) {
	cases := map[string]struct {
		reason string
		use    func(t *testing.T, r *Repository)
	}{
		"Untouched": {reason: "A repository lets go of its snapshot when it is dropped.", use: func(*testing.T, *Repository) {}},
		"Look": {reason: "A look at a dropped repository retains no snapshot.", use: func(t *testing.T, r *Repository) {
			t.Helper()
			_, err := r.Look(t.Context(), web(1), time.Now())
			must(t, err)
		}},
		"Deliver": {reason: "A push to a dropped repository retains no snapshot.", use: func(t *testing.T, r *Repository) {
			t.Helper()
			must(t, r.Deliver(context.Background(), fiveFiles(1)))
		}},
		"Notes": {reason: "Commits that were read from a dropped repository are not retained.", use: func(t *testing.T, r *Repository) {
			t.Helper()
			s, err := r.Look(t.Context(), web(1), time.Now())
			must(t, err)
			_, err = r.Notes(t.Context(), s, "Intentplane-")
			must(t, err)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			clock := time.Now()
			p := pool(Options{Now: func() time.Time { return clock }})
			r := open(t, p, s)
			seen, err := r.Look(t.Context(), web(1), clock)
			must(t, err)
			_, err = r.Notes(t.Context(), seen, "Intentplane-")
			must(t, err)
			clock = clock.Add(unused + time.Minute)
			openRemote(t, p, s.URL("other"))
			if diff := cmp.Diff(true, r.IsClosed()); diff != "" {
				t.Fatalf("A repository that was not used for a long time is dropped.\nIsClosed(): -want, +got:\n%s", diff)
			}
			tc.use(t, r)
			_, counted := r.cached()
			if diff := cmp.Diff([]bool{false, true}, []bool{counted, r.knownChronicle() == nil}); diff != "" {
				t.Errorf("%s\nhas a snapshot, has no commits: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIdleRepositoriesOfAdministratorsAreRetained(t *testing.T) {
	clock := time.Now()
	p := pool(Options{Now: func() time.Time { return clock }})
	for n := range maxIdle + 10 {
		clock = clock.Add(time.Second)
		openRemote(t, p, fmt.Sprintf("http://127.0.0.1:1/%d", n), func(*git.Remote) {})
	}
	if diff := cmp.Diff(maxIdle+10, len(p.repos)); diff != "" {
		t.Errorf("Repositories of cluster-scoped configurations are as many as administrators wrote.\nrepositories: -want, +got:\n%s", diff)
	}
}
