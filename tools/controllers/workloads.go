package main

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/replicaset"
)

// workloadWorkers is how many workers the controllers of Deployments, ReplicaSets and Jobs have, the default of kube-controller-manager.
const workloadWorkers = 5

// newDeploymentController returns the controller that makes ReplicaSets of Deployments.
func newDeploymentController(ctx context.Context, c *cluster) (func(context.Context), error) {
	apps := c.informers.Apps().V1()
	d, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), c.informers.Core().V1().Pods(), c.client)
	return func(ctx context.Context) { d.Run(ctx, workloadWorkers) }, err
}

// newReplicaSetController returns the controller that makes pods of ReplicaSets.
func newReplicaSetController(ctx context.Context, c *cluster) (func(context.Context), error) {
	r := replicaset.NewReplicaSetController(ctx, c.informers.Apps().V1().ReplicaSets(), c.informers.Core().V1().Pods(), c.client, replicaset.BurstReplicas)
	return func(ctx context.Context) { r.Run(ctx, workloadWorkers) }, nil
}

// newJobController returns the controller that makes pods of Jobs. The API server does not serve the kinds of gang scheduling, so it reads none.
func newJobController(ctx context.Context, c *cluster) (func(context.Context), error) {
	j, err := job.NewController(ctx, c.client, c.informers.Core().V1().Pods(), c.informers.Batch().V1().Jobs(), nil, nil)
	return func(ctx context.Context) { j.Run(ctx, workloadWorkers) }, err
}
