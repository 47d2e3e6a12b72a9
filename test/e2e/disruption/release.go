package disruption

import (
	"github.com/intentplane/intentplane/test/scene"
)

// release of all packages that differs from the first one by its version alone.
const release = "v0.1.1-0"

// packageRevisions returns the revisions of all packages: "name State".
func packageRevisions(s *scene.Scene) []string {
	s.T.Helper()
	kinds := "configurationrevisions.pkg.crossplane.io,functionrevisions.pkg.crossplane.io,providerrevisions.pkg.crossplane.io"
	return outputLines(s.Run("get", kinds, "-o", `jsonpath={range .items[*]}{.metadata.name} {.spec.desiredState} {.status.conditions[?(@.type=="RevisionHealthy")].status}{"\n"}{end}`))
}
