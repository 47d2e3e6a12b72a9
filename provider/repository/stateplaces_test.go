package repository

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	customRef   = "refs/intentplane/prod/state"
	stateBranch = "refs/heads/intentplane-state/prod"
)

// stateHolders returns the refs that hold a state, and whether each was retired.
func stateHolders(t *testing.T, s *gitserver.Server) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	refs, err := s.Refs(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{customRef, stateBranch} {
		if refs[ref] != "" {
			out[ref] = run(t, s, "ls-tree", "--name-only", ref) == "retired.json"
		}
	}
	return out
}

func wantHolders(t *testing.T, reason string, s *gitserver.Server, want map[string]bool) {
	t.Helper()
	if diff := cmp.Diff(want, stateHolders(t, s)); diff != "" {
		t.Errorf("\n%s\nrefs with a state, and whether it is retired: -want, +got:\n%s", reason, diff)
	}
}

// remembers only the state of a delivery, as a verdict does, at some time after noon.
func remembers(n int, delay time.Duration) Delivery {
	d := fiveFiles(n)
	d.Plan = func(ctx context.Context, draft *git.Draft) error {
		_, err := draft.Commit(ctx, git.Change{
			State: map[string][]byte{web(n).String(): []byte("verified\n")}, Message: "Record\n",
			Author: git.Author{Name: "Intentplane", Email: "intentplane@example.org"}, When: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(delay),
		})
		return err
	}
	return d
}

// stateAt lets a provider with one place for its state write there, some hours after noon.
func stateAt(t *testing.T, s *gitserver.Server, ref string, hours int) {
	t.Helper()
	p := pool(Options{})
	c, err := p.NewClient(git.Remote{URL: s.URL(repo), Branch: gitserver.Branch, StateRef: ref})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.closeForGood)
	if err := deliver(r, remembers(hours, time.Duration(hours)*time.Hour)); err != nil {
		t.Fatal(err)
	}
}

const refuseAll = "echo rule 7 says no >&2; exit 1"

func TestRefusalKeepsPlace(t *testing.T) {
	cases := map[string]struct {
		reason string
		atomic string
		hook   string
	}{
		"VerdictRefused":   {reason: "A hook that refuses a push of the state alone does not move the state.", atomic: "true", hook: "pre-receive"},
		"NotAtomicRefused": {reason: "A hook that refuses the state of a server without atomic pushes does not move the state.", atomic: "false", hook: "update"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			run(t, s, "config", "receive.advertiseAtomic", tc.atomic)
			clock := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
			r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
			if err := deliver(r, fiveFiles(1)); err != nil {
				t.Fatal(err)
			}
			hook(t, s, tc.hook, refuseAll)
			if err := deliver(r, remembers(2, 0)); failure.ClassOf(err) != failure.ClassStateRefused && failure.ClassOf(err) != failure.ClassPolicy {
				t.Errorf("\n%s\nDeliver(...): want a refusal, got %v", tc.reason, err)
			}
			hook(t, s, tc.hook, "exit 0")
			clock = clock.Add(time.Hour)
			if err := deliver(r, remembers(2, 0)); err != nil {
				t.Errorf("\n%s\nDeliver(...): %v", tc.reason, err)
			}
			wantHolders(t, tc.reason, s, map[string]bool{customRef: false})
		})
	}
}

// TestFirstStateProbesBestFormFirst refuses the first state of a repository. The best form is probed first each time until a form is
// accepted.
func TestFirstStateProbesBestFormFirst(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	clock := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
	hook(t, s, "pre-receive", refuseAll)
	err := deliver(r, fiveFiles(1))
	if failure.ClassOf(err) != failure.ClassPolicy || !strings.Contains(err.Error(), "refs/heads/"+gitserver.Branch+" and "+customRef) {
		t.Fatalf("A hook that refuses everything is reported with the branch that it refuses.\nDeliver(...): want class %s, got %v", failure.ClassPolicy, err)
	}
	hook(t, s, "pre-receive", "exit 0")
	clock = clock.Add(time.Hour)
	if err := deliver(r, fiveFiles(1)); err != nil {
		t.Fatal(err)
	}
	wantHolders(t, "A hook that refuses everything for a while does not decide the form of the state.", s, map[string]bool{customRef: false})
}

