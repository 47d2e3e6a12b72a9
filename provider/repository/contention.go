package repository

import (
	"time"
)

const (
	// maxLost is how many races in a row are lost before those who wait are told.
	maxLost = 16

	// patient is how many races in a row are lost before fewer go together: mostly it was not our size.
	patient = 4

	// comeback is when those who were told come again, if somebody was faster than us all the time.
	comeback = time.Second

	// A pause in which others get their turn is as long as our own was, within limits.
	shortestGap = 10 * time.Millisecond
	longestGap  = 250 * time.Millisecond
)

// A contention is what is known of others who push to the same branch.
type contention struct {
	// gap is a pause in which they get their turn.
	gap time.Duration
	// most go together. Zero is as many as may.
	most int
	// tip at which we gave up.
	tip string
}

// together is how many go with one push. A large group takes its time, and somebody who is faster than that would always be first.
func (r *Repository) together() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.others.most == 0 {
		return maxGroup
	}
	return r.others.most
}

// lose one more race, with so many.
func (r *Repository) lose(lost, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if lost%patient == patient-1 {
		r.others.most = max(1, size/2)
	}
}

// win a push, that lost races before and took so long. The next group may be larger.
func (r *Repository) win(lost int, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.others.most = min(maxGroup, 2*r.others.most)
	if lost > 0 {
		r.others.gap = min(took, longestGap)
	}
}

// yield to others who push to the branch, and who would always come too late after us. Whoever waits meanwhile goes with the next
// group, so that this costs nobody a turn. Where nobody else pushes there is no pause.
func (r *Repository) yield() {
	r.mu.Lock()
	gap := r.others.gap
	if r.others.gap /= 2; r.others.gap < shortestGap {
		r.others.gap = 0
	}
	r.mu.Unlock()
	if gap > 0 {
		_ = r.pool.pause(gap) // Whoever is next has their turn at once where there is no time left.
	}
}

// giveUp on deliveries that lost one race after the other, and let them come again soon if somebody else was faster.
func (r *Repository) giveUp(group []*item) {
	if !r.outrun() {
		return
	}
	for _, i := range group {
		time.AfterFunc(comeback, func() { r.pool.o.Wake(i.Object) })
	}
}

// outrun is true if the branch has moved since we gave up the last time. If it has not, that was no race: something holds it, and who
// comes again too soon would do so for ever.
func (r *Repository) outrun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		return true
	}
	moved := r.seen.Tip() != r.others.tip
	r.others.tip = r.seen.Tip()
	return moved
}
