package wait

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
)

// decisionTimeout is how long after its creation a RolloutRequest holds back the end of a wait. A deployment decides within seconds. A request that is open for
// longer waits for something else, such as an update that cannot be delivered now, for days.
const decisionTimeout = time.Minute

// The clock of this machine may be ahead of the clock of the API server: a wait holds its end back for minDecisionTime after it first read an open request,
// unless the request is older than clocks differ by.
const (
	minDecisionTime = 10 * time.Second
	maxSkew         = 15 * time.Minute
)

// findRequest returns the newest RolloutRequest to a deployment about which nothing was decided, or nil.
type findRequest func(context.Context, rolloutv1alpha1.DeploymentReference) *rolloutv1alpha1.RolloutRequest

// awaitDecisions returns an observation that ends nothing while a new RolloutRequest is undecided: the status still shows the end from before
// the request. A blocked object stays at its end, since it decides nothing before a user changes its spec.
func (w *waiter) awaitDecisions(observe func(context.Context) (progress, error), find findRequest) func(context.Context) (progress, error) {
	reads := map[types.UID]time.Time{}
	return func(ctx context.Context) (progress, error) {
		p, err := observe(ctx)
		if err != nil || p.result == resultGoesOn || p.isBlocked || p.at.Name == "" {
			return p, err
		}
		r := find(ctx, deploymentOf(p.at))
		if r == nil {
			return p, nil
		}
		if _, isRead := reads[r.GetUID()]; !isRead {
			reads[r.GetUID()] = w.now()
		}
		if !isDecisionPending(r, reads[r.GetUID()], w.now()) {
			return p, nil
		}
		p.result, p.message = resultGoesOn, "Waiting: nothing was decided yet about RolloutRequest "+r.GetName()+" ("+string(r.Spec.Action)+"). "+p.message
		return p, nil
	}
}

// isDecisionPending reports whether a deployment may still decide about a request, which this process first read at a time. The creation of the request is a time of the
// API server.
func isDecisionPending(r *rolloutv1alpha1.RolloutRequest, firstRead, now time.Time) bool {
	age, waited := now.Sub(r.GetCreationTimestamp().Time), now.Sub(firstRead)
	return age < decisionTimeout && waited < decisionTimeout || age < maxSkew && waited < minDecisionTime
}

// deploymentOf returns the deployment that RolloutRequests about an object name: the object itself, or the deployment that an Application of
// either group composes.
func deploymentOf(o subject.Report) rolloutv1alpha1.DeploymentReference {
	if o.Kind == applicationv1alpha1.Kind {
		o.Kind, o.Group = deploymentv1alpha1.Kind, deploymentv1alpha1.GroupNamespaced
	}
	return rolloutv1alpha1.DeploymentReference{APIGroup: o.Group, Kind: o.Kind, Name: o.Name}
}
