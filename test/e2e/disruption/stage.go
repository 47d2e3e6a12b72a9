// Package disruption shows, on a real control plane, that deployments outlive disruptions of their objects, of the programs that look after them and of their
// dependencies. Its tests run one after another, except for parallel tests: they disturb the whole control plane.
package disruption

import (
	"fmt"
	"strings"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// intentWithReplicas is one line for a claim or a composite.
func intentWithReplicas(s *scene.Scene, replicas int, sites ...string) string {
	return intentOfService(s, "shop", replicas, sites...)
}

// intentOfService returns the intent of a service. Two claims may not deliver an object of one name to one Site, so each has its own service.
func intentOfService(s *scene.Scene, service string, replicas int, sites ...string) string {
	full := make([]string, len(sites))
	for i := range sites {
		full[i] = fmt.Sprintf("%q", s.Site(sites[i]))
	}
	return fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%s], "replicas": %d}`, service, strings.Join(full, ", "), replicas)
}

// wantCommits fails the test unless the scene's branch has as many commits of ours.
func wantCommits(s *scene.Scene, want int) {
	s.T.Helper()
	if got := len(s.Commits()); got != want {
		s.T.Fatalf("want %d commits on the branch, found %d", want, got)
	}
}
