package compose

import (
	"slices"
	"strings"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// Traffic is what a Site has to prove of the tracks of its directory, beside its tree.
type Traffic struct {
	// Awaited is the revision whose pods have to be available.
	Awaited int64

	// Drain of a track that lost its requests. Empty means the default.
	Drain string

	// Observed is what the SiteSync was asked to observe at the Site last.
	Observed deliveryv1alpha1.SiteTree
}

// TrafficOf returns how the requests of a Site are divided by a tree. It is nil for a tree without tracks.
func TrafficOf(t TrackedTree, held deliveryv1alpha1.DeliveredTree, own string, what Traffic) *deliveryv1alpha1.SiteTraffic {
	if len(t.Tracks) == 0 {
		return nil
	}
	out := &deliveryv1alpha1.SiteTraffic{Drain: what.Drain, Routes: t.Routes}
	if out.Routes == nil && what.Observed.Traffic != nil && what.Observed.Tree == t.Tree.Tree {
		out.Routes = what.Observed.Traffic.Routes
	}
	for _, is := range t.Tracks {
		traffic := deliveryv1alpha1.TrackTraffic{Name: is.Name, Weight: is.Weight, Awaited: is.Revision == what.Awaited}
		if i := slices.IndexFunc(held.Tracks, func(h deliveryv1alpha1.DeliveredTrack) bool { return h.Name == is.Name }); i >= 0 {
			traffic.WeighedAt, traffic.ChangedAt = held.Tracks[i].WeighedAt, held.Tracks[i].ChangedAt
		}
		traffic.Workloads = what.workloadsOf(t, is.Name, own)
		out.Tracks = append(out.Tracks, traffic)
	}
	return out
}

// workloadsOf returns the Deployments of a track: those of the files, those that were observed before, or else those of the other track by their other
// names.
func (w Traffic) workloadsOf(t TrackedTree, name, own string) []deliveryv1alpha1.TrafficWorkload {
	if name == own && len(t.Workloads) > 0 {
		return t.Workloads
	}
	if known := w.observedIn(name); len(known) > 0 {
		return known
	}
	others := w.observedIn(ledger.OtherTrack(name))
	if len(others) == 0 && name != own {
		others = t.Workloads
	}
	var out []deliveryv1alpha1.TrafficWorkload
	for _, o := range others {
		if stem, ok := strings.CutSuffix(o.Name, "-"+ledger.OtherTrack(name)); ok {
			out = append(out, deliveryv1alpha1.TrafficWorkload{Namespace: o.Namespace, Name: stem + "-" + name})
		}
	}
	return out
}

func (w Traffic) observedIn(name string) []deliveryv1alpha1.TrafficWorkload {
	if w.Observed.Traffic == nil {
		return nil
	}
	for _, t := range w.Observed.Traffic.Tracks {
		if t.Name == name {
			return t.Workloads
		}
	}
	return nil
}
