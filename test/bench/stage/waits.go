package stage

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
)

// The time limits of one claim, of a step of a story, and of many objects that are made at once.
const (
	ClaimPatience = time.Minute
	StoryPatience = 3 * time.Minute
	CrowdPatience = 30 * time.Minute
)

const (
	// Quiet is the time without changes of Crossplane's tokens before they are counted.
	Quiet = 2 * time.Second

	// Often is an interval that does not pass while a figure is measured.
	Often = "10m"

	// GateInterval is the interval of a Gate's measurements.
	GateInterval = 5 * time.Second

	// SteadyInterval is the interval at which repositories are observed.
	SteadyInterval = time.Minute
	// SteadyIntervals is the number of measured intervals, after an interval in which the work of many objects ends.
	SteadyIntervals = 3
)

// SucceedInTime makes a claim succeed, or fails after a timeout.
func (s *Stage) SucceedInTime(ctx context.Context, name string, sites int) error {
	ctx, cancel := context.WithTimeout(ctx, ClaimPatience)
	defer cancel()
	return s.AwaitSucceeded(ctx, NewClaim(name, sites))
}

// AwaitObject waits until an object is as wanted, and returns it.
func (s *Stage) AwaitObject(ctx context.Context, object *unstructured.Unstructured, condition func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, StoryPatience)
	defer cancel()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(object.GetAPIVersion())
	l.SetKind(object.GetKind() + "List")
	w, err := s.CP.Client.Watch(ctx, l, client.InNamespace(object.GetNamespace()), client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", object.GetName())})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot watch %s", object.GetKind())
	}
	defer w.Stop()
	last := &unstructured.Unstructured{Object: map[string]any{}}
	for e := range w.ResultChan() {
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type == watch.Deleted {
			continue
		}
		if last = u; condition(u) {
			return u, nil
		}
	}
	return nil, errors.Errorf("%s %s is not as wanted: %v", object.GetKind(), object.GetName(), last.Object["status"])
}

// ConditionOf returns the status of a condition.
func ConditionOf(u *unstructured.Unstructured, conditionType string) corev1.ConditionStatus {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range all {
		if m, ok := c.(map[string]any); ok && m["type"] == conditionType {
			status, _ := m["status"].(string)
			return corev1.ConditionStatus(status)
		}
	}
	return ""
}

// NewObject returns an object of a kind.
func NewObject(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// ListOfKind returns an empty list of a kind, such as "apps/v1 Deployment".
func ListOfKind(kind string) *unstructured.UnstructuredList {
	apiVersion, name, _ := strings.Cut(kind, " ")
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(apiVersion)
	l.SetKind(name + "List")
	return l
}

// ReadProcessMemory returns the present memory of the provider's process, from this field of the kernel.
func (s *Stage) ReadProcessMemory(field string) (float64, error) {
	return process.ReadMemory(s.CP.ProviderPID(), field)
}
