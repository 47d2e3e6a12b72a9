package canary

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// gateInterval is how often the Gates of the stories measure.
const gateInterval = 5 * time.Second

// A measured release is judged by a real Prometheus, which scrapes the gateway that the users send their requests to.
type measured struct {
	*followedRelease

	prometheus *promserver.Server
	scrapes    *release.Scrapes
}

// newMeasured makes a release at one Site of the first cluster, and at further places in the same cluster.
func newMeasured(t *testing.T, further ...release.Place) *measured {
	t.Helper()
	job, scrapes := requireCluster(t, edge).Scraped()
	t.Cleanup(job.Target.Close)
	server, err := promserver.New(t.Context(), t.TempDir(), job)
	if err == nil {
		err = server.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	places := append([]release.Place{{Cluster: requireCluster(t, edge)}}, further...)
	y := newFollowedRelease(t, release.Options{Prometheus: server.URL(), Metrics: release.Metrics()}, places...)
	return &measured{followedRelease: y, prometheus: server, scrapes: scrapes}
}

// failNthRequests makes each nth request to a track fail.
func (y *measured) failNthRequests(n int, name string) {
	y.Sites[0].Faults.FailEvery(n, y.Namespace, name)
}

// checkQueries checks that the queries of the third step's Gate name the tracks of this claim, and that each of them was answered.
func (y *measured) checkQueries(z *followedRelease) {
	z.Helper()
	gate := &rolloutv1alpha1.Gate{}
	y.awaitGate("both checks of the third step have their count", func(o *unstructured.Unstructured) bool {
		gate = &rolloutv1alpha1.Gate{}
		z.requireNoError(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, gate))
		isCounted := func(c rolloutv1alpha1.CheckResult) bool { return c.CountedAt != nil }
		checks := gate.Status.AtProvider.Checks
		return gate.Spec.ForProvider.AskedPosition().Step == 2 && len(checks) == 2 && isCounted(checks[0]) && isCounted(checks[1])
	})
	servicesOf := func(track string) string {
		return fmt.Sprintf("(?:%s)-(?:%s)-(?:%s)-.*", y.Namespace, release.Claim, track)
	}
	for _, c := range gate.Spec.ForProvider.Checks {
		asksStable := strings.Contains(c.Prometheus.Query, servicesOf(track.Blue))
		if !strings.Contains(c.Prometheus.Query, servicesOf(track.Green)) || asksStable != (c.Name == release.Ratio) {
			z.Errorf("check %s does not query the tracks of the claim: %s", c.Name, c.Prometheus.Query)
		}
	}
}

// restartPrometheus restarts Prometheus while a step is measured: that says nothing about the canary.
func (y *measured) restartPrometheus() {
	y.Helper()
	y.prometheus.Stop()
	gate := y.awaitGate("Prometheus cannot be asked", func(o *unstructured.Unstructured) bool {
		return scene.Condition(o, "Ready").Reason == "MetricsUnavailable"
	})
	y.requireNoError(y.prometheus.Start(y.Context()))
	y.awaitGate("Prometheus can be asked again", func(o *unstructured.Unstructured) bool {
		return o.GetUID() == gate.GetUID() && scene.Condition(o, "Ready").Reason != "MetricsUnavailable"
	})
	y.awaitCanaryState(2, "AwaitingPromotion", "3/4")
}

// awaitGate waits until the Gate fulfils a condition.
func (y *measured) awaitGate(description string, condition func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	y.Helper()
	gate := &unstructured.Unstructured{}
	gate.SetAPIVersion("rollout.intentplane.dev/v1alpha1")
	gate.SetKind("Gate")
	o, err := y.Await(y.Context(), gate, description, condition)
	y.requireNoError(err)
	return o
}

// answersWorse lets half of the canary's requests fail while it waits for a user: it loses its requests.
func (y *measured) answersWorse() {
	y.Helper()
	y.runReleasePart("TestCanaryFailInlineMultipleAnalysis", func(z *followedRelease) {
		broken := time.Now()
		y.failNthRequests(2, track.Green)
		z.awaitOutcome(2, "RolledBack")
		z.Logf("the canary gets its last request %s after the scrape that shows its failures", y.requestsAfterScrape(broken).Round(10*time.Millisecond))
	})
}

// requestsAfterScrape returns how long the canary gets requests at the first Site after the first scrape since a time.
func (y *measured) requestsAfterScrape(start time.Time) time.Duration {
	y.Helper()
	return y.requestsAtSite(0, start)
}

// requestsAtSite returns how long the canary gets requests at a Site after the first scrape since a time.
func (y *measured) requestsAtSite(index int, start time.Time) time.Duration {
	y.Helper()
	scraped, ok := y.scrapes.FirstAfter(start)
	if !ok {
		y.Fatal("the gateway is not scraped")
	}
	last := scraped
	for _, a := range y.users[index].Answers() {
		if a.Track == track.Green && a.Sent.After(last) {
			last = a.Sent
		}
	}
	return last.Sub(scraped)
}
