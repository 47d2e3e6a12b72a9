// Package claims shows, on a real control plane, the life of a claim.
package claims

import (
	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane
