package deployment

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/compose"
)

// renderPlaced returns the rendered files of a selection. A workload in tracks is rendered in the first track, which determines the inputs of its
// pods, and then in the track that the revision takes.
func (c *Core) renderPlaced(ctx context.Context, o Observed, from compile.Selection) (placedSites, error) {
	if from.Catalog.Blueprint.Spec.Canary == nil {
		return c.renderPlain(ctx, o, from)
	}
	out := placedSites{}
	var err error
	if out.Rendered, err = c.compiler.Render(ctx, from, track.Blue); err != nil {
		return out, err
	}
	if out.workload, err = c.compiler.Workload(from.Deployment, out.Sites, o.servingTrack()); err != nil {
		return out, compile.RenderError(err, nil)
	}
	if out.placement, err = step.PlaceRevision(o.state, out.workload); err != nil {
		return out, trackProblem(err)
	}
	if out.placement.Track != track.Blue {
		out.Rendered, err = c.compiler.Render(ctx, from, out.placement.Track)
	}
	return out, err
}

// renderPlain returns the rendered files of a selection whose Blueprint has no tracks.
func (c *Core) renderPlain(ctx context.Context, o Observed, from compile.Selection) (out placedSites, err error) {
	out.workload = step.Workload{IsPlain: true, Serving: o.servingTrack()}
	if out.placement, err = step.PlaceRevision(o.state, out.workload); err != nil {
		return out, trackProblem(err)
	}
	out.Rendered, err = c.compiler.Render(ctx, from, out.placement.Track)
	if err == nil && isReturn(o, out.placement) && !canReturn(o, out) {
		out.workload.Serving = "" // The requests can only go back to the pods of the stable revision.
		out.placement, err = step.PlaceRevision(o.state, out.workload)
	}
	return out, err
}

// trackProblem returns the problem of a Blueprint whose revision cannot be placed.
func trackProblem(err error) error { return compile.InvalidSpec(errors.Wrap(err, "spec.blueprint")) }

// isReturn is true for a revision that takes the requests back from a move to tracks that was given up.
func isReturn(o Observed, placement step.Placement) bool {
	stable := o.state.PastRevision(o.state.Stable)
	return placement.IsMove && ledger.IsPlain(placement.Track) && stable != nil && ledger.IsPlain(stable.Track)
}

// canReturn is true for a revision whose pods can come beside a track at each Site whose requests that has.
func canReturn(o Observed, placed placedSites) bool {
	for _, r := range placed.Sites {
		delivered, requested := o.directoryAt(r.Place.Site.GetName())
		if !slices.ContainsFunc(delivered.Tracks, func(t deliveryv1alpha1.DeliveredTrack) bool { return t.Name != track.Plain && t.Weight > 0 }) {
			continue
		}
		sourceFiles, err := tree.Decode(requested.Files)
		if err != nil {
			return false
		}
		if _, err := track.Join(track.WithoutFolders(sourceFiles, track.Names()...), r.Files, track.Plain); err != nil {
			return false
		}
	}
	return true
}

// checkMove returns a problem for a request whose revision could not take the requests over from the stable revision, where one of the two has no tracks.
func checkMove(o Observed, s *catalog.Selection, request ledger.Request, placed placedSites) error {
	if !placed.placement.IsMove || o.state.Current.Request == request || isReturn(o, placed.placement) {
		return nil
	}
	for _, p := range s.Places {
		if p.Site.Spec.Engine.Type == catalogv1alpha1.EngineNone {
			return trackProblem(errors.Errorf("Site %s has no engine, so that a move from or to tracks could not be proven there", p.Site.GetName()))
		}
	}
	isServed := canary.IsServedBy(o.state.PastRevision(o.state.Stable))
	for _, r := range placed.Sites {
		if site := r.Place.Site.GetName(); isServed(site) {
			if err := checkMoveAt(o, r, placed.placement); err != nil {
				return trackProblem(errors.Wrapf(err, "Site %s", site))
			}
		}
	}
	return nil
}

// checkMoveAt checks one Site, before its directory has both: then it was checked.
func checkMoveAt(o Observed, r compose.Rendered, placement step.Placement) error {
	delivered, requested := o.directoryAt(r.Place.Site.GetName())
	if slices.ContainsFunc(delivered.Tracks, func(t deliveryv1alpha1.DeliveredTrack) bool { return t.Name == track.Plain }) {
		return nil
	}
	if len(requested.Files) == 0 || requested.Tree != delivered.Tree {
		return errors.Errorf("no object has the files of revision %d, which a move from or to tracks needs: deliver them again first, such as with another number of replicas", placement.Stable)
	}
	sourceFiles, err := tree.Decode(requested.Files)
	if err != nil {
		return err
	}
	tracked, flat := r.Files, sourceFiles
	if ledger.IsPlain(placement.Track) {
		tracked, flat = sourceFiles, r.Files
	}
	_, err = track.Join(tracked, flat, placement.Track)
	return errors.Wrapf(err, "a move from revision %d", placement.Stable)
}

// directoryAt returns the tree in the directory of a Site, and its last requested tree.
func (o Observed) directoryAt(site string) (deliveryv1alpha1.DeliveredTree, deliveryv1alpha1.Tree) {
	for _, d := range o.deliveries {
		for _, t := range d.Spec.ForProvider.Trees {
			if t.Site == site {
				delivered, _ := evidence.HeldTree(d, t.Path)
				return delivered, t
			}
		}
	}
	return deliveryv1alpha1.DeliveredTree{}, deliveryv1alpha1.Tree{}
}

// placedSites has the rendered files of a selection, and the placement of the revision.
type placedSites struct {
	compile.Rendered

	placement step.Placement
	workload  step.Workload
}
