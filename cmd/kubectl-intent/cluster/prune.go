package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

func pruneResource() schema.GroupVersionResource {
	return statev1alpha1.GroupVersion.WithResource("prunerequests")
}

// AskPrune makes a PruneRequest, and returns it as the server has it. It returns an error when the server refuses it.
func (c *Cluster) AskPrune(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.api.Create(ctx, pruneResource(), o)
}

// ApprovePrune makes a PruneApproval. It returns an error when the server refuses it.
func (c *Cluster) ApprovePrune(ctx context.Context, o *unstructured.Unstructured) error {
	_, err := c.api.Create(ctx, statev1alpha1.GroupVersion.WithResource("pruneapprovals"), o)
	return err
}

// FollowPrune shows a PruneRequest each time that it changes, as Follow does a RolloutRequest.
func (c *Cluster) FollowPrune(ctx context.Context, o *unstructured.Unstructured, done func(*statev1alpha1.PruneRequest) (bool, error)) error {
	return server.Follow(ctx, c.api, pruneResource(), o, done)
}
