package ledger

import (
	"sync/atomic"

	"github.com/intentplane/intentplane/test/controlplane"
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
