package directories

import (
	"slices"
	"strings"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// Traffic is the input for the state of tracks that a Site has to prove, beside its tree.
type Traffic struct {
	// Awaited is the revision whose pods have to be available.
	Awaited int64

	// Position that is asked for.
	Position ledger.Position

	// Drain of a track that lost its requests. Empty means the default.
	Drain string

	// Observed is the last tree that the SiteSync was asked to observe at the Site.
	Observed deliveryv1alpha1.SiteTree
}

// TrafficOf returns how the requests of a Site are divided by a tree. It is nil for a tree without tracks.
func TrafficOf(t TrackedTree, delivered deliveryv1alpha1.DeliveredTree, ownTrack string, subject Traffic) *deliveryv1alpha1.SiteTraffic {
	if len(t.Tracks) == 0 {
		return nil
	}
	out := &deliveryv1alpha1.SiteTraffic{Drain: subject.Drain, Routes: t.Routes}
	if out.Routes == nil && subject.Observed.Traffic != nil && subject.Observed.Tree == t.Tree.Tree {
		out.Routes = subject.Observed.Traffic.Routes
	}
	for _, treeTrack := range t.Tracks {
		traffic := deliveryv1alpha1.TrackTraffic{Name: treeTrack.Name, Weight: treeTrack.Weight, Awaited: treeTrack.Revision == subject.Awaited}
		subject.setChanges(&traffic, t, delivered)
		traffic.Workloads = subject.workloadsOf(t, treeTrack.Name, ownTrack)
		out.Tracks = append(out.Tracks, traffic)
	}
	return out
}

// RetainTraffic returns the requested traffic of a directory that stays as it was asked for last, with the folders of tracks and the positions of changes that its repository reports now.
func RetainTraffic(requested *deliveryv1alpha1.SiteTraffic, delivered deliveryv1alpha1.DeliveredTree) *deliveryv1alpha1.SiteTraffic {
	if requested == nil {
		return nil
	}
	out := requested.DeepCopy()
	for i := range out.Tracks {
		t := &out.Tracks[i]
		for _, h := range delivered.Tracks {
			if h.Name != t.Name {
				continue
			}
			if t.Tree, t.ChangedAt = h.Tree, h.ChangedAt; t.Weight == 0 {
				t.WeighedAt = h.WeighedAt
			}
		}
	}
	return out
}

// setChanges sets the folder of a track, when it changed last, and when the directory last gave it requests, all as they will be once the tree is there: a
// second write of the SiteSync after each push would cost as much as the first. A track with requests is not compared with when it got them.
func (w Traffic) setChanges(out *deliveryv1alpha1.TrackTraffic, t TrackedTree, delivered deliveryv1alpha1.DeliveredTree) {
	out.Tree, out.ChangedAt = t.folderOf(out.Name), &w.Position
	i := slices.IndexFunc(delivered.Tracks, func(h deliveryv1alpha1.DeliveredTrack) bool { return h.Name == out.Name })
	if i < 0 {
		return
	}
	previous := delivered.Tracks[i]
	if out.Weight == 0 {
		out.WeighedAt = previous.WeighedAt
	}
	if out.Tree == "" || out.Tree == previous.Tree {
		out.Tree, out.ChangedAt = previous.Tree, previous.ChangedAt
	}
}

// workloadsOf returns the Deployments of a track: the Deployments in the files, the previously observed ones, or else the Deployments of the other track by their other
// names.
func (w Traffic) workloadsOf(t TrackedTree, name, ownTrack string) []deliveryv1alpha1.TrafficWorkload {
	if name == ownTrack && len(t.Workloads) > 0 {
		return t.Workloads
	}
	if name == track.Plain && len(t.PlainWorkloads) > 0 {
		return t.PlainWorkloads
	}
	if recorded := w.observedIn(name); len(recorded) > 0 {
		return recorded
	}
	for _, otherTrack := range t.Tracks {
		if otherTrack.Name == name {
			continue
		}
		remaining := w.observedIn(otherTrack.Name)
		if len(remaining) == 0 && name != ownTrack {
			remaining = t.Workloads
		}
		return renameWorkloads(remaining, otherTrack.Name, name)
	}
	return nil
}

// renameWorkloads returns the Deployments of one track by the names that they have in another one.
func renameWorkloads(workloads []deliveryv1alpha1.TrafficWorkload, source, target string) []deliveryv1alpha1.TrafficWorkload {
	var out []deliveryv1alpha1.TrafficWorkload
	for _, o := range workloads {
		if stem, ok := strings.CutSuffix(o.Name, track.Suffix(source)); ok {
			out = append(out, deliveryv1alpha1.TrafficWorkload{Namespace: o.Namespace, Name: stem + track.Suffix(target)})
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

func trafficRoutes(routes []track.Route) []deliveryv1alpha1.TrafficRoute {
	var out []deliveryv1alpha1.TrafficRoute
	for _, r := range routes {
		t := deliveryv1alpha1.TrafficRoute{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		for _, b := range r.Backends {
			t.Backends = append(t.Backends, deliveryv1alpha1.TrafficBackend{Rule: int32(b.Rule), Service: b.Service, Weight: b.Weight}) //nolint:gosec // A route has at most 64 rules.
		}
		out = append(out, t)
	}
	return out
}

func trafficWorkloads(files tree.Files, name string) ([]deliveryv1alpha1.TrafficWorkload, error) {
	w, err := track.ReadWorkload(files, name)
	var out []deliveryv1alpha1.TrafficWorkload
	for _, d := range w.Deployments {
		out = append(out, deliveryv1alpha1.TrafficWorkload{Namespace: d.Namespace, Name: d.Name, MinReplicas: d.MinReplicas})
	}
	return out, err
}
