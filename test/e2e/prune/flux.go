package prune

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/patience"
)

// wantDeployments waits until so many Deployments run at the Site.
func (s *stage) wantDeployments(n int) {
	s.T.Helper()
	s.Until(fmt.Sprintf("%d Deployments run at the Site", n), patience.Limit, func() bool { return s.countDeployments() == n })
}

// countDeployments returns how many Deployments the Site has.
func (s *stage) countDeployments() int {
	s.T.Helper()
	l := &appsv1.DeploymentList{}
	s.Must(client.IgnoreNotFound(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace))))
	return len(l.Items)
}
