package canary

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// gateInterval is how often the Gates of the stories measure.
const gateInterval = 5 * time.Second

// A measured tale is judged by a real Prometheus, which scrapes the gateway that the users send their requests to.
type measured struct {
	*tale

	prometheus *promserver.Server
	scrapes    *release.Scrapes
}

func newMeasured(t *testing.T) *measured {
	t.Helper()
	job, scrapes := clusterOf(t, edge).Scraped()
	t.Cleanup(job.Target.Close)
	server, err := promserver.New(t.Context(), t.TempDir(), job)
	if err == nil {
		err = server.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	return &measured{tale: tellsAt(t, release.Options{Prometheus: server.URL(), Metrics: release.Metrics()}), prometheus: server, scrapes: scrapes}
}

// fails makes each nth request to a track fail.
func (y *measured) fails(n int, name string) { y.Sites[0].Faults.FailEvery(n, y.Namespace, name) }

// TestJudged judges canaries against the stable revision beside them, one of whose requests in ten fails. Steps at 20 percent are judged, and wait for a
// user, and are measured meanwhile.
func TestJudged(t *testing.T) {
	t.Parallel()
	y := newMeasured(t)
	plan := release.Plan{
		Steps: []any{map[string]any{"weight": int64(5), "gate": false}, release.Pause("1s"), release.Weight(20), release.Pause("")},
		Gates: release.Gates(gateInterval, 1),
	}
	y.begins(plan, perSecond)
	y.fails(10, track.Blue)
	y.fails(10, track.Green)

	y.asks(2, plan)
	y.reaches(2, "AwaitingPromotion", "3/4")
	y.outage()
	y.worse()
	y.fails(10, track.Green)

	y.asks(3, plan)
	y.reaches(3, "AwaitingPromotion", "3/4")
	y.promotes(3, 3)
	y.ends(3, "Succeeded")
	for _, a := range y.users[0].Stop().Failed() {
		if a.Track == "" || !strings.HasPrefix(a.Failure, "500 ") {
			t.Errorf("a request fails otherwise than the pods do: %+v", a)
		}
	}
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 100, green 0", "blue 100",
		"blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 0, green 100", "green 100")
}

// outage restarts Prometheus while a step is measured: that says nothing about the canary.
func (y *measured) outage() {
	y.Helper()
	y.prometheus.Stop()
	gate := y.gate("Prometheus cannot be asked", func(o *unstructured.Unstructured) bool {
		return scene.Condition(o, "Ready").Reason == "MetricsUnavailable"
	})
	y.must(y.prometheus.Start(y.Context()))
	y.gate("Prometheus can be asked again", func(o *unstructured.Unstructured) bool {
		return o.GetUID() == gate.GetUID() && scene.Condition(o, "Ready").Reason != "MetricsUnavailable"
	})
	y.reaches(2, "AwaitingPromotion", "3/4")
}

// gate waits until the Gate fulfils a condition.
func (y *measured) gate(what string, is func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	y.Helper()
	gate := &unstructured.Unstructured{}
	gate.SetAPIVersion("rollout.intentplane.dev/v1alpha1")
	gate.SetKind("Gate")
	o, err := y.Await(y.Context(), gate, what, is)
	y.must(err)
	return o
}

// worse lets half of the canary's requests fail while it waits for a user: it loses its requests.
func (y *measured) worse() {
	y.Helper()
	y.part("TestCanaryFailInlineMultipleAnalysis", func(z *tale) {
		broken := time.Now()
		y.fails(2, track.Green)
		z.ends(2, "RolledBack")
		scraped, ok := y.scrapes.FirstAfter(broken)
		if !ok {
			z.Fatal("the gateway is not scraped")
		}
		last := scraped
		for _, a := range y.users[0].Answers() {
			if a.Track == track.Green && a.Sent.After(last) {
				last = a.Sent
			}
		}
		z.Logf("the canary gets its last request %s after the scrape that shows its failures", last.Sub(scraped).Round(10*time.Millisecond))
	})
}
