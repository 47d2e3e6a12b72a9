package sites

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/scene"
)

func (s *stage) intentWithReplicas(replicas int) string {
	return fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%q], "replicas": %d}`, s.Site("edge1"), replicas)
}

// replicasAtSite returns the replicas of the claim's Deployment at the Site, or -1 without one.
func (s *stage) replicasAtSite() int32 {
	s.T.Helper()
	return s.replicasInCluster(s.Namespace, "shop")
}

func (s *stage) replicasInCluster(namespace, name string) int32 {
	s.T.Helper()
	d := &appsv1.Deployment{}
	err := s.edge.Client.Get(s.T.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d)
	if kerrors.IsNotFound(err) {
		return -1
	}
	s.Must(err)
	return *d.Spec.Replicas
}

// wantDriftLeft drifts by an unmanaged commit, which the claim's driftPolicy leaves: Ready is lost, and the phase stays.
func (s *stage) wantDriftLeft(claim *unstructured.Unstructured) {
	s.T.Helper()
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"suspend":true}}`)
	s.Await(claim, "Drifted", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Reconciling", corev1.ConditionTrue, "Drifted") && scene.Is(u, "Ready", corev1.ConditionFalse, "") &&
			scene.Field(u, "status", "phase") == "Succeeded" && strings.Contains(scene.Condition(u, "Reconciling").Message, "Suspended")
	})
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"suspend":false}}`)
	s.Await(claim, "Ready again", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Ready", corev1.ConditionTrue, "") && scene.Is(u, "Reconciling", corev1.ConditionFalse, "Idle")
	})
}

func statusNumber(u *unstructured.Unstructured, field string) int64 {
	n, _, _ := unstructured.NestedInt64(u.Object, "status", field)
	return n
}
