package wait

import (
	"context"
	"time"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
)

// decisionTimeout is how long after its creation a RolloutRequest holds back the end of a wait. A deployment decides within seconds. A request that is open for
// longer waits for something else, such as an update that cannot be delivered now, for days.
const decisionTimeout = time.Minute

// findRequest returns the newest RolloutRequest to a deployment about which nothing was decided, or nil.
type findRequest func(context.Context, rolloutv1alpha1.DeploymentReference) *rolloutv1alpha1.RolloutRequest

// awaitDecisions returns an observation that ends nothing while a new RolloutRequest is undecided: the status still shows the end from before
// the request. A blocked object stays at its end, since it decides nothing before a user changes its spec.
func (w *waiter) awaitDecisions(observe func(context.Context) (progress, error), find findRequest) func(context.Context) (progress, error) {
	return func(ctx context.Context) (progress, error) {
		p, err := observe(ctx)
		if err != nil || p.result == resultGoesOn || p.isBlocked || p.at.Name == "" {
			return p, err
		}
		r := find(ctx, deploymentOf(p.at))
		if r == nil || w.now().Sub(r.GetCreationTimestamp().Time) >= decisionTimeout {
			return p, nil
		}
		p.result, p.message = resultGoesOn, "Waiting: nothing was decided yet about RolloutRequest "+r.GetName()+" ("+string(r.Spec.Action)+"). "+p.message
		return p, nil
	}
}

// deploymentOf returns the deployment that RolloutRequests about an object name: the object itself, or the deployment that an Application of
// either group composes.
func deploymentOf(o subject.Report) rolloutv1alpha1.DeploymentReference {
	if o.Kind == applicationv1alpha1.Kind {
		o.Kind, o.Group = deploymentv1alpha1.Kind, deploymentv1alpha1.GroupNamespaced
	}
	return rolloutv1alpha1.DeploymentReference{APIGroup: o.Group, Kind: o.Kind, Name: o.Name}
}
