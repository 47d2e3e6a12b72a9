package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// firstAttempt is the position of the first attempt to roll revision 2 back.
var firstAttempt = ledger.Position{Epoch: 1, Revision: 2, Attempt: 1}

// A silence is the absence of a program without which the function is not called for any deployment.
type silence struct {
	kill    func()
	restart func(ctx context.Context) error
}

func withoutFunction() silence {
	return silence{kill: cp.KillFunction, restart: func(ctx context.Context) error { return cp.RestartFunction(ctx) }}
}

func withoutCore() silence { return silence{kill: cp.KillCore, restart: cp.RestartCore} }

// killProgram kills the program. The returned function starts the program again, and the end of the test calls it at the latest: later tests need the program.
func (s silence) killProgram(d *deployment) (end func()) {
	d.T.Helper()
	end = sync.OnceFunc(func() {
		if err := s.restart(context.WithoutCancel(d.T.Context())); err != nil {
			d.T.Errorf("cannot end the silence: %v", err)
		}
	})
	d.T.Cleanup(end)
	s.kill()
	return end
}

// holdVerdict delivers the revision of the claim with so many replicas, the number of the revision, to all repositories, and holds the answer of the judge back.
func (d *deployment) holdVerdict(replicas int) {
	d.T.Helper()
	judges.setJudgeAnswer(d.Namespace, held) // A Gate may fail a Site before another Site has the revision.
	d.awaitMeasuring(replicas)               // The Gate measures the Site of the home before a follower has the revision.
	d.Until("all repositories have the revision", patience.Limit, func() bool { return d.pushes.hasRevisionEverywhere(int64(replicas)) })
}

// awaitAllBack waits until all repositories hold the files of revision 1 again, at a position of the rollback.
func (d *deployment) awaitAllBack(position ledger.Position) {
	d.T.Helper()
	for i := range d.repositories {
		d.awaitPosition(i, position)
	}
	d.awaitReplicas("1")
}

// awaitRejected waits until the ledger has the rejection of a revision.
func (d *deployment) awaitRejected(revision int64) {
	d.T.Helper()
	d.awaitLedger(fmt.Sprintf("rejects revision %d", revision), func(s ledger.State) bool { return s.Current.Number == revision && s.IsRejected() })
}

// wantRollbackReported waits until the function reports the rollback of revision 2, and checks that each repository got one commit for it.
func (d *deployment) wantRollbackReported() {
	d.T.Helper()
	d.awaitRolledBack(2)
	d.wantLedgerOf(d.ledgerAfterRollback(2, 1), "1", 3, 3)
}

// awaitOrdered waits until the provider may take the steps of a revision: the objects have the trees of all waves, and the Gate of the last wave exists.
func (d *deployment) awaitOrdered(revision int64) {
	d.T.Helper()
	d.Until(fmt.Sprintf("the mandate and the Gates of revision %d", revision), patience.Limit, func() bool {
		m := d.mandateOfHome()
		return m != nil && m.Revision == revision && slices.Contains(m.May, step.KindAdvance) && d.hasGateForStep(revision, int64(len(d.repositories)-1))
	})
}

// awaitMandateHold waits until the provider holds the steps of the current revision back for a reason.
func (d *deployment) awaitMandateHold(want deliveryv1alpha1.MandateHold) {
	d.T.Helper()
	d.Until(fmt.Sprintf("the steps are held: %s", want), patience.Limit, func() bool {
		m := d.mandateOfHome()
		return m != nil && m.Hold == want
	})
}

// mandateOfHome returns the mandate in the status of the home's delivery, or nil.
func (d *deployment) mandateOfHome() *deliveryv1alpha1.MandateStatus {
	d.T.Helper()
	home := d.deliveryToRepo(d.homeRepository())
	if home == nil {
		return nil
	}
	return home.Status.AtProvider.Mandate
}

// hasGateForStep reports whether a Gate exists for a step of a revision.
func (d *deployment) hasGateForStep(revision, number int64) bool {
	d.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(rolloutv1alpha1.GroupVersion.WithKind("GateList"))
	d.Must(d.Client.List(d.T.Context(), l, client.InNamespace(d.Namespace)))
	return slices.ContainsFunc(l.Items, func(o unstructured.Unstructured) bool {
		position := []string{"spec", "forProvider", "position"}
		return scene.Number(&o, append(position, "revision")...) == revision && scene.Number(&o, append(position, "step")...) == number
	})
}

// restartProvider restarts the provider with further flags, until the test ends.
func (d *deployment) restartProvider(args ...string) {
	d.T.Helper()
	d.T.Cleanup(func() {
		cp.KillProvider()
		if err := cp.StartProvider(context.WithoutCancel(d.T.Context()), controlplane.Program{}); err != nil {
			d.T.Error(err)
		}
	})
	cp.KillProvider()
	d.Must(cp.StartProvider(d.T.Context(), controlplane.Program{Args: args}))
}

// startReplicas replaces the provider by two replicas: the leader, which starts first, and a replica that waits for the leader's lease.
func (d *deployment) startReplicas() {
	d.T.Helper()
	flags := []string{"--leader-election", "--leader-lease=15s"}
	d.restartProvider(flags...)
	d.T.Cleanup(cp.KillStandby)
	d.Must(cp.StartStandby(d.T.Context(), controlplane.Program{Args: flags}))
}
