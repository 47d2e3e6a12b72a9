package cluster

import (
	"context"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
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

// deliveriesAtOnce is how many GitDeliveries one request asks for. Each may have nearly a megabyte.
const deliveriesAtOnce = 20

// AllNamespaces stands for every namespace.
const AllNamespaces = metav1.NamespaceAll

// EachDelivery shows all GitDeliveries of a namespace, or of AllNamespaces. It returns an error when they cannot be read.
func (c *Cluster) EachDelivery(ctx context.Context, namespace string, show func(*deliveryv1alpha1.GitDelivery)) error {
	resource := deliveryv1alpha1.GroupVersion.WithResource("gitdeliveries")
	options := metav1.ListOptions{Limit: deliveriesAtOnce}
	for {
		list, err := c.client.Resource(resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			return describeError(err, "list", resource, "")
		}
		for i := range list.Items {
			d := &deliveryv1alpha1.GitDelivery{}
			if err := decodeObject(&list.Items[i], d); err != nil {
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
	got, err := c.client.Resource(resource).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return ""
	}
	user, _, _ := unstructured.NestedString(got.Object, "status", "userInfo", "username")
	return user
}

// UndecidedRequest returns the newest RolloutRequest to a deployment about which nothing was decided, or nil if there is none, or none that the user may read.
func (c *Cluster) UndecidedRequest(ctx context.Context, ref rolloutv1alpha1.DeploymentReference) *rolloutv1alpha1.RolloutRequest {
	all, err := c.list(ctx, requestsResource(), c.namespace)
	if err != nil {
		return nil
	}
	var newest *rolloutv1alpha1.RolloutRequest
	for i := range all {
		r := &rolloutv1alpha1.RolloutRequest{}
		if decodeObject(&all[i], r) != nil || r.Spec.DeploymentRef != ref || !cause.IsUndecided(r) {
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
	return c.createObject(ctx, requestsResource(), o)
}

// Follow shows a RolloutRequest each time that it changes, until it was seen to be done. It returns an error when that did not happen before
// the context ended, when the request was deleted, and when it cannot be watched.
func (c *Cluster) Follow(ctx context.Context, o *unstructured.Unstructured, done func(*rolloutv1alpha1.RolloutRequest) (bool, error)) error {
	return followObject(ctx, c, requestsResource(), o, done)
}

// followObject shows an object each time that it changes, until it was seen to be done.
func followObject[T any](ctx context.Context, c *Cluster, resource schema.GroupVersionResource, o *unstructured.Unstructured, done func(*T) (bool, error)) error {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, o.GetName()).String()
	w := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.FieldSelector = selector
		return c.watcher.Resource(resource).Namespace(o.GetNamespace()).Watch(ctx, options)
	}}
	_, err := watchtools.Until(ctx, o.GetResourceVersion(), w, func(e watch.Event) (bool, error) { return handleEvent(e, done) })
	if ctx.Err() != nil {
		return errors.Errorf("%s did not come to its end in time", o.GetName())
	}
	return errors.Wrapf(err, "cannot wait for %s", o.GetName())
}

func handleEvent[T any](e watch.Event, done func(*T) (bool, error)) (bool, error) {
	switch e.Type {
	case watch.Error:
		return false, kerrors.FromObject(e.Object)
	case watch.Deleted:
		return false, errors.New("it was deleted")
	case watch.Added, watch.Modified, watch.Bookmark:
	}
	r := new(T)
	if err := decodeObject(e.Object, r); err != nil {
		return false, err
	}
	return done(r)
}

// decodeObject decodes an object as far as we know its kind: the server may know more. A conversion without text in between takes half the
// time, and text explains conversion errors.
func decodeObject(from runtime.Object, target any) error {
	if u, ok := from.(*unstructured.Unstructured); ok && runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, target) == nil {
		return nil
	}
	b, err := json.Marshal(from)
	if err != nil {
		return errors.Wrap(err, "cannot encode the object of the cluster")
	}
	return errors.Wrap(json.Unmarshal(b, target), "cannot decode the object of the cluster")
}
