package gobench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	// A large repository has so many files of so many bytes, which no compression makes smaller: a gigabyte.
	largeFiles = 100_000
	largeBytes = 10_000

	// largeURL is the variable with the URL of the repository for the benchmark.
	largeURL = "INTENTPLANE_BENCH_URL"
)

// largeUnits are the units of the figures of a large repository.
var largeUnits = []string{"s/first", "s/delivery", "MiB"}

// largeSeries measures deliveries into a large repository, in a process of their own.
func largeSeries() *series.Series {
	return &series.Series{Parts: []series.Part{{Figures: largeUnits, Measure: measureLarge}}}
}

func measureLarge(ctx context.Context, figures map[string]float64) error {
	return withGitServer(ctx, nil, func(s *gitserver.Server, _ string) error {
		if err := fillRepository(ctx, s.Path(repository)); err != nil {
			return err
		}
		if err := os.Setenv(largeURL, s.URL(repository)); err != nil {
			return errors.Wrap(err, "cannot pass repository to benchmark")
		}
		out, err := benchmarkOutput(ctx, enginePackage, "BenchmarkLarge$", "1x", 1)
		if err != nil {
			return err
		}
		for _, unit := range largeUnits {
			if values := parseResults(out, unit)["BenchmarkLarge"]; len(values) > 0 {
				figures[unit] = stats.Median(values)
			}
		}
		return nil
	})
}

// fillRepository fills a bare repository with one commit.
func fillRepository(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "git", "-c", "core.compression=0", "-c", "pack.compression=0", "fast-import", "--quiet", "--depth=0", "--big-file-threshold=1")
	cmd.Dir = path
	in, err := cmd.StdinPipe()
	if err != nil {
		return errors.Wrap(err, "cannot feed git")
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return errors.Wrap(err, "cannot run git fast-import")
	}
	err = errors.Join(streamCommit(in), in.Close())
	return errors.Wrap(errors.Join(err, cmd.Wait()), "cannot fill repository")
}

// streamCommit streams a commit with all files: a thousand directories with a hundred each.
func streamCommit(target io.Writer) error {
	w := bufio.NewWriterSize(target, 1<<20)
	noise := rand.NewChaCha8([32]byte{})
	content := make([]byte, largeBytes)
	fmt.Fprintf(w, "commit refs/heads/%s\ncommitter Bench <bench@example.org> 1700000000 +0000\ndata 0\n\n", gitserver.Branch)
	for n := range largeFiles {
		_, _ = noise.Read(content) // It never fails.
		fmt.Fprintf(w, "M 100644 inline area-%02d/part-%02d/file-%02d.bin\ndata %d\n", n/10_000, n/100%100, n%100, len(content))
		_, _ = w.Write(content) // Flush returns the first error.
		fmt.Fprintln(w)
	}
	return w.Flush()
}
