package engines

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// A FailedObject is an object whose controller declared a failure final, as far as the health that an engine reports says so.
type FailedObject struct {
	// Name is the kind, the namespace and the name of the object.
	Name string

	// Message of the engine about it. It may be empty.
	Message string

	// FailedAt is when the engine began to report a failure.
	FailedAt time.Time
}

// isDegradedFinal reports whether Argo CD calls an object of a kind Degraded for final causes alone: a Deployment that exceeded its progress deadline, a Rollout
// that did, was aborted or is invalid, a Job or another run that failed. Other kinds, such as a pod, a volume or a route, may recover by themselves.
func isDegradedFinal(group, kind string) bool {
	kinds := map[string][]string{
		"apps": {"Deployment"}, "batch": {"Job"}, "tekton.dev": {"PipelineRun", "TaskRun"}, argoGroup: {"AnalysisRun", "Experiment", "Rollout", "Workflow"},
	}
	return slices.Contains(kinds[group], kind)
}

// isFailedFinal reports whether Config Sync calls an object of a kind Failed for final causes alone. It judges by kstatus: a Deployment exceeded its progress
// deadline, a Job failed, a definition has no valid names, or the controller of any other kind is stalled. A pod may recover, and Config Connector tries
// again.
func isFailedFinal(group, kind string) bool {
	isPod := group == "" && kind == "Pod"
	return !isPod && !strings.HasSuffix(group, ".cnrm.cloud.google.com")
}

// FindFailedObject returns the object whose failure an engine reports as final, the first one by name, or nil. An engine that does not say since when it
// reports a failure reports none here: the failure may be about an earlier content.
func FindFailedObject(engine catalogv1alpha1.EngineType, main, second *unstructured.Unstructured) *FailedObject {
	switch {
	case engine == catalogv1alpha1.EngineArgoCD && main != nil:
		return argoFailedObject(main)
	case engine == catalogv1alpha1.EngineConfigSync && second != nil:
		return inventoryFailedObject(main, second)
	}
	return nil
}

// argoFailedObject returns the first object that Argo CD calls Degraded. A version that keeps the health of single objects out of the status reports none.
func argoFailedObject(main *unstructured.Unstructured) *FailedObject {
	health, _, _ := unstructured.NestedStringMap(main.Object, "status", "health")
	failedAt, err := time.Parse(time.RFC3339, health["lastTransitionTime"])
	if err != nil || health["status"] != "Degraded" {
		return nil
	}
	var first *FailedObject
	for r := range listEntries(main, "status", "resources") {
		objectHealth, _ := r["health"].(map[string]any)
		if textOfEntry(objectHealth, "status") == "Degraded" && isDegradedFinal(textOfEntry(r, "group"), textOfEntry(r, "kind")) {
			first = firstByName(first, &FailedObject{Name: entryObjectName(r), Message: textOfEntry(objectHealth, "message"), FailedAt: failedAt})
		}
	}
	return first
}

// inventoryFailedObject returns the first object that the ResourceGroup of Config Sync calls Failed at the synced commit, once the group was stalled for
// one of its objects.
func inventoryFailedObject(main, group *unstructured.Unstructured) *FailedObject {
	g := resourceGroup{}
	if main == nil || DecodeObject(group, &g) != nil || g.Status.ObservedGeneration != g.Metadata.Generation {
		return nil
	}
	stalled := findCondition(g.Status.Conditions, "Stalled")
	if stalled.Status != metav1.ConditionTrue || stalled.LastTransitionTime.IsZero() {
		return nil
	}
	commit, _, _ := unstructured.NestedString(main.Object, "status", "sync", "commit")
	isOfCommit := g.matchCommit(commit)
	var first *FailedObject
	for _, s := range g.Status.ResourceStatuses {
		if s.Status == "Failed" && isFailedFinal(s.Group, s.Kind) && isOfCommit(s) {
			name := Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}.String()
			first = firstByName(first, &FailedObject{Name: name, FailedAt: stalled.LastTransitionTime.Time})
		}
	}
	return first
}

// entryObjectName returns the kind, the namespace and the name of an object in a list of an engine.
func entryObjectName(entry map[string]any) string {
	return Ref{Kind: textOfEntry(entry, "kind"), Namespace: textOfEntry(entry, "namespace"), Name: textOfEntry(entry, "name")}.String()
}

func firstByName(first, candidate *FailedObject) *FailedObject {
	if first == nil || candidate.Name < first.Name {
		return candidate
	}
	return first
}
