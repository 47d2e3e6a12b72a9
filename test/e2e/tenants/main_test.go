// Package tenants shows, on a real control plane, that a tenant who does harm harms nobody else.
package tenants

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) { os.Exit(scene.Main(m, &cp)) }
