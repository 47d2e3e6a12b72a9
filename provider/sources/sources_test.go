package sources

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/refs"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

// A world is a real Git server, a Pool, and a clock.
type world struct {
	*testing.T

	server *gitserver.Server
	pool   *Pool
	clock  time.Time
	// fails is the error of a look. A nil error lets it succeed. takes is its duration.
	fails error
	takes time.Duration
	// during is called while a look is under way. It may be nil.
	during func()

	mu    sync.Mutex
	looks int
	woken []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := gitserver.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.CreateRepo(t.Context(), "shop", map[string]string{"a": "1"}); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, server: s, clock: time.Date(2031, 12, 17, 12, 0, 0, 0, time.UTC)}
	w.pool = NewPool(w.list, func(k types.NamespacedName) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.woken = append(w.woken, k.Name)
	}, func(error) {}, func() time.Time { return w.clock })
	return w
}

func (w *world) list(ctx context.Context, namespace string, s transport.Server, revisions []string) (refs.Set, error) {
	w.mu.Lock()
	w.looks++
	if w.takes > 0 { // Only one looks at a time then.
		w.clock = w.clock.Add(w.takes)
	}
	w.mu.Unlock()
	if w.during != nil {
		w.during()
	}
	if w.fails != nil {
		return refs.Set{}, w.fails
	}
	return refs.List(ctx, budget.New().ForNamespace(namespace), s, revisions)
}

func (w *world) request(name string, change ...func(*Request)) Request {
	r := Request{
		For:      types.NamespacedName{Namespace: "team-a", Name: name},
		Server:   transport.Server{URL: w.server.URL("shop"), Guard: &address.Guard{Loopback: true}},
		Revision: gitserver.Branch, Interval: 5 * time.Minute,
	}
	for _, fn := range change {
		fn(&r)
	}
	return r
}

func (w *world) find(r Request) Answer {
	w.Helper()
	a, err := w.pool.Find(w.Context(), r)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *world) push() string {
	w.Helper()
	id, err := w.server.Commit(w.Context(), "shop", gitserver.Branch, map[string]string{"a": w.clock.String()}, "More")
	if err != nil {
		w.Fatal(err)
	}
	return id
}

func (w *world) expectLooks(reason string, want int) {
	w.Helper()
	if diff := cmp.Diff(want, w.looks); diff != "" {
		w.Fatalf("%s: looks: -want, +got:\n%s", reason, diff)
	}
}

// TestSharedCheck has a hundred who name one repository.
func TestSharedCheck(t *testing.T) {
	w := newWorld(t)
	first := w.find(w.request("app-0"))
	for i := range 100 {
		if got := w.find(w.request(fmt.Sprintf("app-%d", i))); got.Commit != first.Commit || got.Commit == "" {
			t.Fatalf("app-%d: %+v", i, got)
		}
	}
	w.expectLooks("One look is for all requests of the repository", 1)
	next := w.push()
	w.clock = w.clock.Add(5 * time.Minute)
	if got := w.find(w.request("app-7")); got.Commit != next {
		t.Fatalf("after the interval: %+v, want %s", got, next)
	}
	w.expectLooks("One look per interval is for all", 2)
	slices.Sort(w.woken)
	if len(slices.Compact(w.woken)) != 99 || slices.Contains(w.woken, "app-7") {
		t.Errorf("All other requests are woken for the new commit, and nothing else: %v", w.woken)
	}
	w.woken = nil
	w.clock = w.clock.Add(5 * time.Minute)
	if w.find(w.request("app-7")); len(w.woken) > 0 {
		t.Errorf("Without a change no request is woken: %v", w.woken)
	}
}

// TestConcurrent has many who ask at once. Run it with the race detector.
func TestConcurrent(t *testing.T) {
	w := newWorld(t)
	wg := sync.WaitGroup{}
	for i := range 50 {
		wg.Go(func() {
			a, err := w.pool.Find(context.Background(), w.request(fmt.Sprintf("app-%d", i), func(r *Request) { r.Revision = []string{gitserver.Branch, "none"}[i%2] }))
			if err != nil || (a.Commit == "") != (i%2 == 1) {
				t.Errorf("app-%d: %+v, %v", i, a, err)
			}
		})
	}
	wg.Wait()
	if w.looks > 3 {
		t.Errorf("%d looks", w.looks)
	}
}

