package main

import (
	"context"
	"math"
	"os/exec"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/procfs"

	"github.com/intentplane/intentplane/test/bench/catalog"
)

// A keeper keeps each figure in the catalog as soon as it is known, with where it comes from.
type keeper struct {
	root    string
	commit  string
	machine catalog.Machine
	fs      procfs.FS
	today   string

	// effort is the effort of the last run.
	effort effort
}

// sharedRun is longer than a figure takes that was measured together with an earlier one.
const sharedRun = time.Second

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

// noteEffort notes the effort of the measurement that a meter was started for. A figure that was measured together with an earlier one has the effort of that run.
// It returns an error if the kernel does not answer.
func (k *keeper) noteEffort(m meter) error {
	e, err := m.effort()
	if e.took > sharedRun {
		k.effort = e
	}
	return err
}

// keepFigure keeps the value of a figure, if there is a commit that it belongs to. It returns an error if it cannot be kept, or is outside its bound although the
// measurement had the machine for itself.
func (k *keeper) keepFigure(name string, value float64) error {
	if k.commit == "" {
		return nil
	}
	load, err := k.fs.LoadAvg()
	if err != nil {
		return errors.Wrap(err, "cannot read load average")
	}
	stored, err := catalog.Keep(k.root, name, catalog.Measurement{
		Value: roundTo(value, 6), Seconds: math.Round(k.effort.took.Seconds()), Commit: k.commit, Date: k.today, Load: load.Load1, Others: new(roundTo(k.effort.others, 2)), Machine: k.machine,
	})
	if err == nil && stored.IsOutside() {
		return errors.Errorf("%.4g %s is outside its bound %s", value, stored.Unit, stored.Bound)
	}
	return err
}

// roundTo rounds a number to so many digits after the point.
func roundTo(value float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(value*scale) / scale
}
