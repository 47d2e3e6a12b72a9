package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/intentplane/intentplane/test/bench/catalog"
	"github.com/intentplane/intentplane/test/bench/gobench"
	"github.com/intentplane/intentplane/test/bench/plugin"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// printStaleFigures prints the figures whose code changed since they were measured, with the directories that changed, and the figures that were
// never measured.
func printStaleFigures(ctx context.Context) error {
	root, err := toolbox.Root()
	if err != nil {
		return err
	}
	all, err := catalog.Read(root)
	if err != nil {
		return err
	}
	stale, err := catalog.NewCheckout(root).Stale(ctx, all, measuredPackages)
	if err != nil {
		return err
	}
	for _, s := range stale {
		fmt.Println(describeStale(s))
	}
	return nil
}

// describeStale returns a line with the reason to measure a figure.
func describeStale(s catalog.Stale) string {
	if len(s.Changed) == 0 {
		return s.Name + ": not measured"
	}
	return fmt.Sprintf("%s: changed since: %s", s.Name, strings.Join(s.Changed, " "))
}

// measuredPackages returns the packages that a figure measures: the packages of our programs, or of Go's benchmarks.
func measuredPackages(name string) []string {
	switch {
	case containsFigure(name, plugin.Figures()), name == "status_all_over_fetch":
		return []string{"./cmd/kubectl-intent", "./provider"}
	case containsFigure(name, gobench.GitFigures()), catalog.Matches(name, "prune_* conclude_us"):
		return []string{"./provider"}
	case containsFigure(name, gobench.FunctionFigures()):
		return []string{"."}
	case containsFigure(name, gobench.StateFigures()):
		return []string{"./bundles/state"}
	}
	return []string{".", "./provider"}
}
