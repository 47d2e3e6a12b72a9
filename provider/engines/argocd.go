package engines

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const (
	argoGroup = "argoproj.io"

	// argoRefreshKey is the annotation that makes the controller compare now. The controller removes it after that.
	argoRefreshKey = "argocd.argoproj.io/refresh"

	// argoSkipKey is the annotation that makes the controller leave an Application alone.
	argoSkipKey = "argocd.argoproj.io/skip-reconcile"

	// argoPathsKey is the annotation with the paths whose changes make the controller render an Application again.
	argoPathsKey = "argocd.argoproj.io/manifest-generate-paths"

	// argoUnknown is the health of an object that the controller cannot assess. The Application has that health then, even if another object is degraded.
	argoUnknown = "Unknown"

	// argoInCluster is the URL by which the controller names the cluster that it runs in.
	argoInCluster = "https://kubernetes.default.svc"
)

type argoApplication struct {
	Operation map[string]any `json:"operation"`
	Spec      struct {
		Source         *argoSource   `json:"source"`
		Sources        []argoSource  `json:"sources"`
		SourceHydrator *argoHydrator `json:"sourceHydrator"`
		Destination    struct {
			Server string `json:"server"`
			Name   string `json:"name"`
		} `json:"destination"`
		SyncPolicy struct {
			Automated *struct {
				Enabled *bool `json:"enabled"`
				Prune   *bool `json:"prune"`
			} `json:"automated"`
		} `json:"syncPolicy"`
	} `json:"spec"`
	Status struct {
		SourceType  string   `json:"sourceType"`
		SourceTypes []string `json:"sourceTypes"`
		Sync        struct {
			Status    string   `json:"status"`
			Revision  string   `json:"revision"`
			Revisions []string `json:"revisions"`
		} `json:"sync"`
		Health struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"health"`
		OperationState *struct {
			Phase      string `json:"phase"`
			Message    string `json:"message"`
			SyncResult struct {
				Revision  string   `json:"revision"`
				Revisions []string `json:"revisions"`
			} `json:"syncResult"`
		} `json:"operationState"`
		Conditions []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"conditions"`
		SourceHydrator struct {
			CurrentOperation *struct {
				Phase   string `json:"phase"`
				Message string `json:"message"`
			} `json:"currentOperation"`
			LastSuccessfulOperation *struct {
				DrySHA      string `json:"drySHA"`      //nolint:tagliatelle // Argo CD's name.
				HydratedSHA string `json:"hydratedSHA"` //nolint:tagliatelle // Argo CD's name.
			} `json:"lastSuccessfulOperation"`
		} `json:"sourceHydrator"`
	} `json:"status"`
}

func observeArgoCD(w Want, main *unstructured.Unstructured) Observation {
	a := argoApplication{}
	if err := DecodeObject(main, &a); err != nil {
		return unreadableObject(err)
	}
	o := Observation{Generation: main.GetGeneration(), Health: a.Status.Health.Status}
	v, reason, message := a.findSiteSource(w)
	if reason != "" {
		o.Reason, o.Message = reason, message
		return o
	}
	o.Root, o.Proof = cleanDirectory(v.source.Path), v.proof
	o.Commit, o.Attempted = parseCommitID(v.compared), parseCommitID(v.attempted)
	o.Report, o.URL = a.newArgoReport(w, v.source, main), sanitizeURL(v.source.RepoURL)
	if hasSpecField(main, "ignoreDifferences") && o.Proof == v1alpha1.ProofExact {
		o.Proof = v1alpha1.ProofTransformed
	}
	o.Reason, o.Message = argoNotLiveReason(w, a, v.source, main)
	if o.Reason == "" && o.Commit == "" {
		o.Reason, o.Message = v1alpha1.SiteReasonEngineNotProvable, "status.sync names no commit"
	}
	o.IsUncompared = !a.isResultCompared()
	o.StillApplied = o.Reason == v1alpha1.SiteReasonProgressing && (a.Status.Sync.Status == "Synced" || a.isOperationRunning()) && isComparedToDestination(main)
	o.FinalFailure = o.Reason == v1alpha1.SiteReasonEngineFailed && a.hasOperationFailed() && !a.hasHydrationFailed() && !o.IsUncompared
	o.MayHideFailure = o.Reason == v1alpha1.SiteReasonProgressing && o.Health == argoUnknown && !o.IsUncompared
	return o
}

