package claims

import (
	"fmt"
	"strings"

	"github.com/intentplane/intentplane/test/scene"
)

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
