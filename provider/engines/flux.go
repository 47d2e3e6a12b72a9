package engines

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const (
	fluxKustomize = "kustomize.toolkit.fluxcd.io"
	fluxSources   = "source.toolkit.fluxcd.io"

	// fluxRequestedKey is the annotation that makes a controller of Flux reconcile now, each time that its value changes.
	fluxRequestedKey = "reconcile.fluxcd.io/requestedAt"
)

type fluxKustomization struct {
	Metadata struct {
		Namespace  string `json:"namespace"`
		Generation int64  `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Suspend    bool           `json:"suspend"`
		Path       string         `json:"path"`
		SourceRef  fluxSourceRef  `json:"sourceRef"`
		KubeConfig map[string]any `json:"kubeConfig"`
		Prune      *bool          `json:"prune"`
		Wait       bool           `json:"wait"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration        int64              `json:"observedGeneration"`
		Conditions                []metav1.Condition `json:"conditions"`
		LastAppliedRevision       string             `json:"lastAppliedRevision"`
		LastAttemptedRevision     string             `json:"lastAttemptedRevision"`
		LastAppliedOriginRevision string             `json:"lastAppliedOriginRevision"`
		Inventory                 *struct{}          `json:"inventory"`
	} `json:"status"`
}

// observeFlux reads a Kustomization and its source.
func observeFlux(w Want, main, source *unstructured.Unstructured) Observation {
	k := fluxKustomization{}
	if err := DecodeObject(main, &k); err != nil {
		return unreadableObject(err)
	}
	o := Observation{
		Generation: k.Status.ObservedGeneration,
		Health:     fluxHealth(k),
		Commit:     parseFluxRevision(k.Status.LastAppliedRevision),
		Attempted:  parseFluxRevision(k.Status.LastAttemptedRevision),
		Proof:      fluxSourceProof(main, source),
		Root:       cleanDirectory(k.Spec.Path),
		Report:     newFluxReport(k, main),
		URL:        fluxSourceURL(source),
	}
	if _, git := refOfFluxSource(main); git && k.Spec.SourceRef.Kind != "GitRepository" {
		// The revision is the digest of an artifact. The publisher of the artifact may have recorded which commit it holds.
		o.Commit = parseFluxRevision(k.Status.LastAppliedOriginRevision)
		o.Attempted = o.Commit
	}
	o.Reason, o.Message = fluxNotLiveReason(w, k, source, o)
	o.StillApplied = o.Reason == v1alpha1.SiteReasonProgressing || o.Reason == v1alpha1.SiteReasonEngineFailed && isFluxAwaitingSource(k)
	o.FinalFailure = o.Reason == v1alpha1.SiteReasonStalled || o.Reason == v1alpha1.SiteReasonEngineFailed && isFinalFluxFailure(k)
	return o
}

func fluxNotLiveReason(w Want, k fluxKustomization, source *unstructured.Unstructured, o Observation) (string, string) {
	if k.Spec.Suspend {
		return v1alpha1.SiteReasonSuspended, "the Kustomization is suspended"
	}
	if remote := len(k.Spec.KubeConfig) > 0; remote != w.Elsewhere {
		return v1alpha1.SiteReasonWrongCluster, fluxWrongCluster(remote)
	}
	if reason, message := fluxSourceReason(w, k, source, o); reason != "" {
		return reason, message
	}
	return fluxApplyReason(k)
}

func fluxWrongCluster(remote bool) string {
	if remote {
		return "spec.kubeConfig names another cluster: the Kustomization is in the Site's cluster and has to apply there"
	}
	return "the Kustomization has no spec.kubeConfig, so it applies to the cluster that it is in, which is not the Site's"
}

