// Package kpack knows the kinds of kpack: the desired Image of an ImageBuild, and the state of an Image and its Builds. Pure.
//
// No success is taken from one object alone. An Image keeps the last image through failed builds and edits, and a Build says nothing about
// the present request: only an Image that is up to date at its current generation, together with its latest Build, of just the wanted commit,
// is evidence.
package kpack

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// LabelImage of a Build holds the name of its Image.
	LabelImage = "image.kpack.io/image"

	// AnnotationAgain on the last Build of an Image lets kpack build once more. Its value means nothing to kpack.
	AnnotationAgain = "image.kpack.io/additionalBuildNeeded"

	annotationReason      = "image.kpack.io/reason"
	annotationBuilderName = "image.kpack.io/builderName"
	annotationBuilderKind = "image.kpack.io/builderKind"
)

// ImageKind returns the kind of an Image.
func ImageKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "kpack.io", Version: "v1alpha2", Kind: "Image"}
}

// BuildKind returns the kind of a Build.
func BuildKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "kpack.io", Version: "v1alpha2", Kind: "Build"}
}

// NewObject returns an empty object of a kind.
func NewObject(kind schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

// condition of an object of kpack.
type condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"`
	Reason             string      `json:"reason"`
	Message            string      `json:"message"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

// source of an Image or a Build.
type source struct {
	Git *struct {
		URL      string `json:"url"`
		Revision string `json:"revision"`
	} `json:"git"`
	Blob *struct {
		URL string `json:"url"`
	} `json:"blob"`
	SubPath string `json:"subPath"`
}

// image has the fields that are read from an Image.
type image struct {
	Spec struct {
		Tag string `json:"tag"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64       `json:"observedGeneration"`
		Conditions         []condition `json:"conditions"`
		LatestBuildRef     string      `json:"latestBuildRef"`
	} `json:"status"`
}

// build has the fields that are read from a Build.
type build struct {
	Spec struct {
		Source             source `json:"source"`
		ServiceAccountName string `json:"serviceAccountName"`
		Builder            struct {
			Image string `json:"image"`
		} `json:"builder"`
	} `json:"spec"`
	Status struct {
		Conditions     []condition `json:"conditions"`
		LatestImage    string      `json:"latestImage"`
		PodName        string      `json:"podName"`
		StepStates     []stepState `json:"stepStates"`
		StepsCompleted []string    `json:"stepsCompleted"`
	} `json:"status"`
}

// stepState is the state of a step's container.
type stepState struct {
	Waiting *struct {
		Reason string `json:"reason"`
	} `json:"waiting"`
	Running    *struct{}                        `json:"running"`
	Terminated *corev1.ContainerStateTerminated `json:"terminated"`
}

// decodeObject reads the fields of an object. An object with fields of unexpected types counts as an object without a report.
func decodeObject[T any](u *unstructured.Unstructured) T {
	var out, zero T
	if u == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &out) != nil {
		return zero
	}
	return out
}

func findCondition(all []condition, conditionType string) condition {
	for _, c := range all {
		if c.Type == conditionType {
			return c
		}
	}
	return condition{}
}

// LatestBuildOf returns the name of the Build that an Image names last, or "".
func LatestBuildOf(u *unstructured.Unstructured) string {
	return decodeObject[image](u).Status.LatestBuildRef
}

// TagOf returns where an Image pushes to.
func TagOf(u *unstructured.Unstructured) string { return decodeObject[image](u).Spec.Tag }

// PodOf returns the name of the pod of a Build, or "".
func PodOf(u *unstructured.Unstructured) string { return decodeObject[build](u).Status.PodName }

// ReasonOf returns why kpack made a Build, such as COMMIT,STACK.
func ReasonOf(u *unstructured.Unstructured) string {
	return strings.TrimSpace(u.GetAnnotations()[annotationReason])
}

// IsBuildOf reports whether kpack made a Build for an Image, and not for an earlier one of its name. A user may have made any other.
func IsBuildOf(b, image *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(b)
	return owner != nil && owner.UID == image.GetUID()
}

// CommitOf returns the commit that a Build builds, or "" for another source.
func CommitOf(u *unstructured.Unstructured) string {
	if git := decodeObject[build](u).Spec.Source.Git; git != nil {
		return git.Revision
	}
	return ""
}

// EndOf returns when a Build ended. Zero means that it runs.
func EndOf(u *unstructured.Unstructured) time.Time {
	c := findCondition(decodeObject[build](u).Status.Conditions, conditionSucceeded)
	if c.Status != string(metav1.ConditionTrue) && c.Status != string(metav1.ConditionFalse) {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}

// IsAskedAgain reports whether another Build is requested after this one.
func IsAskedAgain(u *unstructured.Unstructured) bool {
	_, ok := u.GetAnnotations()[AnnotationAgain]
	return ok
}

// HasSucceeded reports whether a Build succeeded.
func HasSucceeded(u *unstructured.Unstructured) bool {
	return findCondition(decodeObject[build](u).Status.Conditions, conditionSucceeded).Status == string(metav1.ConditionTrue)
}
