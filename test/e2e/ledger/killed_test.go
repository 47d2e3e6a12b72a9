package ledger

import (
	"sync/atomic"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/soak"
)

// TestKilled kills the provider around each push of a first revision, and of one that is rejected and rolled back: before the repository takes the
// push, which is every other one unless under make soak, and after it, before the answer. What was pushed is not pushed again, and the ledger is that
// of a provider which lives.
func TestKilled(t *testing.T) {
	d := newDeployment(t, form{repositories: 2, gated: true})
	end := d.killAtPushes(map[bool]int{true: 1, false: 2}[soak.Long()])
	judges.set(d.Namespace, good)
	d.succeed(1)
	judges.set(d.Namespace, held)
	d.measuring(2)
	judges.set(d.Namespace, bad)
	d.rolledBack(2)
	end()
	d.want(d.restored(2, 1), "1", 3, 3)
	d.wantPushes("0: 1.0.0", "1: 1.0.0", "0: 1.0.0 Verified", "0: 2.0.0", "1: 2.0.0", "0: 2.1.0 Rejected", "1: 2.1.0", "0: 2.1.0 Rejected restored")
	judges.set(d.Namespace, good)
	d.succeed(3)
	d.wantLedger(d.verified(3))
	d.awaitReplicas("3")
}

// killAtPushes kills the provider after each push to a repository of the deployment, and before every nth one, and starts it again. What it returns
// ends that.
func (d *deployment) killAtPushes(nth int) func() {
	d.T.Helper()
	died, stop, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	kill := func() {
		cp.KillProvider()
		select {
		case died <- struct{}{}:
		case <-stop:
		}
	}
	var taken atomic.Int32
	drop := func(repository string) {
		if int(taken.Add(1))%nth == 0 {
			d.Git.DropPush(repository, func() {
				d.Git.DropPush(repository, nil)
				kill()
			})
		}
	}
	for _, repository := range d.repositories {
		drop(repository)
	}
	d.pushes.after(func(p push) {
		drop(p.repository)
		kill()
	})
	go func() { ended <- d.restartUntil(died, stop) }()
	return func() {
		d.T.Helper()
		d.pushes.after(nil)
		for _, repository := range d.repositories {
			d.Git.DropPush(repository, nil)
		}
		close(stop)
		d.must(<-ended)
	}
}

// restartUntil starts the provider after each kill, and once more in the end: the last kill may have come then.
func (d *deployment) restartUntil(died, stop <-chan struct{}) error {
	for {
		over := false
		select {
		case <-died:
		case <-stop:
			over = true
		}
		cp.KillProvider()
		if err := cp.StartProvider(d.T.Context(), controlplane.Program{}); over || err != nil {
			return err
		}
	}
}
