package repository

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
)

// A Repository is one branch of a repository and the state beside it, reached with one set of credentials. It is safe for concurrent
// use.
type Repository struct {
	pool *Pool
	host *host
	lane chan struct{}

	mu      sync.Mutex
	clients []*git.Client
	// form of the state that is in use, or that is probed while there is no state.
	form int
	// places of the state by their forms, as they were seen last.
	places []place
	// seen is what the repository held at a time.
	seen   *git.Snapshot
	seenAt time.Time
	used   time.Time

	looking *flight
	// looks and pushes that failed.
	looks  trouble
	pushes trouble
	// absent are those who were told to come again.
	absent map[types.NamespacedName]struct{}

	queue   queue
	working bool
	// refused are objects that the server did not want, and which therefore go alone.
	refused map[types.NamespacedName]*refusal
	// alone is true for a server that cannot take several deliveries or none.
	alone bool
	// others who push to the branch.
	others contention

	// telling is held by who asks what the commits of the branch say: once, however many want to know.
	telling chan struct{}
	story   story
}

func newRepository(p *Pool, clients []*git.Client) *Repository {
	c := clients[0]
	for _, one := range clients {
		one.NoteRefs(stateRefs(clients)...)
	}
	return &Repository{
		pool: p, host: p.host(c.Host()), lane: p.lane(c.Place()), clients: clients,
		absent: map[types.NamespacedName]struct{}{}, refused: map[types.NamespacedName]*refusal{},
		telling: make(chan struct{}, 1),
	}
}

func stateRefs(clients []*git.Client) []string {
	out := make([]string, 0, len(clients))
	for _, c := range clients {
		out = append(out, c.Remote().StateRef)
	}
	return out
}

func (r *Repository) touch(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = now
}

func (r *Repository) idle(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Sub(r.used) > unused && r.looking == nil && !r.working
}

func (r *Repository) close() {
	for _, c := range r.clients {
		c.Close()
	}
}

// client that speaks about the form of the state in use.
func (r *Repository) client() *git.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clients[r.form]
}

// keep what the repository held at a time.
func (r *Repository) keep(s *git.Snapshot, at time.Time) {
	r.mu.Lock()
	r.seen, r.seenAt = s, at
	r.mu.Unlock()
	r.pool.trim()
}

// known returns what was seen last, and when; nil if nothing was.
func (r *Repository) known() (*git.Snapshot, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen, r.seenAt
}

// ReadFile returns a file of the branch as it was when the snapshot was taken, and whether there is one. It returns a *git.Error.
func (r *Repository) ReadFile(ctx context.Context, s *git.Snapshot, path string) (content []byte, ok bool, err error) {
	err = r.host.do(ctx, func(ctx context.Context) error {
		content, ok, err = r.client().ReadFile(ctx, s, path)
		return err
	})
	return content, ok, err
}

// ReadTree returns the files of a tree, and whether it is anywhere. It returns a *git.Error.
func (r *Repository) ReadTree(ctx context.Context, s *git.Snapshot, w git.Wanted) (files map[string][]byte, ok bool, err error) {
	err = r.host.do(ctx, func(ctx context.Context) error {
		files, ok, err = r.client().ReadTree(ctx, s, w)
		return err
	})
	return files, ok, err
}

// Contains reports whether a commit is in the branch as it was when the snapshot was taken. It returns a *git.Error.
func (r *Repository) Contains(ctx context.Context, s *git.Snapshot, commit string) (is bool, err error) {
	if is, known := s.Contains(commit); known {
		return is, nil
	}
	err = r.host.do(ctx, func(ctx context.Context) error {
		is, err = r.client().Contains(ctx, s, commit)
		return err
	})
	return is, err
}

// trim drops the snapshots that were used least recently, until the others fit.
func trim(all []*Repository, most int) {
	type cached struct {
		of   *Repository
		used time.Time
		size int
	}
	held, total := []cached{}, 0
	for _, r := range all {
		r.mu.Lock()
		if r.seen != nil {
			held = append(held, cached{of: r, used: r.used, size: r.seen.Size()})
			total += r.seen.Size()
		}
		r.mu.Unlock()
	}
	slices.SortFunc(held, func(a, b cached) int { return cmp.Compare(a.used.UnixNano(), b.used.UnixNano()) })
	for _, c := range held {
		if total <= most {
			return
		}
		c.of.mu.Lock()
		c.of.seen = nil
		c.of.mu.Unlock()
		total -= c.size
	}
}
