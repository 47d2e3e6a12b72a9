package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/bench/process"
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

	// stepRest is the time between a weight and a user's next request. In it the circuit breaker regains the tokens of a step: without it a release whose steps
	// are promoted at once opens the breaker, and Crossplane stops watching for five minutes.
	stepRest = 20 * time.Second
)

// A canary is releases with steps, by real Flux and real gateways in two clusters, with requests all the time. Each part is measured once.
type canary struct {
	s       *stage
	figures map[string]float64

	near, far *release.Cluster
	server    *promserver.Server
	scrapes   *release.Scrapes
	releases  int
}

// canaryFigure measures a part of the figures, unless that was done, and returns one of them.
func (c *canary) canaryFigure(name string, part func(*canary, context.Context) error) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if v, ok := c.figures[name]; ok {
			return v, nil
		}
		if err := c.openClusters(ctx); err != nil {
			return 0, err
		}
		err := part(c, ctx)
		return c.figures[name], err
	}
}

// openClusters starts the clusters, and the Prometheus server of the first, once.
func (c *canary) openClusters(ctx context.Context) error {
	if c.figures != nil {
		return nil
	}
	if err := c.s.openControlPlane(ctx); err != nil {
		return err
	}
	var err error
	if c.near, err = release.StartCluster(ctx, c.s.cp, "near", netip.MustParsePrefix("10.200.0.0/20")); err != nil {
		return err
	}
	if c.far, err = release.StartCluster(ctx, c.s.cp, "far", netip.MustParsePrefix("10.200.16.0/20")); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(c.s.cp.Dir, "prometheus")
	if err != nil {
		return errors.Wrap(err, "cannot make directory")
	}
	job, scrapes := c.near.Scraped()
	c.scrapes = scrapes
	if c.server, err = promserver.New(ctx, dir, job); err != nil {
		return err
	}
	c.figures = map[string]float64{}
	return c.server.Start(ctx)
}

// keepWorst keeps the worst of several values of a figure.
func (c *canary) keepWorst(name string, v float64) { c.figures[name] = max(c.figures[name], v) }

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
	r, err := release.New(ctx, c.s.cp, fmt.Sprintf("canary-%d", c.releases), release.Options{Prometheus: c.server.URL(), Metrics: release.Metrics()}, places...)
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
