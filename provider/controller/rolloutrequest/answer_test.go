package rolloutrequest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func reconcileOne(t *testing.T, kube client.Client, name string) *rolloutv1alpha1.RolloutRequest {
	t.Helper()
	key := client.ObjectKey{Namespace: "team-a", Name: name}
	if _, err := reconciler(kube).Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	r := &rolloutv1alpha1.RolloutRequest{}
	if err := kube.Get(t.Context(), key, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAbortIsOpenBesideOthers creates as many older requests as may be open: an abort is open all the same.
func TestAbortIsOpenBesideOthers(t *testing.T) {
	objects := []client.Object{shop(deploymentv1alpha1.GroupClaims, 3)}
	for n := range rolloutv1alpha1.MaxOpen {
		objects = append(objects, request(fmt.Sprintf("r%02d", n), n))
	}
	kube := build(t, objects...)
	reconcileOne(t, kube, "r00")
	if got := open(t, kube); got != "r00-r19" {
		t.Fatalf("Reconcile(...): open are %s", got)
	}
	abort := request("abort", 30, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Action = rolloutv1alpha1.ActionAbort })
	if err := kube.Create(t.Context(), abort); err != nil {
		t.Fatal(err)
	}
	reconcileOne(t, kube, "abort")
	if got := open(t, kube); got != "abort-r18" {
		t.Errorf("Reconcile(...): open are %s, want the Abort and no more than there may be", got)
	}
}

// TestAcceptedActions checks the message for each action, and which revision the request made.
func TestAcceptedActions(t *testing.T) {
	cases := map[rolloutv1alpha1.Action]struct {
		reason string
		want   int64
	}{
		rolloutv1alpha1.ActionRetry:         {reason: "A retry makes a revision.", want: 4},
		rolloutv1alpha1.ActionAbort:         {reason: "An abort changes the present revision."},
		rolloutv1alpha1.ActionRollbackTo:    {reason: "A rollback makes a revision.", want: 4},
		rolloutv1alpha1.ActionMoveLedger:    {reason: "A move of the ledger makes no revision."},
		rolloutv1alpha1.ActionPromote:       {reason: "A promotion changes the present revision."},
		rolloutv1alpha1.ActionApproveUpdate: {reason: "An approval makes a revision.", want: 4},
	}
	actions := map[string]rolloutv1alpha1.Action{}
	for action, tc := range cases {
		t.Run(string(action), func(t *testing.T) {
			r := request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Action = action })
			got := reconcileOne(t, build(t, r, shop(deploymentv1alpha1.GroupClaims, 4, "uid-a Taken")), "a")
			if diff := cmp.Diff(tc.want, got.Status.NewRevision); diff != "" {
				t.Errorf("\n%s\nReconcile(...): newRevision: -want, +got:\n%s", tc.reason, diff)
			}
			message := got.Status.GetCondition(rolloutv1alpha1.TypeAccepted).Message
			if otherAction, twice := actions[message]; message == "" || twice {
				t.Errorf("\n%s\nReconcile(...): want words of its own, got %q, as for %q", tc.reason, message, otherAction)
			}
			actions[message] = action
		})
	}
}

// TestDeploymentOwnsRequest checks that a request is deleted with its deployment.
func TestDeploymentOwnsRequest(t *testing.T) {
	shopOf := func(group string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: group + "/v1alpha1", Kind: "IntentDeployment", Name: "shop", UID: "uid-shop"}}
	}
	stranger := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "uid-x"}
	owned := func(r *rolloutv1alpha1.RolloutRequest) { r.OwnerReferences = []metav1.OwnerReference{stranger} }
	namespaced := func(r *rolloutv1alpha1.RolloutRequest) {
		r.Spec.DeploymentRef.APIGroup = deploymentv1alpha1.GroupNamespaced
	}
	done := before(corev1.ConditionTrue, corev1.ConditionTrue, "Done")
	cases := map[string]struct {
		reason  string
		request *rolloutv1alpha1.RolloutRequest
		shop    *unstructured.Unstructured
		want    []metav1.OwnerReference
	}{
		"Claim": {
			reason:  "A claim owns a request about it.",
			request: request("a", 1), shop: shop(deploymentv1alpha1.GroupClaims, 3), want: shopOf(deploymentv1alpha1.GroupClaims),
		},
		"Namespaced": {
			reason:  "A composite in the namespace of a request owns it.",
			request: request("a", 1, namespaced), shop: shop(deploymentv1alpha1.GroupNamespaced, 3),
			want: shopOf(deploymentv1alpha1.GroupNamespaced),
		},
		"None": {reason: "A request without a deployment has no owner.", request: request("a", 1)},
		"Others": {
			reason:  "Other owners of a request stay.",
			request: request("a", 1, owned), shop: shop(deploymentv1alpha1.GroupClaims, 3),
			want: append([]metav1.OwnerReference{stranger}, shopOf(deploymentv1alpha1.GroupClaims)...),
		},
		"Recreated": {
			reason:  "A deployment does not adopt a request of a deleted deployment with its name: the garbage collector would keep the request.",
			request: request("a", 1, ownedByDeleted), shop: shop(deploymentv1alpha1.GroupClaims, 3), want: []metav1.OwnerReference{deletedShop()},
		},
		"Refused": {
			reason:  "A request that is refused at once is owned, too.",
			request: request("a", 1), shop: shop(deploymentv1alpha1.GroupClaims, 4, "uid-a Stale"), want: shopOf(deploymentv1alpha1.GroupClaims),
		},
		"Done": {
			reason:  "A request that was closed before is owned, too.",
			request: request("a", 1, done), shop: shop(deploymentv1alpha1.GroupClaims, 4), want: shopOf(deploymentv1alpha1.GroupClaims),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{tc.request}
			if tc.shop != nil {
				objects = append(objects, tc.shop)
			}
			got := reconcileOne(t, build(t, objects...), "a").GetOwnerReferences()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReconcile(...): owners: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// deletedShop refers to a deployment that was deleted, and whose name another one has.
func deletedShop() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: deploymentv1alpha1.GroupClaims + "/v1alpha1", Kind: "IntentDeployment", Name: "shop", UID: "uid-deleted"}
}

func ownedByDeleted(r *rolloutv1alpha1.RolloutRequest) {
	r.OwnerReferences = []metav1.OwnerReference{deletedShop()}
}

// TestRequestOfDeletedDeployment has a request of a deployment that was deleted, and another deployment with its name.
func TestRequestOfDeletedDeployment(t *testing.T) {
	taken := before(corev1.ConditionTrue, corev1.ConditionFalse, "Taken")
	cases := map[string]struct {
		reason  string
		request *rolloutv1alpha1.RolloutRequest
		want    view
	}{
		"Open": {
			reason:  "A request takes no effect on a deployment that its author did not see, whatever its function answers.",
			request: request("a", 1, ownedByDeleted), want: view{Accepted: "False Stale", Completed: "False Stale"},
		},
		"Taken": {
			reason:  "A request that the deleted deployment accepted has ended.",
			request: request("a", 1, ownedByDeleted, taken), want: view{Accepted: "True Taken", Completed: "True Superseded"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := build(t, tc.request, shop(deploymentv1alpha1.GroupClaims, 3, "uid-a Taken"))
			got := viewOf(t, kube, reconcileOne(t, kube, "a").GetName())
			got.ObservedAt = ""
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
