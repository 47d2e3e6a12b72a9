package canary

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// provider is held by the test that takes the provider away, as long as that counts.
var provider sync.Mutex

// quiet is how long nothing is written while a user is awaited, after the provider was restarted.
const quiet = 10 * time.Second

// A pause is when one began and was over, as its SiteSync says. The end is to the second.
type pause struct{ start, over time.Time }

// followPause follows the pause of a step until the next commit. Meanwhile it does something, which knows when the pause ends: as it was recorded at first. The
// SiteSync follows the ledger from step to step, so that its status names the step, and not its spec.
func (y *followedRelease) followPause(step int64, length time.Duration, meanwhile func(ends time.Time)) pause {
	y.Helper()
	paused, err := y.AwaitSync(y.Context(), fmt.Sprintf("pauses for %s at step %d", length, step), func(o *unstructured.Unstructured) bool {
		pausedStep, _, _ := unstructured.NestedInt64(o.Object, "status", "atProvider", "pause", "position", "step")
		return pausedStep == step && scene.Condition(o, "Released").Reason == "Pausing"
	})
	y.requireNoError(err)
	states := y.watchSyncAfter(paused)
	defer states.Stop()
	if meanwhile != nil {
		meanwhile(release.PauseStart(paused).Add(length))
	}
	out := y.wantOnePause(paused, states)
	var next release.Push
	y.awaitCondition("the next commit after a pause of "+length.String(), func() bool {
		all := y.Pushes(y.Namespace)
		i := slices.IndexFunc(all, func(p release.Push) bool { return p.At.After(out.start) })
		if i >= 0 {
			next = all[i]
		}
		return i >= 0
	})
	late := next.At.Sub(out.start) - length
	if late < 0 {
		y.Errorf("a pause of %s from %s is short: the next commit comes at %s", length, out.start, next.At)
	}
	y.Logf("a pause of %s ends %s late", length, late.Round(10*time.Millisecond))
	return out
}

// watchSyncAfter watches all states of a SiteSync that come after one, so that none is missed, however late it is looked at.
func (y *followedRelease) watchSyncAfter(o *unstructured.Unstructured) watch.Interface {
	y.Helper()
	ctx, cancel := context.WithTimeout(y.Context(), patience.Limit)
	y.Cleanup(cancel)
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(o.GroupVersionKind())
	w, err := cp.Client.Watch(ctx, all, &client.ListOptions{Namespace: y.Namespace, Raw: &metav1.ListOptions{ResourceVersion: o.GetResourceVersion()}})
	y.requireNoError(err)
	return w
}

// wantOnePause checks that a pause keeps its start in each of the states after it was recorded, until it is over, and returns it.
func (y *followedRelease) wantOnePause(paused *unstructured.Unstructured, states watch.Interface) pause {
	y.Helper()
	out := pause{start: release.PauseStart(paused)}
	for e := range states.ResultChan() {
		o, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			y.Fatalf("cannot watch SiteSync: %+v", e.Object)
		}
		if start := release.PauseStart(o); !start.Equal(out.start) {
			y.Fatalf("a pause that began at %s begins again at %s", out.start, start)
		}
		released := scene.Condition(o, "Released")
		if released.Reason == "PauseOver" {
			out.over = released.LastTransitionTime.Time
			return out
		}
		if released.Reason != "Pausing" {
			y.Fatalf("want a pause that goes on until it is over, got reason %s", released.Reason)
		}
	}
	y.Fatalf("waited %s in vain for the end of the pause that began at %s", patience.Limit, out.start)
	return out
}

// writesNothingUntil checks that nothing is written about the deployment and nothing is pushed, from when it says that it pauses until that
// ends. Writes that the test sees before the end were written before the end. Where the machine is too busy to look in time, the observation
// proves nothing.
func (y *followedRelease) writesNothingUntil(ends time.Time) {
	y.Helper()
	y.awaitWholeStatus("Paused", "3/7")
	l, err := load.NewLedger(y.Context(), cp.Client, y.Namespace)
	y.requireNoError(err)
	defer l.Close()
	pushes, began := cp.Git.Pushes(y.Namespace), time.Now()
	time.Sleep(time.Until(ends.Add(-time.Second)))
	entries, pushed := l.Entries(), cp.Git.Pushes(y.Namespace)-pushes
	if !time.Now().Before(ends) {
		y.Log("this machine is too busy to look at a pause before it ends")
		return
	}
	if showsOutage(entries) {
		y.Log("this machine is too busy for servers to answer in time")
		return
	}
	y.wantNothingWritten("it pauses", entries, pushed)
	y.Logf("the ledger covers %s of a pause", time.Since(began).Round(10*time.Millisecond))
}

// awaitWholeStatus waits until the second revision is in a state at a step, and the condition says so too: the two may be written one after the other.
func (y *followedRelease) awaitWholeStatus(state, step string) {
	y.Helper()
	y.awaitClaimStatus("status and condition say "+state+" at step "+step, func(o *unstructured.Unstructured) bool {
		return scene.Number(o, "status", "revision") == 2 && scene.Field(o, "status", "canary", "state") == state && scene.Field(o, "status", "canary", "step") == step &&
			string(scene.Condition(o, "Reconciling").Reason) == state
	})
}

// outages is how often a window without writes may be looked at again because a server did not answer the provider in time.
const outages = 4

// writesNothing while a user is awaited, also over a restart of the provider.
func (y *followedRelease) writesNothing() {
	y.Helper()
	cp.KillStandby()
	for range outages {
		if entries, pushed := y.writesOverRestart(); !showsOutage(entries) {
			y.wantNothingWritten("a user is awaited", entries, pushed)
			return
		}
	}
	y.Log("this machine is too busy for servers to answer in time")
}

// writesOverRestart restarts the provider while a user is awaited, and returns the writes about the deployment, and the number of pushes.
func (y *followedRelease) writesOverRestart() (entries []load.Entry, pushed int) {
	y.Helper()
	y.awaitWholeStatus("AwaitingPromotion", "6/7")
	l, err := load.NewLedger(y.Context(), cp.Client, y.Namespace)
	y.requireNoError(err)
	defer l.Close()
	baseline := y.awaitNoWrites(l)
	pushes := cp.Git.Pushes(y.Namespace)
	y.restartsProvider()
	time.Sleep(quiet)
	return l.Entries()[baseline:], cp.Git.Pushes(y.Namespace) - pushes
}

// awaitNoWrites waits until nothing was written for a while, and returns how much was written before. A deployment may say late that a server
// answers again, in each of its waits.
func (y *followedRelease) awaitNoWrites(l *load.Ledger) int {
	y.Helper()
	count := 0
	y.awaitCondition("nothing is written any more", func() bool {
		count = len(l.Entries())
		time.Sleep(quiet)
		return len(l.Entries()) == count
	})
	return count
}

// showsOutage reports whether a reconcile of the provider failed, or succeeded again: it may say so in each wait of the deployment.
func showsOutage(entries []load.Entry) bool {
	return slices.ContainsFunc(entries, func(e load.Entry) bool {
		return slices.Contains(e.Writers, "provider Update status") && slices.Contains(e.Changed, "status.conditions.Synced")
	})
}

// wantNothingWritten checks that a ledger has no entries, and that nothing was pushed.
func (y *followedRelease) wantNothingWritten(situation string, entries []load.Entry, pushes int) {
	y.Helper()
	for _, e := range entries {
		y.Errorf("something is written while %s: %+v", situation, e)
	}
	if pushes != 0 {
		y.Errorf("%d pushes while %s", pushes, situation)
	}
}