// TestNewerStateCounts creates another state beside the state in use, which is older or newer.
func TestNewerStateCounts(t *testing.T) {
	cases := map[string]struct {
		reason string
		// newest and older hold a state when the provider begins.
		newest, older string
		// refused is true for a server that refuses the push that retires the older state.
		refused bool
		want    map[string]bool
		rival   string
	}{
		"BranchIsNewer": {
			reason: "The newer state on the branch counts, and the next push retires the state of the custom ref.",
			newest: stateBranch, older: customRef, want: map[string]bool{stateBranch: false, customRef: true},
		},
		"RefIsNewer": {
			reason: "The newer state of the custom ref counts, and the next push retires the state on the branch.",
			newest: customRef, older: stateBranch, want: map[string]bool{customRef: false, stateBranch: true},
		},
		"CannotRetire": {
			reason: "The newer state counts also where the server refuses to retire the older state.",
			newest: stateBranch, older: customRef, refused: true, want: map[string]bool{stateBranch: false, customRef: false}, rival: customRef,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			stateAt(t, s, tc.older, 1)
			stateAt(t, s, tc.newest, 2)
			if tc.refused {
				hook(t, s, "update", `case "$1" in `+tc.older+`) exit 1;; esac`)
			}
			r := open(t, pool(Options{}), s)
			if err := deliver(r, fiveFiles(3)); err != nil {
				t.Fatalf("\n%s\nDeliver(...): %v", tc.reason, err)
			}
			wantHolders(t, tc.reason, s, tc.want)
			// Another replica, or this one after a restart.
			rival := open(t, pool(Options{}), s)
			snapshot, err := rival.Look(t.Context(), web(4), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(run(t, s, "rev-parse", tc.newest), snapshot.StateTip()); diff != "" {
				t.Errorf("\n%s\nLook(...): state: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.rival, snapshot.StateRival()); diff != "" {
				t.Errorf("\n%s\nLook(...): rival: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNewerStateIsInUseBeforeItIsRead reads which state is in use when the provider connects to read the newer state. A push at that moment must not go to the
// older state.
func TestNewerStateIsInUseBeforeItIsRead(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	stateAt(t, s, customRef, 1)
	stateAt(t, s, stateBranch, 2)
	r, inUse := open(t, pool(Options{}), s), atomic.Value{}
	s.BeforeFetch(repo, func() { inUse.Store(r.currentClient().Remote().StateRef) })
	if _, err := r.Look(t.Context(), web(4), time.Now()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stateBranch, inUse.Load()); diff != "" {
		t.Errorf("\nThe place of the newer state is in use before the state is read.\nstate in use at the last connection: -want, +got:\n%s", diff)
	}
}

// TestFutureStateDateDoesNotCount compares the dates of two states, which are written some hours after noon of a day, as a provider does whose clock says two.
func TestFutureStateDateDoesNotCount(t *testing.T) {
	clock := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason      string
		ref, branch int
		want        string
	}{
		"Newer":       {reason: "The newer one of two states counts.", ref: 1, branch: 2, want: stateBranch},
		"Future":      {reason: "A state whose date is years ahead does not count more than a state of today.", ref: 1, branch: 100_000, want: customRef},
		"FutureInUse": {reason: "A state whose date is years ahead does not count more where it lies in the best place.", ref: 100_000, branch: 1, want: stateBranch},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			stateAt(t, s, customRef, tc.ref)
			stateAt(t, s, stateBranch, tc.branch)
			r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
			snapshot, err := r.Look(t.Context(), web(4), clock)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(run(t, s, "rev-parse", tc.want), snapshot.StateTip()); diff != "" {
				t.Errorf("\n%s\nLook(...): state: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRivalCannotBeRead breaks the object that one of the refs is at which may hold the state.
func TestRivalCannotBeRead(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  string
		broken string
		fails  bool
	}{
		"Rival":     {reason: "A look does not fail because the state that is not in use cannot be read.", state: customRef, broken: stateBranch},
		"OnlyState": {reason: "A state that cannot be read is not taken for none.", broken: stateBranch, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			if tc.state != "" {
				stateAt(t, s, tc.state, 1)
			}
			// Git commands do not let a branch point to an object that is not a commit.
			file := filepath.Join(s.Path(repo), filepath.FromSlash(tc.broken))
			if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(run(t, s, "rev-parse", gitserver.Branch+"^{tree}")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			snapshot, err := open(t, pool(Options{}), s).Look(t.Context(), web(4), time.Now())
			if failed := err != nil; failed != tc.fails {
				t.Fatalf("\n%s\nLook(...): %v", tc.reason, err)
			}
			if err == nil && snapshot.StateRival() != "" {
				t.Errorf("\n%s\nLook(...): want no rival that would be retired, got %s", tc.reason, snapshot.StateRival())
			}
		})
	}
}
