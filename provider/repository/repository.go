package repository

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/repository/backoff"
	"github.com/intentplane/intentplane/provider/repository/stateplace"
	"github.com/intentplane/intentplane/provider/shares"
)

// A Repository is one branch of a repository and the state beside it, reached with one set of credentials. It is safe for concurrent
// use.
type Repository struct {
	pool *Pool
	host *host
	// namespace of the configuration, which pays for the cost of the repository. Empty is the administrator's.
	namespace string
	// lane of the branch: one push at a time, with any credentials. Of two at a time one would always lose the race.
	lane shares.Place

	mu      sync.Mutex
	clients []*git.Client
	// closed is true once the pool dropped the repository. A delivery that has it from before may go on using it, but it retains no memory,
	// since the pool does not count it any more.
	closed bool
	// form is the index of the client whose state is in use, or is probed while the repository has no state.
	form int
	// places of the state, one for each client, as they were seen last.
	places []stateplace.Place
	// snapshot is the state of the repository at snapshotAt. Nil if it is not known.
	snapshot   *git.Snapshot
	snapshotAt time.Time
	usedAt     time.Time

	ongoingLook *sharedLook
	// failedLookAt is when the last look that failed began, and askedLookAt when the last look began that a user asked for.
	failedLookAt, askedLookAt time.Time
	// lookBackoff and pushBackoff are the last errors, and the times of the next tries.
	lookBackoff backoff.Backoff
	pushBackoff backoff.Backoff
	// waiters are objects that got an error, and are woken when a look succeeds. Askers are objects whose user asked for a look that has not
	// ended, and are woken when it has.
	waiters, askers map[types.NamespacedName]struct{}

	queue   queue
	running bool
	// refused are objects whose deliveries the server refused, and which therefore go alone.
	refused map[types.NamespacedName]*refusal
	// failed are the objects whose last delivery failed.
	failed map[types.NamespacedName]failedDelivery
	// serial is true for a server without atomic pushes: each push carries one delivery.
	serial bool
	// others are the other writers of the branch.
	others contention

	// messagesTurn has room for the only caller that reads the messages of the branch.
	messagesTurn chan struct{}
	messages     messageCache

	// fetches of commits that failed.
	fetches backoff.Commits

	// causes are the reported causes that no error names.
	causes reportedCauses

	// answer is how the last conversation ended that read the repository.
	answer Answer
}

func newRepository(p *Pool, clients []*git.Client) *Repository {
	c := clients[0]
	for _, client := range clients {
		client.WatchRefs(stateRefsOf(clients)...)
	}
	return &Repository{
		pool: p, host: p.hostOfClient(c), namespace: c.Remote().Namespace, clients: clients,
		lane:    shares.Place{Host: c.ServerKey() + " " + c.BranchKey(), Namespace: c.Remote().Namespace},
		waiters: map[types.NamespacedName]struct{}{}, askers: map[types.NamespacedName]struct{}{}, refused: map[types.NamespacedName]*refusal{},
		failed:       map[types.NamespacedName]failedDelivery{},
		messagesTurn: make(chan struct{}, 1),
	}
}

func stateRefsOf(clients []*git.Client) []string {
	out := make([]string, 0, len(clients))
	for _, c := range clients {
		out = append(out, c.Remote().StateRef)
	}
	return out
}

func (r *Repository) markUsedAt(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usedAt = now
}

func (r *Repository) lastUsedAt() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usedAt
}

// isIdleLonger reports whether no operation is under way, and the repository was not used for longer than some time.
func (r *Repository) isIdleLonger(now time.Time, longer time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Sub(r.usedAt) > longer && r.ongoingLook == nil && !r.running
}

// closeForGood drops all cached data, and idle connections. From then on the repository retains nothing.
func (r *Repository) closeForGood() {
	r.mu.Lock()
	r.closed = true
	r.snapshot, r.messages.log = nil, nil
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

// currentClient returns the client whose state is in use.
func (r *Repository) currentClient() *git.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clients[r.form]
}

