package transition

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// reportDrift creates an event for restored drift, once for each restoring commit: the condition names the commit, and the event's name is
// derived from the condition. Drift that is older than maxEventAge is not reported again. It returns an error if the event cannot be
// created.
func (r *Reconciler) reportDrift(ctx context.Context, u *unstructured.Unstructured, s *phaseLog) error {
	c := restoredDrift(u)
	key := driftEventKey(u, c.Message)
	if c.Message == "" || s.drift == key || r.now().Sub(c.LastTransitionTime.Time) >= maxEventAge {
		return nil
	}
	err := r.kube.Create(ctx, newDriftEvent(u, c, key))
	if err != nil && !kerrors.IsAlreadyExists(err) && !kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return errors.Wrap(err, "cannot make event")
	}
	s.drift = key
	return nil
}

// restoredDrift returns the condition that reports restored drift, or an empty one.
func restoredDrift(u *unstructured.Unstructured) xpv2.Condition {
	o := struct {
		Status xpv2.ConditionedStatus `json:"status"`
	}{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &o); err != nil {
		return xpv2.Condition{}
	}
	c := o.Status.GetCondition(deploymentv1alpha1.TypeDelivered)
	if string(c.Reason) != deploymentv1alpha1.ReasonDriftRestored {
		return xpv2.Condition{}
	}
	return c
}

func driftEventKey(u *unstructured.Unstructured, message string) string {
	sum := sha256.Sum256([]byte(string(u.GetUID()) + "\n" + message))
	return hex.EncodeToString(sum[:])[:16]
}

func newDriftEvent(u *unstructured.Unstructured, c xpv2.Condition, key string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.GetNamespace(), Name: u.GetName() + "." + key},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(),
		},
		Type:                corev1.EventTypeWarning,
		Reason:              deploymentv1alpha1.ReasonDriftRestored,
		Message:             c.Message,
		Source:              corev1.EventSource{Component: reporter},
		ReportingController: reporter,
		FirstTimestamp:      c.LastTransitionTime,
		LastTimestamp:       c.LastTransitionTime,
		Count:               1,
	}
}
