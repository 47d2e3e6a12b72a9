package gobench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	// repository is the name of the repository on the Git servers.
	repository    = "fleet"
	enginePackage = "./provider/repository"

	// engineBefore is the number of deliveries that the repository of the git command holds already: as many as ours does halfway.
	engineBefore = 500
	// enginePeerDeliveries of the git command are a round.
	enginePeerDeliveries = 8
)

// An engine is measured beside the git command, on servers and repositories that are alike.
type engine struct {
	peer series.Run[float64]
}

// deliverTogether returns the number of deliveries per second into one repository while all of them wait for it.
func (e *engine) deliverTogether(ctx context.Context) (float64, error) {
	return e.deliveryRate(ctx, "together")
}

// overCommand is the same as a multiple of the git command's speed.
func (e *engine) overCommand(ctx context.Context) (float64, error) {
	return e.ratioToCommand(ctx, "together")
}

// aloneOverCommand is the number of deliveries that go one by one while the git command makes one.
func (e *engine) aloneOverCommand(ctx context.Context) (float64, error) {
	return e.ratioToCommand(ctx, "alone")
}

func (e *engine) deliveryRate(ctx context.Context, name string) (float64, error) {
	return benchmark{pkg: enginePackage, pattern: "BenchmarkDeliver/" + name, result: name, unit: "deliveries/s", long: "1x"}.measureBenchmark(ctx, stats.Median)
}

func (e *engine) ratioToCommand(ctx context.Context, name string) (float64, error) {
	ours, err := e.deliveryRate(ctx, name)
	if err != nil {
		return 0, err
	}
	peer, err := e.peer.Do(ctx, commandDeliveries)
	if err != nil {
		return 0, err
	}
	return ours / peer, nil
}

// commandDeliveries is the number of deliveries per second of the git command, each into its own directory: clone, write, commit, push.
func commandDeliveries(ctx context.Context) (float64, error) {
	return bestGitRate(ctx, seedWithDeliveries(), enginePeerDeliveries, func(n int) string { return fmt.Sprintf("other-%d", n) })
}

// bestGitRate returns the best rate of some rounds in which git commands make so many deliveries.
func bestGitRate(ctx context.Context, seed map[string]string, deliveries int, nameOf func(n int) string) (float64, error) {
	best := 0.0
	err := withGitServer(ctx, seed, func(s *gitserver.Server, dir string) error {
		for round := range rounds {
			began := time.Now()
			for n := round * deliveries; n < (round+1)*deliveries; n++ {
				if err := gitDelivery(ctx, s.URL(repository), filepath.Join(dir, strconv.Itoa(n)), nameOf(n), n); err != nil {
					return err
				}
			}
			best = max(best, float64(deliveries)/time.Since(began).Seconds())
		}
		return nil
	})
	return best, err
}

// withGitServer calls a function with a Git server that has one repository.
func withGitServer(ctx context.Context, seed map[string]string, fn func(s *gitserver.Server, dir string) error) error {
	dir, err := os.MkdirTemp("", "intentplane-bench-")
	if err != nil {
		return errors.Wrap(err, "cannot make directory")
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := gitserver.New(ctx, filepath.Join(dir, "server"))
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CreateRepo(ctx, repository, seed); err != nil {
		return err
	}
	return fn(s, dir)
}

// seedWithDeliveries returns a repository that deliveries went to before.
func seedWithDeliveries() map[string]string {
	files := seedRepository()
	for n := range engineBefore {
		addPeerFiles(files, n)
	}
	return files
}

// addPeerFiles adds the directory of one of the deliveries.
func addPeerFiles(files map[string]string, n int) {
	for i := range peerFiles {
		files[fmt.Sprintf("sites/a/team-a/web-%d/file-%d.yaml", n, i)] = fmt.Sprintf("n: %d\ni: %d\n", n, i)
	}
}

// hostilePack is the peak memory of a process that reads from servers which send packs that are small on the wire and large in memory.
func hostilePack(ctx context.Context) (float64, error) {
	return benchmark{pkg: "./provider/git", pattern: "BenchmarkHostilePack", unit: "MiB", long: "1x", times: 1}.measureBenchmark(ctx, slices.Max[[]float64])
}