// keepSnapshot retains the snapshot of a time, and trims the cache.
func (r *Repository) keepSnapshot(s *git.Snapshot, observedAt time.Time) {
	r.mu.Lock()
	r.recordAnswer(observedAt, nil)
	r.retainSnapshot(s, observedAt)
	r.mu.Unlock()
	r.pool.trimSnapshotCache()
}

// retainSnapshot retains a snapshot, with the lock held. It is the only place that does, and a closed repository retains none.
func (r *Repository) retainSnapshot(s *git.Snapshot, observedAt time.Time) {
	if !r.closed {
		r.snapshot, r.snapshotAt = s.Closed(), observedAt
	}
}

// knownSnapshot returns the last snapshot, which is closed, and its time, or nil.
func (r *Repository) knownSnapshot() (*git.Snapshot, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snapshot, r.snapshotAt
}

// ReadFile returns a file of the branch as it was when the snapshot was taken, and whether there is one. It returns a *failure.Error.
func (r *Repository) ReadFile(ctx context.Context, s *git.Snapshot, path string) (content []byte, ok bool, err error) {
	err = r.runOperation(ctx, func(ctx context.Context) error {
		content, ok, err = r.currentClient().ReadFile(ctx, s, path)
		return err
	})
	return content, ok, err
}

// ReadTree returns the files of a tree, and whether it was found. It returns a *failure.Error.
func (r *Repository) ReadTree(ctx context.Context, s *git.Snapshot, w git.WantedTree) (files map[string][]byte, ok bool, err error) {
	err = r.runOperation(ctx, func(ctx context.Context) error {
		files, ok, err = r.currentClient().ReadTree(ctx, s, w)
		return err
	})
	return files, ok, err
}

// Contains reports whether a commit is in the branch as it was when the snapshot was taken. It returns a *failure.Error.
func (r *Repository) Contains(ctx context.Context, s *git.Snapshot, commit string) (isContained bool, err error) {
	if isInSnapshot, isKnown := s.Contains(commit); isKnown {
		return isInSnapshot, nil
	}
	err = r.runOperation(ctx, func(ctx context.Context) error {
		isContained, err = r.currentClient().Contains(ctx, s, commit)
		return err
	})
	return isContained, err
}

// A snapshotHolder is a Repository as the cache of snapshots sees it.
type snapshotHolder struct{ *Repository }

// Payer returns the namespace of the configuration.
func (h snapshotHolder) Payer() string { return h.namespace }

// Retained returns the time of the last use, and the memory of the snapshot with the messages of the commits.
func (h snapshotHolder) Retained() (used time.Time, size int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	size = h.messages.log.Size()
	if h.snapshot != nil {
		size += h.snapshot.Size()
	}
	return h.usedAt, size
}

// Drop drops the snapshot and the messages of the commits.
func (h snapshotHolder) Drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snapshot, h.messages.log = nil, nil
}

// EachFile calls a function with the contents of files of the branch, by their ids. A file that the server does not send is left out. The function may get a
// file twice, and must keep no content that is large. It returns a *failure.Error.
func (r *Repository) EachFile(ctx context.Context, s *git.Snapshot, ids []string, visit func(id string, content []byte)) error {
	return r.runOperation(ctx, func(ctx context.Context) error { return r.currentClient().EachFile(ctx, s, ids, visit) })
}

// EachDirectory calls a function with the files of directories of the branch, by the paths of the directories. An unreadable directory is left out. The
// function may get a directory twice, and must not keep its files. It returns a *failure.Error.
func (r *Repository) EachDirectory(ctx context.Context, s *git.Snapshot, paths []string, visit func(path string, files map[string][]byte)) error {
	return r.runOperation(ctx, func(ctx context.Context) error { return r.currentClient().EachDirectory(ctx, s, paths, visit) })
}
