package repository

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/soak"
)

// foreign pushes unmanaged commits, as often as it can, until it is stopped. It returns the files of its commits.
func foreign(t *testing.T, s *gitserver.Server, stop <-chan struct{}) []string {
	t.Helper()
	c, err := git.NewClient(git.Remote{URL: s.URL(repo), Branch: gitserver.Branch, StateRef: "refs/foreign/state"}, budget.New())
	if err != nil {
		t.Error(err)
	}
	defer c.Close()
	pushed := []string{}
	for n := 0; ; n++ {
		name := fmt.Sprintf("theirs-%d", n)
		// A push that comes too late is repeated.
		for failure.IsConflict(foreignPush(t, c, name)) {
		}
		pushed = append(pushed, name)
		select {
		case <-stop:
			return pushed
		default:
		}
	}
}

func foreignPush(t *testing.T, c *git.Client, name string) error {
	t.Helper()
	snapshot, err := c.Look(context.Background(), nil)
	if err != nil {
		t.Errorf("Look(): %v", err)
		return nil
	}
	p, err := git.Plan(t.Context(), snapshot, git.Change{
		Put:     map[string]map[string][]byte{"theirs/" + name: {"file": []byte(name)}},
		Message: "Theirs\n\nDelivery: " + name, Author: git.Author{Name: "A Stranger", Email: "stranger@example.org"}, When: time.Unix(1, 0),
	})
	if err != nil {
		t.Errorf("Plan(): %v", err)
		return nil
	}
	_, err = c.Push(context.Background(), p)
	if err != nil && !failure.IsConflict(err) {
		t.Errorf("Push(): %v", err)
	}
	return err
}

func TestContention(t *testing.T) {
	cases := map[string]struct {
		reason string
		// elsewhere is true for a writer in another process.
		elsewhere func(w int) bool
	}{
		"OneProvider": {reason: "One provider delivers while an unmanaged writer pushes as fast as it can.", elsewhere: func(int) bool { return false }},
		"SeveralProviders": {
			reason:    "Several providers without a common queue deliver while an unmanaged writer pushes as fast as it can.",
			elsewhere: func(w int) bool { return w%4 == 3 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			testContention(t, tc.elsewhere)
		})
	}
}

func testContention(t *testing.T, elsewhere func(w int) bool) {
	t.Helper()
	writers, perWriter := 4, 5
	if soak.Long() {
		writers, perWriter = 20, 50
	}
	s := serve(t, map[string]string{"README.md": "hello"})
	stop, pushed := make(chan struct{}), make(chan []string)
	began := time.Now()
	go func() { pushed <- foreign(t, s, stop) }()

	want := contend(t, s, writers, perWriter, elsewhere)
	took := time.Since(began).Seconds()
	close(stop)
	theirs := <-pushed
	for _, name := range theirs {
		want[name] = 1
	}
	t.Logf("soak %s: ours %.1f/s, theirs %.1f/s, pushes %.1f/s", t.Name(), float64(writers*perWriter)/took, float64(len(theirs))/took, float64(s.Pushes(repo))/took)

	log, err := s.Log(context.Background(), repo, gitserver.Branch)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for n, c := range log {
		if n == len(log)-1 {
			break
		}
		got[c.Trailers["Delivery"]]++
		if diff := cmp.Diff([]string{log[n+1].ID}, c.Parents); diff != "" {
			t.Fatalf("\nThe history is a line\nparents of %s: -want, +got:\n%s", c.ID, diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nEvery commit of both is on the branch once\nLog(): -want, +got:\n%s", diff)
	}
	untouched(t, s, theirs, writers)
}

// contend lets writers deliver, some of them with a pool of their own, and returns the revision that each has delivered.
func contend(t *testing.T, s *gitserver.Server, writers, perWriter int, elsewhere func(w int) bool) map[string]int {
	t.Helper()
	shared := pool(Options{})
	want := map[string]int{}
	var wg sync.WaitGroup
	for w := range writers {
		r := open(t, shared, s)
		if elsewhere(w) {
			r = open(t, pool(Options{}), s)
		}
		for n := range perWriter {
			want[trailer(w, n)] = 1
		}
		wg.Go(func() {
			for n := range perWriter {
				for persist(t, r, w, n) {
				}
			}
		})
	}
	wg.Wait()
	return want
}

func trailer(w, n int) string { return fmt.Sprintf("ns-%d/w map[n:%d]", w, n) }

// persist is true if a race was lost for so long that the object has to come again.
func persist(t *testing.T, r *Repository, w, n int) bool {
	t.Helper()
	err := deliver(r, writes(types.NamespacedName{Namespace: fmt.Sprintf("ns-%d", w), Name: "w"}, map[string]string{"n": fmt.Sprint(n)}))
	if err != nil && !failure.IsConflict(err) {
		t.Errorf("\nA lost race is tried again\nDeliver(): %v", err)
	}
	return failure.IsConflict(err)
}

// untouched fails the test unless each file has the last content of its owner.
func untouched(t *testing.T, s *gitserver.Server, theirs []string, writers int) {
	t.Helper()
	got, err := s.Files(context.Background(), repo, gitserver.Branch)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range theirs {
		if content := got["theirs/"+name+"/file"]; content != name {
			t.Errorf("\nFiles of other writers do not change\n%s: %q", name, content)
		}
	}
	if diff := cmp.Diff(1+len(theirs)+writers, len(got)); diff != "" || strings.TrimSpace(got["README.md"]) != "hello" {
		t.Errorf("\nFiles of other writers are not lost\nFiles(): -want, +got:\n%s", diff)
	}
	run(t, s, "fsck", "--strict", "--full")
}

// hurried are deliveries to a branch on which another writer always commits while more than so many of them are planned together.
func hurried(t *testing.T, s *gitserver.Server, deliveries, limit int) []Delivery {
	t.Helper()
	planned, n := 0, 0
	out := make([]Delivery, deliveries)
	for i := range out {
		out[i] = fiveFiles(i)
		plan := out[i].Plan
		out[i].Plan = func(ctx context.Context, d *git.Draft) error {
			if d.Size() == 0 {
				planned = 0
			}
			if planned++; planned == limit+1 {
				n++
				if _, err := s.Commit(ctx, repo, gitserver.Branch, map[string]string{fmt.Sprintf("theirs/%d", n): "theirs"}, "Theirs"); err != nil {
					return err
				}
			}
			return plan(ctx, d)
		}
	}
	return out
}

func TestFasterUnmanagedWriter(t *testing.T) {
	const limit = 3
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{}), s)
	for key, err := range gather(t, s, r, hurried(t, s, 12, limit)...) {
		if err != nil {
			t.Errorf("\nA claim that loses one race after the other delivers less at once\nDeliver(%s): %v", key, err)
		}
	}
}

// TestRequeueOnlyIfBranchMoved delivers beside another writer that is always first, until it pauses.
func TestRequeueOnlyIfBranchMoved(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	woken := make(chan types.NamespacedName, 10)
	r := open(t, pool(Options{Wake: func(key types.NamespacedName) { woken <- key }}), s)
	tries, fast := 0, true
	d := fiveFiles(1)
	plan := d.Plan
	d.Plan = func(ctx context.Context, draft *git.Draft) error {
		if tries++; fast {
			if _, err := s.Commit(ctx, repo, gitserver.Branch, map[string]string{fmt.Sprintf("theirs/%d", tries): "theirs"}, "Theirs"); err != nil {
				return err
			}
		}
		return plan(ctx, draft)
	}
	for round := range 2 {
		if err := deliver(r, d); !failure.IsConflict(err) {
			t.Fatalf("\nA delivery that always loses the race fails\nDeliver(): %v", err)
		}
		if diff := cmp.Diff((round+1)*(maxConflicts+1), tries); diff != "" {
			t.Errorf("\nA delivery is not tried for ever\ntries: -want, +got:\n%s", diff)
		}
		select {
		case key := <-woken:
			if diff := cmp.Diff(d.Object, key); diff != "" {
				t.Errorf("\nA delivery that failed is woken again\nWake(): -want, +got:\n%s", diff)
			}
		case <-time.After(time.Minute):
			t.Fatal("\nA delivery that failed is woken again\nWake() was not called")
		}
	}
	fast = false
	if err := deliver(r, d); err != nil {
		t.Errorf("\nOnce the others pause we come first\nDeliver(): %v", err)
	}
	if diff := cmp.Diff(2*(maxConflicts+1)+2, tries); diff != "" {
		t.Errorf("\nA stale snapshot conflicts, and a fresh snapshot works\ntries: -want, +got:\n%s", diff)
	}
}

// TestLockedBranch delivers to a branch that is locked and does not move: no writer is faster there.
func TestLockedBranch(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	woken := make(chan types.NamespacedName, 10)
	r := open(t, pool(Options{Wake: func(key types.NamespacedName) { woken <- key }}), s)
	lock := filepath.Join(s.Path(repo), "refs", "heads", "main.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := deliver(r, fiveFiles(1)); !failure.IsConflict(err) {
		t.Fatalf("\nA lock looks like a race\nDeliver(): %v", err)
	}
	<-woken // The first time the cause is not known.
	if r.branchMoved() {
		t.Error("\nA branch behind a lock did not move\noutrun(): want false where the branch did not move")
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := deliver(r, fiveFiles(1)); err != nil {
		t.Errorf("\nWithout the lock it works\nDeliver(): %v", err)
	}
	if !r.branchMoved() {
		t.Error("\nA branch that moves is not locked\noutrun(): want true where the branch moved")
	}
}
