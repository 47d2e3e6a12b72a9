package hostile_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/test/hostile"
)

func TestGit(t *testing.T) {
	cases := map[string]struct {
		reason string
		server *hostile.Git
		want   failure.Class
	}{
		"Harmless": {
			reason: "A pack with the commit alone is read, so the other packs are refused for their additional objects.",
			server: hostile.NewGit(hostile.TinyObjects(0)),
		},
		"TinyObjects": {
			reason: "A pack of many tiny objects is too large for memory.",
			server: hostile.NewGit(hostile.TinyObjects(400_000)), want: failure.ClassTooLarge,
		},
		"BrokenPack": {reason: "A pack that has fewer objects than it says is broken.", server: hostile.NewGit(hostile.BrokenPack()), want: failure.ClassTransient},
		"Refs":       {reason: "A list of a million refs is too large.", server: hostile.NewGitWithRefs(1_000_000), want: failure.ClassTooLarge},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(tc.server.Stop)
			c, err := git.NewClient(git.Remote{URL: tc.server.RepositoryURL(), Branch: "main", StateRef: "refs/intentplane/test/state"}, budget.New())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			_, err = c.Look(t.Context(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Errorf("%s\nLook(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

// maxPoolMiB is the memory that hostile repositories together may take above rest.
const maxPoolMiB = 256

// servers starts the Git servers of a hostile tenant.
func servers(t *testing.T) []*hostile.Git {
	t.Helper()
	out := []*hostile.Git{hostile.NewGit(hostile.BrokenPack()), hostile.NewGitWithRefs(1_000_000), hostile.NewGitWithRefs(100_000)}
	for range 3 {
		out = append(out, hostile.NewGit(hostile.TinyObjects(190_000)))
	}
	for g := range hostile.Graphs() {
		out = append(out, hostile.NewGitOf(g))
	}
	for _, s := range out {
		t.Cleanup(s.Stop)
	}
	return out
}

// TestManyHostileRepositories has several namespaces look at all hostile servers at once, and hold on to each snapshot, as reconciles do.
func TestManyHostileRepositories(t *testing.T) {
	hostileServers := servers(t)
	p := repository.NewPool(repository.Options{
		Now: time.Now, Pause: func() time.Duration { return 0 }, Wake: func(types.NamespacedName) {}, Patience: 15 * time.Second,
	})
	cost := hostile.Measure(func() {
		all, held := sync.WaitGroup{}, sync.Map{}
		for n := range 3 {
			namespace := fmt.Sprintf("hostile-%d", n)
			for _, s := range hostileServers {
				all.Go(func() {
					if snapshot := lookAt(t, p, namespace, s.RepositoryURL()); snapshot != nil {
						held.Store(namespace+s.URL, snapshot)
					}
				})
			}
		}
		all.Wait()
		held.Clear()
	})
	t.Logf("%.1f s, %.1f MiB", cost.Processor.Seconds(), cost.MiB)
	if cost.MiB > maxPoolMiB {
		t.Errorf("\nAll hostile repositories together take at most %d MiB.\nLook(...): %.1f MiB", maxPoolMiB, cost.MiB)
	}
}

// lookAt returns the snapshot of a repository, or nil if it cannot be read.
func lookAt(t *testing.T, p *repository.Pool, namespace, url string) *git.Snapshot {
	t.Helper()
	c, err := p.NewClient(git.Remote{URL: url, Branch: "main", StateRef: hostile.StateRef, Namespace: namespace})
	if err != nil {
		t.Error(err)
		return nil
	}
	r, err := p.Open(c)
	if err != nil {
		t.Error(err)
		return nil
	}
	snapshot, err := r.Look(t.Context(), types.NamespacedName{Namespace: namespace, Name: url}, time.Now())
	if err != nil {
		return nil
	}
	return snapshot
}
