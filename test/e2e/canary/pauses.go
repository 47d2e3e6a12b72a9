package canary

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// asLeader makes a replica of the provider compete for the lease, as forStories makes the first one.
var asLeader = controlplane.Program{Args: []string{"--leader-election", "--leader-lease=5s", "--allow-loopback-checks"}}

// provider is held by the test that takes the provider away.
var provider sync.Mutex

// quiet is how long nothing is written while a user is awaited.
const quiet = 15 * time.Second

// pausesFor follows the pause of a step until the next commit. Meanwhile it does something.
func (y *followedRelease) pausesFor(length time.Duration, meanwhile func()) {
	y.Helper()
	paused, err := y.AwaitSync(y.Context(), "pauses for "+length.String(), func(o *unstructured.Unstructured) bool {
		return scene.Field(o, "spec", "forProvider", "pause") == length.String() && scene.Condition(o, "Released").Reason == "Pausing"
	})
	began, before := time.Now(), len(y.Pushes(y.Namespace))
	y.must(err)
	if meanwhile != nil {
		meanwhile()
	}
	var all []release.Push
	y.until("the next commit after a pause of "+length.String(), func() bool {
		all = y.Pushes(y.Namespace)
		return len(all) > before
	})
	recorded, next := release.PauseStart(paused), all[before].At
	if next.Sub(recorded) < length {
		y.Errorf("a pause of %s from %s is short: the next commit comes at %s", length, recorded, next)
	}
	y.Logf("a pause of %s ends %s late", length, (next.Sub(began) - length).Round(10*time.Millisecond))
}

// restartsProvider restarts the provider, as kill -9 does.
func (y *followedRelease) restartsProvider() {
	y.Helper()
	provider.Lock()
	defer provider.Unlock()
	cp.KillProvider()
	y.must(cp.StartProvider(y.Context(), controlplane.Program{}))
}

// changesLeader lets another replica take the place of the provider, and the provider that of the other one.
func (y *followedRelease) changesLeader() {
	y.Helper()
	provider.Lock()
	defer provider.Unlock()
	y.awaitState(2, "Paused", "4/6")
	y.must(cp.StartStandby(y.Context(), asLeader))
	cp.KillProvider()
	y.must(cp.StartProvider(y.Context(), controlplane.Program{}))
	y.Cleanup(cp.KillStandby)
}

// writesNothing while a user is awaited, also over a restart of the provider.
func (y *followedRelease) writesNothing() {
	y.Helper()
	cp.KillStandby()
	l, err := load.NewLedger(y.Context(), cp.Client, y.Namespace)
	y.must(err)
	defer l.Close()
	pushes := cp.Git.Pushes(y.Namespace)
	end := time.NewTimer(quiet)
	defer end.Stop()
	y.restartsProvider()
	<-end.C
	for _, e := range l.Entries() {
		y.Errorf("something is written while a user is awaited: %+v", e)
	}
	if got := cp.Git.Pushes(y.Namespace); got != pushes {
		y.Errorf("%d pushes while a user is awaited", got-pushes)
	}
}
