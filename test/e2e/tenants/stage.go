// Package tenants shows, on a real control plane, that a tenant who does harm does none to another tenant.
package tenants

import (
	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane
