package main

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// pruneFigure measures how long the plan of a repository with 5,000 directories takes, and in how many commits 500 of them go: with a real Git server, and
// a double of an API server.
func pruneFigure(unit string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		r, err := runBenchmark(ctx, "./provider/controller/prunerequest", "BenchmarkDirectories$", unit, "1x", 1)
		if err != nil {
			return 0, err
		}
		if len(r["BenchmarkDirectories"]) == 0 {
			return 0, errors.Errorf("the benchmark does not report %s", unit)
		}
		return slices.Max(r["BenchmarkDirectories"]), nil
	}
}
