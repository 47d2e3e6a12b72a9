// Package bundles shows, on a real control plane, what Bundles make of their packages, and what becomes of records of bundles.
package bundles

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, forStories))
}

// forStories installs Bundles, and lets Crossplane react to more events of a composite than the 100 at once and one each second of its defaults: the
// stories of this package change something each second, where users do so each hour. What one change costs is counted.
func forStories(o *controlplane.Options) {
	*o = o.WithApplications()
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=5000")
}
