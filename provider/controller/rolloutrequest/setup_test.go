package rolloutrequest

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestRequestsForDeployment(t *testing.T) {
	kube := build(t,
		request("a", 1), request("b", 2, before(corev1.ConditionFalse, corev1.ConditionFalse, "Stale")),
		request("c", 3, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Name = "bank" }),
		request("d", 4, func(r *rolloutv1alpha1.RolloutRequest) {
			r.Spec.DeploymentRef.APIGroup = deploymentv1alpha1.GroupNamespaced
		}),
		request("e", 5, func(r *rolloutv1alpha1.RolloutRequest) { r.Namespace = "team-b" }),
	)
	w := requestMapper{kube: kube, turns: newTurnQueue(), group: deploymentv1alpha1.GroupClaims, log: logging.NewNopLogger()}
	got := w.requestsForDeployment(t.Context(), shop(deploymentv1alpha1.GroupClaims, 3))
	want := []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: "a"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("open(...): a deployment wakes its open requests: -want, +got:\n%s", diff)
	}
}
