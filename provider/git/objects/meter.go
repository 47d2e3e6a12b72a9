package objects

import (
	"context"
	"sync/atomic"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// A unit is a thing that a Meter counts.
type unit int

const (
	// openedObject is a tree, a commit or a file that is opened. An object that is opened twice counts twice.
	openedObject unit = iota
	// readEntry is an entry of a tree, or a parent of a commit.
	readEntry
	// pathByte is a byte of a path that is looked up or entered.
	pathByte
	// serverRequest is a request to the server.
	serverRequest
	// countUnits is how many units there are.
	countUnits
)

// meterLimits is how much of each unit a Meter has. No server sends more than 3,000,000 entries at once, so a plan may go through all of them several times,
// and needs less than a second for it.
func meterLimits() [countUnits]int64 {
	return [countUnits]int64{openedObject: 2_000_000, readEntry: 10_000_000, pathByte: 64 << 20, serverRequest: 4_000}
}

// unitNames are the units in messages.
func unitNames() [countUnits]string {
	return [countUnits]string{
		openedObject: "objects of it", readEntry: "entries of its directories", pathByte: "bytes of its paths", serverRequest: "requests to its server",
	}
}

// directoryShare is the part of a plan that one directory may take, so that a directory which is too large is an error about that directory, and the rest of the
// plan goes on.
const directoryShare = 10

// A Meter bounds the cost of one plan that reads a repository: the objects that it opens, the entries that it goes through, the bytes of paths, and the
// requests to the server. A few bytes of a repository can stand for millions of directories, because one tree may be part of other trees many times.
// It is safe for concurrent use. A Meter that NewMeter did not return is spent.
type Meter struct {
	left [countUnits]atomic.Int64
	// plan is the meter of the plan that the meter of a directory is a part of. Nil for the meter of a plan.
	plan *Meter
}

// NewMeter returns the meter of one plan.
func NewMeter() *Meter {
	m := &Meter{}
	for u, n := range meterLimits() {
		m.left[u].Store(n)
	}
	return m
}

// ForDirectory returns the meter of one directory that the plan reads. It has a part of the plan, and the plan spends as much as it does. Beyond its part the error
// is of class TooLarge. It returns nil for nil.
func (m *Meter) ForDirectory() *Meter {
	if m == nil {
		return nil
	}
	out := &Meter{plan: m}
	for u, n := range meterLimits() {
		out.left[u].Store(n / directoryShare)
	}
	return out
}

// CountRequest counts a request to the server. It returns an error of class TooCostly if the plan has sent too many, and one of class Transient if the
// context has ended.
func (m *Meter) CountRequest(ctx context.Context) error {
	return m.spendMeterUnits(ctx, serverRequest, 1)
}

// HasRequestsLeft reports whether the plan may send the server another request.
func (m *Meter) HasRequestsLeft() bool { return m != nil && m.left[serverRequest].Load() > 0 }

// spendMeterUnits counts some of a unit. Everything that reads a repository calls it for each step.
func (m *Meter) spendMeterUnits(ctx context.Context, u unit, count int) error {
	if err := ctx.Err(); err != nil {
		return failure.Newf(failure.ClassTransient, "cannot read the repository: the operation was ended").EndedBy(err)
	}
	if m == nil {
		return failure.Newf(failure.ClassUnknown, "cannot read the repository: it was not opened with a meter")
	}
	if m.plan != nil {
		if err := m.plan.spendMeterUnits(ctx, u, count); err != nil {
			return err
		}
	}
	if m.left[u].Add(-int64(count)) < 0 {
		return m.exceededUnitError(u)
	}
	return nil
}

func (m *Meter) exceededUnitError(u unit) error {
	limit, name := meterLimits()[u], unitNames()[u]
	if m.plan == nil {
		return failure.Newf(failure.ClassTooCostly, "cannot read the repository: one plan needs more than %d %s", limit, name)
	}
	return failure.Newf(failure.ClassTooLarge, "cannot read the directory: one plan needs more than %d %s", limit/directoryShare, name)
}

const (
	// maxAnswerBytes limits the memory of the paths and the ids in one answer.
	maxAnswerBytes = 8 << 20
	// pathOverhead and idBytes are the approximate memory of a path in a map beside its own bytes, and of an id.
	pathOverhead = 200
	idBytes      = 80
)

// An Answer counts the memory of the paths and ids that one method returns. Its limit bounds the memory of a reader, however a repository names its files.
type Answer struct {
	meter *Meter
	held  int
}

// NewAnswer returns an answer to the view's reader.
func (v View) NewAnswer() *Answer { return &Answer{meter: v.meter} }

// Hold counts a path of the answer. It returns an error of class TooLarge if the answer has no room for it, and else as FilesNamed does.
func (a *Answer) Hold(ctx context.Context, path string) error {
	if err := a.meter.spendMeterUnits(ctx, pathByte, len(path)); err != nil {
		return err
	}
	return a.countHeldBytes(len(path) + pathOverhead)
}

// IsFull reports whether something did not fit into the answer.
func (a *Answer) IsFull() bool { return a.held > maxAnswerBytes }

// aboutDirectory names the directory in an error about the size of an answer, so that a user can split it.
func aboutDirectory(path string, err error) error {
	if failure.ClassOf(err) != failure.ClassTooLarge {
		return err
	}
	if path == "" {
		path = "/"
	}
	return failure.Newf(failure.ClassTooLarge, "cannot read directory %q: its names take more than %d MiB", failure.Shorten(path), maxAnswerBytes>>20)
}

// countHeldBytes counts a part of the answer, of some bytes.
func (a *Answer) countHeldBytes(bytes int) error {
	if a.held += bytes; a.held > maxAnswerBytes {
		return failure.Newf(failure.ClassTooLarge, "cannot read the repository: the names in one answer take more than %d MiB", maxAnswerBytes>>20)
	}
	return nil
}
