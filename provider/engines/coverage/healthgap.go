package coverage

import (
	"fmt"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

// argoRolloutsGroup is the group of Rollouts.
const argoRolloutsGroup = "argoproj.io"

// describeHealthGap returns why an engine's health says nothing about a workload, or "". It is "" for an object of another kind: a pod that does not run is seen in
// the workload that has it.
func (r Report) describeHealthGap(e catalogv1alpha1.EngineType, m instruction.Manifest, source string, isApplied bool) string {
	var cause string
	switch {
	case !isPodWorkload(m.Object):
		return ""
	case !isApplied:
		cause = source
	case m.IsHealthIgnored && e == catalogv1alpha1.EngineArgoCD:
		cause = "its annotation makes Argo CD ignore its health"
	case r.IgnoresHealth != nil && r.IgnoresHealth(m.Object):
		cause = "the engine does not check its health"
	default:
		return ""
	}
	return statusmessage.Sanitize(fmt.Sprintf("%s: %s", m.Object, cause))
}

// isPodWorkload reports whether an object has pods.
func isPodWorkload(o policy.Object) bool {
	switch o.Group {
	case "":
		return o.Kind == "Pod" || o.Kind == "ReplicationController"
	case "apps":
		return true
	case argoRolloutsGroup:
		return o.Kind == "Rollout"
	}
	return o.Group == "batch" && o.Kind == "Job"
}
