package ledger

import (
	"fmt"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

const ledgerUnreachable = "LedgerUnreachable"

// unreachableLedgers returns the number of deployments that wait for their ledger, as the provider counts them.
func unreachableLedgers(d *deployment) float64 {
	m, err := cp.ProviderMetrics(d.T.Context())
	if err != nil {
		return 0
	}
	return m.Sum("intentdeployment_ledger_unreachable", nil)
}

// awaitVerdictEnd waits until the claim, with so many replicas, comes to the end that an answer of the judge leads to.
func (d *deployment) awaitVerdictEnd(replicas int, answer string) {
	d.T.Helper()
	if answer == bad {
		d.awaitRolledBack(replicas)
		return
	}
	d.awaitSucceeded(replicas)
}

// awaitPosition waits until a repository has applied a position.
func (d *deployment) awaitPosition(repository int, want ledger.Position) {
	d.T.Helper()
	d.Until("a position", patience.Limit, func() bool {
		r := d.storedRecord(d.repositories[repository]).record
		return r != nil && r.Position == want
	})
}

// awaitGateReason waits until the Gate of the second revision has a reason.
func (d *deployment) awaitGateReason(reason xpv2.ConditionReason) {
	d.T.Helper()
	d.Until("the Gate says "+string(reason), patience.Limit, func() bool {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(rolloutv1alpha1.GroupVersion.WithKind("GateList"))
		d.Must(d.Client.List(d.T.Context(), l, client.InNamespace(d.Namespace)))
		for i := range l.Items {
			if c := scene.Condition(&l.Items[i], "Ready"); c.Reason == reason {
				return true
			}
		}
		return false
	})
}

// awaitOutage waits until the delivery to a repository was not Ready for a time.
func (d *deployment) awaitOutage(repository string, length time.Duration) {
	d.T.Helper()
	d.Until(fmt.Sprintf("the delivery to %s is not Ready for %s", repository, length), patience.Limit, func() bool {
		delivery := d.deliveryToRepo(repository)
		if delivery == nil {
			return false
		}
		c := delivery.Status.GetCondition(xpv2.TypeReady)
		return c.Status == corev1.ConditionFalse && time.Since(c.LastTransitionTime.Time) > length
	})
}
