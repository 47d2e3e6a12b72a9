package engines

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const (
	fluxKustomize = "kustomize.toolkit.fluxcd.io"
	fluxSources   = "source.toolkit.fluxcd.io"

	// fluxRequested makes a controller of Flux look now, each time that its value changes.
	fluxRequested = "reconcile.fluxcd.io/requestedAt"
)

type fluxKustomization struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Suspend    bool           `json:"suspend"`
		Path       string         `json:"path"`
		SourceRef  fluxSourceRef  `json:"sourceRef"`
		KubeConfig map[string]any `json:"kubeConfig"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration        int64              `json:"observedGeneration"`
		Conditions                []metav1.Condition `json:"conditions"`
		LastAppliedRevision       string             `json:"lastAppliedRevision"`
		LastAttemptedRevision     string             `json:"lastAttemptedRevision"`
		LastAppliedOriginRevision string             `json:"lastAppliedOriginRevision"`
	} `json:"status"`
}

type fluxSourceRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
}

type fluxRepository struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Suspend bool   `json:"suspend"`
		URL     string `json:"url"`
		Ref     struct {
			Branch string `json:"branch"`
			Tag    string `json:"tag"`
			SemVer string `json:"semver"`
			Name   string `json:"name"`
			Commit string `json:"commit"`
		} `json:"ref"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func fluxSource(main *unstructured.Unstructured) (Ref, bool) {
	k := fluxKustomization{}
	if err := decode(main, &k); err != nil {
		return Ref{}, false
	}
	s := k.Spec.SourceRef
	resource := map[string]string{"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories", "Bucket": "buckets"}[s.Kind]
	gv, err := schema.ParseGroupVersion(s.APIVersion)
	if resource == "" || err != nil {
		return Ref{}, false
	}
	if gv.Empty() {
		gv = schema.GroupVersion{Group: fluxSources, Version: "v1"}
	}
	if gv.Group != fluxSources {
		return Ref{}, false
	}
	if s.Namespace == "" {
		s.Namespace = main.GetNamespace()
	}
	return Ref{Resource: gv.WithResource(resource), Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}, true
}

// flux reads a Kustomization and its source.
func flux(w Want, main, source *unstructured.Unstructured) Observation {
	k := fluxKustomization{}
	if err := decode(main, &k); err != nil {
		return unreadable(err)
	}
	o := Observation{
		Generation: k.Status.ObservedGeneration,
		Health:     fluxHealth(k),
		Commit:     commitOf(k.Status.LastAppliedRevision),
		Attempted:  commitOf(k.Status.LastAttemptedRevision),
		Proof:      fluxProof(main, source),
		Root:       clean(k.Spec.Path),
	}
	if _, git := fluxSource(main); git && k.Spec.SourceRef.Kind != "GitRepository" {
		// The revision is the digest of an artifact. Whoever made that may have said which commit it holds.
		o.Commit = commitOf(k.Status.LastAppliedOriginRevision)
		o.Attempted = o.Commit
	}
	o.Reason, o.Message = fluxReason(w, k, source, o)
	o.Holds = o.Reason == v1alpha1.SiteReasonProgressing || o.Reason == v1alpha1.SiteReasonEngineFailed && fluxWaits(k)
	o.Broken = o.Reason == v1alpha1.SiteReasonStalled || o.Reason == v1alpha1.SiteReasonEngineFailed && fluxJudged(k)
	return o
}

func fluxReason(w Want, k fluxKustomization, source *unstructured.Unstructured, o Observation) (string, string) {
	if k.Spec.Suspend {
		return v1alpha1.SiteReasonSuspended, "the Kustomization is suspended"
	}
	if remote := len(k.Spec.KubeConfig) > 0; remote != w.Elsewhere {
		return v1alpha1.SiteReasonWrongCluster, fluxWrongCluster(remote)
	}
	if reason, message := fluxSourceReason(w, k, source, o); reason != "" {
		return reason, message
	}
	return fluxApplied(k)
}

func fluxWrongCluster(remote bool) string {
	if remote {
		return "spec.kubeConfig leads to another cluster than the one that the Kustomization is in, which is the Site's"
	}
	return "the Kustomization has no spec.kubeConfig, so it applies to the cluster that it is in, which is not the Site's"
}

// fluxSourceReason says what is wrong with the source.
func fluxSourceReason(w Want, k fluxKustomization, source *unstructured.Unstructured, o Observation) (string, string) {
	kind := k.Spec.SourceRef.Kind
	if source == nil {
		return v1alpha1.SiteReasonEngineObjectMissing, fmt.Sprintf("its source, %s %s, does not exist or cannot be read", kind, k.Spec.SourceRef.Name)
	}
	if kind != "GitRepository" {
		if why := wrongPath(w, o.Root); why != "" {
			return v1alpha1.SiteReasonWrongSource, why
		}
		if k.Status.LastAppliedRevision != "" && o.Commit == "" {
			return v1alpha1.SiteReasonEngineNotProvable, "the artifact of the " + kind + " does not say which commit it holds"
		}
		return "", ""
	}
	r := fluxRepository{}
	if err := decode(source, &r); err != nil {
		return v1alpha1.SiteReasonEngineNotProvable, err.Error()
	}
	return fluxRepositoryReason(w, r, o)
}

