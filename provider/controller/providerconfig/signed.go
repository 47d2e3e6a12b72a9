package providerconfig

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// updateSignedCondition writes into the status whether the state in the repository is protected from forgery.
func (r *Reconciler) updateSignedCondition(ctx context.Context, c client.Object) error {
	spec, status := specAndStatus(c)
	if spec == nil {
		return nil
	}
	want := signedCondition(spec).WithObservedGeneration(c.GetGeneration())
	if current := status.GetCondition(want.Type); current.Equal(want) && current.ObservedGeneration == want.ObservedGeneration {
		return nil
	}
	status.SetConditions(want)
	return errors.Wrapf(r.kube.Status().Update(ctx, c), "cannot update status of %s", r.kind)
}

func specAndStatus(c client.Object) (*configv1alpha1.ProviderConfigSpec, *configv1alpha1.ProviderConfigStatus) {
	switch o := c.(type) {
	case *configv1alpha1.ProviderConfig:
		return &o.Spec, &o.Status
	case *configv1alpha1.ClusterProviderConfig:
		return &o.Spec, &o.Status
	}
	return nil, nil
}

func signedCondition(s *configv1alpha1.ProviderConfigSpec) xpv2.Condition {
	c := xpv2.Condition{Type: configv1alpha1.TypeStateSigned, LastTransitionTime: metav1.Now()}
	if s.Git.Signing == nil {
		c.Status, c.Reason = corev1.ConditionFalse, configv1alpha1.ReasonStateUnsigned
		c.Message = "the state is not signed: anyone who may push any ref can forge a rollback target. Set spec.git.signing, or protect the refs"
		return c
	}
	c.Status, c.Reason = corev1.ConditionTrue, configv1alpha1.ReasonSigned
	return c
}
