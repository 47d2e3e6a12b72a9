package ledger

import (
	"sync"
	"sync/atomic"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
)

// killAtPushes kills the provider after each push to a repository of the deployment, and before every nth one, and starts it again. The
// returned function ends that.
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
	var pushes atomic.Int32
	drop := func(repository string) {
		if int(pushes.Add(1))%nth == 0 {
			d.Git.DropPush(repository, func() {
				d.Git.DropPush(repository, nil)
				kill()
			})
		}
	}
	for _, repository := range d.repositories {
		drop(repository)
	}
	d.pushes.callAfterEach(func(p push) {
		drop(p.repository)
		kill()
	})
	go func() { ended <- d.restartUntil(died, stop) }()
	return func() {
		d.T.Helper()
		d.pushes.callAfterEach(nil)
		for _, repository := range d.repositories {
			d.Git.DropPush(repository, nil)
		}
		close(stop)
		d.Must(<-ended)
	}
}

// restartUntil starts the provider after each kill, and once more in the end: the last kill may have come then.
func (d *deployment) restartUntil(died, stop <-chan struct{}) error {
	for {
		isOver := false
		select {
		case <-died:
		case <-stop:
			isOver = true
		}
		cp.KillProvider()
		if err := cp.StartProvider(d.T.Context(), controlplane.Program{}); isOver || err != nil {
			return err
		}
	}
}

// A moment of a rollback in two repositories at which the provider is killed.
type moment struct {
	reason string
	// isSplit is true for a follower whose server takes the state and the branch one after the other.
	isSplit bool
	// trap lets kill be called at the moment. The home has recorded the rollback then, and the push to the home has no answer yet.
	trap func(d *deployment, follower string, kill func())
}

// momentsOfRollback are the moments around the push to the follower, by their names.
func momentsOfRollback() map[string]moment {
	afterPush := func(d *deployment, follower string, kill func()) {
		d.pushes.callAfterEach(func(p push) {
			if p.repository == follower {
				kill()
			}
		})
	}
	return map[string]moment{
		"BeforeStatus": {
			reason: "The follower follows a home whose rollback is in Git, and was in no status when the provider died.",
			trap:   func(_ *deployment, _ string, kill func()) { kill() },
		},
		"BeforePush": {
			reason: "A push that the follower did not get is made again.",
			trap: func(d *deployment, follower string, kill func()) {
				d.Git.DropPush(follower, func() {
					d.Git.DropPush(follower, nil)
					kill()
				})
			},
		},
		"AfterPush": {reason: "A push to the follower whose answer was lost is not made again.", trap: afterPush},
		"BetweenStateAndBranch": {
			reason: "A follower that has the state of the rollback without its files gets the files.", isSplit: true, trap: afterPush,
		},
	}
}

// killInRollback kills the provider at a moment of the rollback that the next answer of the judge causes, and starts it again.
func (d *deployment) killInRollback(m moment) {
	d.T.Helper()
	dead := make(chan struct{})
	kill := sync.OnceFunc(func() {
		cp.KillProvider()
		close(dead)
	})
	d.pushes.callAfterEach(func(p push) {
		if p.repository == d.homeRepository() && p.position == firstAttempt {
			m.trap(d, d.repositories[1], kill)
		}
	})
	judges.setJudgeAnswer(d.Namespace, bad)
	d.Until("the provider is dead", patience.Limit, func() bool {
		select {
		case <-dead:
			return true
		default:
			return false
		}
	})
	d.pushes.callAfterEach(nil)
	d.Must(cp.StartProvider(d.T.Context(), controlplane.Program{}))
}
