// Package prune shows, on a real control plane, a real Git server and Flux, that a directory which no object owns any more is removed once a user
// approved that very plan, and that nothing else is.
//
// Tests that disturb the control plane run before those that run side by side: each of those has a namespace and a repository of its own.
package prune

import (
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) { os.Exit(scene.Main(m, &cp)) }
