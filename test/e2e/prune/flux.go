package prune

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/scene"
)

// wantDeployments waits until so many Deployments run at the Site.
func (s *stage) wantDeployments(n int) {
	s.T.Helper()
	s.Until(fmt.Sprintf("%d Deployments run at the Site", n), scene.Patience, func() bool {
		l := &appsv1.DeploymentList{}
		err := s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace))
		if err != nil && !kerrors.IsNotFound(err) {
			s.T.Fatal(err)
		}
		return len(l.Items) == n
	})
}
