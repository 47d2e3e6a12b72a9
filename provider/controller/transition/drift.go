package transition

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
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
	e := setup.NewEvent(setup.ReferenceTo(u), key, corev1.EventTypeWarning, deploymentv1alpha1.ReasonDriftRestored, c.Message, c.LastTransitionTime)
	err := r.kube.Create(ctx, e)
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
