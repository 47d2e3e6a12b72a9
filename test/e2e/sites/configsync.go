package sites

import (
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

// onControlPlane is a stage whose Site is the control plane's own cluster. The engine's controllers are not there: the test writes their
// status.
func onControlPlane(t *testing.T, engine, apiVersion, kind, name string) *stage {
	t.Helper()
	s := &stage{Scene: scene.New(t, cp), path: "clusters/edge1"}
	s.Apply(s.Set(s.NewSite("edge1"), map[string]any{"type": engine, "objectRef": map[string]any{
		"apiVersion": apiVersion, "kind": kind, "namespace": "{claimNamespace}", "name": name,
	}}, "spec", "engine"))
	return s
}
