package gobench

import (
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

const (
	// Each program is measured in so many rounds. Of times and rates the best one counts: on a machine that others use too, that is the round
	// in which it was disturbed least. Of ratios within each round, the median counts.
	rounds = 5

	// benchTime is the time that a round of one of Go's benchmarks takes.
	benchTime = "2s"

	// peerDeliveries is the number of deliveries of the git command in a round.
	peerDeliveries = 10
	peerFiles      = 5
)

// A benchmark is one of Go's benchmarks of this project.
type benchmark struct {
	pkg, pattern string

	// result is the last part of the name of the benchmark that reports a value in this unit. Without it all count that the pattern matches.
	result, unit string

	// long is the time that a round takes, and times the number of rounds. Without them it is benchTime, and rounds.
	long  string
	times int
}

// measureBenchmark runs the benchmark, and picks one of the values of its rounds. It returns an error if the benchmark reports none.
func (b benchmark) measureBenchmark(ctx context.Context, pick func([]float64) float64) (float64, error) {
	out, err := benchmarkOutput(ctx, b.pkg, b.pattern+"$", cmp.Or(b.long, benchTime), cmp.Or(b.times, rounds))
	if err != nil {
		return 0, err
	}
	found := parseResults(out, b.unit)
	values := found[b.result]
	if b.result == "" {
		values = slices.Concat(slices.Collect(maps.Values(found))...)
	}
	if len(values) == 0 {
		return 0, errors.Errorf("%s does not report %s: %s", b.pattern, b.unit, out)
	}
	return pick(values), nil
}

// measureCallMetric measures calls of the function, by one of the metrics of BenchmarkRunFunction.
func measureCallMetric(name, unit string, pick func([]float64) float64) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		return benchmark{pkg: ".", pattern: "BenchmarkRunFunction/" + name, result: name, unit: unit}.measureBenchmark(ctx, pick)
	}
}

// measureCanaryCall returns the time that a call of a deployment takes that shares requests at 100 Sites, divided by the time of decoding its input.
func measureCanaryCall(ctx context.Context) (float64, error) {
	return benchmark{pkg: "./function/deployment", pattern: "BenchmarkCanaryCall", result: "call", unit: "canary_call_over_decode"}.measureBenchmark(ctx, stats.Median)
}

// statusOverFetch returns the time that "status -A" of 1,000 deployments takes, divided by reading the same answers.
func statusOverFetch(ctx context.Context) (float64, error) {
	return benchmark{pkg: "./cmd/kubectl-intent/live", pattern: "BenchmarkStatusAll", result: "status", unit: "status_all_over_fetch"}.measureBenchmark(ctx, stats.Median)
}

// decisionTime returns the time to decide on a rollout and to project it, in microseconds.
func decisionTime(ctx context.Context) (float64, error) {
	v, err := benchmark{pkg: "./function/phase", pattern: "BenchmarkDecide", result: "BenchmarkDecide", unit: "ns/op"}.measureBenchmark(ctx, slices.Min[[]float64])
	return v / float64(time.Microsecond), err
}

// measureStepTime returns the time to decide on the next event, in microseconds.
func measureStepTime(ctx context.Context) (float64, error) {
	return benchmark{pkg: "./apis/step", pattern: "BenchmarkStep", result: "BenchmarkStep", unit: "step_us"}.measureBenchmark(ctx, slices.Min[[]float64])
}

// concludeTime returns the time that the provider takes to reject a revision and to begin its rollback, in microseconds.
func concludeTime(ctx context.Context) (float64, error) {
	v, err := benchmark{pkg: "./provider/mandate", pattern: "BenchmarkConclude", result: "BenchmarkConclude", unit: "ns/op"}.measureBenchmark(ctx, slices.Min[[]float64])
	return v / float64(time.Microsecond), err
}

// stateMetrics returns the cost of counting 5,000 GitDeliveries for Crossplane's metrics.
func stateMetrics(unit string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		return benchmark{pkg: "./provider/controller/setup", pattern: "BenchmarkCountStates", result: "BenchmarkCountStates", unit: unit}.measureBenchmark(ctx, slices.Min[[]float64])
	}
}

