package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// steadyDeliveries are in steadyPlaces repositories.
	steadyDeliveries = 5000
	steadyPlaces     = 10

	// steadyInterval is the interval at which the repositories are observed, and steadyIntervals the number of measured intervals, after an interval in which
	// the work of the deliveries ends.
	steadyInterval  = time.Minute
	steadyIntervals = 3
)

// A steady is a control plane on which nothing happens to many GitDeliveries.
type steady struct {
	s      *stage
	places []string
}

// series are the figures of the steady state, on a provider of its own: earlier deliveries would stay in its memory.
func (y *steady) series() *series.Series {
	names := []string{"configs", "commits", "writes", "looks", "cpu_percent", "rss_mib", "peak_rss_mib"}
	return &series.Series{Base: y.open, Parts: []series.Part{{Figures: names, Measure: y.measureIntervals}}}
}

func (y *steady) open(ctx context.Context, _ map[string]float64) error {
	if err := y.s.closeControlPlane(); err != nil {
		return err
	}
	if err := y.s.openControlPlane(ctx); err != nil {
		return err
	}
	var err error
	y.places, err = y.fillRepositories(ctx)
	return err
}

// fillRepositories fills the repositories, and waits for one interval.
func (y *steady) fillRepositories(ctx context.Context) ([]string, error) {
	l, err := load.New(y.s.cp)
	if err != nil {
		return nil, err
	}
	places := make([]string, steadyPlaces)
	for i := range places {
		places[i] = fmt.Sprintf("steady-%d", i)
		if err := l.Place(ctx, places[i], steadyInterval.String()); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, crowdPatience)
	defer cancel()
	if err := l.DeliverAll(limited, load.Keys(steadyDeliveries, places...)); err != nil {
		return nil, err
	}
	if err := l.Ready(limited, "", steadyDeliveries); err != nil {
		return nil, err
	}
	return places, process.Wait(ctx, steadyInterval)
}

// measureIntervals measures the traffic and the load of some intervals.
func (y *steady) measureIntervals(ctx context.Context, figures map[string]float64) error {
	l, err := load.New(y.s.cp)
	if err != nil {
		return err
	}
	baseline, err := y.countTraffic(y.places)
	if err != nil {
		return err
	}
	configs, err := l.ReadyConfigs(ctx, y.places)
	if err != nil {
		return err
	}
	windowCtx, cancel := context.WithTimeout(ctx, steadyIntervals*steadyInterval)
	defer cancel()
	writes, err := l.Changes(ctx, steadyDeliveries, windowCtx.Done())
	if err != nil {
		return err
	}
	final, err := y.countTraffic(y.places)
	if err != nil {
		return err
	}
	rewritten, err := countRewritten(ctx, l, configs)
	if err != nil {
		return err
	}
	figures["configs"], figures["commits"], figures["writes"] = rewritten, float64(final.pushes-baseline.pushes), float64(writes)
	figures["looks"] = float64(final.requests-baseline.requests) / steadyIntervals
	figures["cpu_percent"] = 100 * (final.cpu - baseline.cpu) / (steadyIntervals * steadyInterval).Seconds()
	return y.measureMemory(figures)
}

// countRewritten returns the number of configurations that were written after some resource versions.
func countRewritten(ctx context.Context, l *load.Load, previous map[string]string) (float64, error) {
	current, err := l.ReadyConfigs(ctx, slices.Collect(maps.Keys(previous)))
	return countChanged(previous, current), err
}

// countChanged returns the number of objects that have another resource version than before, or are new.
func countChanged(previous, current map[string]string) float64 {
	n := 0.0
	for name, version := range current {
		if previous[name] != version {
			n++
		}
	}
	return n
}

// traffic has the counts up to a moment.
type traffic struct {
	pushes, requests int
	cpu              float64
}

func (y *steady) countTraffic(places []string) (traffic, error) {
	out := traffic{}
	for _, p := range places {
		out.pushes += y.s.cp.Git.Pushes(p)
		out.requests += y.s.cp.Git.Requests(p)
	}
	var err error
	out.cpu, err = process.CPUSeconds(y.s.cp.ProviderPID())
	return out, err
}

// measureMemory measures the provider.
func (y *steady) measureMemory(figures map[string]float64) error {
	for name, field := range map[string]string{"rss_mib": "VmRSS", "peak_rss_mib": "VmHWM"} {
		v, err := y.s.readProcessMemory(field)
		if err != nil {
			return err
		}
		figures[name] = v
	}
	return nil
}
