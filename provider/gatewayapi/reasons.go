// Package gatewayapi reads the reports of Gateways on the routes of a Site's cluster: whether a route has its weights of Git and each of its Gateways
// accepts it, with the reason otherwise. It is pure.
package gatewayapi

// Reasons why the routes and the workload of a canary prove no weight.
const (
	// ReasonRouteMissing means that a route does not exist in the cluster.
	ReasonRouteMissing = "RouteMissing"

	// ReasonTrafficDiffers means that a route in the cluster has other weights than the route in Git.
	ReasonTrafficDiffers = "TrafficDiffers"

	// ReasonRouteNotAccepted means that a Gateway does not accept the current generation of a route, or not all of it.
	ReasonRouteNotAccepted = "RouteNotAccepted"

	// ReasonRefsNotResolved means that a Gateway has not found the objects that the current generation of a route refers to.
	ReasonRefsNotResolved = "RefsNotResolved"

	// ReasonCanaryNotAvailable means that a Deployment of the new track has not all of its pods.
	ReasonCanaryNotAvailable = "CanaryNotAvailable"

	// ReasonObjectFailed means that the cluster declared final that an object of the deployment failed: the rollout of a Deployment exceeded its progress
	// deadline, a Job or a pod failed, or a controller stopped its retries.
	ReasonObjectFailed = "ObjectFailed"
)
