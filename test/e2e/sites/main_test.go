// Package sites shows, on a real control plane and a second cluster with real Flux in it, what a SiteSync says, and which way
// deployments go.
//
// The edges of the machine of phases, and who goes along them:
//
//	Pending → Compiling → Rendering → Delivering → Validating → Succeeded   TestRollback, TestEditedInEachPhase
//	Compiling → Failed, Rendering → Failed                                  TestBrokenEditLosesNothing of package claims
//	Delivering → Failed: a Site takes too long                              TestRejected, TestEditedInEachPhase/Failed
//	Validating → Failed: a Gate                                             TestRollback, TestRetryAfterRejection
//	Failed → RollingBack → Succeeded                                        TestRollback, TestRollbackOfWaves
//	RollingBack → Failed: all attempts spent                                TestAttemptsSpent, TestRollbackInTwoRepositories
//	Failed, and no rollback target                                          TestObjective
//	Validating → Succeeded without Gates                                    TestObjective
//	any → Pending: another spec                                             TestEditedInEachPhase
//	any → gone: deleted                                                     TestDeletedInEachPhase
//	any → nowhere: the management cluster is lost                           TestLossAfterRejection
package sites

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	code := scene.Main(m, &cp, forTrials)
	_ = os.Remove(trustedPath())
	os.Exit(code)
}

// edge is the one other cluster, with Flux in it.
var edge = sync.OnceValues(func() (*controlplane.Cluster, error) {
	ctx := context.Background()
	k, err := cp.StartCluster(ctx, "edge")
	if err != nil {
		return nil, err
	}
	return k, k.StartFlux(ctx)
})

// hub is Flux in the control plane's own cluster.
var hub = sync.OnceValue(func() error { return cp.StartFlux(context.Background()) })
