package disruption

import (
	"fmt"
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/scene"
)

// measuredScene is a scene with so many Sites, which a real Prometheus server measures.
func measuredScene(t *testing.T, names []string) (*scene.Scene, *promserver.Target) {
	t.Helper()
	target := promserver.NewTarget()
	t.Cleanup(target.Close)
	target.Set("error_ratio", 0.01)
	server, err := promserver.New(t.Context(), t.TempDir(), promserver.Job{Name: "shop", Interval: time.Second, Target: target})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	s := scene.New(t, cp, names...)
	for _, name := range names {
		s.Patch(s.NewSite(name), fmt.Sprintf(`{"spec":{"metrics":{"prometheus":{"address":%q}}}}`, server.URL()))
	}
	return s, target
}
