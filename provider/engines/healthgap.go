package engines

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
)

// Health returns the health that an engine reported, or "" for an engine that calls all objects healthy and leaves out a workload of the
// directory.
func (c Coverage) Health(reported string) string {
	if c.HealthGap != "" && IsHealthy(reported) {
		return ""
	}
	return reported
}

// describeHealthGap returns why an engine's health says nothing about a workload, or "". It is "" for an object of another kind: a pod that does not run is seen in
// the workload that has it.
func (r Report) describeHealthGap(e catalogv1alpha1.EngineType, m instruction.Manifest, source string, isApplied bool) string {
	var cause string
	switch {
	case !isWorkload(m.Object):
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
	return SanitizeMessage(fmt.Sprintf("%s: %s", m.Object, cause))
}

// isWorkload reports whether an object has pods.
func isWorkload(o policy.Object) bool {
	switch o.Group {
	case "":
		return o.Kind == "Pod" || o.Kind == "ReplicationController"
	case "apps":
		return true
	case argoGroup:
		return o.Kind == "Rollout"
	}
	return o.Group == "batch" && o.Kind == "Job"
}

// fluxUnchecked returns which objects are not among the health checks of a Kustomization. With spec.wait the controller checks all, and ignores the list.
func fluxUnchecked(main *unstructured.Unstructured) func(policy.Object) bool {
	checked := map[policy.Object]bool{}
	for c := range listEntries(main, "spec", "healthChecks") {
		gv, _ := schema.ParseGroupVersion(textOf(c, "apiVersion")) // The controller refuses a malformed version.
		checked[policy.Object{Group: gv.Group, Kind: textOf(c, "kind"), Namespace: textOf(c, "namespace"), Name: textOf(c, "name")}] = true
	}
	return func(o policy.Object) bool { return !checked[o] }
}
