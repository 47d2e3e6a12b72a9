package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// serviceName and serviceNamespace are the name and the namespace of the Deployment that the shop follows.
	serviceName      = "shop"
	serviceNamespace = "team-a"

	// requestInterval is the time between two requests of a user of the shop, and lookInterval the time between two reads of the shop's version.
	requestInterval = 50 * time.Millisecond
	lookInterval    = 100 * time.Millisecond
)

// latencyOfVersions returns the latency of each version of the shop. Version 2.0 has the fault.
func latencyOfVersions() map[string]time.Duration {
	return map[string]time.Duration{"1.0": 80 * time.Millisecond, "2.0": 800 * time.Millisecond, "3.0": 60 * time.Millisecond}
}

// A shop is a web server that stands for the pods of the Deployment that Flux applies, since no node runs them here. How fast it answers depends
// on the image of that Deployment. It measures itself as a service does, in a histogram that Prometheus scrapes.
type shop struct {
	server  *httptest.Server
	metrics http.Handler

	// image of the Deployment, or nil while none exists.
	image atomic.Pointer[string]
}

func newRunningShop() *shop {
	registry := prometheus.NewRegistry()
	duration := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "http_request_duration_seconds", Help: "How long requests took.",
		ConstLabels: prometheus.Labels{"service": serviceName},
		Buckets:     []float64{.01, .025, .05, .1, .25, .5, 1, 2.5},
	})
	registry.MustRegister(duration)
	s := &shop{metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{})}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		s.servePage(w, r)
		duration.Observe(time.Since(began).Seconds())
	}))
	return s
}

func (s *shop) servePage(w http.ResponseWriter, r *http.Request) {
	wait := time.NewTimer(s.currentLatency())
	defer wait.Stop()
	select {
	case <-r.Context().Done():
	case <-wait.C:
	}
	_, _ = io.WriteString(w, "Welcome\n")
}

// currentLatency returns the latency of the version that runs.
func (s *shop) currentLatency() time.Duration {
	image := s.image.Load()
	if image == nil {
		return 0
	}
	_, version, _ := strings.Cut(*image, ":")
	return latencyOfVersions()[version]
}

// followDeployment follows the Deployment, and sends requests of users while it exists, until ctx ends.
func (s *shop) followDeployment(ctx context.Context, kube client.Reader) {
	go repeatEvery(ctx, lookInterval, func() { s.readVersion(ctx, kube) })
	repeatEvery(ctx, requestInterval, func() {
		if s.image.Load() != nil {
			go s.requestPage(ctx)
		}
	})
}

func (s *shop) readVersion(ctx context.Context, kube client.Reader) {
	d := &appsv1.Deployment{}
	if err := kube.Get(ctx, client.ObjectKey{Namespace: serviceNamespace, Name: serviceName}, d); err != nil {
		return
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		s.image.Store(&c.Image)
	}
}

// requestPage requests a page. A user retries a failed request later.
func (s *shop) requestPage(ctx context.Context) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL, nil)
	if err != nil {
		return
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

func repeatEvery(ctx context.Context, interval time.Duration, do func()) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			do()
		}
	}
}