func argoNotLiveReason(w Want, a argoApplication, s argoSource, main *unstructured.Unstructured) (string, string) {
	if isArgoSkipped(main) {
		return v1alpha1.SiteReasonSuspended, "the Application has annotation " + argoSkipKey
	}
	d := a.Spec.Destination
	inside := d.Name == "in-cluster" || strings.TrimRight(d.Server, "/") == argoInCluster
	if inside == w.Elsewhere {
		return v1alpha1.SiteReasonWrongCluster, "spec.destination does not name the Site's cluster"
	}
	if message := describeUnwatchedDirectory(w, s, main.GetAnnotations()[argoPathsKey]); message != "" {
		return v1alpha1.SiteReasonEngineNotProvable, message
	}
	for _, c := range a.Status.Conditions {
		if strings.HasSuffix(c.Type, "Error") {
			return v1alpha1.SiteReasonEngineFailed, markEngineText(c.Type + ": " + c.Message)
		}
	}
	return argoSyncReason(a, main)
}

// isArgoSkipped reports whether the controller leaves an Application alone. It parses the value as Go does, and ignores a malformed value.
func isArgoSkipped(main *unstructured.Unstructured) bool {
	isSkipped, err := strconv.ParseBool(main.GetAnnotations()[argoSkipKey])
	return err == nil && isSkipped
}

// argoSyncReason returns why the compared commit is not applied and healthy, or an empty reason. The revision in status.sync was compared,
// not applied: it is a proof only if the comparison was made with the present spec and found no difference.
func argoSyncReason(a argoApplication, main *unstructured.Unstructured) (string, string) {
	if reason, message := a.hydrationReason(); reason != "" {
		return reason, message
	}
	switch {
	case a.isOperationRunning():
		return v1alpha1.SiteReasonProgressing, "an operation is running"
	case main.GetAnnotations()[argoRefreshKey] != "":
		return v1alpha1.SiteReasonProgressing, "a refresh was requested and has not run yet"
	case !isComparedToSpec(main):
		return v1alpha1.SiteReasonProgressing, "the last comparison was made with an older spec"
	case !isHydratedFromSpec(main):
		return v1alpha1.SiteReasonProgressing, "the last hydration was made with an older spec"
	case a.Status.Sync.Status != "Synced" && a.hasOperationFailed():
		return v1alpha1.SiteReasonEngineFailed, markEngineText(a.Status.OperationState.Message)
	case a.Status.Sync.Status == "OutOfSync" && !a.isAutomated() && !isGenerated(main):
		return v1alpha1.SiteReasonSuspended, "spec.syncPolicy.automated is off: sync it by hand"
	case a.awaitsPruning(main):
		return v1alpha1.SiteReasonSuspended, "only objects that Git does not have differ, and spec.syncPolicy.automated.prune is off: prune them by hand"
	case a.Status.Sync.Status != "Synced":
		return v1alpha1.SiteReasonProgressing, "sync status " + a.Status.Sync.Status
	}
	switch h := a.Status.Health; h.Status {
	case "Healthy":
		return "", ""
	case "Degraded", "Missing":
		return v1alpha1.SiteReasonUnhealthy, markEngineText(strings.Trim(h.Status+": "+h.Message, ": "))
	default:
		return v1alpha1.SiteReasonProgressing, strings.Trim("health "+h.Status+": "+markEngineText(h.Message), ": ")
	}
}

// isAutomated reports whether the controller syncs differences by itself. A policy that does not say whether it is enabled is.
func (a argoApplication) isAutomated() bool {
	automated := a.Spec.SyncPolicy.Automated
	return automated != nil && ptr.Deref(automated.Enabled, true)
}

// awaitsPruning reports whether an Application is out of sync because of objects alone that Git does not have any more, and that the policy does not let the
// controller remove. It stays out of sync until a user prunes them.
func (a argoApplication) awaitsPruning(main *unstructured.Unstructured) bool {
	if a.Status.Sync.Status != "OutOfSync" || !a.isAutomated() || ptr.Deref(a.Spec.SyncPolicy.Automated.Prune, false) {
		return false
	}
	hasRemoved := false
	for r := range listEntries(main, "status", "resources") {
		switch {
		case isNonEmptyValue(r["requiresPruning"]):
			hasRemoved = true
		case textOfEntry(r, "status") != "Synced":
			return false // The controller syncs it.
		}
	}
	return hasRemoved
}

