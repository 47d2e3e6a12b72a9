package alerts

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/alerting"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// stateMetrics is the file to which kube-state-metrics writes the states of the control plane's objects.
var stateMetrics = sync.OnceValues(func() (string, error) { return alerting.StartStateMetrics(context.Background(), cp) })

// scrapeInterval is the scrape interval of Prometheus here.
const scrapeInterval = time.Second

// A stage is a scene whose installation a real Prometheus server scrapes. The same server measures the Site.
type stage struct {
	*scene.Scene

	server     *promserver.Server
	shop       *promserver.Target
	deployment *unstructured.Unstructured
}

// newAlertStage makes a scene with a Site and a deployment with a Gate, and starts the server.
func newAlertStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Scene: scene.New(t, cp, "edge1"), shop: promserver.NewTarget()}
	states, err := stateMetrics()
	s.Must(err)
	jobs := append(alerting.ScrapeJobs(cp, scrapeInterval),
		promserver.Job{Name: "shop", Interval: scrapeInterval, Target: s.shop},
		promserver.Job{Name: "kube-state-metrics", Interval: scrapeInterval, Target: promserver.NewTargetAt(states)},
	)
	for _, j := range jobs {
		t.Cleanup(j.Target.Close)
	}
	s.server, err = promserver.New(t.Context(), t.TempDir(), jobs...)
	s.Must(err)
	s.Must(s.server.Start(t.Context()))
	t.Cleanup(s.server.Stop)
	s.UsePrometheus("edge1", s.server)
	s.deployment = s.Composite("shop", s.intentWithReplicas(1))
	s.Set(s.deployment, scene.CheckErrors(), "spec", "gatesConfig", "checks")
	return s
}

func (s *stage) intentWithReplicas(replicas int) string {
	return fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%q], "replicas": %d}`, s.Site("edge1"), replicas)
}

// releaseReplicas requests a number of replicas while the shop has a ratio of errors, and waits for an outcome, whose status it returns.
func (s *stage) releaseReplicas(replicas int, ratio float64, outcome string) *unstructured.Unstructured {
	s.T.Helper()
	s.shop.Set(scene.ErrorRatio, ratio)
	s.Apply(s.Set(s.deployment, s.intentWithReplicas(replicas), "spec", "intent"))
	digest := s.Digest(s.deployment)
	return s.Await(s.deployment, outcome, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "intentDigest") == digest && scene.Field(u, "status", "outcome") == outcome &&
			scene.Field(u, "status", "phase") == "Succeeded" && (outcome != "Succeeded" || scene.Is(u, "Ready", corev1.ConditionTrue, ""))
	})
}

// queryServer sends a query to the server now.
func (s *stage) queryServer(text string) model.Vector {
	s.T.Helper()
	v, err := s.server.Query(s.T.Context(), text)
	s.Must(err)
	return v
}
