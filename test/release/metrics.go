package release

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/intentplane/intentplane/test/promserver"
)

// Ratio is the name of the metric that compares the failures of a canary with the failures of the stable revision beside it.
const Ratio = "error_ratio"

// Metrics are the metrics of a Blueprint: how many times more often requests to the canary fail than requests to the stable revision, and the
// share of them that the canary fails, both as the gateway counts them.
func Metrics() []any {
	const (
		canary = `{service=~"{{namespace}}-{{service}}-{{canary}}-.*"}`
		stable = `{service=~"{{namespace}}-{{service}}-{{stable}}-.*"}`
		all    = `{service=~"{{namespace}}-{{service}}-.*"}`
	)
	return []any{
		map[string]any{
			"name": Ratio, "direction": "AtMost", "noData": "Wait", "query": failingShare(all),
			"canary": failingShare(canary) + " / clamp_min(" + failingShare(stable) + ", 0.01)",
		},
		map[string]any{"name": "error_rate", "direction": "AtMost", "noData": "Wait", "query": failingShare(all), "canary": failingShare(canary)},
	}
}

// failingShare is the query for the share of failing requests of some Services, at a gateway that is scraped each second.
func failingShare(labels string) string {
	const window = "[5s]"
	failing := labels[:len(labels)-1] + `,code=~"5.."}`
	return "((sum(rate(traefik_service_requests_total" + failing + window + ")) or vector(0)) / (sum(rate(traefik_service_requests_total" + labels + window + ")) > 0))"
}

// Gates are the gates of a claim that is judged by Metrics, each measured in an interval, so often. A canary may be half as bad again as the
// stable revision.
func Gates(interval time.Duration, count int64) map[string]any {
	rules := map[string]any{"interval": interval.String(), "initialDelay": "1s", "count": count, "timeout": "5m", "failureLimit": int64(0)}
	return map[string]any{
		"sloThresholds": map[string]any{Ratio: "<= 1.5", "error_rate": "<= 0.9"},
		"metricRules":   map[string]any{Ratio: rules, "error_rate": rules},
	}
}

// Scrapes of a gateway, which are passed on to it. They are safe for concurrent use.
type Scrapes struct {
	url string

	mu sync.Mutex
	at []time.Time
}

// Scraped returns a job that scrapes the gateway of a cluster each second, and the record of the scrapes.
func (c *Cluster) Scraped() (promserver.Job, *Scrapes) {
	s := &Scrapes{url: c.Gateway.MetricsURL}
	return promserver.Job{Name: "gateway", Interval: time.Second, Target: promserver.NewTargetOf(s)}, s
}

// ServeHTTP passes a scrape on.
func (s *Scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.at = append(s.at, time.Now())
	s.mu.Unlock()
	if err := copyMetrics(r.Context(), w, s.url); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func copyMetrics(ctx context.Context, w io.Writer, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(w, resp.Body)
	return err
}

// FirstAfter returns when the gateway was first scraped after a moment, or false if it was not yet.
func (s *Scrapes) FirstAfter(t time.Time) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, scrapedAt := range s.at {
		if scrapedAt.After(t) {
			return scrapedAt, true
		}
	}
	return time.Time{}, false
}
