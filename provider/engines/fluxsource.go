package engines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

type fluxSourceRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
}

// A fluxRepository is a source. An OCIRepository and a Bucket have the same fields, except for the fields of ref.
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

func refOfFluxSource(main *unstructured.Unstructured) (Ref, bool) {
	k := fluxKustomization{}
	if err := DecodeObject(main, &k); err != nil {
		return Ref{}, false
	}
	s := k.sourceRef()
	if !s.isReadable() {
		return Ref{}, false
	}
	gv, _ := schema.ParseGroupVersion(s.APIVersion) // It is readable.
	if gv.Empty() {
		gv = schema.GroupVersion{Group: fluxSources, Version: "v1"}
	}
	resource := map[string]string{"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories", "Bucket": "buckets"}[s.Kind]
	return Ref{Resource: gv.WithResource(resource), Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}, true
}

// sourceRef returns the reference to the source, with the namespace of the Kustomization where it has none.
func (k fluxKustomization) sourceRef() fluxSourceRef {
	s := k.Spec.SourceRef
	s.Namespace = cmp.Or(s.Namespace, k.Metadata.Namespace)
	return s
}

// fluxSourceKinds lists the kinds of sources that are read.
func fluxSourceKinds() []string { return []string{"GitRepository", "OCIRepository", "Bucket"} }

// isReadable is true for a source of a kind that is read.
func (s fluxSourceRef) isReadable() bool {
	gv, err := schema.ParseGroupVersion(s.APIVersion)
	return err == nil && slices.Contains(fluxSourceKinds(), s.Kind) && (gv.Empty() || gv.Group == fluxSources)
}

// fluxSourceReason returns the reason and message of an error in the source, or an empty reason.
func fluxSourceReason(w Want, k fluxKustomization, source *unstructured.Unstructured, o Observation) (string, string) {
	if source == nil {
		return fluxSourceMissing(k.sourceRef())
	}
	r := fluxRepository{}
	if err := DecodeObject(source, &r); err != nil {
		return v1alpha1.SiteReasonEngineNotProvable, err.Error()
	}
	if reason, message := fluxContentReason(w, k, r, o); reason != "" {
		return reason, message
	}
	return fluxFetchReason(r)
}

// fluxContentReason returns why the content of the source cannot be the Site's content, or an empty reason.
func fluxContentReason(w Want, k fluxKustomization, r fluxRepository, o Observation) (string, string) {
	kind := k.Spec.SourceRef.Kind
	if kind == "GitRepository" {
		message := cmp.Or(describeWrongSource(w, r.followedBranch(), o.Root), r.describePin())
		return reasonForMessage(message, v1alpha1.SiteReasonWrongSource)
	}
	if message := describeWrongPath(w, o.Root); message != "" {
		return v1alpha1.SiteReasonWrongSource, message
	}
	if k.Status.LastAppliedRevision != "" && o.Commit == "" {
		return v1alpha1.SiteReasonEngineNotProvable, "the artifact of the " + kind + " does not say which commit it holds"
	}
	return "", ""
}

// reasonForMessage returns a reason and its message, or an empty reason for an empty message.
func reasonForMessage(message, reason string) (string, string) {
	if message == "" {
		return "", ""
	}
	return reason, message
}

// fluxSourceMissing returns why no source was read: its kind is none that the provider reads, or it does not exist.
func fluxSourceMissing(s fluxSourceRef) (string, string) {
	if !s.isReadable() {
		name := strings.Trim(s.APIVersion+" "+s.Kind, " ")
		return v1alpha1.SiteReasonEngineNotProvable, fmt.Sprintf("its source is of kind %s, which the provider does not read: name a %s of %s", name, strings.Join(fluxSourceKinds(), " or "), fluxSources)
	}
	ref := Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
	return v1alpha1.SiteReasonEngineObjectMissing, fmt.Sprintf("its source, %s, does not exist: create it, or name another source in spec.sourceRef", ref)
}

// followedBranch returns the branch or the reference that a GitRepository reads. It is empty for a repository that reads a tag.
func (r fluxRepository) followedBranch() string {
	ref := r.Spec.Ref
	if branch := cmp.Or(ref.Name, ref.Branch); branch != "" || ref.Tag != "" || ref.SemVer != "" {
		return branch
	}
	return "master" // Flux's default.
}

// describePin says that a GitRepository follows no branch, or returns "".
func (r fluxRepository) describePin() string {
	ref := r.Spec.Ref
	if ref.Name == "" && (ref.Tag != "" || ref.SemVer != "") || ref.Commit != "" {
		return "its source is pinned to a tag or a commit, and follows no branch"
	}
	return ""
}

// fluxFetchReason returns why the controller does not fetch the present content of a source, or an empty reason. It is the same for each kind.
func fluxFetchReason(r fluxRepository) (string, string) {
	if r.Spec.Suspend {
		return v1alpha1.SiteReasonSuspended, "its source is suspended"
	}
	if c := fluxStallCondition(r.Status.Conditions, r.Metadata.Generation); c.Type != "" {
		return v1alpha1.SiteReasonStalled, "its source: " + describeCondition(c)
	}
	if c := findCondition(r.Status.Conditions, "Ready"); c.Status == metav1.ConditionFalse && c.ObservedGeneration == r.Metadata.Generation {
		return v1alpha1.SiteReasonEngineFailed, "its source: " + describeCondition(c)
	}
	return "", ""
}

// fluxSourceURL returns the URL of a source.
func fluxSourceURL(source *unstructured.Unstructured) string {
	if source == nil {
		return ""
	}
	raw, _, _ := unstructured.NestedString(source.Object, "spec", "url")
	return sanitizeURL(raw)
}

// fluxRefreshAnnotation annotates the source: a new artifact makes Flux reconcile the Kustomization.
func fluxRefreshAnnotation(main, source *unstructured.Unstructured, token string) (Annotation, bool) {
	ref, ok := refOfFluxSource(main)
	if !ok || source == nil || ref.Kind != "GitRepository" || source.GetAnnotations()[fluxRequestedKey] == token {
		return Annotation{}, false
	}
	return Annotation{On: ref, Key: fluxRequestedKey, Value: token}, true
}
