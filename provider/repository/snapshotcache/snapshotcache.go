// Package snapshotcache bounds the memory of the snapshots that repositories retain: of administrators, of all namespaces together, and of each namespace.
package snapshotcache

import (
	"maps"
	"slices"
	"time"

	"github.com/intentplane/intentplane/provider/memory"
)

const (
	// administratorBytes is the limit for all snapshots of administrators' configurations, tenantBytes for those of all namespaces, and namespaceBytes for those
	// of one namespace. The least recently used snapshots are dropped first, and read again as a whole. A namespace needs the rest of its memory for the answer
	// that is being read.
	administratorBytes = 96 << 20
	tenantBytes        = 64 << 20
	namespaceBytes     = 32 << 20

	// largeBytes is the limit for the snapshots above namespaceBytes: of administrators, of all namespaces, and of one namespace. Such a repository is read again
	// as a whole by each observation that does not find its snapshot. A namespace that waits for a large answer retains none of them.
	largeBytes = 96 << 20
)

// A Holder retains a snapshot.
type Holder interface {
	// Payer returns the namespace that pays for the snapshot. Empty is the administrator.
	Payer() string
	// Retained returns the time of the last use of the snapshot, and its size in bytes, which is zero without a snapshot.
	Retained() (used time.Time, size int)
	// Drop drops the snapshot.
	Drop()
}

// Trim drops snapshots until the others fit.
func Trim(all []Holder) {
	byPayer := map[string][]Holder{}
	for _, h := range all {
		byPayer[h.Payer()] = append(byPayer[h.Payer()], h)
	}
	administrators := limits{largeFrom: namespaceBytes, small: administratorBytes, large: largeBytes}
	trimToLimits(byPayer[""], administrators)
	delete(byPayer, "")
	for namespace, holders := range byPayer {
		trimToLimits(holders, namespaceLimits(namespace))
	}
	tenants := limits{largeFrom: namespaceBytes, small: tenantBytes, large: largeBytes}
	trimToLimits(slices.Concat(slices.Collect(maps.Values(byPayer))...), tenants)
}

// DropLarge drops the large snapshots of one namespace, and small ones until the others fit.
func DropLarge(all []Holder) {
	trimToLimits(all, limits{largeFrom: namespaceBytes, small: namespaceBytes})
}

// limits of snapshots, in bytes. A snapshot above largeFrom is large. Small and large snapshots have a limit each, so that neither drop the other.
type limits struct{ largeFrom, small, large int }

// namespaceLimits returns the limits of a namespace. A namespace that waits for a large answer needs the memory of its large snapshots.
func namespaceLimits(namespace string) limits {
	out := limits{largeFrom: namespaceBytes, small: namespaceBytes, large: largeBytes}
	if memory.AwaitsLarge(namespace) {
		out.large = 0
	}
	return out
}

// A snapshot is the retained snapshot of a Holder.
type snapshot struct {
	holder Holder
	used   time.Time
	size   int
}

// trimToLimits drops snapshots until the others fit into limits.
func trimToLimits(all []Holder, l limits) {
	small, large := []snapshot{}, []snapshot{}
	for _, h := range all {
		used, size := h.Retained()
		switch s := (snapshot{holder: h, used: used, size: size}); {
		case size > l.largeFrom:
			large = append(large, s)
		case size > 0:
			small = append(small, s)
		}
	}
	dropUntilFit(small, l.small)
	dropUntilFit(large, l.large)
}

// dropUntilFit drops the least recently used snapshot of the namespace that has most, until the others fit.
func dropUntilFit(all []snapshot, limit int) {
	byPayer, total := map[string][]snapshot{}, 0
	for _, s := range all {
		byPayer[s.holder.Payer()] = append(byPayer[s.holder.Payer()], s)
		total += s.size
	}
	for _, snapshots := range byPayer {
		slices.SortFunc(snapshots, func(a, b snapshot) int { return a.used.Compare(b.used) })
	}
	for total > limit {
		payer := largestPayer(byPayer)
		s := byPayer[payer][0]
		byPayer[payer] = byPayer[payer][1:]
		s.holder.Drop()
		total -= s.size
	}
}

// largestPayer returns the namespace that has most.
func largestPayer(byPayer map[string][]snapshot) string {
	largest, found := -1, ""
	for payer, all := range byPayer {
		size := 0
		for _, s := range all {
			size += s.size
		}
		if size > largest {
			largest, found = size, payer
		}
	}
	return found
}
