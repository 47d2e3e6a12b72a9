package scene

import (
	"fmt"
	"time"

	"github.com/intentplane/intentplane/test/promserver"
)

const (
	// ErrorRatio is the series that CheckErrors asks for.
	ErrorRatio = "error_ratio"

	// GoodRatio is a value with which the checks pass.
	GoodRatio = 0.01

	// BadRatio is a value with which they fail.
	BadRatio = 0.2
)

// MeasureSite measures a Site of the scene with a real Prometheus server, which scrapes a target that has no series yet.
func (s *Scene) MeasureSite(site string) *promserver.Target {
	s.T.Helper()
	target := promserver.NewTarget()
	s.T.Cleanup(target.Close)
	server, err := promserver.New(s.T.Context(), s.T.TempDir(), promserver.Job{Name: "shop", Interval: time.Second, Target: target})
	s.Must(err)
	s.Must(server.Start(s.T.Context()))
	s.T.Cleanup(server.Stop)
	s.UsePrometheus(site, server)
	return target
}

// UsePrometheus lets a Site of the scene be measured by a server.
func (s *Scene) UsePrometheus(site string, server *promserver.Server) {
	s.T.Helper()
	s.Patch(s.NewSite(site), fmt.Sprintf(`{"spec":{"metrics":{"prometheus":{"address":%q}}}}`, server.URL()))
}

// CheckErrors are the checks of a Gate that asks for the ratio of errors, and waits for data.
func CheckErrors() []any {
	return []any{map[string]any{
		"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": `max(` + ErrorRatio + `{job="shop"})`}, "threshold": "<= 0.05",
		"initialDelay": "1s", "interval": "2s", "count": int64(2), "timeout": "5m", "noData": "Wait",
	}}
}
