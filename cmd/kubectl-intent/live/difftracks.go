package live

import (
	"cmp"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
)

// newestTracks returns the track of the newest revision at each Site whose directory has tracks. It returns an error for a Site that moves from or to tracks.
func newestTracks(f *cause.Facts) (map[string]string, error) {
	out := map[string]string{}
	for i := range f.Deliveries {
		d := &f.Deliveries[i]
		for _, t := range reachedTrees(d) {
			all := tracksOfTree(d, &t)
			newest := slices.MaxFunc(append(all, deliveryv1alpha1.TreeTrack{}), func(a, b deliveryv1alpha1.TreeTrack) int { return cmp.Compare(a.Revision, b.Revision) })
			if newest.Name == track.Plain && len(all) > 1 {
				return nil, errors.Errorf("Site %q moves from tracks to none: nothing can be compared until the revision has ended", t.Site)
			}
			if newest.Name != track.Plain && newest.Name != "" {
				out[t.Site] = newest.Name
			}
		}
	}
	return out, nil
}

// tracksOfTree returns the tracks of a directory: the desired tracks or, where none are, the observed tracks.
func tracksOfTree(d *deliveryv1alpha1.GitDelivery, t *deliveryv1alpha1.Tree) []deliveryv1alpha1.TreeTrack {
	if t.Action == deliveryv1alpha1.ActionDesired {
		return slices.Clone(t.Tracks)
	}
	var out []deliveryv1alpha1.TreeTrack
	delivered, _ := evidence.HeldTree(d, t.Path)
	for _, deliveredTrack := range delivered.Tracks {
		out = append(out, deliveryv1alpha1.TreeTrack{Name: deliveredTrack.Name, Revision: deliveredTrack.Revision, Weight: deliveredTrack.Weight})
	}
	return out
}

// filesOfTrack returns the files of a directory as they are while a track is alone there, so that shares of the requests make no difference.
func filesOfTrack(files tree.Files, name string) (tree.Files, error) {
	out, err := track.At(files, track.State{Serving: name, Alone: true})
	return out, errors.Wrapf(err, "cannot read track %s", name)
}

// renderInTracks renders a deployment, at each Site in the track that the newest revision has there.
func renderInTracks(c rendering.Deployment, tracks map[string]string) ([]rendering.Site, error) {
	out, err := c.RenderFiles()
	if err != nil || c.Selection.Blueprint.Spec.Canary == nil {
		return out, err
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(tracks))) {
		c.PlaceIn(name)
		placed, err := c.RenderFiles()
		if err != nil {
			return nil, err
		}
		for i := range placed {
			if tracks[placed[i].Name] != name || placed[i].Waits {
				continue
			}
			if placed[i].Files, err = filesOfTrack(placed[i].Files, name); err != nil {
				return nil, errors.Wrapf(err, "Site %q", placed[i].Name)
			}
			out[i] = placed[i]
		}
	}
	return out, nil
}
