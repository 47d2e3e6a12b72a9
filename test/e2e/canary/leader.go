package canary

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
)

// A leader is the replica of the provider that works, as its lease says.
type leader struct {
	// identity of the replica. Each start of a replica has another one.
	identity string

	// since is when it acquired the lease, by its own clock.
	since time.Time
}

// readLeaseHolder reads the lease of the provider. A lease that was released has no identity.
func (y *followedRelease) readLeaseHolder() leader {
	y.Helper()
	l := &coordinationv1.Lease{}
	y.requireNoError(cp.Client.Get(y.Context(), client.ObjectKey{Namespace: controlplane.Namespace, Name: "intentplane-provider"}, l))
	return leader{identity: ptr.Deref(l.Spec.HolderIdentity, ""), since: ptr.Deref(l.Spec.AcquireTime, metav1.MicroTime{}).Time}
}

// awaitLeaderAfter waits until another replica than the previous leader leads.
func (y *followedRelease) awaitLeaderAfter(previous leader) leader {
	y.Helper()
	var now leader
	y.awaitCondition("another replica of the provider than "+previous.identity+" leads", func() bool {
		now = y.readLeaseHolder()
		return now.identity != "" && now.identity != previous.identity
	})
	return now
}

// startsStandby starts another replica of the provider, which competes for the lease as the first one does.
func (y *followedRelease) startsStandby() {
	y.Helper()
	y.requireNoError(cp.StartStandby(y.Context(), controlplane.Program{}))
	y.Cleanup(cp.KillStandby)
}

// restartsProvider restarts the provider, as kill -9 does, and waits until it leads again.
func (y *followedRelease) restartsProvider() {
	y.Helper()
	previous := y.readLeaseHolder()
	cp.KillProvider()
	y.requireNoError(cp.StartProvider(y.Context(), controlplane.Program{}))
	y.awaitLeaderAfter(previous)
}

// changesLeader kills the provider, lets the other replica take its place, and then starts the provider as the next one in line. It returns who leads now.
func (y *followedRelease) changesLeader() leader {
	y.Helper()
	previous := y.readLeaseHolder()
	cp.KillProvider()
	next := y.awaitLeaderAfter(previous) // Before the provider is there again: it would compete for the lease too.
	y.requireNoError(cp.StartProvider(y.Context(), controlplane.Program{}))
	return next
}

// wantLeaderSince checks that a replica began to lead within a pause, by the times of the lease and the SiteSync.
func (y *followedRelease) wantLeaderSince(p pause, now leader) {
	y.Helper()
	if now.since.Before(p.start) || now.since.Truncate(time.Second).After(p.over) {
		y.Errorf("the pause from %s to %s should see another leader, but %s leads since %s", p.start, p.over, now.identity, now.since)
	}
}
