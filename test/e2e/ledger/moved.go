package ledger

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// moveLedger requests a move to a repository, and waits until that holds the ledger.
func (d *deployment) moveLedger(target int, force bool) {
	d.T.Helper()
	o := d.Request("move", d.describeShop(1), rolloutv1alpha1.Action("MoveLedger"), d.recordedLedger().State.Current.Number)
	d.Set(o, map[string]any{"kind": "ClusterProviderConfig", "name": d.repositories[target]}, "spec", "toConfigRef")
	if force {
		d.Set(o, true, "spec", "force")
	}
	d.Apply(o)
	d.homeIs.Store(int32(target))
	d.awaitLedger("is in its next home", func(s ledger.State) bool { return s.Home == d.homeRepository() })
	d.Await(o, "completed", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, string(rolloutv1alpha1.TypeCompleted), corev1.ConditionTrue, "")
	})
}
