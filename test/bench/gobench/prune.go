package gobench

import (
	"context"
	"slices"
)

// pruneFigure measures the time of the plan for a repository with 5,000 directories, and the number of commits that remove 500 of them: with a real Git server,
// and a double of an API server.
func pruneFigure(unit string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		return benchmark{pkg: "./provider/controller/prunerequest", pattern: "BenchmarkDirectories", result: "BenchmarkDirectories", unit: unit, long: "1x", times: 1}.measureBenchmark(ctx, slices.Max[[]float64])
	}
}
