// Command bench measures every figure that the project claims, on a real control plane, and prints each as one line:
//
//	figure NAME VALUE UNIT
//
// With arguments it measures the figures of these names only, which may be patterns such as steady_*. What a figure is compared with is
// measured in the same run. With -needs before them it measures nothing, and prints what has to be built for them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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
	if len(args) > 0 && args[0] == "-needs" {
		return printNeeds(strings.Join(args[1:], " "))
	}
	return runFigures(ctx, strings.Join(args, " "))
}

func runFigures(ctx context.Context, only string) error {
	s := &stage{}
	err := measureFigures(ctx, allFigures(s), only)
	return errors.Join(err, s.closeControlPlane())
}

// measureFigures measures the figures that are wanted, and prints them. One that fails is among the errors in the end, and hides no other one.
func measureFigures(ctx context.Context, all []figure, only string) error {
	known, failures := false, []error{}
	for _, f := range all {
		if !isWanted(f.name, only) {
			continue
		}
		known = true
		v, err := f.measure(ctx)
		if err == nil {
			fmt.Printf("figure %s %.4g %s\n", f.name, v, f.unit)
			continue
		}
		err = errors.Wrapf(err, "cannot measure %s", f.name)
		fmt.Fprintln(os.Stderr, "bench:", err)
		if failures = append(failures, err); ctx.Err() != nil {
			break
		}
	}
	if !known {
		return errors.Errorf("cannot measure %q: it is not a figure", only)
	}
	return errors.Join(failures...)
}

// isWanted is true for the name of a figure that one of some patterns matches, between which there are spaces. Without any, all are wanted.
func isWanted(name, patterns string) bool {
	return patterns == "" || slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool {
		is, err := path.Match(pattern, name)
		return is && err == nil
	})
}
