package clusters

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestCutConnection has the connection to a healthy cluster end in the middle of a list, as it does when an API server restarts.
func TestCutConnection(t *testing.T) {
	s, lists := newAPIServer(t), &atomic.Int32{}
	healthy := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" && lists.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/json")
			closeInTheMiddle(w, r)
			return
		}
		healthy.ServeHTTP(w, r)
	})
	p, k := newPool(t), s.kubeconfig(canary)
	p.dial = Dialer(&rest.Config{}, Limits{})
	penalties := &atomic.Int32{}
	p.after = func(wait time.Duration, callback func()) {
		if wait >= firstPenalty {
			penalties.Add(1)
		}
		time.AfterFunc(wait, callback) // Wakes that are spaced out come through here too.
	}
	p.until("The cluster is asked again, and answers.", "nothing", func() string { return p.explain(k) })
	if penalties.Load() > 0 {
		t.Errorf("\nA fault of a healthy cluster is not punished.\nafter(...): called %d times", penalties.Load())
	}
	p.Forget(owner("a"))
	p.sizes(0, 0)
}

// TestEndpointThatCloses has an endpoint take connections and close them at once, as a load balancer does that has no API server behind it.
func TestEndpointThatCloses(t *testing.T) {
	s, isDown := newAPIServer(t), &atomic.Bool{}
	healthy := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isDown.Load() {
			panic(http.ErrAbortHandler)
		}
		healthy.ServeHTTP(w, r)
	})
	p, k := newPool(t), s.kubeconfig(canary)
	p.dial = Dialer(&rest.Config{}, Limits{})
	p.until("The cluster answers.", "nothing", func() string { return p.explain(k) })
	isDown.Store(true)
	s.CloseClientConnections()
	p.until("A cluster that closes each connection is not reachable.", v1alpha1.SiteReasonClusterUnreachable+": the cluster does not answer", func() string { return p.explain(k) })
	p.Forget(owner("a"))
	p.sizes(0, 0)
}