func TestFind(t *testing.T) {
	w := newWorld(t)
	id := "1111111111111111111111111111111111111111"
	if got := w.find(w.request("app", func(r *Request) { r.Revision = id })); got.Commit != id || w.looks != 0 {
		t.Errorf("A commit id is never looked up: %+v, %d looks", got, w.looks)
	}
	w.find(w.request("app"))
	w.find(w.request("other", func(r *Request) { r.Server.Auth = transport.Basic{Username: "u", Password: "p"} }))
	w.expectLooks("Requests with other credentials may see other refs", 2)
	w.clock = w.clock.Add(500 * time.Millisecond)
	requestSince := func(r *Request) { r.Since = w.clock }
	if got := w.find(w.request("app", requestSince)); got.IsSince(w.clock) {
		t.Errorf("A look that began before it was asked for does not answer: %+v", got)
	}
	w.expectLooks("Looks are spaced", 2)
	start := w.clock
	w.clock = w.clock.Add(500 * time.Millisecond)
	if got := w.find(w.request("app", func(r *Request) { r.Since = start })); !got.IsSince(start) {
		t.Errorf("A look that began after it was asked for answers: %+v", got)
	}
	w.expectLooks("A user who asks for a look gets a look", 3)
	w.find(w.request("app", func(r *Request) { r.Since = start }))
	w.expectLooks("One look answers the requests that were made before it", 3)
	if _, err := w.pool.Find(w.Context(), w.request("bad", func(r *Request) { r.Server.URL = "file:///etc" })); err == nil {
		t.Error("A file URL is not a repository")
	}
}

// TestFailedLook has a repository that is down.
func TestFailedLook(t *testing.T) {
	w := newWorld(t)
	previous := w.find(w.request("app"))
	w.find(w.request("other"))
	w.fails, w.clock = errors.New("down"), w.clock.Add(5*time.Minute)
	if got := w.find(w.request("app")); got.Err == nil || got.Commit != "" {
		t.Fatalf("A look that failed has no commit: %+v", got)
	}
	w.clock = w.clock.Add(10 * time.Second)
	w.find(w.request("other"))
	w.expectLooks("A repository that is down is not asked by each", 2)
	w.fails, w.clock = nil, w.clock.Add(30*time.Second)
	if got := w.find(w.request("app")); got.Err != nil || got.Commit != previous.Commit {
		t.Fatalf("A repository that is back: %+v", got)
	}
	if diff := cmp.Diff([]string{"other"}, w.woken); diff != "" {
		t.Errorf("The others learn that it is back: -want, +got:\n%s", diff)
	}
}

// TestSlowLook has a server that hangs for longer than the cached failure of a look counts, and a server that takes longer than the timeout of
// a request.
func TestSlowLook(t *testing.T) {
	w := newWorld(t)
	w.fails, w.takes = errors.New("down"), 2*FailedAge
	w.find(w.request("app"))
	if got := w.find(w.request("other")); got.Err == nil {
		t.Fatalf("A server that hangs has an answer: %+v", got)
	}
	w.expectLooks("A request after a look that hung does not wait for the next look that hangs", 1)
	w.fails, w.takes, w.clock = nil, time.Hour, w.clock.Add(FailedAge)
	if got := w.find(w.request("app")); got.Err != nil || got.Commit == "" {
		t.Errorf("The answer of a slow look is lost: %+v", got)
	}
}

// TestForgetRevisions has revisions that no one asks for any more.
func TestForgetRevisions(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.find(w.request("app", func(r *Request) { r.Revision, r.Interval = fmt.Sprintf("branch-%d", i), time.Minute }))
		w.clock = w.clock.Add(time.Minute)
	}
	w.find(w.request("app"))
	for _, repo := range w.pool.repositories {
		if len(repo.answers) > keptIntervals+2 {
			t.Errorf("%d revisions are kept", len(repo.answers))
		}
	}
	w.clock = w.clock.Add(time.Hour)
	w.find(w.request("other", func(r *Request) { r.Server.Auth = transport.Basic{Username: "u"} }))
	if len(w.pool.repositories) != 1 {
		t.Errorf("%d repositories are kept", len(w.pool.repositories))
	}
}

// TestForgetIsSpaced has one tenant name many repositories, and many revisions of one of them: the time between two searches for unused revisions does not
// depend on how many there are.
func TestForgetIsSpaced(t *testing.T) {
	w := newWorld(t)
	searches := map[[2]time.Time]bool{}
	for i := range 50 {
		w.pool.repositoryAt(w.request(fmt.Sprintf("app-%d", i), func(r *Request) { r.Server.Auth = transport.Basic{Username: fmt.Sprint(i)} }))
		repo := w.pool.repositoryAt(w.request(fmt.Sprintf("shop-%d", i), func(r *Request) { r.Revision = fmt.Sprintf("branch-%d", i) }))
		repo.forgetUnused(w.clock)
		searches[[2]time.Time{w.pool.forgotten, repo.forgotten}] = true
		w.clock = w.clock.Add(time.Second)
	}
	if diff := cmp.Diff(1, len(searches)); diff != "" {
		t.Errorf("One search within the interval is for all objects.\nsearches: -want, +got:\n%s", diff)
	}
}

