package meter

import (
	"container/heap"
	"time"
)

// An agenda has runs by when something is due for them, so that a change of one check does not go through the checks of all Gates.
type agenda struct{ runs agendaHeap }

// scheduleRun sets when something is due for a run. Zero means that only an answer or another task changes anything.
func (a *agenda) scheduleRun(r *run, next time.Time) {
	a.removeFromAgenda(r)
	if r.next = next; !next.IsZero() {
		heap.Push(&a.runs, r)
	}
}

// removeFromAgenda takes a run off the agenda, if it is there.
func (a *agenda) removeFromAgenda(r *run) {
	if r.place > 0 {
		heap.Remove(&a.runs, r.place-1)
	}
}

// takeDueRuns takes the runs for which something is due by a time.
func (a *agenda) takeDueRuns(now time.Time) []*run {
	out := []*run{}
	for len(a.runs) > 0 && !a.runs[0].next.After(now) {
		r := a.runs[0]
		a.removeFromAgenda(r)
		out = append(out, r)
	}
	return out
}

// nextDueTime is when something is due first. It is zero for an empty agenda.
func (a *agenda) nextDueTime() time.Time {
	if len(a.runs) == 0 {
		return time.Time{}
	}
	return a.runs[0].next
}

// An agendaHeap is a heap of runs, the first due run first. Each run has its place in it, from 1.
type agendaHeap []*run

// Len is the number of runs.
func (h *agendaHeap) Len() int { return len(*h) }

// Less reports whether one run is due before another one.
func (h *agendaHeap) Less(i, j int) bool { return (*h)[i].next.Before((*h)[j].next) }

// Swap exchanges two runs.
func (h *agendaHeap) Swap(i, j int) {
	runs := *h
	runs[i], runs[j] = runs[j], runs[i]
	runs[i].place, runs[j].place = i+1, j+1
}

// Push adds a run at the end.
func (h *agendaHeap) Push(x any) {
	if r, ok := x.(*run); ok { // Nothing else is pushed.
		*h = append(*h, r)
		r.place = len(*h)
	}
}

// Pop takes the run at the end.
func (h *agendaHeap) Pop() any {
	r := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	r.place = 0
	return r
}
