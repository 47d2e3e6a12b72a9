package git

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

func TestRepeatAfterCrash(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	p := plan(t, look(t, c), delivery(1))
	ctx, crash := context.WithCancel(context.Background())
	crashed := make(chan struct{})
	s.AfterPush(repo, func() {
		crash()
		<-crashed
	})
	_, err := c.Push(ctx, p)
	close(crashed)
	if failure.ClassOf(err) != failure.ClassTransient {
		t.Fatalf("\nThe answer never came\nPush(): %v", err)
	}
	s.AfterPush(repo, nil)
	repeated := push(t, c, p)
	if diff := cmp.Diff("2", run(t, s, "rev-list", "--count", gitserver.Branch)); diff != "" || repeated.Snapshot.Tip() != run(t, s, "rev-parse", gitserver.Branch) {
		t.Errorf("\nThe push is not repeated\nrev-list: -want, +got:\n%s", diff)
	}
}

func TestWritersLoseNothing(t *testing.T) {
	const writers, deliveries = 4, 5
	s := serve(t, nil)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			c := client(t, s)
			for n := range deliveries {
				if err := deliver(c, put(fmt.Sprintf("w%d/d", w), files("n", fmt.Sprint(n)))); err != nil {
					t.Errorf("\nA lost race is tried again\nPush(): %v", err)
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(fmt.Sprint(writers*deliveries), run(t, s, "rev-list", "--count", gitserver.Branch)); diff != "" {
		t.Errorf("\nEvery delivery is one commit\nrev-list: -want, +got:\n%s", diff)
	}
	run(t, s, "fsck", "--strict", "--full")
}

func deliver(c *Client, ch Change) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for {
		s, err := c.Look(ctx, nil)
		if err != nil {
			return err
		}
		p, err := Plan(ctx, s, change(ch))
		if err != nil {
			return err
		}
		if _, err := c.Push(ctx, p); !failure.IsConflict(err) {
			return err
		}
	}
}

func TestDeletedBranchIsNotMadeAgain(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	run(t, s, "branch", "other", gitserver.Branch)
	c := client(t, s)
	p := plan(t, look(t, c), delivery(1))
	run(t, s, "update-ref", "-d", "refs/heads/"+gitserver.Branch)
	_, err := c.Push(context.Background(), p)
	if diff := cmp.Diff(failure.ClassConflict, failure.ClassOf(err)); diff != "" {
		t.Errorf("\nA branch that was deleted stays deleted\nPush(): -want, +got:\n%s\n%v", diff, err)
	}
	if diff := cmp.Diff("other", run(t, s, "branch", "--format=%(refname:short)")); diff != "" {
		t.Errorf("\nA branch that was deleted stays deleted\nbranch: -want, +got:\n%s", diff)
	}
}

// TestPushAfterRaceSavesOneRequest loses a race, and asks nothing before the next push.
func TestPushAfterRaceSavesOneRequest(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	push(t, c, plan(t, look(t, c), delivery(1)))
	late := plan(t, look(t, c), delivery(2))
	unmanagedCommit(t, s, "Theirs")
	baseline := s.Requests(repo)
	if _, err := c.Push(context.Background(), late); !failure.IsConflict(err) {
		t.Fatalf("\nAnother writer was first\nPush(): %v", err)
	}
	lostRequests := s.Requests(repo) - baseline
	p := plan(t, look(t, c), delivery(2))
	baseline = s.Requests(repo)
	push(t, c, p)
	if diff := cmp.Diff([]int{1, 1}, []int{lostRequests, s.Requests(repo) - baseline}); diff != "" {
		t.Errorf("\nThe server itself refuses the later push\nrequests of the lost push and of the next push: -want, +got:\n%s", diff)
	}
}

// TestBranchAloneOverMovedState pushes a commit that moves the branch alone, after another writer moved the state ref of its snapshot.
func TestBranchAloneOverMovedState(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	first := push(t, c, plan(t, look(t, c), delivery(1))).Snapshot
	tip := run(t, s, "rev-parse", gitserver.Branch)
	late := plan(t, first, put("sites/b/ns/web", files("deployment.yaml", "replicas: 2\n")))
	push(t, client(t, s), plan(t, first, Change{State: files("claims/ns/web", "revision: 2\n")}))
	_, err := c.Push(context.Background(), late)
	if diff := cmp.Diff(failure.ClassConflict, failure.ClassOf(err)); diff != "" {
		t.Errorf("\nA result of a snapshot is valid only while both refs are current.\nPush(): -want class, +got class:\n%s\n%v", diff, err)
	}
	if diff := cmp.Diff(tip, run(t, s, "rev-parse", gitserver.Branch)); diff != "" {
		t.Errorf("\nA push that lost the race writes nothing.\nrev-parse: -want, +got:\n%s", diff)
	}
}

func BenchmarkDelivery(b *testing.B) {
	seed := map[string]string{}
	for i := range 200 {
		seed[fmt.Sprintf("apps/team-%d/app-%d/deployment.yaml", i%20, i)] = fmt.Sprint(i)
	}
	c := client(b, serve(b, seed))
	s := look(b, c)
	n := 0
	for b.Loop() {
		n++
		var err error
		if s, err = c.Look(context.Background(), s); err != nil {
			b.Fatal(err)
		}
		f := files()
		for i := range 5 {
			f[fmt.Sprintf("file-%d.yaml", i)] = fmt.Appendf(nil, "n: %d\n", n)
		}
		ch := put("sites/a/ns/web", f)
		ch.State = files("claims/ns/web", fmt.Sprint(n))
		s = push(b, c, plan(b, s, ch)).Snapshot
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "deliveries/s")
}
