package deployment

import (
	"fmt"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/function/phase"
)

// maxEvents is how many events the home of a ledger records at once.
const maxEvents = 8

// Decision is the result of the third stage of a call: the next events of the ledger, and the resources that ask for them.
type Decision struct {
	phase.Decision
	evidence.Comparison

	// retained are the resources that stay as they are, by their name in the composition.
	retained map[string]Resource

	// composed are the desired resources, by their name in the composition, instead of the retained ones.
	composed map[string]any

	// left is the kind of the next event, if the provider records it. Empty if no event follows, or if the function proposes it.
	left step.Kind
}

// A decider decides by the observed objects and the compiled spec.
type decider struct {
	in       Input
	observed Observed
	compiled Compiled
}

// A proposedState is the state after the next events of a ledger.
type proposedState struct {
	// home of the ledger.
	home step.Home

	// events to record in it, and the state that follows from them.
	events []ledger.Event
	state  ledger.State

	// holds are why no further event follows, and left is the kind of the next event if the provider records it.
	holds step.Holds
	left  step.Kind

	// asked are the desired resources for the state.
	asked desiredResources

	// proof is the comparison that proves the state.
	proof evidence.Comparison
}

// makeDecision proposes the events that follow in the ledger, and composes the resources that ask for them. While the home of the ledger is not known
// the function makes no decision: observed resources stay, and the home is asked for its ledger.
func makeDecision(in Input, o Observed, k Compiled) (Decision, error) {
	o = o.continueWith(k)
	dr := decider{in: in, observed: o, compiled: k}
	d := Decision{Comparison: o.compareWithItself(), retained: maps.Clone(o.retained), composed: map[string]any{}}
	if k.desired.ApprovedBy == nil {
		d.Update = k.update
	}
	home := o.ledgerHome(in, k)
	switch {
	case home.ConfigRef == "":
		if *in.Spec.Suspend && k.Problem == nil {
			d.Holds.Start = step.HoldSuspended
		}
		return d, nil
	case !home.IsKnown:
		return dr.awaitLedgerHome(d, home), nil
	case dr.withdrawEvents(d, home) && ledgerhome.Begins(home):
		return d, nil // A home that a ledger was forced away from may be back at any time, and both would record.
	}
	d = dr.withUnreachableHome(d, home)
	p, err := dr.proposeEvents(home)
	if err != nil {
		return d, err
	}
	return dr.composeProposal(d, p), nil
}

// proposeEvents returns the proposal for the recorded state of a ledger: events until none follows, or until the provider records the next one by itself.
func (dr decider) proposeEvents(home step.Home) (proposedState, error) {
	p := proposedState{home: home, events: slices.Clone(home.Events)}
	s, err := ledger.Append(home.State, ledgerhome.RecordingTime(), p.events...)
	for ; err == nil; s, err = ledger.Append(s, ledgerhome.RecordingTime(), p.events[len(p.events)-1]) {
		p.state = s
		if p.asked, err = dr.composeResources(home, s); err != nil {
			return p, err
		}
		p.proof = dr.compareState(p)
		in := stepInput(dr.in, dr.observed, dr.compiled, s)
		in.AreTreesLost = p.asked.isLost
		if s.Position() == home.State.Position() && s.Current != nil && !p.asked.isLost {
			in.Proof = p.proofWithLoneTrees(p.proof.Proof()) // Nothing is proven of a position that is only proposed.
		}
		var e *ledger.Event
		if e, p.holds = step.Step(s, in); e == nil || len(p.events) == maxEvents {
			return p, nil
		}
		if dr.isLeftToProvider(p, *e) {
			p.left = step.KindOf(s, *e)
			return p, nil
		}
		p.events = append(p.events, *e)
	}
	return p, errors.Wrap(err, "cannot continue the ledger")
}

// compareState compares the desired resources of a state with the observed ones.
func (dr decider) compareState(p proposedState) evidence.Comparison {
	c := dr.observed.compareWithItself()
	c.State, c.Recorded = p.state, p.home.State
	c.Desired, c.Sync, c.Unobserved, c.RendererDeferred = p.asked.deliveries, p.asked.sync, dr.compiled.unobserved, p.asked.isRendererHeld
	c.LostFiles = p.asked.lostFiles
	c.IsPartLost, c.IsDraining = dr.hasLostPart(p.state), dr.observed.isTrackDraining(p.state)
	return c
}

// hasLostPart is true while a repository of the current revision has no delivery for its Sites, and the spec does not say where they are.
func (dr decider) hasLostPart(s ledger.State) bool {
	return dr.compiled.deliveries == nil && s.Current != nil && slices.ContainsFunc(s.Current.Parts, func(p ledger.Part) bool {
		return compose.IsLost(p, dr.observed.deliveries)
	})
}

// stepInput returns the input for deciding the next event, without the proof.
func stepInput(in Input, o Observed, k Compiled, s ledger.State) step.Input {
	out := step.Input{
		Versions: versionsOfCall(k), IsSuspended: *in.Spec.Suspend, IsBlueprintGone: k.channel.IsPinnedGone,
		HasUpdate: k.update != deploymentv1alpha1.UpdateStatus{}, Policy: rollbackPolicy(in), Requests: o.stepRequests(k),
	}
	if k.Problem == nil {
		out.Desired = &k.desired
	}
	if s.Current != nil {
		out.Directories, out.HasAllReported = o.directoriesOf(s, k), o.haveAllReported(s)
		out.HoldsFiles, out.IsRecorded = o.holdsFilesOfStep(s, k), s.Head == o.home.State.Head
	}
	return out
}

// holdsFilesOfStep is true if the objects carry the files for each Site of the next step, and the spec still brings the Sites to which the revision comes then to the
// same directories.
func (o Observed) holdsFilesOfStep(s ledger.State, k Compiled) bool {
	moved := o.sitesMovedBySpec(s, k)
	isLeft := func(site string) bool { return s.StepOf(site) == s.NextStep() && moved[site] }
	return !slices.ContainsFunc(s.Current.Sites(), isLeft) && directories.HoldFiles(s, o.allDeliveries()...)
}

// sitesMovedBySpec returns the Sites whose later trees are for another repository or directory than the compiled spec has, and those that the deployment has left.
func (o Observed) sitesMovedBySpec(s ledger.State, k Compiled) map[string]bool {
	out, compiled := map[string]bool{}, compose.Inherit(k.deliveries, o.deliveries)
	for name, d := range o.deliveries {
		later := directories.LaterTrees(d.Spec.ForProvider, s)
		if len(later) == 0 || k.deliveries == nil {
			continue
		}
		places := map[string]bool{}
		if wanted := compiled[name]; wanted != nil {
			for _, t := range wanted.Spec.ForProvider.Trees {
				places[placeOfTree(t)] = true
			}
		}
		for _, l := range later {
			out[l.Site] = !places[placeOfTree(l.Tree)]
		}
	}
	return out
}

// placeOfTree returns the directory of a tree, and its layout.
func placeOfTree(t deliveryv1alpha1.Tree) string {
	return fmt.Sprint(t.Site, " ", t.Branch, " ", t.Path, " ", t.Layout)
}
