package scene

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

// Digest is the digest by which a deployment's status says that it speaks of this spec.
func (s *Scene) Digest(o *unstructured.Unstructured) string {
	s.T.Helper()
	d := struct {
		Spec deploymentv1alpha1.IntentDeploymentSpec `json:"spec"`
	}{}
	s.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d))
	out, err := digest.Spec(&d.Spec)
	s.Must(err)
	return out
}
