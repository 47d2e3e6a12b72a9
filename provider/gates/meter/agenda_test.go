package meter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/gates"
)

func TestAgenda(t *testing.T) {
	noon := time.Unix(43_200, 0)
	cases := map[string]struct {
		reason string
		// change changes an agenda of three runs that are due a minute after another.
		change func(a *agenda, runs []*run)
		// due are the runs that are due two minutes after noon, and next when the next one is, in minutes after noon. -1 stands for none.
		due  []int
		next int
	}{
		"Order": {reason: "Runs are due in the order of their times.", change: func(*agenda, []*run) {}, due: []int{1, 2}, next: 3},
		"Later": {
			reason: "A run has one place on the agenda.",
			change: func(a *agenda, runs []*run) { a.scheduleRun(runs[0], noon.Add(4*time.Minute)) }, due: []int{2}, next: 3,
		},
		"Dropped": {reason: "A dropped run is not due.", change: func(a *agenda, runs []*run) { a.removeFromAgenda(runs[1]); a.removeFromAgenda(runs[1]) }, due: []int{1}, next: 3},
		"Never": {
			reason: "A run that only an answer changes is not due.",
			change: func(a *agenda, runs []*run) { a.scheduleRun(runs[2], time.Time{}) }, due: []int{1, 2}, next: -1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, runs, number := &agenda{}, []*run{}, map[*run]int{}
			for n := range 3 {
				r := &run{}
				number[r], runs = n+1, append(runs, r)
				a.scheduleRun(r, noon.Add(time.Duration(n+1)*time.Minute))
			}
			tc.change(a, runs)
			due, next := []int{}, -1
			for _, r := range a.takeDueRuns(noon.Add(2 * time.Minute)) {
				due = append(due, number[r])
			}
			if first := a.nextDueTime(); !first.IsZero() {
				next = int(first.Sub(noon).Minutes())
			}
			if diff := cmp.Diff([]any{tc.due, tc.next}, []any{due, next}); diff != "" {
				t.Errorf("\n%s\ntakeDue(...), next(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCollectDueIsLocal has 5,000 Gates that are measured in an hour, and an answer for one of them.
func TestCollectDueIsLocal(t *testing.T) {
	noon := time.Unix(43_200, 0)
	m := New(func() time.Time { return noon }, nil, nil)
	rules := gates.Rules{Count: 1, Interval: time.Minute, Timeout: 3 * time.Hour, InitialDelay: time.Hour}
	for n := range 5_000 {
		m.Measure(key(n), "uid", []Task{{ID: "check", Question: &source{name: key(n).Name}, Rules: rules, LiveSince: noon, Criteria: gates.Criteria{}}})
	}
	due, wake, next := m.collectDueGroups(noon)
	if len(due)+len(wake) > 0 || next.Before(noon.Add(time.Hour)) {
		t.Fatalf("\nNothing is due for an hour.\ncollectDue(...): %d questions, %d owners, and next at %s", len(due), len(wake), next)
	}
	if len(m.touched) != 0 || len(m.agenda.runs) != 5_000 {
		t.Errorf("\nA run without changes is looked at when something is due for it.\n%d touched runs, %d on the agenda", len(m.touched), len(m.agenda.runs))
	}
	dropped := m.gates[key(1)].runs["check"]
	m.Forget(key(1))
	m.markRunChanged(dropped)
	if len(m.touched) != 0 || len(m.agenda.runs) != 4_999 {
		t.Errorf("\nA Gate that was forgotten is never looked at again.\n%d touched runs, %d on the agenda", len(m.touched), len(m.agenda.runs))
	}
}
