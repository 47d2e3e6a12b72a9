package main

import (
	"context"
	"fmt"
	"strings"
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
	if s.latency != nil {
		return *s.latency, nil
	}
	if err := s.openControlPlane(ctx); err != nil {
		return latency{}, err
	}
	commits := s.watchPushes(ctx, repository)
	defer s.cp.Git.AfterPush(repository, nil)
	l := latency{}
	for i := range claims {
		began := time.Now()
		if err := s.succeedInTime(ctx, fmt.Sprintf("latency-%d", i), sitesOfClaim); err != nil {
			return latency{}, err
		}
		l.succeeded = append(l.succeeded, stats.Milliseconds(time.Since(began)))
		select {
		case pushedAt := <-commits:
			l.commit = append(l.commit, stats.Milliseconds(pushedAt.Sub(began)))
		default:
			return latency{}, errors.Errorf("claim %d succeeded without a commit", i)
		}
	}
	s.latency = &l
	return l, nil
}

// succeedInTime makes a claim succeed, or fails after a timeout.
func (s *stage) succeedInTime(ctx context.Context, name string, sites int) error {
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	return s.awaitSucceeded(ctx, newBenchClaim(name, sites))
}

// watchPushes sends the time of each push that moved the branch of a repository, seen from the server.
func (s *stage) watchPushes(ctx context.Context, repo string) <-chan time.Time {
	pushTimes, last := make(chan time.Time, claims), ""
	s.cp.Git.AfterPush(repo, func() {
		now := time.Now()
		tip, err := s.cp.Git.Git(ctx, repo, "rev-parse", "refs/heads/main")
		if tip = strings.TrimSpace(tip); err == nil && tip != last {
			last = tip
			pushTimes <- now
		}
	})
	return pushTimes
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
