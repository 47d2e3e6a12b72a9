package repository

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/shares"
)

// A Repository is one branch of a repository and the state beside it, reached with one set of credentials. It is safe for concurrent
// use.
type Repository struct {
	pool *Pool
	host *host
	// namespace of the configuration, which pays for what the repository costs. Empty is the administrator's.
	namespace string
	// lane of the branch: one push at a time, whoever's credentials it goes with. Two at a time would only take turns at losing.
	lane shares.Place

	mu      sync.Mutex
	clients []*git.Client
	// closed is true once the pool dropped the repository. Who still has it may go on using it, but it retains nothing that takes memory,
	// since the pool counts it no more.
	closed bool
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

	// commits that could not be fetched.
	commits fetchFailures
}

func newRepository(p *Pool, clients []*git.Client) *Repository {
	c := clients[0]
	for _, one := range clients {
		one.WatchRefs(stateRefs(clients)...)
	}
	return &Repository{
		pool: p, host: p.host(c), namespace: c.Remote().Namespace, clients: clients,
		lane:   shares.Place{Host: c.ServerKey() + " " + c.BranchKey(), Namespace: c.Remote().Namespace},
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

func (r *Repository) lastUsed() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// idle is true if nothing happens, and the repository was not used for longer than some time.
func (r *Repository) idle(now time.Time, longer time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Sub(r.used) > longer && r.looking == nil && !r.working
}

// close lets go of what takes memory, for good, and of the connections that are idle.
func (r *Repository) close() {
	r.mu.Lock()
	r.closed = true
	r.seen, r.story.told = nil, nil
	r.mu.Unlock()
	for _, c := range r.clients {
		c.Close()
	}
}

// IsClosed reports whether the pool dropped the repository: Pool.Open returns another one.
func (r *Repository) IsClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
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
	r.retain(s, at)
	r.mu.Unlock()
	r.pool.trim()
}

// retain a snapshot, with the lock held. It is the only place that does, and a closed repository retains none.
func (r *Repository) retain(s *git.Snapshot, at time.Time) {
	if !r.closed {
		r.seen, r.seenAt = s, at
	}
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
func (r *Repository) ReadTree(ctx context.Context, s *git.Snapshot, w git.WantedTree) (files map[string][]byte, ok bool, err error) {
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

// trim drops snapshots until the others fit: of the namespace that has most, the one that was used least recently.
func trim(all []*Repository, most int) {
	held, total := map[string][]cached{}, 0
	for _, r := range all {
		if c, ok := r.cached(); ok {
			held[r.namespace] = append(held[r.namespace], c)
			total += c.size
		}
	}
	for _, of := range held {
		slices.SortFunc(of, func(a, b cached) int { return a.used.Compare(b.used) })
	}
	for total > most {
		ns := largest(held)
		c := held[ns][0]
		held[ns] = held[ns][1:]
		c.of.dropSnapshot()
		total -= c.size
	}
}

// A cached snapshot takes memory.
type cached struct {
	of   *Repository
	used time.Time
	size int
}

// largest returns the namespace that has most.
func largest(held map[string][]cached) string {
	most, found := -1, ""
	for ns, all := range held {
		size := 0
		for _, c := range all {
			size += c.size
		}
		if size > most {
			most, found = size, ns
		}
	}
	return found
}

func (r *Repository) cached() (cached, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		return cached{}, false
	}
	return cached{of: r, used: r.used, size: r.seen.Size()}, true
}

func (r *Repository) dropSnapshot() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = nil
}