// claimsMemory is the memory of the function's process after 1,000 claims. It takes its time: once is enough.
func claimsMemory(unit string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		return benchmark{pkg: ".", pattern: "BenchmarkMemory", result: "BenchmarkMemory", unit: unit, times: 1}.measureBenchmark(ctx, stats.Median)
	}
}

// measureRenderTime is the time that one rendering of 20 objects takes.
func measureRenderTime(ctx context.Context) (float64, error) {
	v, err := benchmark{pkg: "./function/render", pattern: "BenchmarkBuild/objects=20/build", result: "build", unit: "ns/op"}.measureBenchmark(ctx, slices.Min[[]float64])
	return v / float64(time.Millisecond), err
}

// renderRatio is the time of a rendering of 20 objects, divided by the time of kustomize alone for the same files.
func renderRatio(ctx context.Context) (float64, error) {
	return benchmark{pkg: "./function/render", pattern: "BenchmarkBuild/objects=20/both", result: "both", unit: "build_over_kustomize"}.measureBenchmark(ctx, stats.Median)
}

// deliverySeries makes deliveries of five files, one after another, each with its own commit and push.
func deliverySeries(ctx context.Context) (float64, error) {
	return benchmark{pkg: "./provider/git", pattern: "BenchmarkDelivery", result: "BenchmarkDelivery", unit: "deliveries/s"}.measureBenchmark(ctx, slices.Max[[]float64])
}

// deliveryRatio is the number of deliveries that we make while the git command makes one.
func deliveryRatio(ctx context.Context) (float64, error) {
	ours, err := deliverySeries(ctx)
	if err != nil {
		return 0, err
	}
	peer, err := gitDeliveries(ctx)
	if err != nil {
		return 0, err
	}
	return ours / peer, nil
}

// benchmarkOutput returns the output of Go benchmarks.
func benchmarkOutput(ctx context.Context, pkg, name, long string, times int) (string, error) {
	root, err := toolbox.Root()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench="+name, "-benchtime="+long, "-count="+strconv.Itoa(times), "-cpu=1", pkg)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), errors.Wrapf(err, "cannot run benchmark: %s", out)
}

// parseResults reads lines of a name, the number of runs, and pairs of values and units.
func parseResults(out, unit string) map[string][]float64 {
	found := map[string][]float64{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 0 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		for i := 3; i < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i-1], 64); err == nil && f[i] == unit {
				name := f[0][strings.LastIndex(f[0], "/")+1:]
				found[name] = append(found[name], v)
			}
		}
	}
	return found
}

// gitDeliveries is the number of deliveries per second of the git command: clone, write the files, commit, push.
func gitDeliveries(ctx context.Context) (float64, error) {
	return bestGitRate(ctx, seedRepository(), peerDeliveries, func(int) string { return "web" })
}

// seedRepository returns a repository of the same size as the repository of our own benchmark.
func seedRepository() map[string]string {
	files := map[string]string{}
	for i := range 200 {
		files["apps/team-"+strconv.Itoa(i%20)+"/app-"+strconv.Itoa(i)+"/deployment.yaml"] = strconv.Itoa(i)
	}
	return files
}

func gitDelivery(ctx context.Context, url, clone, name string, n int) error {
	if err := runGitCommand(ctx, "", "clone", "--quiet", "--depth=1", url, clone); err != nil {
		return err
	}
	target := filepath.Join(clone, "sites", "a", "team-a", name)
	if err := os.MkdirAll(target, 0o700); err != nil {
		return err
	}
	for i := range peerFiles {
		if err := os.WriteFile(filepath.Join(target, "file-"+strconv.Itoa(i)+".yaml"), []byte("n: "+strconv.Itoa(n)+"\n"), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"add", "."}, {"commit", "--quiet", "--message=Deliver"}, {"push", "--quiet"}} {
		if err := runGitCommand(ctx, clone, args...); err != nil {
			return err
		}
	}
	return nil
}

func runGitCommand(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=bench", "-c", "user.email=bench@example.org"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	return errors.Wrapf(err, "cannot run git %s: %s", args[0], out)
}
