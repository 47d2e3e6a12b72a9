package main

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

const (
	// discoverEvery is how often the garbage collector looks for kinds that are new, as in kube-controller-manager.
	discoverEvery = 30 * time.Second
	// namespaceResync, and how many workers each controller has, are the defaults of kube-controller-manager.
	namespaceResync    = 5 * time.Minute
	namespaceWorkers   = 10
	aggregationWorkers = 5
	accountWorkers     = 1
	collectorWorkers   = 20
)

// A cluster is what controllers share: clients, and informers that one request fills for all.
type cluster struct {
	client    *kubernetes.Clientset
	metadata  metadata.Interface
	informers informers.SharedInformerFactory
	partial   metadatainformer.SharedInformerFactory
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	// started is closed once the informers run.
	started chan struct{}
}

// newCluster returns what controllers share. It does not ask the API server anything yet.
func newCluster(ctx context.Context, cfg *rest.Config) (*cluster, error) {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	partial, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	c := &cluster{
		client: client, metadata: partial, started: make(chan struct{}),
		informers: informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithTransform(trimFields)),
		partial:   metadatainformer.NewSharedInformerFactoryWithOptions(partial, resync, metadatainformer.WithTransform(trimFields)),
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
	}
	go wait.UntilWithContext(ctx, func(context.Context) { c.mapper.Reset() }, discoverEvery)
	return c, nil
}

// start starts the informers that controllers asked for.
func (c *cluster) start(ctx context.Context) {
	c.informers.Start(ctx.Done())
	c.partial.Start(ctx.Done())
	close(c.started)
}

// A newController returns the loop of a controller, which ends with its context.
type newController func(context.Context, *cluster) (func(context.Context), error)

func controllersByName() map[string]newController {
	return map[string]newController{
		"namespace-controller":               newNamespaceController,
		"clusterrole-aggregation-controller": newAggregationController,
		"serviceaccount-controller":          newAccountController,
		"garbage-collector-controller":       newGarbageCollector,
		"deployment-controller":              newDeploymentController,
		"replicaset-controller":              newReplicaSetController,
		"job-controller":                     newJobController,
	}
}

func namesOfControllers() []string { return slices.Sorted(maps.Keys(controllersByName())) }

// newNamespaceController returns the controller that deletes what is in a namespace that is being deleted.
func newNamespaceController(ctx context.Context, c *cluster) (func(context.Context), error) {
	n := namespace.NewNamespaceController(ctx, c.client, c.metadata, c.client.Discovery().ServerPreferredNamespacedResources,
		c.informers.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes)
	return func(ctx context.Context) { n.Run(ctx, namespaceWorkers) }, nil
}

// newAggregationController returns the controller that gives a ClusterRole the rules of those that its labels name.
func newAggregationController(_ context.Context, c *cluster) (func(context.Context), error) {
	a := clusterroleaggregation.NewClusterRoleAggregation(c.informers.Rbac().V1().ClusterRoles(), c.client.RbacV1())
	return func(ctx context.Context) { a.Run(ctx, aggregationWorkers) }, nil
}

// newAccountController returns the controller that gives each namespace its service account.
func newAccountController(ctx context.Context, c *cluster) (func(context.Context), error) {
	core := c.informers.Core().V1()
	a, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(), c.client,
		serviceaccount.DefaultServiceAccountsControllerOptions())
	return func(ctx context.Context) { a.Run(ctx, accountWorkers) }, err
}

// newGarbageCollector returns the controller that deletes objects whose owners are gone.
func newGarbageCollector(ctx context.Context, c *cluster) (func(context.Context), error) {
	g, err := garbagecollector.NewGarbageCollector(ctx, c.client, c.metadata, c.mapper, garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(c.informers, c.partial), c.started)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		go g.Sync(ctx, c.client.Discovery(), discoverEvery)
		g.Run(ctx, collectorWorkers, discoverEvery)
	}, nil
}
