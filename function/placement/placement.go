// Package placement renders the files of a revision in the track that it takes, and checks whether it can take the requests over from the stable revision. It
// is pure.
package placement

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

// A Placer places the next revision of a deployment.
type Placer struct {
	// Compiler renders the files.
	Compiler *compile.Compiler

	// State of the ledger.
	State ledger.State

	// Deliveries are the observed deliveries, by their names in the composition.
	Deliveries map[string]*deliveryv1alpha1.GitDelivery
}

// Placed has the rendered files of a selection, and the placement of the revision.
type Placed struct {
	compile.Rendered

	// Placement of the revision, and the facts about its workload that it follows from.
	Placement step.Placement
	Workload  step.Workload
}

// Render returns the rendered files of a selection. A workload in tracks is rendered in the first track, which determines the inputs of its
// pods, and then in the track that the revision takes.
func (p Placer) Render(ctx context.Context, from compile.Selection) (Placed, error) {
	if from.Catalog.Blueprint.Spec.Canary == nil {
		return p.renderPlain(ctx, from)
	}
	out := Placed{}
	var err error
	if out.Rendered, err = p.Compiler.Render(ctx, from, track.Blue); err != nil {
		return out, err
	}
	if out.Workload, err = p.Compiler.Workload(from.Deployment, out.Sites, p.servingTrack()); err != nil {
		return out, compile.RenderError(err, nil)
	}
	if out.Placement, err = step.PlaceRevision(p.State, out.Workload); err != nil {
		return out, trackProblem(err)
	}
	if out.Placement.Track != track.Blue {
		out.Rendered, err = p.Compiler.Render(ctx, from, out.Placement.Track)
	}
	return out, err
}

// renderPlain returns the rendered files of a selection whose Blueprint has no tracks.
func (p Placer) renderPlain(ctx context.Context, from compile.Selection) (out Placed, err error) {
	out.Workload = step.Workload{IsPlain: true, Serving: p.servingTrack()}
	if out.Placement, err = step.PlaceRevision(p.State, out.Workload); err != nil {
		return out, trackProblem(err)
	}
	out.Rendered, err = p.Compiler.Render(ctx, from, out.Placement.Track)
	if err == nil && p.returnsRequests(out.Placement) && !p.canReturnRequests(out) {
		out.Workload.Serving = "" // The requests can only go back to the pods of the stable revision.
		out.Placement, err = step.PlaceRevision(p.State, out.Workload)
	}
	return out, err
}

// trackProblem returns the problem of a Blueprint whose revision cannot be placed.
func trackProblem(err error) error { return compile.InvalidSpec(errors.Wrap(err, "spec.blueprint")) }

// returnsRequests is true for a revision that takes the requests back from a move to tracks that was given up.
func (p Placer) returnsRequests(placement step.Placement) bool {
	stable := p.State.PastRevision(p.State.Stable)
	return placement.IsMove && ledger.IsPlain(placement.Track) && stable != nil && ledger.IsPlain(stable.Track)
}

// canReturnRequests is true for a revision whose pods can come beside a track at each Site whose requests that has.
func (p Placer) canReturnRequests(placed Placed) bool {
	for _, r := range placed.Sites {
		delivered, requested := p.directoryAt(r.Place.Site.GetName())
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

// CheckMove returns a problem for a request whose revision could not take the requests over from the stable revision, where one of the two has no tracks.
func (p Placer) CheckMove(places []catalog.Place, request ledger.Request, placed Placed) error {
	if !placed.Placement.IsMove || p.State.Current.Request == request || p.returnsRequests(placed.Placement) {
		return nil
	}
	for _, place := range places {
		if place.Site.Spec.Engine.Type == catalogv1alpha1.EngineNone {
			return trackProblem(errors.Errorf("Site %s has no engine, so that a move from or to tracks could not be proven there", place.Site.GetName()))
		}
	}
	isServed := canary.IsServedBy(p.State.PastRevision(p.State.Stable))
	for _, r := range placed.Sites {
		if site := r.Place.Site.GetName(); isServed(site) {
			if err := p.checkMoveAt(r, placed.Placement); err != nil {
				return trackProblem(errors.Wrapf(err, "Site %s", site))
			}
		}
	}
	return nil
}

// checkMoveAt checks one Site, before its directory has both: then it was checked.
func (p Placer) checkMoveAt(r compose.Rendered, placement step.Placement) error {
	delivered, requested := p.directoryAt(r.Place.Site.GetName())
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
func (p Placer) directoryAt(site string) (deliveryv1alpha1.DeliveredTree, deliveryv1alpha1.Tree) {
	for _, d := range p.Deliveries {
		for _, t := range d.Spec.ForProvider.Trees {
			if t.Site == site {
				delivered, _ := evidence.HeldTree(d, t.Path)
				return delivered, t
			}
		}
	}
	return deliveryv1alpha1.DeliveredTree{}, deliveryv1alpha1.Tree{}
}

// servingTrack returns the track that gets most of the requests by the directories, or "".
func (p Placer) servingTrack() string {
	weights := map[string]int32{}
	for _, d := range p.Deliveries {
		for _, t := range d.Status.AtProvider.Trees {
			for _, treeTrack := range t.Tracks {
				weights[treeTrack.Name] += treeTrack.Weight
			}
		}
	}
	switch blue, green := weights[ledger.TrackBlue], weights[ledger.TrackGreen]; {
	case blue == 0 && green == 0:
		return ""
	case blue >= green:
		return ledger.TrackBlue
	}
	return ledger.TrackGreen
}