// isGenerated reports whether an ApplicationSet made the Application. A RollingSync strategy turns the Application's own policy off, and the ApplicationSet syncs it.
func isGenerated(main *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(main)
	return owner != nil && owner.Kind == "ApplicationSet" && strings.HasPrefix(owner.APIVersion, argoGroup+"/")
}

func (a argoApplication) isOperationRunning() bool {
	s := a.Status.OperationState
	return len(a.Operation) > 0 || s != nil && (s.Phase == "Running" || s.Phase == "Terminating")
}

func (a argoApplication) hasOperationFailed() bool {
	s := a.Status.OperationState
	return s != nil && (s.Phase == "Failed" || s.Phase == "Error")
}

// isComparedToSpec reports whether the last comparison was made with the sources and the destination that the spec has now, and ignored the
// differences that it ignores now. An earlier version of Argo CD does not record the ignored differences.
func isComparedToSpec(main *unstructured.Unstructured) bool {
	compared, _, _ := unstructured.NestedMap(main.Object, "status", "sync", "comparedTo")
	if compared == nil {
		return false
	}
	for _, field := range []string{"source", "sources", "destination"} {
		want, found, _ := unstructured.NestedFieldCopy(main.Object, "spec", field)
		if found && !equalIgnoringEmpty(want, compared[field]) {
			return false
		}
	}
	ignored, _, _ := unstructured.NestedFieldNoCopy(main.Object, "spec", "ignoreDifferences")
	return !isNonEmptyValue(compared["ignoreDifferences"]) || equalIgnoringEmpty(ignored, compared["ignoreDifferences"])
}

// isComparedToDestination reports whether the last comparison was made with the cluster and the namespace that the spec names now. Objects that were applied to
// another destination are not there.
func isComparedToDestination(main *unstructured.Unstructured) bool {
	requested, _, _ := unstructured.NestedFieldNoCopy(main.Object, "spec", "destination")
	compared, _, _ := unstructured.NestedFieldNoCopy(main.Object, "status", "sync", "comparedTo", "destination")
	return equalIgnoringEmpty(requested, compared)
}

// isHydratedFromSpec reports whether the source hydrator last rendered the sources that the spec has now. After a change of the spec, the status names the commit
// that it rendered from the earlier directory until the controller begins the next hydration. It is true without a source hydrator.
func isHydratedFromSpec(main *unstructured.Unstructured) bool {
	requested, _, _ := unstructured.NestedFieldNoCopy(main.Object, "spec", "sourceHydrator")
	rendered, _, _ := unstructured.NestedFieldNoCopy(main.Object, "status", "sourceHydrator", "lastSuccessfulOperation", "sourceHydrator")
	return !isNonEmptyValue(requested) || equalIgnoringEmpty(requested, rendered)
}

// equalIgnoringEmpty compares two values of JSON. One of them may hold empty fields that the other one leaves out.
func equalIgnoringEmpty(a, b any) bool {
	return reflect.DeepEqual(dropEmptyValues(a), dropEmptyValues(b))
}

func dropEmptyValues(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if p := dropEmptyValues(e); p != nil {
				out[k] = p
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, dropEmptyValues(e))
		}
		if len(out) > 0 {
			return out
		}
	case string:
		if v != "" {
			return v
		}
	case bool:
		if v {
			return v
		}
	case nil:
	default:
		b, err := json.Marshal(v)
		if err == nil {
			return string(b)
		}
	}
	return nil
}

func argoRefreshAnnotation(main *unstructured.Unstructured) (Annotation, bool) {
	if main.GetAnnotations()[argoRefreshKey] != "" || isArgoSkipped(main) {
		return Annotation{}, false
	}
	ref := Ref{
		Resource: main.GroupVersionKind().GroupVersion().WithResource("applications"), Kind: main.GetKind(),
		Namespace: main.GetNamespace(), Name: main.GetName(),
	}
	return Annotation{On: ref, Key: argoRefreshKey, Value: "normal"}, true
}
