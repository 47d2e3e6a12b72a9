package cli

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// AsClaim returns a sample as a claim.
func AsClaim(s *samples.Sample) *samples.Sample {
	s.Group = "claims.intentplane.dev"
	return s
}

// ServeSamples returns the kubeconfig of a server that has deployments, each in a namespace of its own.
func ServeSamples(t *testing.T, server *Server, all map[string]*samples.Sample) string {
	t.Helper()
	for namespace, s := range all {
		objects, err := s.Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			o.SetNamespace(namespace)
			if o.GetKind() != "IntentDeployment" {
				if err := unstructured.SetNestedField(o.Object, namespace, "spec", "forProvider", "claimRef", "namespace"); err != nil {
					t.Fatal(err)
				}
			}
			server.Objects = append(server.Objects, o)
		}
	}
	return server.Start(t)
}

// ServeApplication returns the kubeconfig of a server that has an Application in team-a.
func ServeApplication(t *testing.T, server *Server, s *samples.ApplicationSample) string {
	t.Helper()
	objects, err := s.Objects()
	if err != nil {
		t.Fatal(err)
	}
	server.Objects = append(server.Objects, objects...)
	return server.Start(t)
}
