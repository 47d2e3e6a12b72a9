package releases

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"os"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/release"
	requests "github.com/intentplane/intentplane/test/traffic"
)

const (
	// usersPerSecond is the number of requests that the users of each Site send.
	usersPerSecond = 50

	// breakerRest is the maximum time until the circuit breaker has all its tokens again.
	breakerRest = 100 * time.Second

	// allStories is the time limit of all stories together.
	allStories = 2 * time.Hour

	// stepRest is the time between a weight and a user's next request. In it the circuit breaker regains the tokens of a step: without it a release whose steps
	// are promoted at once opens the breaker, and Crossplane stops watching for five minutes.
	stepRest = 20 * time.Second
)

// A canary is releases with steps, by real Flux and real gateways in two clusters, with requests all the time.
type canary struct {
	s *room
	// worst values of the part that is being measured.
	worst map[string]float64
	// failed is the worst count of failed requests of all parts.
	failed float64

	near, far *release.Cluster
	server    *promserver.Server
	scrapes   *release.Scrapes
	releases  int
}

func (c *canary) figureSeries() *series.Series {
	out := &series.Series{Base: c.openClusters}
	for _, part := range c.canaryParts() {
		out.Parts = append(out.Parts, series.Part{Figures: part.Figures, Measure: c.keepingWorst(part.Measure)})
	}
	// All other parts are measured first, so that the requests of all stories count.
	failed := func(ctx context.Context, figures map[string]float64) error {
		for _, part := range c.canaryParts() {
			if _, err := out.Value(ctx, part.Figures[0]); err != nil {
				return err
			}
		}
		figures["failed"] = c.failed
		return nil
	}
	out.Parts = append(out.Parts, series.Part{Figures: []string{"failed"}, Limit: allStories, Measure: failed})
	return out
}

// canaryParts are the stories.
func (c *canary) canaryParts() []canaryPart {
	return []canaryPart{
		{[]string{"tokens", "lag", "pods", "stable_pods", "mandate"}, c.measureSteps},
		{[]string{"second"}, c.measureSecond},
		{[]string{"breach"}, c.measureCanaryBreach},
		{[]string{"orphan_breach"}, c.measureOrphanBreach},
		{[]string{"orphan_abort"}, c.measureOrphanAbort},
		{[]string{"share"}, c.measureShares},
		{[]string{"pause", "writes"}, c.measurePauses},
	}
}

// A canaryPart is a story with some figures.
type canaryPart struct {
	Figures []string
	Measure func(context.Context) error
}

// keepingWorst returns a measurement that has the worst values of a story that ended well.
func (c *canary) keepingWorst(measure func(context.Context) error) series.Measure {
	return func(ctx context.Context, figures map[string]float64) error {
		c.worst = map[string]float64{}
		if err := measure(ctx); err != nil {
			return err
		}
		maps.Copy(figures, c.worst)
		return nil
	}
}

// openClusters starts the clusters, and the Prometheus server of the first.
func (c *canary) openClusters(ctx context.Context, _ map[string]float64) error {
	if err := c.s.Open(ctx); err != nil {
		return err
	}
	var err error
	if c.near, err = release.StartCluster(ctx, c.s.CP, "near", netip.MustParsePrefix("10.200.0.0/20")); err != nil {
		return err
	}
	if c.far, err = release.StartCluster(ctx, c.s.CP, "far", netip.MustParsePrefix("10.200.16.0/20")); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(c.s.CP.Dir, "prometheus")
	if err != nil {
		return errors.Wrap(err, "cannot make directory")
	}
	job, scrapes := c.near.Scraped()
	c.scrapes = scrapes
	if c.server, err = promserver.New(ctx, dir, job); err != nil {
		return err
	}
	return c.server.Start(ctx)
}

// recordWorst keeps the worst of several values of a figure.
func (c *canary) recordWorst(name string, v float64) { c.worst[name] = max(c.worst[name], v) }

// countFailed keeps the worst count of failed requests.
func (c *canary) countFailed(requests float64) { c.failed = max(c.failed, requests) }

// A run is one release with users.
type run struct {
	*release.Release

	ctx   context.Context
	users []*requests.Users
	plan  release.Plan
}

