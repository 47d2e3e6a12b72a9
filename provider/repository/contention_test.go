package repository

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/soak"
)

// foreign pushes commits of somebody else, as often as they can, until it is stopped. It returns what it has pushed.
func foreign(t *testing.T, s *gitserver.Server, stop <-chan struct{}) []string {
	t.Helper()
	c, err := git.NewClient(git.Remote{URL: s.URL(repo), Branch: gitserver.Branch, StateRef: "refs/foreign/state"})
	if err != nil {
		t.Error(err)
	}
	defer c.Close()
	pushed := []string{}
	for n := 0; ; n++ {
		name := fmt.Sprintf("theirs-%d", n)
		// Who comes too late comes again.
		for git.IsConflict(foreignPush(t, c, name)) {
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
	seen, err := c.Look(context.Background(), nil)
	if err != nil {
		t.Errorf("Look(): %v", err)
		return nil
	}
	p, err := git.Plan(seen, git.Change{
		Put:     map[string]map[string][]byte{"theirs/" + name: {"file": []byte(name)}},
		Message: "Theirs\n\nDelivery: " + name, Author: git.Author{Name: "A Stranger", Email: "stranger@example.org"}, When: time.Unix(1, 0),
	})
	if err != nil {
		t.Errorf("Plan(): %v", err)
		return nil
	}
	_, err = c.Push(context.Background(), p)
	if err != nil && !git.IsConflict(err) {
		t.Errorf("Push(): %v", err)
	}
	return err
}

func TestContention(t *testing.T) {
	writers, each := 4, 5
	if soak.Long() {
		writers, each = 20, 50
	}
	s := serve(t, map[string]string{"README.md": "hello"})
	stop, pushed := make(chan struct{}), make(chan []string)
	began := time.Now()
	go func() { pushed <- foreign(t, s, stop) }()

	want := contend(t, s, writers, each)
	close(stop)
	theirs := <-pushed
	took := time.Since(began).Seconds()
	for _, name := range theirs {
		want[name] = 1
	}
	t.Logf("soak %s: ours %.1f/s, theirs %.1f/s", t.Name(), float64(writers*each)/took, float64(len(theirs))/took)

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

// contend lets writers deliver, each with a pool of its own for half of them, and returns what they have delivered.
func contend(t *testing.T, s *gitserver.Server, writers, each int) map[string]int {
	t.Helper()
	shared := pool(Options{})
	want := map[string]int{}
	var wg sync.WaitGroup
	for w := range writers {
		r := open(t, shared, s)
		if w%4 == 3 {
			r = open(t, pool(Options{}), s) // Another process.
		}
		for n := range each {
			want[trailer(w, n)] = 1
		}
		wg.Go(func() {
			for n := range each {
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
	if err != nil && !git.IsConflict(err) {
		t.Errorf("\nA lost race is tried again\nDeliver(): %v", err)
	}
	return git.IsConflict(err)
}

// untouched fails the test unless each file is what its owner wrote last.
func untouched(t *testing.T, s *gitserver.Server, theirs []string, writers int) {
	t.Helper()
	got, err := s.Files(context.Background(), repo, gitserver.Branch)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range theirs {
		if is := got["theirs/"+name+"/file"]; is != name {
			t.Errorf("\nNobody's files change\n%s: %q", name, is)
		}
	}
	if diff := cmp.Diff(1+len(theirs)+writers, len(got)); diff != "" || strings.TrimSpace(got["README.md"]) != "hello" {
		t.Errorf("\nNobody's files are lost\nFiles(): -want, +got:\n%s", diff)
	}
	run(t, s, "fsck", "--strict", "--full")
}
