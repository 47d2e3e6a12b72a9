// Package sources finds the commits of revisions. All users of one repository in a namespace share one look at it: a look's result serves the next users, until
// it is older than the interval. Namespaces share none: one whose share of the lists of refs is used up would let the others wait for it, and fail with it.
package sources

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/refs"
	"github.com/intentplane/intentplane/provider/git/transport"
)

const (
	// Spacing is the minimum time between two looks at a repository, also for a look that a user asks for.
	Spacing = time.Second

	// FailedAge is how old a look may be that failed, before the next one.
	FailedAge = 30 * time.Second

	// keptIntervals is how many intervals a revision is looked up that no ImageBuild asks for any more.
	keptIntervals = 3

	// forgetInterval is the time from one search for unused revisions to the next. A search costs as much as there are objects, so that no object may begin one.
	forgetInterval = time.Minute
)

// A Lister lists the refs of a repository that revisions may name. A namespace pays for the answer.
type Lister func(ctx context.Context, namespace string, s transport.Server, revisions []string) (refs.Set, error)

// A Pool has the repositories that are looked at. It is safe for concurrent use.
type Pool struct {
	list  Lister
	wake  func(types.NamespacedName)
	ended func(err error)
	now   func() time.Time

	mu           sync.Mutex
	repositories map[repositoryKey]*repository
	// lookups has the single revision of one repository that each object asks for.
	lookups map[types.NamespacedName]lookup
	// forgotten is when unused repositories were dropped last.
	forgotten time.Time
}

// A lookup is a revision of a repository.
type lookup struct {
	repository repositoryKey
	revision   string
}

// A repositoryKey is the same for all users of a namespace, which pays for the looks, who see the same refs: users with other credentials may see others. The
// URL is the literal URL: for some servers two spellings are different repositories.
type repositoryKey struct {
	namespace, url  string
	auth            transport.Auth
	certificates    string
	knownHosts      string
	allowsLoopbacks bool
}

// NewPool returns a Pool. Wake is called for each who asked for a revision that has another commit now, and must not block. Ended is called after each look.
func NewPool(list Lister, wake func(types.NamespacedName), ended func(error), now func() time.Time) *Pool {
	return &Pool{list: list, wake: wake, ended: ended, now: now, repositories: map[repositoryKey]*repository{}, lookups: map[types.NamespacedName]lookup{}}
}

// A Request asks for the commit of a revision.
type Request struct {
	// For whom it is.
	For types.NamespacedName

	// Server of the repository.
	Server transport.Server

	// Revision is the requested revision.
	Revision string

	// Interval is how old a look may be.
	Interval time.Duration

	// Since is the time of a request for a look: an earlier look does not answer. Zero asks for none.
	Since time.Time

	// IsNew is true for a repository that no commit was found in before. It is looked at for a commit id, too: who builds it reaches its server without a guard.
	IsNew bool
}

// An Answer is the result of a look.
type Answer struct {
	// Commit of the revision. Empty if there is none.
	Commit string

	// Ambiguous is true if a branch and a tag have the name.
	Ambiguous bool

	// Err is why the repository could not be looked at.
	Err error

	// At is when the look began. Zero for a commit id, which is its own answer.
	At time.Time

	// failedAt is when a look that failed ended: a server that hangs would else fail for each who waits for it, one after another.
	failedAt time.Time
}

// IsSince reports whether a look answers a request of a given time.
func (a Answer) IsSince(notBefore time.Time) bool { return a.At.IsZero() || !a.At.Before(notBefore) }

