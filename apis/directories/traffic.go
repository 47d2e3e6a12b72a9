package directories

import (
	"slices"

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
}

// TrafficOf returns the shares of a Site's requests by a tree, once its repository has it. The provider reads the routes and the Deployments from the
// repository. It is nil for a tree without tracks.
func TrafficOf(t TrackedTree, delivered deliveryv1alpha1.DeliveredTree, subject Traffic) *deliveryv1alpha1.SiteTraffic {
	if len(t.Tracks) == 0 {
		return nil
	}
	out := &deliveryv1alpha1.SiteTraffic{Drain: subject.Drain}
	for _, treeTrack := range t.Tracks {
		traffic := deliveryv1alpha1.TrackTraffic{Name: treeTrack.Name, Weight: treeTrack.Weight, Awaited: treeTrack.Revision == subject.Awaited}
		subject.setTrackChanges(&traffic, t, delivered)
		out.Tracks = append(out.Tracks, traffic)
	}
	return out
}

// setTrackChanges sets the folder of a track, when it changed last, and when the directory last gave it requests, all as they will be once the tree is there: a
// second write of the SiteSync after each push would cost as much as the first. A track with requests is not compared with when it got them.
func (w Traffic) setTrackChanges(out *deliveryv1alpha1.TrackTraffic, t TrackedTree, delivered deliveryv1alpha1.DeliveredTree) {
	out.Tree, out.ChangedAt = t.folderOfTrack(out.Name), &w.Position
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

// DeliveredTraffic returns the shares of a Site's requests by a delivered directory in a state of its deployment. TrackFiles has the routes and the
// Deployments. It is nil for a directory without tracks.
func DeliveredTraffic(s ledger.State, delivered deliveryv1alpha1.DeliveredTree, drain string) *deliveryv1alpha1.SiteTraffic {
	if len(delivered.Tracks) == 0 {
		return nil
	}
	out, awaited := &deliveryv1alpha1.SiteTraffic{Drain: drain}, AwaitedRevision(s, delivered)
	for _, t := range delivered.Tracks {
		traffic := deliveryv1alpha1.TrackTraffic{Name: t.Name, Weight: t.Weight, Tree: t.Tree, ChangedAt: t.ChangedAt, Awaited: t.Revision == awaited}
		if t.Weight == 0 {
			traffic.WeighedAt = t.WeighedAt
		}
		out.Tracks = append(out.Tracks, traffic)
	}
	return out
}

// TrackFiles are the routes and the Deployments in the files of a directory with tracks.
type TrackFiles struct {
	// Routes that divide requests.
	Routes []deliveryv1alpha1.TrafficRoute

	// Workloads are the Deployments, by the names of their tracks.
	Workloads map[string][]deliveryv1alpha1.TrafficWorkload
}

// ReadTrackFiles reads the files of a directory with tracks. It returns an error that names the file for a file that is not an object.
func ReadTrackFiles(files tree.Files) (TrackFiles, error) {
	out := TrackFiles{Workloads: map[string][]deliveryv1alpha1.TrafficWorkload{}}
	routes, err := track.Routes(files)
	if err != nil {
		return out, err
	}
	out.Routes = trafficRoutes(routes)
	for _, name := range track.Names() {
		if out.Workloads[name], err = trafficWorkloads(files, name); err != nil {
			return out, err
		}
	}
	return out, nil
}

// AddTo adds the routes and the Deployments to the traffic of a directory.
func (f TrackFiles) AddTo(t *deliveryv1alpha1.SiteTraffic) {
	t.Routes = f.Routes
	for i := range t.Tracks {
		t.Tracks[i].Workloads = f.Workloads[t.Tracks[i].Name]
	}
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
