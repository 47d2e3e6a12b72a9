// Package claims shows, on a real control plane, what becomes of a claim.
package claims

import (
	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane
