package stage

import (
	"context"
	"fmt"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/load"
)

// AllowedEvents returns the tokens that Crossplane's circuit breakers charged so far.
func (s *Stage) AllowedEvents(ctx context.Context) (float64, error) {
	m, err := s.CP.CoreMetrics(ctx)
	if err != nil {
		return 0, err
	}
	return m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed"}), nil
}

// AwaitSettled returns the tokens spent when no more are charged.
func (s *Stage) AwaitSettled(ctx context.Context) (float64, error) {
	for {
		previous, err := s.AllowedEvents(ctx)
		if err != nil {
			return 0, err
		}
		if err := process.Wait(ctx, Quiet); err != nil {
			return 0, err
		}
		if current, err := s.AllowedEvents(ctx); current == previous || err != nil {
			return current, err
		}
	}
}

// CheckBreakerClosed returns an error if Crossplane's circuit breaker opened: events of a composite were dropped for a while.
func (s *Stage) CheckBreakerClosed(ctx context.Context) error {
	m, err := s.CP.CoreMetrics(ctx)
	if err != nil {
		return err
	}
	if m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed"}) == 0 {
		return errors.New("Crossplane does not count the events of its circuit breaker")
	}
	if opens := m.Sum("circuit_breaker_opens_total", nil); opens > 0 {
		return errors.Errorf("Crossplane's circuit breaker opened %.0f times", opens)
	}
	return nil
}

// PrintLedger prints each charge with its time, on the standard error.
func PrintLedger(l *load.Ledger) {
	all := l.Entries()
	for _, e := range all {
		fmt.Fprintf(os.Stderr, "token %d %.1f s %s %s %v %v\n", e.Tokens, e.At.Sub(all[0].At).Seconds(), e.Kind, e.Name, e.Writers, e.Changed)
	}
	fmt.Fprintf(os.Stderr, "tokens missing at most: %.0f\n", l.Deepest())
}
