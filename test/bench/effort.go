package main

import (
	"os"
	"runtime"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/procfs"

	"github.com/intentplane/intentplane/test/bench/catalog"
	"github.com/intentplane/intentplane/test/bench/process"
)

// An effort is the effort of a measurement: the time by the clock, and the processors that other programs, or other guests of the same host, kept busy
// meanwhile.
type effort struct {
	took   time.Duration
	others float64
}

// A meter reads the effort of a measurement from the kernel.
type meter struct {
	fs    procfs.FS
	began time.Time

	// all and own are the seconds that processors were busy for everybody, and for this process with all that it started.
	all, own float64
}

// startMeter begins to measure. It returns an error if the kernel does not answer.
func startMeter(fs procfs.FS) (meter, error) {
	all, ownSeconds, err := readBusy(fs, os.Getpid())
	return meter{fs: fs, began: time.Now(), all: all, own: ownSeconds}, err
}

// effort returns the effort since the start. It returns an error if the kernel does not answer.
func (m meter) effort() (effort, error) {
	took := time.Since(m.began)
	all, ownSeconds, err := readBusy(m.fs, os.Getpid())
	return effort{took: took, others: max(0, (all-m.all-(ownSeconds-m.own))/took.Seconds())}, err
}

// readBusy returns the seconds that all processors were busy, and the seconds of them for a process and its descendants.
func readBusy(fs procfs.FS, pid int) (all, ownSeconds float64, err error) {
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

// readMachine returns the properties of this machine. It returns an error if the kernel does not answer.
func readMachine(fs procfs.FS) (catalog.Machine, error) {
	memory, err := fs.Meminfo()
	if err != nil || memory.MemTotalBytes == nil {
		return catalog.Machine{}, errors.Wrap(errors.Join(err, errors.New("no MemTotal")), "cannot read memory")
	}
	const gibibyte = 1 << 30
	return catalog.Machine{Processors: runtime.NumCPU(), MemoryGiB: int((*memory.MemTotalBytes + gibibyte/2) / gibibyte), Go: runtime.Version()}, nil
}
