package sites

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// replicasInRepository are the replicas in the file of each Site in the repository. A Site without a file has no entry.
func (s *stage) replicasInRepository(sites ...string) []string {
	s.T.Helper()
	out := []string{}
	for _, site := range sites {
		text := s.Files()[s.Directory(site, "shop")+"/deployment-shop.yaml"]
		_, after, _ := strings.Cut(text, "replicas: ")
		line, _, _ := strings.Cut(after, "\n")
		out = append(out, line)
	}
	return out
}

func (s *stage) wantRepoReplicas(reason string, want ...string) {
	s.T.Helper()
	s.WantEqual(reason+": replicas that the repository asks for", want, s.replicasInRepository("edge1", "edge2"))
}

// stateOfSite returns the state of a Site in the status of a claim.
func (s *stage) stateOfSite(u *unstructured.Unstructured, site string) string {
	return scene.Field(u, "status", "delivery", "sites", s.Site(site), "state")
}
