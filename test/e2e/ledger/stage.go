// Package ledger shows, on a real control plane and real Git servers, that all repositories of a deployment follow one ledger: a position
// that its home repository does not record is not applied anywhere, and recorded events survive outages, losses, old backups and kills.
//
// Tests that disturb the control plane run before the parallel tests: each parallel test has a namespace and repositories of its own.
package ledger

import (
	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// configureStories allows Gates to query the web server of the tests, and the frequent edits of the tests: users edit less than every second, for which the default
// of the circuit breaker is made. The cost of a deployment is compared with that default by "make bench".
func configureStories(o *controlplane.Options) {
	o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
	o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks")
	o.Provider.Env = append(o.Provider.Env, "SSL_CERT_FILE="+judges.bundle)
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=1000")
}