func fluxRepositoryReason(w Want, r fluxRepository, o Observation) (string, string) {
	ref := r.Spec.Ref
	branch := ref.Branch
	if ref.Name != "" {
		branch = ref.Name
	}
	if branch == "" && ref.Tag == "" && ref.SemVer == "" {
		branch = "master" // Flux's default.
	}
	switch why := wrongSource(w, r.Spec.URL, branch, o.Root); {
	case why != "":
		return v1alpha1.SiteReasonWrongSource, why
	case ref.Name == "" && (ref.Tag != "" || ref.SemVer != ""), ref.Commit != "":
		return v1alpha1.SiteReasonWrongSource, "its source is pinned to a tag or a commit, and follows no branch"
	case r.Spec.Suspend:
		return v1alpha1.SiteReasonSuspended, "its source is suspended"
	}
	if c := find(r.Status.Conditions, "Stalled"); c.Status == metav1.ConditionTrue {
		return v1alpha1.SiteReasonStalled, "its source: " + said(c)
	}
	if c := find(r.Status.Conditions, "Ready"); c.Status == metav1.ConditionFalse && c.ObservedGeneration == r.Metadata.Generation {
		return v1alpha1.SiteReasonEngineFailed, "its source: " + said(c)
	}
	return "", ""
}

// fluxApplied says what the controller made of the commit. It moves status.observedGeneration after success only: what a failure
// speaks of is said by its condition.
func fluxApplied(k fluxKustomization) (string, string) {
	ready := find(k.Status.Conditions, "Ready")
	if ready.ObservedGeneration != k.Metadata.Generation || ready.Status == metav1.ConditionTrue && k.Status.ObservedGeneration != k.Metadata.Generation {
		return v1alpha1.SiteReasonProgressing, "the controller has not seen the last change of the Kustomization"
	}
	if c := find(k.Status.Conditions, "Stalled"); c.Status == metav1.ConditionTrue {
		return v1alpha1.SiteReasonStalled, said(c)
	}
	switch ready.Status {
	case metav1.ConditionFalse:
		return v1alpha1.SiteReasonEngineFailed, said(ready)
	case metav1.ConditionTrue:
		if k.Status.LastAppliedRevision != "" && k.Status.LastAppliedRevision == k.Status.LastAttemptedRevision {
			return "", ""
		}
	}
	return v1alpha1.SiteReasonProgressing, said(ready)
}

// fluxJudged is true for failures that follow from what was attempted. Others, such as an API server that does not answer, pass.
func fluxJudged(k fluxKustomization) bool {
	switch find(k.Status.Conditions, "Ready").Reason {
	case "BuildFailed", "HealthCheckFailed":
		return true
	}
	return false
}

// fluxWaits is true if the controller could not even begin, or has nothing to complain about but its source.
func fluxWaits(k fluxKustomization) bool {
	switch ready := find(k.Status.Conditions, "Ready"); ready.Reason {
	case "ArtifactFailed", "DependencyNotReady":
		return true
	default:
		return ready.Status != metav1.ConditionFalse
	}
}

// fluxHealth is the condition Healthy, which is there only if the controller was told to look.
func fluxHealth(k fluxKustomization) string {
	switch find(k.Status.Conditions, "Healthy").Status {
	case metav1.ConditionTrue:
		return "Healthy"
	case metav1.ConditionFalse:
		return "Unhealthy"
	case metav1.ConditionUnknown:
		return "Unknown"
	}
	return ""
}

// fluxProof is weaker where the Kustomization changes what it applies, or the source leaves something out.
func fluxProof(main, source *unstructured.Unstructured) v1alpha1.Proof {
	changes := []string{
		"postBuild", "patches", "patchesStrategicMerge", "patchesJson6902", "components", "targetNamespace", "images",
		"namePrefix", "nameSuffix", "commonMetadata", "decryption", "ignoreMissingComponents",
	}
	if has(main, changes...) || source != nil && has(source, "ignore", "sparseCheckout", "include") {
		return v1alpha1.ProofTransformed
	}
	return v1alpha1.ProofExact
}

// askFlux asks the source: what it finds there wakes the Kustomization by itself.
func askFlux(main, source *unstructured.Unstructured, token string) (Annotation, bool) {
	ref, ok := fluxSource(main)
	if !ok || source == nil || ref.Kind != "GitRepository" || source.GetAnnotations()[fluxRequested] == token {
		return Annotation{}, false
	}
	return Annotation{On: ref, Key: fluxRequested, Value: token}, true
}

// commitOf reads how Flux names a commit: main@sha1:<id>, or sha1:<id> where no branch was named.
func commitOf(revision string) string {
	id, ok := strings.CutPrefix(revision[strings.LastIndex(revision, "@")+1:], "sha1:")
	if !ok {
		return ""
	}
	return hexOf(id)
}

// has is true if the spec of an object sets one of these fields.
func has(u *unstructured.Unstructured, fields ...string) bool {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	for _, f := range fields {
		switch v := spec[f].(type) {
		case nil:
		case bool:
			if v {
				return true
			}
		case string:
			if v != "" {
				return true
			}
		case []any:
			if len(v) > 0 {
				return true
			}
		case map[string]any:
			if len(v) > 0 {
				return true
			}
		default:
			return true
		}
	}
	return false
}

func find(conditions []metav1.Condition, typ string) metav1.Condition {
	for _, c := range conditions {
		if c.Type == typ {
			return c
		}
	}
	return metav1.Condition{}
}

func said(c metav1.Condition) string {
	return quote(strings.Trim(c.Reason+": "+c.Message, ": "))
}
