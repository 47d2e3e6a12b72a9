package providerconfig

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/usage"
)

// reportUsers writes the users that block the deletion of a configuration into its status, and records an event for a new condition. It returns an
// error if the status cannot be written.
func (r *Reconciler) reportUsers(ctx context.Context, c client.Object, users []deliveryv1alpha1.GitDelivery) error {
	_, status := specAndStatus(c)
	if status == nil {
		return nil
	}
	want := xpv2.Condition{
		Type: configv1alpha1.TypeTerminating, Status: corev1.ConditionTrue, Reason: configv1alpha1.ReasonInUse,
		LastTransitionTime: metav1.Now(), Message: usage.Describe(r.kind, users),
	}.WithObservedGeneration(c.GetGeneration())
	current := status.GetCondition(want.Type)
	if current.Equal(want) {
		return nil
	}
	status.SetConditions(want)
	if err := r.kube.Status().Update(ctx, c); err != nil {
		return errors.Wrapf(err, "cannot update status of %s", r.kind)
	}
	if current.Reason != want.Reason {
		r.recorder.Event(c, xpevent.Warning(xpevent.Reason(configv1alpha1.ReasonInUse), errors.New(want.Message)))
	}
	return nil
}
