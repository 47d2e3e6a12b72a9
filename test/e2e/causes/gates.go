package causes

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/scene"
)

// measured is the series that the Gates of these stories ask for, and its values.
const (
	measured = "error_ratio"

	good, bad = 0.01, 0.2
)

// measureSite measures the Site with a real Prometheus server, which scrapes a target that has no series yet.
func (s *stage) measureSite() *promserver.Target {
	s.T.Helper()
	target := promserver.NewTarget()
	s.T.Cleanup(target.Close)
	server, err := promserver.New(s.T.Context(), s.T.TempDir(), promserver.Job{Name: "shop", Interval: time.Second, Target: target})
	s.Must(err)
	s.Must(server.Start(s.T.Context()))
	s.T.Cleanup(server.Stop)
	s.Patch(s.NewSite("edge1"), fmt.Sprintf(`{"spec":{"metrics":{"prometheus":{"address":%q}}}}`, server.URL()))
	check := map[string]any{
		"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": `max(` + measured + `{job="shop"})`}, "threshold": "<= 0.05",
		"initialDelay": "1s", "interval": "2s", "count": int64(2), "timeout": "5m", "noData": "Wait",
	}
	s.Set(s.deployment, []any{check}, "spec", "gatesConfig", "checks")
	return target
}

// gateStories are of what is measured.
func gateStories() map[string]story {
	return map[string]story{
		"QueryWithoutData": {
			reason: "A query that gives no data is the cause until the author sends requests to the service.",
			breaks: func(s *stage) func() {
				target := s.measureSite()
				s.Apply(s.deployment)
				return func() { target.Set(measured, good) }
			},
			want: answer{object: "check errors at ", reason: "NoData", actor: advice.Author, do: "Send requests to the service, or correct the query"},
		},
		"RevisionHeld": {
			reason: "A revision that was rejected is held, and goes out again when the author asks for a retry.",
			breaks: func(s *stage) func() {
				target := s.measureSite()
				target.Set(measured, good)
				s.awaitSucceeded(1)
				target.Set(measured, bad)
				s.editReplicas(2)
				s.awaitRollback()
				return func() {
					target.Set(measured, good)
					s.runPlugin(editor, "retry", "shop", "--yes", "--wait")
				}
			},
			want: answer{object: "revision 2", reason: "GateFailed", actor: advice.Author, do: "kubectl intent retry"},
		},
	}
}

// awaitRollback waits until the present spec was rolled back.
func (s *stage) awaitRollback() {
	s.T.Helper()
	digest := s.Digest(s.deployment)
	s.Await(s.deployment, "rolled back", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "intentDigest") == digest && scene.Field(u, "status", "outcome") == "RolledBack" && scene.Field(u, "status", "phase") == "Succeeded"
	})
}