// TestForgetEdits has one object whose user edits it without an end, with the longest interval. Only its last revision is kept, and nothing once the
// object is deleted, or names a commit.
func TestForgetEdits(t *testing.T) {
	w := newWorld(t)
	expectKept := func(reason string, want int) {
		t.Helper()
		revisions := 0
		for _, repo := range w.pool.repositories {
			revisions += len(repo.asked)
		}
		if diff := cmp.Diff([]int{want, want, want}, []int{len(w.pool.repositories), revisions, len(w.pool.lookups)}); diff != "" {
			t.Errorf("%s: repositories, revisions, objects: -want, +got:\n%s", reason, diff)
		}
	}
	edit := func(i int) func(*Request) {
		return func(r *Request) { r.Revision, r.Interval = fmt.Sprintf("branch-%d", i), 24*time.Hour }
	}
	for i := range 20 {
		w.find(w.request("app", edit(i)))
	}
	expectKept("An edited revision replaces the previous revision", 1)
	for i := range 20 {
		w.find(w.request("app", func(r *Request) { r.Server.Auth = transport.Basic{Username: fmt.Sprint(i)} }))
	}
	expectKept("An edited credential replaces the previous credential", 1)
	w.find(w.request("app", func(r *Request) { r.Revision = strings.Repeat("a", 40) }))
	expectKept("A commit id is not looked for", 0)
	w.find(w.request("app"))
	w.pool.Forget(types.NamespacedName{Namespace: "team-a", Name: "app"})
	expectKept("An object that is deleted takes its revision along", 0)
	w.find(w.request("one"))
	w.find(w.request("two"))
	w.pool.Forget(types.NamespacedName{Namespace: "team-a", Name: "one"})
	expectKept("A repository that another object names stays", 1)
	w.expectLooks("Two objects share a look", 42)
}

// TestNamespacesShareNoLook has a namespace look at a repository for long, and in vain, and another one that names the same repository.
func TestNamespacesShareNoLook(t *testing.T) {
	w := newWorld(t)
	begun, end := make(chan struct{}), make(chan struct{})
	w.pool = NewPool(func(ctx context.Context, namespace string, s transport.Server, revisions []string) (refs.Set, error) {
		if namespace == "hostile" {
			close(begun)
			<-end
			return refs.Set{}, errors.New("the namespace has no list of refs left")
		}
		return w.list(ctx, namespace, s, revisions)
	}, func(types.NamespacedName) {}, func(error) {}, time.Now)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.pool.Find(context.Background(), w.request("app", func(r *Request) { r.For.Namespace = "hostile" }))
	}()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	during, err := w.pool.Find(ctx, w.request("app"))
	close(end)
	<-ended
	if after := w.find(w.request("app")); err != nil || during.Commit == "" || after.Err != nil {
		t.Errorf("A namespace neither waits for the look of another one, nor fails with it.\nFind(...): %v, %+v, and then %+v", err, during, after)
	}
}

// TestSpellings has two spellings of a URL, which are different repositories for some servers.
func TestSpellings(t *testing.T) {
	w := newWorld(t)
	w.find(w.request("one"))
	w.find(w.request("two"))
	w.find(w.request("three", func(r *Request) { r.Server.URL += "/" }))
	if w.looks != 2 {
		t.Errorf("%d looks at two spellings, want one for each", w.looks)
	}
}

// TestAskedDuringLook has an object ask for another revision while a look is under way, which does not answer it.
func TestAskedDuringLook(t *testing.T) {
	w := newWorld(t)
	w.during = func() {
		w.during = nil
		w.pool.repositoryAt(w.request("other", func(r *Request) { r.Revision = "refs/heads/" + gitserver.Branch }))
	}
	first := w.find(w.request("app"))
	if got := w.find(w.request("other", func(r *Request) { r.Revision = "refs/heads/" + gitserver.Branch })); got.Commit != first.Commit {
		t.Errorf("A revision that a look did not ask for has no answer of it.\nFind(...): want %s, got %s", first.Commit, got.Commit)
	}
	w.expectLooks("The revision is looked for", 2)
}
