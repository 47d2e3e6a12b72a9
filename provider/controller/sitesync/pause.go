package sitesync

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/proof"
)

// releasedCondition returns whether the pause of the step is over, and false where none was ever asked for.
func releasedCondition(s *v1alpha1.SiteSync, d proof.Decision) (xpv2.Condition, bool) {
	c := xpv2.Condition{Type: v1alpha1.TypeReleased, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}
	switch {
	case d.Spec.Pause == "" && s.GetCondition(v1alpha1.TypeReleased).Reason == "":
		return c, false
	case d.Spec.Pause == "":
		c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.ReasonNoPause
	case d.Spec.Promoted:
		c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.ReasonPromoted
	case d.Spec.Pause == ledger.PauseManual:
		c.Reason = v1alpha1.ReasonPausing
	case d.Next.Pause == nil:
		c.Reason = v1alpha1.ReasonPauseAwaited
	case !d.PauseEnd.IsZero():
		c.Reason = v1alpha1.ReasonPausing
	default:
		c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.ReasonPauseOver
	}
	return c.WithObservedGeneration(s.GetGeneration()), true
}
