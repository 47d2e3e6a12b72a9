package objects

import (
	"context"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// maxHistory limits the cached commits of a branch. A query for an older commit makes a request.
const maxHistory = 100_000

// A History is the known part of a branch's history, as long as each tip descends from the previous tip. It is shared by the snapshots of that time, and safe
// for concurrent use.
type History struct {
	mu sync.Mutex
	// known commits are in the branch, absent commits are not.
	known  map[plumbing.Hash]struct{}
	absent map[plumbing.Hash]struct{}
}

// bytesPerThousand is the approximate memory of a thousand commits of a history.
const bytesPerThousand = 50_000

// Size returns the approximate memory of the history in bytes. It is zero for few commits.
func (h *History) Size() int {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return (len(h.known) + len(h.absent)) / 1000 * bytesPerThousand
}

// NewHistory returns a history that has some commits.
func NewHistory(commits ...plumbing.Hash) *History {
	h := &History{known: map[plumbing.Hash]struct{}{}, absent: map[plumbing.Hash]struct{}{}}
	h.Add(commits...)
	return h
}

// After returns the history of a new tip: the same history if the commits since
// the old tip are known.
func (h *History) After(tip plumbing.Hash, commits []plumbing.Hash) *History {
	if h == nil || commits == nil {
		return NewHistory(tip)
	}
	h.Add(commits...)
	return h
}

// Add records commits that are in the branch.
func (h *History) Add(commits ...plumbing.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.known) > maxHistory {
		clear(h.known)
	}
	for _, c := range commits {
		h.known[c] = struct{}{}
	}
}

// AddAbsent records a commit that is not in the branch.
func (h *History) AddAbsent(commit plumbing.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.absent) > maxHistory {
		clear(h.absent)
	}
	h.absent[commit] = struct{}{}
}

// Has reports whether the commit is in the branch, and whether that is known.
func (h *History) Has(commit plumbing.Hash) (isContained, isKnown bool) {
	if h == nil {
		return false, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.known[commit]; ok {
		return true, true
	}
	_, ok := h.absent[commit]
	return false, ok
}

// Lineage lists the commits that are reachable from a tip: the present commits, and the first missing ancestors. It returns an error if the meter is spent, or
// the ids of missing ancestors do not fit into an answer. The pack of the present commits bounds their ids.
func Lineage(ctx context.Context, m *Meter, objects map[plumbing.Hash]Object, tip plumbing.Hash) ([]plumbing.Hash, error) {
	l := &lineage{objects: objects, commits: []plumbing.Hash{tip}, seen: map[plumbing.Hash]bool{tip: true}}
	for done := 0; done < len(l.commits); {
		id := l.commits[done]
		done++
		if err := l.addCommitParents(ctx, m, id); err != nil {
			return nil, err
		}
	}
	return l.commits, nil
}

// A lineage has the commits that the traversal from a tip has reached.
type lineage struct {
	objects map[plumbing.Hash]Object
	commits []plumbing.Hash
	seen    map[plumbing.Hash]bool
	answer  Answer
}

// addCommitParents adds the parents of a commit that were not reached before.
func (l *lineage) addCommitParents(ctx context.Context, m *Meter, id plumbing.Hash) error {
	if err := m.spendMeterUnits(ctx, openedObject, 1); err != nil {
		return err
	}
	o, ok := l.objects[id]
	if !ok || o.Kind != plumbing.CommitObject {
		return nil
	}
	for parent := range parentsOfCommit(o.Data) {
		if err := m.spendMeterUnits(ctx, readEntry, 1); err != nil {
			return err
		}
		if l.seen[parent] {
			continue
		}
		if _, isPresent := l.objects[parent]; !isPresent && l.answer.countHeldBytes(idBytes) != nil {
			return failure.Newf(failure.ClassTooLarge, "cannot read the repository: its commits have more ancestors that the server did not send than fit")
		}
		l.seen[parent] = true
		l.commits = append(l.commits, parent)
	}
	return nil
}
