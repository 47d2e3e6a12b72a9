package sites

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// directoriesOfClaim are the directories in which the repository has files of the claim.
func (s *stage) directoriesOfClaim(claim string) []string {
	s.T.Helper()
	out := []string{}
	for name := range s.Files() {
		if site, _, ok := strings.Cut(name, "/"+s.Namespace+"/"+claim+"/"); ok {
			out = append(out, site)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s *stage) wantDirectories(reason, claim string, want ...string) {
	s.T.Helper()
	s.WantEqual(reason+": directories of the claim", want, s.directoriesOfClaim(claim))
}

// composedObject is the single managed resource of a kind in the scene.
func (s *stage) composedObject(kind string) *unstructured.Unstructured {
	s.T.Helper()
	name := strings.TrimSpace(s.Inside("get", strings.ToLower(kind)+".delivery.intentplane.dev", "-o", "jsonpath={.items[*].metadata.name}"))
	o := newFluxObject("delivery.intentplane.dev/v1alpha1", kind, name)
	o.SetNamespace(s.Namespace)
	return o
}
