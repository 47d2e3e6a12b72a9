package meter

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/provider/gates"
)

// TestNextChangeOfWatched is of a check that has its count and is measured on: its timeout is over, and must not be due all the time.
func TestNextChangeOfWatched(t *testing.T) {
	now := time.Unix(10_000, 0)
	watched := run{
		since: now.Add(-time.Hour), due: now.Add(time.Second),
		task:  Task{Question: &source{}, Rules: gates.Rules{Count: 1, Interval: time.Second, Timeout: time.Minute, GoesOn: true}, LiveSince: now.Add(-time.Hour)},
		tally: gates.Tally{}.Add(gates.Measurement{Outcome: gates.Pass, At: now.Add(-time.Minute)}),
	}
	if got := watched.nextChange(now); !got.Equal(now.Add(time.Second)) {
		t.Errorf("A check that is watched is looked at when it is measured next.\nnextChange(): want %s, got %s", now.Add(time.Second), got)
	}
	watched.asking = true
	if got := watched.nextChange(now); !got.IsZero() {
		t.Errorf("A check that is watched is not looked at before its answer came.\nnextChange(): want none, got %s", got)
	}
}
