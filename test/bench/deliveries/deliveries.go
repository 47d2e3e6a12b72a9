package deliveries

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// crowd is the number of GitDeliveries that are created at once.
	crowd = 1000
	// crowdRounds is the number of rounds.
	crowdRounds = 3

	// streamEvery is the time between GitDeliveries that are created one after another.
	streamEvery = 200 * time.Millisecond
	// streamed is the number of these GitDeliveries.
	streamed = 300
)

// measureReadyRate is the number of GitDeliveries that become Ready per second, of a thousand that are created at once, into one repository. Creating them is part of
// it.
func (s *room) measureReadyRate(ctx context.Context) (float64, error) {
	rates := []float64{}
	for _, place := range []string{"crowd-a", "crowd-b", "crowd-c"}[:crowdRounds] {
		r, err := s.measureCrowd(ctx, place)
		if err != nil {
			return 0, err
		}
		rates = append(rates, r)
	}
	return stats.Median(rates), nil
}

// measureCrowd creates a thousand GitDeliveries, and returns the number that became Ready per second.
func (s *room) measureCrowd(ctx context.Context, place string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, stage.CrowdPatience)
	defer cancel()
	l, err := s.openDeliveryPlace(ctx, place)
	if err != nil {
		return 0, err
	}
	g, ctx := errgroup.WithContext(ctx)
	began := time.Now()
	g.Go(func() error { return l.Ready(ctx, place, crowd) })
	g.Go(func() error { return l.DeliverAll(ctx, load.Keys(crowd, place)) })
	err = g.Wait()
	return crowd / time.Since(began).Seconds(), err
}

// openDeliveryPlace makes a place to deliver to, on a control plane that is started if it has to be.
func (s *room) openDeliveryPlace(ctx context.Context, name string) (*load.Load, error) {
	if err := s.Open(ctx); err != nil {
		return nil, err
	}
	l, err := load.New(s.CP)
	if err != nil {
		return nil, err
	}
	return l, l.Place(ctx, name, stage.Often)
}

// deliveryP99 is the time, in seconds, from when a GitDelivery is created until its commit is on the branch, as the Git server sees it,
// that one in a hundred takes longer than, while five per second are created.
func (s *room) deliveryP99(ctx context.Context) (float64, error) {
	const place = "stream"
	ctx, cancel := context.WithTimeout(ctx, stage.CrowdPatience)
	defer cancel()
	l, err := s.openDeliveryPlace(ctx, place)
	if err != nil {
		return 0, err
	}
	tips := s.recordBranchTips(ctx, place)
	defer s.CP.Git.AfterPush(place, nil)
	created, err := createPaced(ctx, l, load.Keys(streamed, place))
	if err != nil {
		return 0, err
	}
	if err := l.Ready(ctx, place, streamed); err != nil {
		return 0, err
	}
	arrived, err := s.commitArrivals(ctx, place, tips())
	if err != nil {
		return 0, err
	}
	commits, err := l.Commits(ctx, place)
	if err != nil {
		return 0, err
	}
	took := []float64{}
	for name, createdAt := range created {
		arrivedAt, ok := arrived[commits[name]]
		if !ok {
			return 0, errors.Errorf("GitDelivery %s is Ready, and its commit is not on the branch", name)
		}
		took = append(took, arrivedAt.Sub(createdAt).Seconds())
	}
	return stats.Percentile(took, 99), nil
}

// createPaced creates GitDeliveries at a steady pace, and returns when each of them was about to be.
func createPaced(ctx context.Context, l *load.Load, keys []types.NamespacedName) (map[string]time.Time, error) {
	createdAt := map[string]time.Time{}
	next := time.NewTicker(streamEvery)
	defer next.Stop()
	for _, key := range keys {
		select {
		case <-next.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		createdAt[key.Name] = time.Now()
		if err := l.Deliver(ctx, key); err != nil {
			return nil, err
		}
	}
	return createdAt, nil
}

// A tip is the commit of a branch after a push.
type tip struct {
	commit string
	at     time.Time
}

// recordBranchTips notes where the branch is after each push, from now on. It returns a function that returns them.
func (s *room) recordBranchTips(ctx context.Context, repo string) func() []tip {
	var (
		mu  sync.Mutex
		all []tip
	)
	s.CP.Git.AfterPush(repo, func() {
		now := time.Now()
		commit, err := s.CP.Git.Git(ctx, repo, "rev-parse", "refs/heads/"+load.Branch)
		if err != nil {
			return // The measurement reports the missing tip.
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, tip{commit: strings.TrimSpace(commit), at: now})
	})
	return func() []tip {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// commitArrivals returns when each commit of the branch came, which is with the first tip that it is below.
func (s *room) commitArrivals(ctx context.Context, repo string, tips []tip) (map[string]time.Time, error) {
	out, err := s.CP.Git.Git(ctx, repo, "rev-list", "--reverse", "refs/heads/"+load.Branch)
	if err != nil {
		return nil, err
	}
	arrived := map[string]time.Time{}
	waiting := []string{}
	for commit := range strings.FieldsSeq(out) {
		waiting = append(waiting, commit)
		i := slices.IndexFunc(tips, func(t tip) bool { return t.commit == commit })
		if i < 0 {
			continue
		}
		for _, c := range waiting {
			arrived[c] = tips[i].at
		}
		waiting = nil
	}
	return arrived, nil
}
