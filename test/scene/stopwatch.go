package scene

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane"
)

// variable names a file that gets a line of each package whose tests ran: where their time went. Without it there is none.
const variable = "INTENTPLANE_SECONDS"

// biggest is how many components such a line names.
const biggest = 4

// A stopwatch says how long the parts of a package's tests took.
type stopwatch struct {
	last  time.Time
	parts []string
}

func startStopwatch() *stopwatch { return &stopwatch{last: time.Now()} }

// recordPartTime ends a part.
func (w *stopwatch) recordPartTime(name string) {
	now := time.Now()
	w.parts = append(w.parts, fmt.Sprintf("%s %.0f", name, now.Sub(w.last).Seconds()))
	w.last = now
}

// writeSeconds adds the line of this package. It returns an error if the file cannot be written.
func (w *stopwatch) writeSeconds(cp *controlplane.ControlPlane) error {
	path := os.Getenv(variable)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, w.describeTimes(cp.ProcessorTime()))
	return errors.Join(err, f.Close())
}

// describeTimes says the parts, the time of processors of all processes of the tests, and the components that took most of it.
func (w *stopwatch) describeTimes(components map[string]time.Duration) string {
	words := append([]string{"suite", nameOfSuite()}, w.parts...)
	words = append(words, fmt.Sprintf("processors %.0f:", processorSeconds()))
	names := slices.SortedFunc(maps.Keys(components), func(a, b string) int { return int(components[b] - components[a]) })
	for _, name := range names[:min(len(names), biggest)] {
		words = append(words, fmt.Sprintf("%s %.0f", name, components[name].Seconds()))
	}
	return strings.Join(words, " ")
}

// nameOfSuite is the folder in which "go test" runs a package's tests.
func nameOfSuite() string {
	dir, _ := os.Getwd()
	return filepath.Base(dir)
}

// processorSeconds are the seconds of this process, and of its ended children.
func processorSeconds() float64 {
	sum := 0.0
	for _, usageOf := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		usage := syscall.Rusage{}
		if syscall.Getrusage(usageOf, &usage) == nil {
			sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
		}
	}
	return sum
}
