package repository

import (
	"time"
)

const (
	// maxConflicts is how many races in a row a batch loses before its deliveries fail.
	maxConflicts = 16

	// conflictsPerShrink is how many races in a row are lost before batches become smaller: mostly the size is not the cause.
	conflictsPerShrink = 4

	// requeueDelay is when deliveries that failed come again, if another writer was faster each time.
	requeueDelay = time.Second

	// A pause in which other writers push is as long as the last push took, within limits.
	shortestGap = 10 * time.Millisecond
	longestGap  = 250 * time.Millisecond
)

// A contention is the observed activity of other writers of the same branch. It has the pause before the retry of a push that the server rejected because
// it was not a fast-forward: another writer won the race.
type contention struct {
	// gap is a pause in which they push.
	gap time.Duration
	// batchLimit is how many deliveries a batch has at most. Zero is maxBatch.
	batchLimit int
	// lostAt is the tip at which a batch gave up.
	lostAt string
}

// currentBatchLimit returns how many deliveries go with one push. A large batch takes its time, and a faster writer would always be first. A server
// without atomic pushes would refuse one only after all of it was planned.
func (r *Repository) currentBatchLimit() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.serial {
		return 1
	}
	if r.others.batchLimit == 0 {
		return maxBatch
	}
	return r.others.batchLimit
}

// onPushConflict makes batches smaller after every fourth race that is lost in a row. Size is the size of the batch.
func (r *Repository) onPushConflict(conflicts, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if conflicts%conflictsPerShrink == conflictsPerShrink-1 {
		r.others.batchLimit = max(1, size/2)
	}
}

// onPushSucceeded makes batches larger after a push, and sets the pause to how long it took if it lost races before.
func (r *Repository) onPushSucceeded(conflicts int, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.others.batchLimit = min(maxBatch, 2*r.others.batchLimit)
	if conflicts > 0 {
		r.others.gap = min(took, longestGap)
	}
}

// yieldToOthers pauses so that other writers of the branch, who would always come too late, can push. Deliveries that wait meanwhile go
// with the next batch, so that none loses a turn. Without other writers it does not pause.
func (r *Repository) yieldToOthers() {
	r.mu.Lock()
	gap := r.others.gap
	if r.others.gap /= 2; r.others.gap < shortestGap {
		r.others.gap = 0
	}
	r.mu.Unlock()
	if gap > 0 {
		_ = r.pool.pauseUnlessEnded(gap) // In a pool that has ended the next batch goes at once.
	}
}

// requeueLosers wakes the objects of deliveries that lost one race after the other, soon, if another writer was faster.
func (r *Repository) requeueLosers(group []*item) {
	if !r.branchMoved() {
		return
	}
	for _, i := range group {
		time.AfterFunc(requeueDelay, func() { r.pool.options.Wake(i.Object) })
	}
}

// branchMoved reports whether the branch has moved since a batch gave up the last time. If it has not, that was not a race: something
// holds the branch, and deliveries that came again at once would do so for ever.
func (r *Repository) branchMoved() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.snapshot == nil {
		return true
	}
	moved := r.snapshot.Tip() != r.others.lostAt
	r.others.lostAt = r.snapshot.Tip()
	return moved
}
