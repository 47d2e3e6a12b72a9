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
	gone := make(chan struct{})
	s.AfterPush(repo, func() {
		crash()
		<-gone
	})
	_, err := c.Push(ctx, p)
	close(gone)
	if failure.ClassOf(err) != failure.ClassTransient {
		t.Fatalf("\nThe answer never came\nPush(): %v", err)
	}
	s.AfterPush(repo, nil)
	again := push(t, c, p)
	if diff := cmp.Diff("2", run(t, s, "rev-list", "--count", gitserver.Branch)); diff != "" || again.Snapshot.Tip() != run(t, s, "rev-parse", gitserver.Branch) {
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
		p, err := Plan(s, change(ch))
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
		t.Errorf("\nA branch that somebody deleted stays deleted\nPush(): -want, +got:\n%s\n%v", diff, err)
	}
	if diff := cmp.Diff("other", run(t, s, "branch", "--format=%(refname:short)")); diff != "" {
		t.Errorf("\nA branch that somebody deleted stays deleted\nbranch: -want, +got:\n%s", diff)
	}
}

// TestShortRace loses a race, and asks nothing before the next one.
func TestShortRace(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	push(t, c, plan(t, look(t, c), delivery(1)))
	late := plan(t, look(t, c), delivery(2))
	theirs(t, s, "Theirs")
	before := s.Requests(repo)
	if _, err := c.Push(context.Background(), late); !failure.IsConflict(err) {
		t.Fatalf("\nSomebody else was first\nPush(): %v", err)
	}
	lost := s.Requests(repo) - before
	p := plan(t, look(t, c), delivery(2))
	before = s.Requests(repo)
	push(t, c, p)
	if diff := cmp.Diff([]int{1, 1}, []int{lost, s.Requests(repo) - before}); diff != "" {
		t.Errorf("\nThe server itself sees who comes too late\nrequests of the lost push and of the next one: -want, +got:\n%s", diff)
	}
}
