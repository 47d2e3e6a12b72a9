package deliveries

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// neighbourDeliveries are created one after another, each when the previous delivery is Ready, after a first delivery that starts everything.
	neighbourDeliveries = 40

	// hostileWays and hostileDeliveries are configurations and GitDeliveries of the hostile tenant.
	hostileWays       = 100
	hostileDeliveries = 1000

	hostilePlace = "hostile"
	// readsHang and pushesHang are repositories of the server that the neighbour uses too.
	readsHang, pushesHang = "hostile-reads", "hostile-pushes"

	// neighbourPatience is the time limit of the neighbour's deliveries, and until each hostile GitDelivery has a reason.
	neighbourPatience = 10 * time.Minute
)

// neighbourDelay is the time that a delivery of one namespace takes beside a tenant whose proxies hang, whose servers drip, whose reads and pushes at the same
// server hang, and whose deliveries fill all queues, divided by the time without that tenant.
func (s *room) neighbourDelay(ctx context.Context) (float64, error) {
	// A provider of its own: its earlier work would count.
	if err := s.OpenNew(ctx); err != nil {
		return 0, err
	}
	alone, err := s.neighbourTime(ctx, "neighbour-alone")
	if err != nil {
		return 0, err
	}
	l, err := load.New(s.CP)
	if err != nil {
		return 0, err
	}
	end, err := s.startHostile(ctx, l)
	defer end()
	if err != nil {
		return 0, err
	}
	beside, err := s.neighbourTime(ctx, "neighbour-beside")
	if err != nil {
		return 0, err
	}
	return beside / alone, nil
}

// neighbourTime returns the median time that a GitDelivery takes from being created to being Ready.
func (s *room) neighbourTime(ctx context.Context, place string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, neighbourPatience)
	defer cancel()
	l, err := s.openDeliveryPlace(ctx, place)
	if err != nil {
		return 0, err
	}
	took := []float64{}
	for n, key := range load.Keys(1+neighbourDeliveries, place) {
		began := time.Now()
		if err := l.Deliver(ctx, key); err != nil {
			return 0, err
		}
		if err := l.Ready(ctx, place, n+1); err != nil {
			return 0, err
		}
		if n > 0 {
			took = append(took, time.Since(began).Seconds())
		}
	}
	return stats.Median(took), nil
}

// startHostile starts all harmful loads of a tenant, and returns when each of its GitDeliveries has a reason why it is not Ready. It goes on until end is
// called.
func (s *room) startHostile(ctx context.Context, l *load.Load) (end func(), err error) {
	free := make(chan struct{})
	hang := func() { <-free }
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-free:
		case <-r.Context().Done():
		}
	}))
	dripping := httptest.NewServer(http.HandlerFunc(dripAnswer))
	end = func() {
		close(free)
		for _, h := range []*httptest.Server{proxy, dripping} {
			h.CloseClientConnections()
			h.Close()
		}
	}
	for _, repo := range []string{readsHang, pushesHang} {
		if err := s.CP.Git.CreateRepo(ctx, repo, map[string]string{"README.md": "What a tenant runs.\n"}); err != nil {
			return end, err
		}
	}
	s.CP.Git.BeforeFetch(readsHang, hang)
	s.CP.Git.DropPush(pushesHang, hang)
	kinds := []load.Way{
		{URL: s.CP.Git.URL("neighbour-beside"), Proxy: proxy.URL},
		{URL: dripping.URL + "/team/repo.git"},
		{URL: s.CP.Git.URL(readsHang)},
		{URL: s.CP.Git.URL(pushesHang)},
	}
	return end, s.fillHostile(ctx, l, kinds)
}

func (s *room) fillHostile(ctx context.Context, l *load.Load, kinds []load.Way) error {
	ctx, cancel := context.WithTimeout(ctx, neighbourPatience)
	defer cancel()
	ways := []load.Way{}
	for n := range hostileWays {
		ways = append(ways, kinds[n%len(kinds)])
	}
	if err := l.HostilePlace(ctx, hostilePlace, ways); err != nil {
		return err
	}
	keys := []types.NamespacedName{}
	for _, key := range load.Keys(hostileDeliveries, hostilePlace) {
		key.Name = strings.Replace(key.Name, "app", "hostile", 1)
		keys = append(keys, key)
	}
	if err := l.DeliverBy(ctx, keys, hostileWays); err != nil {
		return err
	}
	return l.Judged(ctx, hostilePlace, hostileDeliveries)
}

// dripAnswer serves one byte after the other, without end.
func dripAnswer(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write([]byte("0")); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}
