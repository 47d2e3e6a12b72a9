package deployment

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/soak"
)

// stepsOf a story.
const stepsOf = 70

// mostMemory is the heap size of scenarios, in bytes, above which garbage is collected more often.
const mostMemory = 2 << 30

// TestWalk plays scenarios of faults. INTENTPLANE_WALK selects them, as 7, 1-100 or 4,8,15, and the first with a violation is played again
// with its log. It reports the number of scenarios in a CPU-second.
func TestWalk(t *testing.T) {
	all := stories(t)
	ends, began := tally{all: map[string]int{}, excused: map[string]int{}}, spentTime()
	// A story makes much that is garbage at once: collecting it seldom saves a third of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostMemory))
	t.Run("Stories", func(t *testing.T) {
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				tellAll(t, all[min(i, len(all)):], &ends)
			})
		}
	})
	story := ends.playedCount()
	t.Logf("%d stories of %d steps each, from %d to %d, %.0f of them per CPU-second, ended so:", story, stepsOf, all[0], all[len(all)-1], perSecond(story, began))
	for _, end := range slices.Sorted(maps.Keys(ends.all)) {
		t.Logf("%5d %s", ends.all[end], end)
	}
	for _, exception := range slices.Sorted(maps.Keys(ends.excused)) {
		t.Logf("%5d stories make use of an exception: %s", ends.excused[exception], exception)
	}
}

// spentTime is how long processors worked for this process.
func spentTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// perSecond returns the number of scenarios in each second of a processor since it began.
func perSecond(n int, began time.Duration) float64 {
	return float64(n) / max(spentTime()-began, time.Millisecond).Seconds()
}

// stories returns the seeds of the scenarios: in make test always the same.
func stories(t *testing.T) []uint64 {
	t.Helper()
	named := os.Getenv("INTENTPLANE_WALK")
	if named == "" {
		n, first := soak.Seed(t, walks(), 10000)
		named = fmt.Sprintf("%d-%d", first, first+uint64(n)-1)
	}
	var out []uint64
	for part := range strings.SplitSeq(named, ",") {
		firstText, lastText, ranged := strings.Cut(part, "-")
		if !ranged {
			lastText = firstText
		}
		first, err := strconv.ParseUint(firstText, 10, 64)
		last, err2 := strconv.ParseUint(lastText, 10, 64)
		if err != nil || err2 != nil {
			t.Fatalf("INTENTPLANE_WALK=%s: %q is not a scenario", named, part)
		}
		for ; first <= last; first++ {
			out = append(out, first)
		}
	}
	return out
}

// A tally counts how stories ended.
type tally struct {
	sync.Mutex

	all     map[string]int
	excused map[string]int
	failed  int
}

// mostFailures is the number of scenarios with a violation after which no more are played.
const mostFailures = 10

// count an end, and the exceptions that its story made use of.
func (c *tally) count(end string, excused map[string]bool) {
	c.Lock()
	defer c.Unlock()
	c.all[end]++
	for exception := range excused {
		c.excused[exception]++
	}
}

// fail counts a story that went wrong, and returns how many did before.
func (c *tally) fail() int {
	c.Lock()
	defer c.Unlock()
	c.failed++
	return c.failed - 1
}

// isFull is true once so many scenarios had a violation that no more are played.
func (c *tally) isFull() bool {
	c.Lock()
	defer c.Unlock()
	return c.failed >= mostFailures
}

// playedCount returns the number of scenarios that were played.
func (c *tally) playedCount() int {
	c.Lock()
	defer c.Unlock()
	n := c.failed
	for _, count := range c.all {
		n += count
	}
	return n
}

// tellAll plays every nth of the scenarios, for as many workers as there are processors. The first with a violation is played with its log; for the
// others only the violation is reported.
func tellAll(t *testing.T, stories []uint64, ends *tally) {
	t.Helper()
	cores := versions()
	for i := 0; i < len(stories) && !ends.isFull(); i += runtime.GOMAXPROCS(0) {
		w := playScenario(t, cores, stories[i], stepsOf, false)
		if len(w.truth.violations) == 0 {
			ends.count(w.end(), w.truth.excused)
			continue
		}
		var trace []string
		if ends.fail() == 0 {
			trace = playScenario(t, cores, stories[i], stepsOf, true).trace // It is the same story, and to note all of it takes time.
		}
		if os.Getenv("INTENTPLANE_WALK") == "" {
			trace = trace[max(0, len(trace)-40):]
		}
		t.Errorf("story %d: %s\n%s", stories[i], strings.Join(w.truth.violations, "\n"), strings.Join(trace, "\n"))
	}
}

// walks returns the number of scenarios in make test.
func walks() int {
	if n, err := strconv.Atoi(os.Getenv("INTENTPLANE_WALKS")); err == nil {
		return n
	}
	return 25
}
