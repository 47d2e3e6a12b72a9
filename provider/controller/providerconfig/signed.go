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

// sayIfSigned puts into the status whether what is in the repository can be told from forgeries.
func (r *Reconciler) sayIfSigned(ctx context.Context, c client.Object) error {
	spec, status := partsOf(c)
	if spec == nil {
		return nil
	}
	want := signed(spec).WithObservedGeneration(c.GetGeneration())
	if have := status.GetCondition(want.Type); have.Equal(want) && have.ObservedGeneration == want.ObservedGeneration {
		return nil
	}
	status.SetConditions(want)
	return errors.Wrapf(r.kube.Status().Update(ctx, c), "cannot update status of %s", r.kind)
}

func partsOf(c client.Object) (*configv1alpha1.ProviderConfigSpec, *configv1alpha1.ProviderConfigStatus) {
	switch o := c.(type) {
	case *configv1alpha1.ProviderConfig:
		return &o.Spec, &o.Status
	case *configv1alpha1.ClusterProviderConfig:
		return &o.Spec, &o.Status
	}
	return nil, nil
}

func signed(s *configv1alpha1.ProviderConfigSpec) xpv2.Condition {
	c := xpv2.Condition{Type: configv1alpha1.TypeStateSigned, LastTransitionTime: metav1.Now()}
	if s.Git.Signing == nil {
		c.Status, c.Reason = corev1.ConditionFalse, configv1alpha1.ReasonStateUnsigned
		c.Message = "whoever may push any ref of the repository could order a way back to a tree of theirs: set spec.git.signing, or protect the refs"
		return c
	}
	c.Status, c.Reason = corev1.ConditionTrue, configv1alpha1.ReasonSigned
	return c
}
