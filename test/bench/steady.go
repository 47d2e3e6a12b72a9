package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/intentplane/intentplane/test/bench/process"
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

// A steady is a control plane on which nothing happens to many GitDeliveries. It is measured once.
type steady struct {
	s       *stage
	figures map[string]float64
}

// steadyFigure returns a figure of the steady state.
func (y *steady) steadyFigure(name string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if y.figures != nil {
			return y.figures[name], nil
		}
		// A provider of its own: earlier deliveries would stay in its memory.
		if err := y.s.closeControlPlane(); err != nil {
			return 0, err
		}
		if err := y.s.openControlPlane(ctx); err != nil {
			return 0, err
		}
		places, err := y.fillRepositories(ctx)
		if err != nil {
			return 0, err
		}
		y.figures, err = y.measureIntervals(ctx, places)
		return y.figures[name], err
	}
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
func (y *steady) measureIntervals(ctx context.Context, places []string) (map[string]float64, error) {
	l, err := load.New(y.s.cp)
	if err != nil {
		return nil, err
	}
	baseline, err := y.countTraffic(places)
	if err != nil {
		return nil, err
	}
	configs, err := l.ReadyConfigs(ctx, places)
	if err != nil {
		return nil, err
	}
	windowCtx, cancel := context.WithTimeout(ctx, steadyIntervals*steadyInterval)
	defer cancel()
	writes, err := l.Changes(ctx, steadyDeliveries, windowCtx.Done())
	if err != nil {
		return nil, err
	}
	final, err := y.countTraffic(places)
	if err != nil {
		return nil, err
	}
	rewritten, err := countRewritten(ctx, l, configs)
	if err != nil {
		return nil, err
	}
	figures := map[string]float64{
		"configs":     float64(rewritten),
		"commits":     float64(final.pushes - baseline.pushes),
		"writes":      float64(writes),
		"looks":       float64(final.requests-baseline.requests) / steadyIntervals,
		"cpu_percent": 100 * (final.cpu - baseline.cpu) / (steadyIntervals * steadyInterval).Seconds(),
	}
	return figures, y.measureMemory(figures)
}

// countRewritten returns the number of configurations that were written after some resource versions.
func countRewritten(ctx context.Context, l *load.Load, previous map[string]string) (int, error) {
	current, err := l.ReadyConfigs(ctx, slices.Collect(maps.Keys(previous)))
	n := 0
	for place, version := range current {
		if previous[place] != version {
			n++
		}
	}
	return n, err
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