// Find returns the commit of a revision, of a look that is young enough. A commit id is its own answer, unless its server may not be reached.
// The answer to a request may be earlier than the request, since looks are spaced: then the next look is possible when the spacing is over.
// It returns an error if the context ends first, or the URL is none of a repository.
func (p *Pool) Find(ctx context.Context, r Request) (Answer, error) {
	if refs.IsCommitID(r.Revision) && !r.IsNew {
		p.Forget(r.For)
		return Answer{Commit: r.Revision}, nil
	}
	if _, err := policy.ParseRepositoryURL(r.Server.URL); err != nil {
		return Answer{}, err
	}
	repo := p.repositoryAt(r)
	select {
	case repo.turn <- struct{}{}:
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	defer func() { <-repo.turn }()
	if a, ok := repo.youngAnswer(r, p.now()); ok {
		return r.takeCommitID(a), nil
	}
	p.lookAtRepository(ctx, repo, r)
	return r.takeCommitID(repo.answers[r.Revision]), nil
}

// takeCommitID returns the answer to a request for a commit id. The server need not have it, nor answer, but its address and its redirects are refused.
func (r *Request) takeCommitID(a Answer) Answer {
	class := failure.ClassOf(a.Err)
	if !refs.IsCommitID(r.Revision) || class == failure.ClassAddress || class == failure.ClassTrust {
		return a
	}
	return Answer{Commit: r.Revision}
}

// Forget drops the revision that an object asks for, and the repository with it unless others ask for revisions of it.
func (p *Pool) Forget(object types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replaceLookup(object, nil)
}

// replaceLookup drops the revision that an object asked for, unless it asks for the same revision again: an object that a user edits takes
// the memory of one revision. The caller has the lock.
func (p *Pool) replaceLookup(object types.NamespacedName, next *lookup) {
	previous, ok := p.lookups[object]
	if ok && (next == nil || previous != *next) {
		delete(p.lookups, object)
		if repo := p.repositories[previous.repository]; repo != nil && repo.dropAskingObject(previous.revision, object) {
			delete(p.repositories, previous.repository)
		}
	}
	if next != nil {
		p.lookups[object] = *next
	}
}

// repositoryAt returns the repository of a request, and records that the revision is requested.
func (p *Pool) repositoryAt(r Request) *repository {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := r.requestedLookup()
	p.replaceLookup(r.For, &next)
	repo := p.repositories[next.repository]
	if repo == nil {
		p.forgetUnused(p.now())
		repo = &repository{turn: make(chan struct{}, 1), asked: map[string]map[types.NamespacedName]time.Time{}, answers: map[string]Answer{}}
		p.repositories[next.repository] = repo
	}
	repo.recordRequest(r, p.now())
	return repo
}

// requestedLookup returns the revision that a request is about.
func (r *Request) requestedLookup() lookup {
	key := repositoryKey{namespace: r.For.Namespace, url: r.Server.URL, auth: r.Server.Auth}
	key.certificates, key.knownHosts = string(r.Server.CABundle), string(r.Server.KnownHosts)
	key.allowsLoopbacks = r.Server.Guard == nil || r.Server.Guard.Loopback
	return lookup{repository: key, revision: r.Revision}
}

// forgetUnused drops the repositories whose revisions no object asks for any more, once in a while: a tenant may name any number of repositories. The caller
// has the lock.
func (p *Pool) forgetUnused(now time.Time) {
	if now.Sub(p.forgotten) < forgetInterval {
		return
	}
	p.forgotten = now
	for key, repo := range p.repositories {
		if repo.forgetUnused(now); len(repo.asked) == 0 {
			delete(p.repositories, key)
		}
	}
}

// revisionsOf returns the revisions of a repository that objects ask for.
func (p *Pool) revisionsOf(repo *repository) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(repo.asked))
}

// lookAtRepository looks at a repository for all requested revisions, and wakes the objects whose revision has another commit.
func (p *Pool) lookAtRepository(ctx context.Context, repo *repository, r Request) {
	began, revisions := p.now(), p.revisionsOf(repo)
	listed, err := p.list(ctx, r.For.Namespace, r.Server, revisions)
	p.ended(err)
	p.mu.Lock()
	if p.lookups[r.For] == r.requestedLookup() {
		repo.recordRequest(r, p.now()) // The look may have taken longer than the earlier request counts.
	}
	repo.forgetUnused(p.now())
	changed := repo.keepAnswers(listed, look{began: began, ended: p.now(), revisions: revisions, err: err})
	p.mu.Unlock()
	for key := range changed {
		if key != r.For {
			p.wake(key)
		}
	}
}
