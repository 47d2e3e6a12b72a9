package sites

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// measuredBlueprint is the Blueprint of the quickstart with its own metrics, whose windows of two minutes are shortened, so that the test need not
// wait for them.
func (r *trial) measuredBlueprint() *unstructured.Unstructured {
	r.T.Helper()
	b := r.Blueprint("1.1.0", "stable")
	metrics, _, err := unstructured.NestedSlice(b.Object, "spec", "metrics")
	r.Must(err)
	for _, m := range metrics {
		m := m.(map[string]any)
		m["query"] = strings.ReplaceAll(m["query"].(string), "[2m]", "[20s]")
	}
	return r.Set(b, metrics, "spec", "metrics")
}

// serveQuickly ten quick requests in each tick, until the test ends. None of them fails.
func (r *trial) serveQuickly() {
	tick := time.NewTicker(100 * time.Millisecond)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-r.T.Context().Done():
				return
			case <-tick.C:
			}
			r.target.Add(map[string]float64{
				`http_requests_total{code="200"}`: 10, `http_request_duration_seconds_bucket{le="0.1"}`: 10, `http_request_duration_seconds_bucket{le="+Inf"}`: 10,
			})
		}
	}()
}
