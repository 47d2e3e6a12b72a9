package series

import (
	"context"
	"os"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/procfs"

	"github.com/intentplane/intentplane/test/bench/process"
)

// shortRun is longer than a figure takes that only reads the result of an earlier run. The kernel's ticks are too coarse for its own effort.
const shortRun = time.Second

// An Effort is the effort of a measurement: the time by the clock, and the processors that other programs, or other guests of the same host, kept busy
// meanwhile.
type Effort struct {
	Took   time.Duration
	Others float64
}

// mergeEffort adds the effort of another run to the effort of a figure: the greater numbers count.
func (e *Effort) mergeEffort(run Effort) {
	e.Took, e.Others = max(e.Took, run.Took), max(e.Others, run.Others)
}

// effortKey is the key of a figure's effort in a context.
type effortKey struct{}

// addSharedEffort adds the effort of a shared run to the effort of the figure that a context is for.
func addSharedEffort(ctx context.Context, run Effort) {
	if e, ok := ctx.Value(effortKey{}).(*Effort); ok {
		e.mergeEffort(run)
	}
}

// MeasureFigure measures one figure, and returns its effort: its own, and the effort of each shared run that it has a value from. It returns an error if the
// measurement fails or the kernel does not answer.
func MeasureFigure(ctx context.Context, measure func(context.Context) (float64, error)) (float64, Effort, error) {
	total := &Effort{}
	value, ownEffort, err := meterMeasurement(context.WithValue(ctx, effortKey{}, total), measure)
	if ownEffort.Took > shortRun || total.Took == 0 {
		total.mergeEffort(ownEffort)
	}
	return value, *total, err
}

// meterMeasurement runs a measurement, and returns its result and its effort.
func meterMeasurement[T any](ctx context.Context, measure func(context.Context) (T, error)) (T, Effort, error) {
	m, err := startMeter()
	if err != nil {
		return *new(T), Effort{}, err
	}
	value, err := measure(ctx)
	e, meterErr := m.readEffort()
	return value, e, errors.Join(err, meterErr)
}

// A meter reads the effort of a measurement from the kernel.
type meter struct {
	fs    procfs.FS
	began time.Time

	// all and own are the seconds that processors were busy for everybody, and for this process with all that it started.
	all, own float64
}

// startMeter begins to measure. It returns an error if the kernel does not answer.
func startMeter() (meter, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return meter{}, errors.Wrap(err, "cannot open /proc")
	}
	all, ownSeconds, err := readBusySeconds(fs, os.Getpid())
	return meter{fs: fs, began: time.Now(), all: all, own: ownSeconds}, err
}

// readEffort returns the effort since the start. It returns an error if the kernel does not answer.
func (m meter) readEffort() (Effort, error) {
	took := time.Since(m.began)
	all, ownSeconds, err := readBusySeconds(m.fs, os.Getpid())
	return Effort{Took: took, Others: max(0, (all-m.all-(ownSeconds-m.own))/took.Seconds())}, err
}

// readBusySeconds returns the seconds that all processors were busy, and the seconds of them for a process and its descendants.
func readBusySeconds(fs procfs.FS, pid int) (all, ownSeconds float64, err error) {
	stat, err := fs.Stat()
	if err != nil {
		return 0, 0, errors.Wrap(err, "cannot read times of processors")
	}
	running, err := fs.AllProcs()
	if err != nil {
		return 0, 0, errors.Wrap(err, "cannot list processes")
	}
	c := stat.CPUTotal
	return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal, treeSeconds(running, pid), nil
}

// treeSeconds returns the seconds that processors were busy for a process, for its descendants, and for ended children of both. A process
// that ends while they are read is left out.
func treeSeconds(running procfs.Procs, root int) float64 {
	stats, children := map[int]procfs.ProcStat{}, map[int][]int{}
	for _, p := range running {
		if s, err := p.Stat(); err == nil {
			stats[s.PID] = s
			children[s.PPID] = append(children[s.PPID], s.PID)
		}
	}
	ticks, next := 0.0, []int{root}
	for len(next) > 0 {
		s := stats[next[0]]
		ticks += float64(s.UTime) + float64(s.STime) + float64(s.CUTime) + float64(s.CSTime)
		next = append(next[1:], children[next[0]]...)
	}
	return ticks / process.ClockTicks
}
