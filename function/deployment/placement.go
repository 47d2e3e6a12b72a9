package deployment

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/memo"
	"github.com/intentplane/intentplane/function/step"
)

// firstTrack returns the track that a selection is rendered in for the first time, or "" for a Blueprint without tracks.
func firstTrack(s *catalog.Selection) string {
	if s.Blueprint.Spec.Canary == nil {
		return ""
	}
	return track.Blue
}

// renderPlaced returns what is rendered for a selection. A workload in tracks is rendered in the first one, which says what its pods depend on, and
// then in the track that the revision takes.
func (c *Core) renderPlaced(ctx context.Context, in Input, o Observed, from selection) (placedSites, error) {
	out := placedSites{}
	var err error
	if out.renderedSites, err = c.renderSelection(ctx, in, from, firstTrack(from.catalog)); err != nil {
		return out, err
	}
	if from.catalog.Blueprint.Spec.Canary == nil {
		return out, checkLeavesNoTracks(o.state)
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

// placedSites is what is rendered for a selection, and where the revision goes.
type placedSites struct {
	renderedSites

	placement step.Placement
	workload  step.Workload
}

// checkLeavesNoTracks returns a problem for a Blueprint without tracks in the place of one with: its pods have other names.
func checkLeavesNoTracks(s ledger.State) error {
	if !hasTracks(s) {
		return nil
	}
	return trackProblem(errors.Errorf("revision %d is in tracks: a deployment cannot move to a Blueprint without spec.canary yet", s.Current.Number))
}

// workloadOf returns what the placement of a workload depends on, from the files of its Sites in the first track.
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
	// Where all Sites have the same, the digest stays when a Site comes or leaves.
	slices.Sort(digests)
	digests = slices.Compact(digests)
	out.Digest = strings.Join(digests, " ")
	if len(digests) > 1 {
		sum := memo.KeyOf(out.Digest)
		out.Digest = "sha256:" + hex.EncodeToString(sum[:])
	}
	return out, nil
}

// readWorkload returns what the first track of a rendered Site runs. It is remembered.
func (c *Core) readWorkload(r compose.Rendered) (track.Workload, error) {
	return remember(c.workloads, memo.KeyOf("workload "+r.Packed.ID), func() (track.Workload, int, error) {
		w, err := track.ReadWorkload(r.Files, track.Blue)
		return w, siteBytes, err
	})
}

// withCanarySteps returns the desired revision with its steps, if its requests are shared with the stable one.
func withCanarySteps(in Input, o Observed, s *catalog.Selection, d step.Desired, checks gates.Checks) (step.Desired, error) {
	config := in.Spec.DeliveryConfig.Canary
	if !d.Placement.HasSteps || config == nil {
		return d, nil
	}
	waves, err := canaryWaves(in.Spec.DeliveryConfig, *config, s.Places)
	if err != nil {
		return d, err
	}
	plan, err := canary.Plan(canary.Input{
		Waves: waves, Scale: config.Scale, HasChecks: len(checks) > 0, IsServed: canary.IsServedBy(stableOf(o.state)),
	})
	if err != nil {
		return d, terminalProblem(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhaseCompiling, err)
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

// stableOf returns the newest revision that was verified, or nil.
func stableOf(s ledger.State) *ledger.Past {
	for _, p := range s.History {
		if p.Number == s.Stable {
			return &p
		}
	}
	return nil
}
