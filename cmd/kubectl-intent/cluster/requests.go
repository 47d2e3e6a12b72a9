package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

func requestsResource() schema.GroupVersionResource {
	return rolloutv1alpha1.GroupVersion.WithResource("rolloutrequests")
}

// Deliveries returns the GitDeliveries of a deployment. It returns an error when they cannot be read.
func (c *Cluster) Deliveries(ctx context.Context, ref rolloutv1alpha1.DeploymentReference) ([]*deliveryv1alpha1.GitDelivery, error) {
	out := []*deliveryv1alpha1.GitDelivery{}
	err := c.EachDelivery(ctx, c.namespace, func(d *deliveryv1alpha1.GitDelivery) {
		if claimRef := d.Spec.ForProvider.ClaimRef; claimRef.APIGroup == ref.APIGroup && claimRef.Kind == ref.Kind && claimRef.Name == ref.Name {
			out = append(out, d)
		}
	})
	return out, err
}

// deliveriesAtOnce is the number of GitDeliveries in the response to one request. Each may have nearly a megabyte.
const deliveriesAtOnce = 20

// AllNamespaces stands for every namespace.
const AllNamespaces = server.AllNamespaces

// EachDelivery shows all GitDeliveries of a namespace, or of AllNamespaces. It returns an error when they cannot be read.
func (c *Cluster) EachDelivery(ctx context.Context, namespace string, show func(*deliveryv1alpha1.GitDelivery)) error {
	resource := deliveryv1alpha1.GroupVersion.WithResource("gitdeliveries")
	options := metav1.ListOptions{Limit: deliveriesAtOnce}
	for {
		list, err := c.api.Resource(resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			return server.DescribeError(err, "list", resource, "")
		}
		for i := range list.Items {
			d := &deliveryv1alpha1.GitDelivery{}
			if err := server.Decode(&list.Items[i], d); err != nil {
				return err
			}
			show(d)
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// User is the cluster's name of the user. It is empty where the cluster does not report it.
func (c *Cluster) User(ctx context.Context) string {
	review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}}
	resource := schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
	got, err := c.api.Resource(resource).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return ""
	}
	user, _, _ := unstructured.NestedString(got.Object, "status", "userInfo", "username")
	return user
}

// UndecidedRequest returns the newest RolloutRequest to a deployment about which nothing was decided, or nil if there is none, or none that the user may read.
func (c *Cluster) UndecidedRequest(ctx context.Context, ref rolloutv1alpha1.DeploymentReference) *rolloutv1alpha1.RolloutRequest {
	all, err := c.api.List(ctx, requestsResource(), c.namespace)
	if err != nil {
		return nil
	}
	var newest *rolloutv1alpha1.RolloutRequest
	for i := range all {
		r := &rolloutv1alpha1.RolloutRequest{}
		if server.Decode(&all[i], r) != nil || r.Spec.DeploymentRef != ref || !cause.IsUndecided(r) {
			continue
		}
		if newest == nil || newest.CreationTimestamp.Before(&r.CreationTimestamp) {
			newest = r
		}
	}
	return newest
}

// Ask makes a RolloutRequest, and returns it as the server has it. It returns an error when the server refuses it.
func (c *Cluster) Ask(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.api.Create(ctx, requestsResource(), o)
}

// Follow shows a RolloutRequest each time that it changes, until it was seen to be done. It returns an error when that did not happen before
// the context ended, when the request was deleted, and when it cannot be watched.
func (c *Cluster) Follow(ctx context.Context, o *unstructured.Unstructured, done func(*rolloutv1alpha1.RolloutRequest) (bool, error)) error {
	return server.Follow(ctx, c.api, requestsResource(), o, done)
}
