package cluster

import (
	"context"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

// Refresh requests a reconcile of the found objects, by the annotation that Crossplane has for it. The function passes it on to composed
// objects. It returns an error when the user may not patch an object.
func (c *Cluster) Refresh(ctx context.Context, subjects *Subjects, token string) error {
	for _, a := range subjects.subjectAddresses() {
		if err := c.requestReconcile(ctx, a, token); err != nil {
			return err
		}
	}
	return nil
}

// An address is where an API server has an object.
type address struct {
	resource schema.GroupVersionResource
	metav1.ObjectMeta
}

// subjectAddresses returns the addresses of the objects that users made.
func (s *Subjects) subjectAddresses() []address {
	var out []address
	for _, f := range s.Bundles {
		out = append(out, addressOfObject(bundleResource, f.Bundle.TypeMeta, f.Bundle.Metadata))
	}
	for _, f := range s.Applications {
		out = append(out, addressOfObject(applicationResource, f.Application.TypeMeta, f.Application.Metadata))
	}
	for _, f := range s.Deployments {
		out = append(out, addressOfObject(claimResource, f.Deployment.TypeMeta, f.Deployment.Metadata))
	}
	for _, f := range s.Clusters {
		out = append(out, addressOfObject(clusterResource, f.Cluster.TypeMeta, f.Cluster.Metadata))
	}
	return out
}

func addressOfObject(resource string, t metav1.TypeMeta, m metav1.ObjectMeta) address {
	return address{resource: t.GroupVersionKind().GroupVersion().WithResource(resource), ObjectMeta: m}
}

// requestReconcile annotates one object.
func (c *Cluster) requestReconcile(ctx context.Context, target address, token string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{meta.AnnotationKeyReconcileRequestedAt: token}}})
	if err != nil {
		return errors.Wrap(err, "cannot encode the annotation")
	}
	if _, err = c.api.Resource(target.resource).Namespace(target.Namespace).Patch(ctx, target.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return server.DescribeError(err, "patch", target.resource, target.Name)
	}
	return nil
}
