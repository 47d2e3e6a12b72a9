package crowds

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/stats"
)

const (
	// claims are applied one after another, and the median of them counts.
	claims = 20
	// sitesOfClaim is the number of Sites of each claim.
	sitesOfClaim = 2
)

// latency is the time that each claim took from being applied, in milliseconds.
type latency struct {
	commit    []float64
	succeeded []float64
}

func (s *room) timeToCommit(ctx context.Context) (float64, error) {
	l, err := s.claimLatencies(ctx)
	return stats.Median(l.commit), err
}

func (s *room) timeToSucceeded(ctx context.Context) (float64, error) {
	l, err := s.claimLatencies(ctx)
	return stats.Median(l.succeeded), err
}

// claimLatencies applies the claims, once.
func (s *room) claimLatencies(ctx context.Context) (latency, error) {
	return s.latency.Do(ctx, s.measureClaims)
}

func (s *room) measureClaims(ctx context.Context) (latency, error) {
	if err := s.Open(ctx); err != nil {
		return latency{}, err
	}
	commits := s.LogPushes(ctx, repository)
	defer s.CP.Git.AfterPush(repository, nil)
	l := latency{}
	for i := range claims {
		began := time.Now()
		if err := s.SucceedInTime(ctx, fmt.Sprintf("latency-%d", i), sitesOfClaim); err != nil {
			return latency{}, err
		}
		l.succeeded = append(l.succeeded, stats.Milliseconds(time.Since(began)))
		pushedAt, isPushed := commits.FirstSince(began)
		if !isPushed {
			return latency{}, errors.Errorf("claim %d succeeded without a commit", i)
		}
		l.commit = append(l.commit, stats.Milliseconds(pushedAt.Sub(began)))
	}
	return l, nil
}

// breakerTokens returns the tokens that Crossplane's circuit breaker charges for a claim with so many sites, from apply to Succeeded. It has
// 100.
func (s *room) breakerTokens(sites int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := s.Open(ctx); err != nil {
			return 0, err
		}
		baseline, err := s.AllowedEvents(ctx)
		if err != nil {
			return 0, err
		}
		if err := s.SucceedInTime(ctx, fmt.Sprintf("tokens-%d", sites), sites); err != nil {
			return 0, err
		}
		final, err := s.AllowedEvents(ctx)
		return final - baseline, err
	}
}
