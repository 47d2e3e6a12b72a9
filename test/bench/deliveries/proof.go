package deliveries

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// proofs is the number of revisions of one deployment, one after another, after a first revision that starts everything.
	proofs = 15

	// proofPatience is the time limit of one proof.
	proofPatience = time.Minute
)

// measureFluxProof is the time in seconds from a commit on the branch, as the Git server observes it, until the SiteSync reports that the Site runs it: real Flux,
// which reconciles once an hour, and waits for no health.
func (s *room) measureFluxProof(ctx context.Context) (float64, error) {
	const place = "proof"
	if err := s.Open(ctx); err != nil {
		return 0, err
	}
	l, err := load.New(s.CP)
	if err != nil {
		return 0, err
	}
	if _, err := l.FluxPlace(ctx, place, stage.Often); err != nil {
		return 0, err
	}
	pushes := make(chan time.Time, proofs)
	s.CP.Git.AfterPush(place, func() { pushes <- time.Now() })
	defer s.CP.Git.AfterPush(place, nil)
	took := []float64{}
	for revision := range int64(proofs + 1) {
		d, err := timeToProof(ctx, l, types.NamespacedName{Namespace: place, Name: "app"}, revision+1, pushes)
		if err != nil {
			return 0, err
		}
		if revision > 0 {
			took = append(took, d.Seconds())
		}
	}
	return stats.Median(took), nil
}

// timeToProof waits until a revision is proven, and returns the time since its last push. The first one has two: the state goes ahead of the branch.
func timeToProof(ctx context.Context, l *load.Load, key types.NamespacedName, revision int64, pushes <-chan time.Time) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, proofPatience)
	defer cancel()
	if err := l.Order(ctx, key, revision); err != nil {
		return 0, err
	}
	if err := l.Proven(ctx, key, revision); err != nil {
		return 0, err
	}
	now := time.Now()
	var pushed time.Time
	for len(pushes) > 0 {
		pushed = <-pushes
	}
	if pushed.IsZero() {
		return 0, errors.Errorf("revision %d is proven without a push", revision)
	}
	return now.Sub(pushed), nil
}
