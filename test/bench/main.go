// Command bench measures the figures that the project claims, on a real control plane, prints each as one line as soon as it is known, and keeps it in
// docs/figures.json:
//
//	figure NAME VALUE UNIT
//
// With arguments it measures the figures of these names only, which may be patterns such as steady_*, and with -slice the figures of one
// slice, such as 3/8. The reference of a relative figure is measured in the same run. With -needs it measures nothing, and prints the
// programs to build for them; with -stale it prints the figures whose code changed since they were measured.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/catalog"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := runCommand(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	needs := flags.Bool("needs", false, "Print the programs to build for the figures, and measure nothing.")
	stale := flags.Bool("stale", false, "Print the figures whose code changed since they were measured, and measure nothing.")
	slice := flags.String("slice", "", "Measure the figures of a slice, such as 3/8.")
	if err := flags.Parse(args); err != nil {
		return err
	}
	patternList := strings.Join(flags.Args(), " ")
	if *slice != "" {
		patterns, err := catalog.Slice(*slice)
		if err != nil {
			return err
		}
		patternList = strings.TrimSpace(patternList + " " + patterns)
	}
	switch {
	case *needs:
		return printNeeds(patternList)
	case *stale:
		return printStaleFigures(ctx)
	}
	return runFigures(ctx, patternList)
}

func runFigures(ctx context.Context, patternList string) error {
	root, err := toolbox.Root()
	if err != nil {
		return err
	}
	k, err := newKeeper(ctx, root)
	if err != nil {
		return err
	}
	if k.commit == "" {
		fmt.Fprintln(os.Stderr, "bench: figures are printed, and not kept: there are changes that no commit has")
	}
	s := &stage.Stage{}
	err = k.measureFigures(ctx, allFigures(s), patternList)
	return errors.Join(err, s.Close())
}

// measureFigures measures the figures that are wanted, prints and keeps them. A figure that fails, or is outside its bound, is among the
// errors in the end, and hides no other one.
func (k *keeper) measureFigures(ctx context.Context, all []series.Figure, patternList string) error {
	isKnown, failures := false, []error{}
	for _, f := range all {
		if !catalog.Matches(f.Name, patternList) {
			continue
		}
		isKnown = true
		err := k.measureFigure(ctx, f)
		if err == nil {
			continue
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		if failures = append(failures, err); ctx.Err() != nil {
			break
		}
	}
	if !isKnown {
		return errors.Errorf("cannot measure %q: it is not a figure", patternList)
	}
	return errors.Join(failures...)
}

// measureFigure measures a figure, prints and keeps it. It returns an error that names the figure.
func (k *keeper) measureFigure(ctx context.Context, f series.Figure) error {
	value, effort, err := series.MeasureFigure(ctx, func(ctx context.Context) (float64, error) { return measureRecovering(ctx, f) })
	if err == nil {
		err = catalog.CheckValue(value, f.Unit)
	}
	if err != nil {
		return errors.Wrapf(err, "cannot measure %s", f.Name)
	}
	fmt.Printf("figure %s %.4g %s\n", f.Name, value, f.Unit)
	return errors.Wrapf(k.recordFigure(ctx, f.Name, value, effort), "figure %s", f.Name)
}

// measureRecovering measures a figure. A panic is an error, as other figures can still be measured.
func measureRecovering(ctx context.Context, f series.Figure) (value float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f.Measure(ctx)
}
