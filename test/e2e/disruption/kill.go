package disruption

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/intentplane/intentplane/test/patience"
)

// A moment at which the provider is killed.
type moment struct {
	name string
	// trap makes kill be called at that moment of the next operation.
	trap func(f *fleet, kill func())
	// fresh is true if the provider has to start after the trap was set.
	fresh bool
}

func randomMoments(random *rand.Rand) []moment {
	return []moment{
		{name: "BeforeFetch", trap: func(f *fleet, kill func()) {
			f.Git.BeforeFetch(f.Namespace, kill)
			if err := f.commitUnmanaged(); err != nil { // Or there is nothing to fetch.
				f.T.Fatal(err)
			}
		}},
		{name: "AfterCommitCreation", trap: func(f *fleet, kill func()) { f.Git.DropPush(f.Namespace, kill) }},
		{name: "AfterPush", trap: func(f *fleet, kill func()) { f.Git.AfterPush(f.Namespace, kill) }},
		{name: "BetweenStateAndBranch", fresh: true, trap: func(f *fleet, kill func()) {
			f.setAtomicPushes("false")
			f.Git.AfterPush(f.Namespace, kill)
		}},
		{name: "Whenever", trap: func(_ *fleet, kill func()) { time.AfterFunc(time.Duration(random.Int64N(int64(time.Second))), kill) }},
	}
}

// setAtomicPushes reports whether the server supports atomic pushes.
func (f *fleet) setAtomicPushes(value string) {
	f.T.Helper()
	f.Must(f.Git.Configure(f.T.Context(), f.Namespace, "receive.advertiseAtomic", value))
}

// killMeanwhile requests a revision of each delivery, kills the provider at a moment, and waits until another provider has delivered all.
func (f *fleet) killMeanwhile(m moment) {
	f.T.Helper()
	dead := make(chan struct{})
	kill := sync.OnceFunc(func() {
		cp.KillProvider()
		close(dead)
	})
	if m.fresh {
		cp.KillProvider()
	}
	m.trap(f, kill)
	if m.fresh {
		startProvider(f.T)
	}
	for name := range f.ordered {
		f.requestRevision(name)
	}
	f.Until("the provider is dead: "+m.name, patience.Limit, func() bool {
		select {
		case <-dead:
			return true
		default:
			return false
		}
	})
	f.Git.BeforeFetch(f.Namespace, nil)
	f.Git.DropPush(f.Namespace, nil)
	f.Git.AfterPush(f.Namespace, nil)
	f.setAtomicPushes("true")
	startProvider(f.T)
	f.awaitAllOrders()
}
