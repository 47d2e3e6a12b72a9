package main

import (
	"cmp"
	"context"
	"math"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/procfs"

	"github.com/intentplane/intentplane/test/bench/catalog"
	"github.com/intentplane/intentplane/test/bench/series"
)

// A keeper keeps each figure in the catalog as soon as it is known, with where it comes from.
type keeper struct {
	root    string
	commit  string
	machine catalog.Machine
	fs      procfs.FS
	today   string
}

// newKeeper returns a keeper for a project. Where the code has changes that no commit has, its commit is empty and it keeps nothing. The documentation, which
// has the catalog, may have changed. It returns an error if git or the kernel do not answer.
func newKeeper(ctx context.Context, root string) (*keeper, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, errors.Wrap(err, "cannot open /proc")
	}
	machine, err := readMachine(fs)
	if err != nil {
		return nil, err
	}
	commit, err := measuredCommit(ctx, root)
	return &keeper{root: root, commit: commit, machine: machine, fs: fs, today: time.Now().UTC().Format(time.DateOnly)}, err
}

// measuredCommit returns the commit of the code of a project, and none where the code has changes that no commit has.
func measuredCommit(ctx context.Context, root string) (string, error) {
	changes, err := gitOutput(ctx, root, "status", "--porcelain", "--", ".", ":!docs")
	if err != nil || changes != "" {
		return "", err
	}
	return gitOutput(ctx, root, "rev-parse", "HEAD")
}

func gitOutput(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), errors.Wrapf(err, "cannot run git %s", args[0])
}

// recordFigure keeps the value of a figure, if there is a commit that it belongs to. It returns an error if it cannot be kept, if the code
// changed since then, or if the value is outside its bound although the measurement had the machine for itself.
func (k *keeper) recordFigure(ctx context.Context, name string, value float64, e series.Effort) error {
	if k.commit == "" {
		return nil
	}
	if err := k.checkCodeUnchanged(ctx); err != nil {
		return err
	}
	load, err := k.fs.LoadAvg()
	if err != nil {
		return errors.Wrap(err, "cannot read load average")
	}
	stored, err := catalog.Keep(k.root, name, catalog.Measurement{
		Value: roundToDigits(value, 6), Seconds: math.Round(e.Took.Seconds()), Commit: k.commit, Date: k.today,
		Load: load.Load1, Others: new(roundToDigits(e.Others, 2)), Machine: k.machine,
	})
	if err == nil && stored.IsOutside() {
		return errors.Errorf("%.4g %s is outside its bound %s", value, stored.Unit, stored.Bound)
	}
	return err
}

// checkCodeUnchanged returns an error if the code is not that of the commit any more: benchmarks of Go are built when they run.
func (k *keeper) checkCodeUnchanged(ctx context.Context) error {
	uncommitted, err := gitOutput(ctx, k.root, "status", "--porcelain", "--", ".", ":!docs")
	if err != nil {
		return err
	}
	committed, err := gitOutput(ctx, k.root, "diff", "--name-only", k.commit, "--", ".", ":!docs")
	if changed := cmp.Or(uncommitted, committed); err == nil && changed != "" {
		return errors.Errorf("cannot keep the value: the code changed since the run began: %s", strings.Join(strings.Fields(changed), " "))
	}
	return err
}

// roundToDigits rounds a number to so many digits after the point.
func roundToDigits(value float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(value*scale) / scale
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
