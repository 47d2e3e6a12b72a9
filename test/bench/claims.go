package main

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

	// claimPatience is the time limit of one claim.
	claimPatience = time.Minute
)

// latency is the time that each claim took from being applied, in milliseconds.
type latency struct {
	commit    []float64
	succeeded []float64
}

func (s *stage) timeToCommit(ctx context.Context) (float64, error) {
	l, err := s.claimLatencies(ctx)
	return stats.Median(l.commit), err
}

func (s *stage) timeToSucceeded(ctx context.Context) (float64, error) {
	l, err := s.claimLatencies(ctx)
	return stats.Median(l.succeeded), err
}

// claimLatencies applies the claims, once.
func (s *stage) claimLatencies(ctx context.Context) (latency, error) {
	return s.latency.Do(ctx, s.measureClaims)
}

func (s *stage) measureClaims(ctx context.Context) (latency, error) {
	if err := s.openControlPlane(ctx); err != nil {
		return latency{}, err
	}
	commits := s.logPushes(ctx, repository)
	defer s.cp.Git.AfterPush(repository, nil)
	l := latency{}
	for i := range claims {
		began := time.Now()
		if err := s.succeedInTime(ctx, fmt.Sprintf("latency-%d", i), sitesOfClaim); err != nil {
			return latency{}, err
		}
		l.succeeded = append(l.succeeded, stats.Milliseconds(time.Since(began)))
		pushedAt, isPushed := commits.firstSince(began)
		if !isPushed {
			return latency{}, errors.Errorf("claim %d succeeded without a commit", i)
		}
		l.commit = append(l.commit, stats.Milliseconds(pushedAt.Sub(began)))
	}
	return l, nil
}

// succeedInTime makes a claim succeed, or fails after a timeout.
func (s *stage) succeedInTime(ctx context.Context, name string, sites int) error {
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	return s.awaitSucceeded(ctx, newBenchClaim(name, sites))
}

// breakerTokens returns the tokens that Crossplane's circuit breaker charges for a claim with so many sites, from apply to Succeeded. It has
// 100.
func (s *stage) breakerTokens(sites int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := s.openControlPlane(ctx); err != nil {
			return 0, err
		}
		baseline, err := s.allowedEvents(ctx)
		if err != nil {
			return 0, err
		}
		if err := s.succeedInTime(ctx, fmt.Sprintf("tokens-%d", sites), sites); err != nil {
			return 0, err
		}
		final, err := s.allowedEvents(ctx)
		return final - baseline, err
	}
}

func (s *stage) allowedEvents(ctx context.Context) (float64, error) {
	m, err := s.cp.CoreMetrics(ctx)
	if err != nil {
		return 0, err
	}
	return m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed"}), nil
}