// beginRelease delivers a first revision to the Site of one cluster, or to three Sites in two, to whose users the others are compared.
func (c *canary) beginRelease(ctx context.Context, sites int, plan release.Plan) (*run, error) {
	c.releases++
	places := []release.Place{{Cluster: c.near}, {Cluster: c.near}, {Cluster: c.far}}[:sites]
	r, err := release.New(ctx, c.s.CP, fmt.Sprintf("canary-%d", c.releases), release.Options{Prometheus: c.server.URL(), Metrics: release.Metrics()}, places...)
	if err != nil {
		return nil, err
	}
	y := &run{Release: r, ctx: ctx, plan: plan}
	if err := r.Ask(ctx, 1, plan); err != nil {
		return nil, err
	}
	for _, s := range r.Sites {
		if err := awaitAnswers(ctx, s); err != nil {
			return nil, err
		}
		y.users = append(y.users, s.Target.Start(ctx, usersPerSecond))
	}
	return y, y.awaitOutcome(1, "Succeeded")
}

// beginRested begins a release, and waits until the circuit breaker has the tokens of the first revision again: it gets one each second.
func (c *canary) beginRested(ctx context.Context, sites int, plan release.Plan) (*run, error) {
	baseline, err := c.s.AllowedEvents(ctx)
	if err != nil {
		return nil, err
	}
	y, err := c.beginRelease(ctx, sites, plan)
	if err != nil {
		return nil, err
	}
	final, err := c.s.AwaitSettled(ctx)
	if err != nil {
		return nil, err
	}
	return y, process.Wait(ctx, breakerRestAfter(final-baseline))
}

// breakerRestAfter returns the time after which the circuit breaker has some tokens again. It never has more than a hundred.
func breakerRestAfter(tokens float64) time.Duration {
	return min(breakerRest, time.Duration(math.Ceil(tokens))*time.Second)
}

// awaitAnswers waits until the first revision answers.
func awaitAnswers(ctx context.Context, s *release.Site) error {
	for end := time.Now().Add(patience.Limit); len(s.Target.Send(ctx, 1, 1).Failed()) > 0; {
		if time.Now().After(end) {
			return errors.Errorf("no pod answers at %s", s.Name)
		}
		if err := process.Wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// awaitOutcome waits until a revision has an outcome, and its canary is at rest.
func (y *run) awaitOutcome(revision int64, outcome string) error {
	_, err := y.AwaitClaim(y.ctx, fmt.Sprintf("revision %d ends as %s", revision, outcome), func(o *unstructured.Unstructured) bool {
		p := release.ProgressOf(o)
		return p.Revision == revision && p.Outcome == outcome && p.State == ""
	})
	return err
}

// awaitUserAt waits until a revision awaits a user at a step, such as 3/5.
func (y *run) awaitUserAt(revision int64, step string) error {
	_, err := y.AwaitClaim(y.ctx, fmt.Sprintf("revision %d awaits a user at step %s", revision, step), func(o *unstructured.Unstructured) bool {
		p := release.ProgressOf(o)
		return p.Revision == revision && p.State == "AwaitingPromotion" && p.Step == step
	})
	return err
}

// awaitPauseAt waits until the release pauses at a step, such as 3/5, for some time.
func (y *run) awaitPauseAt(step string) error {
	_, err := y.AwaitClaim(y.ctx, "pauses at step "+step, func(o *unstructured.Unstructured) bool {
		p := release.ProgressOf(o)
		return p.State == "Paused" && p.Step == step
	})
	return err
}

func (y *run) promoteStep(revision, step int64) error {
	return y.Request(y.ctx, rolloutv1alpha1.ActionPromote, revision, map[string]any{"step": step})
}

// promoteLater promotes a step after stepRest.
func (y *run) promoteLater(revision, step int64) error {
	if err := process.Wait(y.ctx, stepRest); err != nil {
		return err
	}
	return y.promoteStep(revision, step)
}

// stopUsers stops the users, and returns the number of their failed requests.
func (y *run) stopUsers() float64 {
	failed := 0
	for _, u := range y.users {
		failed += len(u.Stop().Failed())
	}
	return float64(failed)
}
