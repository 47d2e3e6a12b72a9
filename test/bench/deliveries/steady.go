package deliveries

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// steadyDeliveries are in steadyPlaces repositories.
	steadyDeliveries = 5000
	steadyPlaces     = 10
)

// A steady is a control plane on which nothing happens to many GitDeliveries.
type steady struct {
	s      *room
	places []string
}

// figureSeries are the figures of the steady state, on a provider of its own: earlier deliveries would stay in its memory.
func (y *steady) figureSeries() *series.Series {
	names := []string{"configs", "commits", "writes", "looks", "cpu_percent", "rss_mib", "peak_rss_mib"}
	return &series.Series{Base: y.openControlPlane, Parts: []series.Part{{Figures: names, Measure: y.measureIntervals}}}
}

func (y *steady) openControlPlane(ctx context.Context, _ map[string]float64) error {
	if err := y.s.OpenNew(ctx); err != nil {
		return err
	}
	var err error
	y.places, err = y.fillRepositories(ctx)
	return err
}

// fillRepositories fills the repositories, and waits for one interval.
func (y *steady) fillRepositories(ctx context.Context) ([]string, error) {
	l, err := load.New(y.s.CP)
	if err != nil {
		return nil, err
	}
	places := make([]string, steadyPlaces)
	for i := range places {
		places[i] = fmt.Sprintf("steady-%d", i)
		if err := l.Place(ctx, places[i], stage.SteadyInterval.String()); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeout(ctx, stage.CrowdPatience)
	defer cancel()
	if err := l.DeliverAll(limited, load.Keys(steadyDeliveries, places...)); err != nil {
		return nil, err
	}
	if err := l.Ready(limited, "", steadyDeliveries); err != nil {
		return nil, err
	}
	return places, process.Wait(ctx, stage.SteadyInterval)
}

// measureIntervals measures the traffic and the load of some intervals.
func (y *steady) measureIntervals(ctx context.Context, figures map[string]float64) error {
	l, err := load.New(y.s.CP)
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
	windowCtx, cancel := context.WithTimeout(ctx, stage.SteadyIntervals*stage.SteadyInterval)
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
	figures["looks"] = float64(final.requests-baseline.requests) / stage.SteadyIntervals
	figures["cpu_percent"] = 100 * (final.cpu - baseline.cpu) / (stage.SteadyIntervals * stage.SteadyInterval).Seconds()
	return y.measureMemory(figures)
}

// countRewritten returns the number of configurations that were written after some resource versions.
func countRewritten(ctx context.Context, l *load.Load, previous map[string]string) (float64, error) {
	current, err := l.ReadyConfigs(ctx, slices.Collect(maps.Keys(previous)))
	return stats.CountChanged(previous, current), err
}

// traffic has the counts up to a moment.
type traffic struct {
	pushes, requests int
	cpu              float64
}

func (y *steady) countTraffic(places []string) (traffic, error) {
	out := traffic{}
	for _, p := range places {
		out.pushes += y.s.CP.Git.Pushes(p)
		out.requests += y.s.CP.Git.Requests(p)
	}
	var err error
	out.cpu, err = process.CPUSeconds(y.s.CP.ProviderPID())
	return out, err
}

// measureMemory measures the provider.
func (y *steady) measureMemory(figures map[string]float64) error {
	for name, field := range map[string]string{"rss_mib": "VmRSS", "peak_rss_mib": "VmHWM"} {
		v, err := y.s.ReadProcessMemory(field)
		if err != nil {
			return err
		}
		figures[name] = v
	}
	return nil
}
