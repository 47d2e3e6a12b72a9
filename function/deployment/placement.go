package deployment

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
)

// firstTrack returns the track that a selection is rendered in for the first time, or "" for a Blueprint without tracks.
func firstTrack(s *catalog.Selection) string {
	if s.Blueprint.Spec.Canary == nil {
		return ""
	}
	return track.Blue
}

// renderPlaced returns the rendered files of a selection. A workload in tracks is rendered in the first track, which determines the inputs of its
// pods, and then in the track that the revision takes.
func (c *Core) renderPlaced(ctx context.Context, in Input, o Observed, from selection) (placedSites, error) {
	if from.catalog.Blueprint.Spec.Canary == nil {
		return c.renderPlain(ctx, in, o, from)
	}
	out := placedSites{}
	var err error
	if out.renderedSites, err = c.renderSelection(ctx, in, from, firstTrack(from.catalog)); err != nil {
		return out, err
	}
	if out.workload, err = c.workloadOf(in, o, out.sites); err != nil {
		return out, RenderError(err, nil)
	}
	if out.placement, err = step.PlaceRevision(o.state, out.workload); err != nil {
		return out, trackProblem(err)
	}
	if out.placement.Track != firstTrack(from.catalog) {
		out.renderedSites, err = c.renderSelection(ctx, in, from, out.placement.Track)
	}
	return out, err
}

// renderPlain returns the rendered files of a selection whose Blueprint has no tracks.
func (c *Core) renderPlain(ctx context.Context, in Input, o Observed, from selection) (out placedSites, err error) {
	out.workload = step.Workload{IsPlain: true, Serving: o.servingTrack()}
	if out.placement, err = step.PlaceRevision(o.state, out.workload); err != nil {
		return out, trackProblem(err)
	}
	out.renderedSites, err = c.renderSelection(ctx, in, from, out.placement.Track)
	if err == nil && isReturn(o, out.placement) && !canReturn(o, out) {
		out.workload.Serving = "" // The requests can only go back to the pods of the stable revision.
		out.placement, err = step.PlaceRevision(o.state, out.workload)
	}
	return out, err
}

// trackProblem returns the problem of a Blueprint whose revision cannot be placed.
func trackProblem(err error) error { return invalidSpec(errors.Wrap(err, "spec.blueprint")) }

// isReturn is true for a revision that takes the requests back from a move to tracks that was given up.
func isReturn(o Observed, placement step.Placement) bool {
	stable := o.state.PastRevision(o.state.Stable)
	return placement.IsMove && ledger.IsPlain(placement.Track) && stable != nil && ledger.IsPlain(stable.Track)
}

// canReturn is true for a revision whose pods can come beside a track at each Site whose requests that has.
func canReturn(o Observed, placed placedSites) bool {
	for _, r := range placed.sites {
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
	for _, r := range placed.sites {
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
	renderedSites

	placement step.Placement
	workload  step.Workload
}

// workloadOf returns the inputs of the placement of a workload, from the files of its Sites in the first track.
func (c *Core) workloadOf(in Input, o Observed, rendered []compose.Rendered) (step.Workload, error) {
	config := in.Spec.DeliveryConfig.Canary
	out := step.Workload{IsEnabled: config != nil && ptr.Deref(config.Enabled, true), Serving: o.servingTrack()}
	var digests []string
	for _, r := range rendered {
		w, err := c.readWorkload(r)
		if err != nil {
			return out, err
		}
		out.HasPods = out.HasPods || w.HasPods
		digests = append(digests, w.Digest)
	}
	// If all Sites have the same digest, it stays when a Site comes or leaves.
	slices.Sort(digests)
	digests = slices.Compact(digests)
	out.Digest = strings.Join(digests, " ")
	if len(digests) > 1 {
		sum := memo.KeyOf(out.Digest)
		out.Digest = "sha256:" + hex.EncodeToString(sum[:])
	}
	return out, nil
}

// readWorkload returns the workload of the first track of a rendered Site. It is cached.
func (c *Core) readWorkload(r compose.Rendered) (track.Workload, error) {
	return rememberResult(c.workloads, memo.KeyOf("workload "+r.Packed.ID), func() (track.Workload, int, error) {
		w, err := track.ReadWorkload(r.Files, track.Blue)
		return w, siteBytes, err
	})
}

// withCanarySteps returns the desired revision with its steps, if its requests are shared with the stable revision.
func withCanarySteps(in Input, o Observed, s *catalog.Selection, d step.Desired, checks gates.Checks) (step.Desired, error) {
	config := in.Spec.DeliveryConfig
	switch {
	case !d.Placement.HasSteps:
		return d, nil
	case d.Placement.IsMove: // Both have the pods of the same Service, so that no share would be one.
		config.Canary = &deploymentv1alpha1.CanaryConfig{Scale: deploymentv1alpha1.ScaleFull}
	case config.Canary == nil:
		return d, nil
	}
	waves, err := canary.WavesOf(config, s.Places)
	if err != nil {
		return d, invalidSpec(err)
	}
	for i := range waves {
		if d.Placement.IsMove {
			waves[i].Steps = nil
		}
	}
	plan, err := canary.Plan(canary.Input{
		Waves: waves, Scale: config.Canary.Scale, HasChecks: len(checks) > 0, IsServed: canary.IsServedBy(o.state.PastRevision(o.state.Stable)),
	})
	if err != nil {
		return d, invalidSpec(err)
	}
	d.Plan = keepGates(plan, checks)
	return d, nil
}

// keepGates leaves out the Gates of steps whose Sites have no checks.
func keepGates(plan []ledger.Step, checks gates.Checks) []ledger.Step {
	r := ledger.Revision{Plan: plan}
	out := slices.Clone(plan)
	for i := range out {
		if out[i].Gate && len(checks.At(ledger.Step{Sites: r.SitesAt(int32(i))})) == 0 {
			out[i].Gate = false
		}
	}
	return out
}
