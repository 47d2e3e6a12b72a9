package disruption

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestRollbackWithoutFunction breaks the objective of a revision while Crossplane does not call the function. Afterwards the function finds the rollback, and
// nothing is left to deliver.
func TestRollbackWithoutFunction(t *testing.T) {
	for name, silent := range faultsByName() {
		t.Run(name, func(t *testing.T) {
			s, target := measuredScene(t, []string{"edge1"})
			o := newOrphan(s, target)
			claim := o.claimJudged(2, 100)
			o.Reach(claim, "Validating", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Validating" })
			commits := len(o.Commits())

			silent.begin(s, claim)
			target.Set("error_ratio", 0.2)
			o.wantRolledBackByMandate(commits)
			status := o.Program("", o.Built("kubectl-intent"), "status", "intentdeployments.claims.intentplane.dev/shop", "-n", o.Namespace, "--kubeconfig", cp.Kubeconfig)
			silent.end(s)
			if !strings.Contains(status, "by its mandate, rejected revision 2 (GateFailed") {
				t.Errorf("\n%s\nkubectl intent status: want the rejection by the mandate, got:\n%s", silent.reason, status)
			}

			o.Reach(claim, "Succeeded RolledBack", func(u *unstructured.Unstructured) bool {
				return scene.Field(u, "status", "phase") == "Succeeded" && scene.Field(u, "status", "outcome") == "RolledBack"
			})
			o.WantEqual("commits", commits+1, len(o.Commits()))
			o.WantEqual("attempts", int64(1), scene.Number(o.Now(claim), "status", "rollback", "attempts"))
		})
	}
}
