package engines

import (
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
	if err := decodeObject(main, &k); err != nil {
		return Ref{}, false
	}
	s := k.Spec.SourceRef
	if !s.isReadable() {
		return Ref{}, false
	}
	gv, _ := schema.ParseGroupVersion(s.APIVersion) // It is readable.
	if gv.Empty() {
		gv = schema.GroupVersion{Group: fluxSources, Version: "v1"}
	}
	if s.Namespace == "" {
		s.Namespace = main.GetNamespace()
	}
	resource := map[string]string{"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories", "Bucket": "buckets"}[s.Kind]
	return Ref{Resource: gv.WithResource(resource), Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}, true
}

// fluxSourceKinds lists the kinds of sources that are read.
func fluxSourceKinds() []string { return []string{"GitRepository", "OCIRepository", "Bucket"} }

// isReadable is true for a source of a kind that is read.
func (s fluxSourceRef) isReadable() bool {
	gv, err := schema.ParseGroupVersion(s.APIVersion)
	return err == nil && slices.Contains(fluxSourceKinds(), s.Kind) && (gv.Empty() || gv.Group == fluxSources)
}

// fluxSourceReason returns what is wrong with the source, or an empty reason.
func fluxSourceReason(w Want, k fluxKustomization, source *unstructured.Unstructured, o Observation) (string, string) {
	kind := k.Spec.SourceRef.Kind
	if source == nil {
		return fluxSourceMissing(k.Spec.SourceRef)
	}
	if kind != "GitRepository" {
		if why := describeWrongPath(w, o.Root); why != "" {
			return v1alpha1.SiteReasonWrongSource, why
		}
		if k.Status.LastAppliedRevision != "" && o.Commit == "" {
			return v1alpha1.SiteReasonEngineNotProvable, "the artifact of the " + kind + " does not say which commit it holds"
		}
		return "", ""
	}
	r := fluxRepository{}
	if err := decodeObject(source, &r); err != nil {
		return v1alpha1.SiteReasonEngineNotProvable, err.Error()
	}
	return fluxRepositoryReason(w, r, o)
}

// fluxSourceMissing returns why no source was read: its kind is none that the provider reads, or it does not exist.
func fluxSourceMissing(s fluxSourceRef) (string, string) {
	if !s.isReadable() {
		name := strings.Trim(s.APIVersion+" "+s.Kind, " ")
		return v1alpha1.SiteReasonEngineNotProvable, fmt.Sprintf("its source is of kind %s, which the provider does not read: name a %s of %s", name, strings.Join(fluxSourceKinds(), " or "), fluxSources)
	}
	return v1alpha1.SiteReasonEngineObjectMissing, fmt.Sprintf("its source, %s %s, does not exist", s.Kind, strings.Trim(s.Namespace+"/"+s.Name, "/"))
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
	switch why := describeWrongSource(w, branch, o.Root); {
	case why != "":
		return v1alpha1.SiteReasonWrongSource, why
	case ref.Name == "" && (ref.Tag != "" || ref.SemVer != ""), ref.Commit != "":
		return v1alpha1.SiteReasonWrongSource, "its source is pinned to a tag or a commit, and follows no branch"
	case r.Spec.Suspend:
		return v1alpha1.SiteReasonSuspended, "its source is suspended"
	}
	if c := fluxStall(r.Status.Conditions, r.Metadata.Generation); c.Type != "" {
		return v1alpha1.SiteReasonStalled, "its source: " + describeCondition(c)
	}
	if c := findCondition(r.Status.Conditions, "Ready"); c.Status == metav1.ConditionFalse && c.ObservedGeneration == r.Metadata.Generation {
		return v1alpha1.SiteReasonEngineFailed, "its source: " + describeCondition(c)
	}
	return "", ""
}

// fluxURL returns the URL of a source.
func fluxURL(source *unstructured.Unstructured) string {
	if source == nil {
		return ""
	}
	raw, _, _ := unstructured.NestedString(source.Object, "spec", "url")
	return displayURL(raw)
}

// fluxRefreshAnnotation annotates the source: a new artifact makes Flux reconcile the Kustomization.
func fluxRefreshAnnotation(main, source *unstructured.Unstructured, token string) (Annotation, bool) {
	ref, ok := fluxSource(main)
	if !ok || source == nil || ref.Kind != "GitRepository" || source.GetAnnotations()[fluxRequestedKey] == token {
		return Annotation{}, false
	}
	return Annotation{On: ref, Key: fluxRequestedKey, Value: token}, true
}
