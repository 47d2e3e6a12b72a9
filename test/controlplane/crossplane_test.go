package controlplane

import (
	"testing"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

func TestChartOfCrossplane(t *testing.T) {
	objects, err := kubernetes.ParseYAML(crossplaneRBAC)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range objects {
		if u.GetName() == "" || u.GetAPIVersion() != "rbac.authorization.k8s.io/v1" {
			t.Errorf("%s %q should be a named object of RBAC", u.GetKind(), u.GetName())
		}
	}
}