// fluxApplyReason returns why the commit is not applied, or an empty reason. The controller moves status.observedGeneration after success
// only: the generation that failed is in the condition.
func fluxApplyReason(k fluxKustomization) (string, string) {
	ready := findCondition(k.Status.Conditions, "Ready")
	if ready.ObservedGeneration != k.Metadata.Generation || ready.Status == metav1.ConditionTrue && k.Status.ObservedGeneration != k.Metadata.Generation {
		return v1alpha1.SiteReasonProgressing, "the controller has not seen the last change of the Kustomization"
	}
	if c := fluxStallCondition(k.Status.Conditions, k.Metadata.Generation); c.Type != "" {
		return v1alpha1.SiteReasonStalled, describeCondition(c)
	}
	switch ready.Status {
	case metav1.ConditionFalse:
		return v1alpha1.SiteReasonEngineFailed, describeCondition(ready)
	case metav1.ConditionTrue:
		if k.Status.LastAppliedRevision != "" && k.Status.LastAppliedRevision == k.Status.LastAttemptedRevision {
			return "", ""
		}
	}
	return v1alpha1.SiteReasonProgressing, describeCondition(ready)
}

// fluxStallCondition returns the condition by which a controller gave up the present generation of its object, or an empty one.
func fluxStallCondition(conditions []metav1.Condition, generation int64) metav1.Condition {
	if c := findCondition(conditions, "Stalled"); c.Status == metav1.ConditionTrue && c.ObservedGeneration == generation {
		return c
	}
	return metav1.Condition{}
}

// fluxStalledSince returns when the controller gave up a Kustomization. A stalled source does not count: other Kustomizations may read it.
func fluxStalledSince(main *unstructured.Unstructured) time.Time {
	k := fluxKustomization{}
	if DecodeObject(main, &k) != nil {
		return time.Time{}
	}
	return fluxStallCondition(k.Status.Conditions, k.Metadata.Generation).LastTransitionTime.Time
}

// isFinalFluxFailure reports whether a failure follows from the attempted content. Other failures, such as an API server that does not
// answer, are temporary.
func isFinalFluxFailure(k fluxKustomization) bool {
	return slices.Contains([]string{"BuildFailed", "HealthCheckFailed"}, findCondition(k.Status.Conditions, "Ready").Reason)
}

// isFluxAwaitingSource reports whether the controller waits for its source or for a dependency, or reports no failure of its own.
func isFluxAwaitingSource(k fluxKustomization) bool {
	ready := findCondition(k.Status.Conditions, "Ready")
	return ready.Status != metav1.ConditionFalse || slices.Contains([]string{"ArtifactFailed", "DependencyNotReady"}, ready.Reason)
}

// fluxHealth returns the condition Healthy. It exists only if the Kustomization has health checks.
func fluxHealth(k fluxKustomization) string {
	return map[metav1.ConditionStatus]string{
		metav1.ConditionTrue: "Healthy", metav1.ConditionFalse: "Unhealthy", metav1.ConditionUnknown: "Unknown",
	}[findCondition(k.Status.Conditions, "Healthy").Status]
}

// parseFluxRevision returns the commit of a revision of Flux: main@sha1:<id>, or sha1:<id> where no branch is named.
func parseFluxRevision(revision string) string {
	id, ok := strings.CutPrefix(revision[strings.LastIndex(revision, "@")+1:], "sha1:")
	if !ok {
		return ""
	}
	return parseCommitID(id)
}

// hasSpecField reports whether the spec of an object sets one of these fields to a value that is not empty.
func hasSpecField(u *unstructured.Unstructured, fields ...string) bool {
	return firstSpecField(u, fields...) != ""
}

// firstSpecField returns the first of these fields that the spec of an object sets to a value that is not empty, or "".
func firstSpecField(u *unstructured.Unstructured, fields ...string) string {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	for _, f := range fields {
		if isNonEmptyValue(spec[f]) {
			return f
		}
	}
	return ""
}

// isNonEmptyValue reports whether a value is not empty.
func isNonEmptyValue(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

func findCondition(conditions []metav1.Condition, typ string) metav1.Condition {
	for _, c := range conditions {
		if c.Type == typ {
			return c
		}
	}
	return metav1.Condition{}
}

func describeCondition(c metav1.Condition) string {
	return markEngineText(strings.Trim(c.Reason+": "+c.Message, ": "))
}
