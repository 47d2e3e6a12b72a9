// Package tenants shows, on a real control plane, that a tenant who does harm does none to another tenant.
package tenants

import (
	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane
