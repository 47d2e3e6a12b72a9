// Package ledger shows, on a real control plane and real Git servers, that all repositories of a deployment follow one ledger: what its home
// repository does not record is not done anywhere, and what it recorded survives outages, losses, old backups and kills.
//
// Tests that disturb the control plane run before those that run side by side: each of those has a namespace and repositories of its own.
package ledger

import (
	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

// allowTests lets Gates ask the web server of the tests, and lets the tests edit a deployment as often as they do: users edit less than every
// second, for which the default of the circuit breaker is made. What a deployment costs is held against that default by "make bench".
func allowTests(o *controlplane.Options) {
	o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
	o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks")
	o.Provider.Env = append(o.Provider.Env, "SSL_CERT_FILE="+judges.bundle)
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=1000")
}
