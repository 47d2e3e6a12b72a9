package clusters

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// administrators describes a Site of theirs, which another namespace may use.
func (s *stage) administrators(name, path string) *unstructured.Unstructured {
	site := s.NewSite(name)
	site.SetName(name)
	s.Set(site, path, "spec", "repository", "path")
	return s.Set(site, []any{"others"}, "spec", "allowedNamespaces")
}

// isTenantAllowed reports whether the tenant may do something in the namespace.
func (s *stage) isTenantAllowed(verb, operation string) bool {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	out, _ := s.Kubectl(ctx, "auth", "can-i", "-n", s.Namespace, "--as", "tenant", verb, operation) // It fails when the user may not.
	return strings.TrimSpace(out) == "yes"
}
