package phase

import (
	"fmt"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/projection"
)

// hasTracks is true for a deployment whose current revision is in a track.
func (f *Input) hasTracks() bool { return f.State.HasTracks() }

// canaryStatus says how far a revision in tracks is. It is nil for one without tracks.
func canaryStatus(f *Input) *v1alpha1.CanaryStatus {
	if !f.hasTracks() {
		return nil
	}
	r := *f.State.Current
	out := &v1alpha1.CanaryStatus{State: canaryState(f), Track: r.Track, Weight: new(askedWeight(f.State))}
	if r.HasSteps() {
		out.Step = fmt.Sprintf("%d/%d", f.State.Cursor.Step+1, len(r.Plan))
	}
	if !f.State.IsVerified() {
		out.StableRevision = r.Stable
	}
	if out.State == v1alpha1.CanaryPaused && f.ObservedSync != nil && f.ObservedSync.Status.AtProvider.Pause != nil {
		out.Until = f.ObservedSync.Status.AtProvider.Pause.EndsAt.DeepCopy()
	}
	if isPersonAwaited(out.State) {
		out.Promote = new(f.State.Cursor.Step + 1)
	}
	return out
}

// askedWeight returns the share of the requests that a revision in tracks gets at the Sites of its step.
func askedWeight(s ledger.State) int32 {
	p := s.Current.Plan[s.Cursor.Step]
	switch {
	case s.IsRejected() && s.Cursor.Attempt > 0, s.Cursor.Stage < ledger.StageSteps:
		return 0
	case p.Weight == nil || s.Cursor.Stage == ledger.StageAlone:
		return 100
	}
	return *p.Weight
}

// canaryState returns the state in which a revision in tracks waits.
func canaryState(f *Input) v1alpha1.CanaryState {
	s := f.State
	switch {
	case s.IsRejected() && (s.Cursor.Attempt == 0 || f.Stop != step.HoldNone || s.Restored && f.IsRecorded()):
		return ""
	case s.IsRejected() && (s.Cursor.Stage > ledger.StageShift || s.Cursor.Stage == ledger.StageShift && f.IsLive()):
		return v1alpha1.CanaryDraining
	case s.IsRejected():
		return v1alpha1.CanaryRollingBack
	case s.IsVerified() && f.IsDraining:
		return v1alpha1.CanaryDraining
	case s.IsVerified():
		return ""
	case s.Cursor.Stage < ledger.StageSteps && s.Cursor.Stage != ledger.StageBeside && s.Current.Stable != 0:
		return v1alpha1.CanaryDraining
	case s.Cursor.Stage < ledger.StageSteps, askedWeight(s) == 0 && !f.IsLive():
		return v1alpha1.CanaryPreparing
	case !f.IsLive():
		return v1alpha1.CanaryShifting
	}
	return liveCanaryState(f)
}

// liveCanaryState returns the state in which a revision waits whose step is live.
func liveCanaryState(f *Input) v1alpha1.CanaryState {
	s, g := f.State, f.Gate()
	isReleased := s.IsPauseReleased()
	pause := s.Current.Plan[s.Cursor.Step].Pause
	switch {
	case g != nil && evidence.GateVerdict(g) == rolloutv1alpha1.GateInconclusive && !s.IsGateReleased() && !s.IsStepLeftOut():
		return v1alpha1.CanaryHeld
	case s.IsGated() && !hasCounted(g):
		return v1alpha1.CanaryMeasuring
	case pause == step.PauseManual && !isReleased:
		return v1alpha1.CanaryAwaitingPromotion
	case pause != "" && pause != step.PauseManual && !isReleased && !evidence.IsSyncReleased(f.ObservedSync, s.Position()):
		return v1alpha1.CanaryPaused
	case s.IsGated():
		return v1alpha1.CanaryMeasuring
	}
	return v1alpha1.CanaryShifting
}

// hasCounted is true for a Gate that has measured each check often enough: it passed, or measures on until the step is released.
func hasCounted(g *rolloutv1alpha1.Gate) bool {
	return g != nil && (evidence.GateVerdict(g) != "" || evidence.CurrentReady(g).Reason == rolloutv1alpha1.ReasonWatching)
}

// isPersonAwaited is true for a state that a user has to end.
func isPersonAwaited(s v1alpha1.CanaryState) bool {
	return s == v1alpha1.CanaryAwaitingPromotion || s == v1alpha1.CanaryHeld
}

// canaryReason returns the reason of condition Reconciling while a revision in tracks waits for something other than the Sites. It is empty otherwise.
func canaryReason(f *Input) string {
	if !f.hasTracks() {
		return ""
	}
	return map[v1alpha1.CanaryState]string{
		v1alpha1.CanaryPaused:            v1alpha1.ReasonPaused,
		v1alpha1.CanaryAwaitingPromotion: v1alpha1.ReasonAwaitingPromotion,
		v1alpha1.CanaryHeld:              v1alpha1.ReasonHeld,
		v1alpha1.CanaryDraining:          v1alpha1.ReasonDraining,
	}[canaryState(f)]
}

// canaryMessage explains why a revision in tracks waits, and names the action of a user. It names no times: status.canary has them. It is empty
// while it waits for the Sites or a Gate.
func canaryMessage(f *Input) string {
	promote := fmt.Sprintf("kubectl intent promote %s -n %s", f.Claim.Name, f.Claim.Namespace)
	switch canaryReason(f) {
	case v1alpha1.ReasonPaused:
		return "The step is live, and pauses."
	case v1alpha1.ReasonAwaitingPromotion:
		return "The step is live, and waits until a user releases the next one: " + promote + "."
	case v1alpha1.ReasonHeld:
		return "The Gate of the step came to no conclusion. A user releases the step, or gives the revision up: " + promote + ", or kubectl intent abort."
	case v1alpha1.ReasonDraining:
		return drainingMessage(f)
	}
	return ""
}

// drainingMessage says which pods stay until their requests have ended.
func drainingMessage(f *Input) string {
	if f.State.IsRejected() {
		return "The requests have left the revision, whose pods stay until these have ended."
	}
	if f.State.IsVerified() {
		return "The revision was verified, and gets all requests. The pods of the revision before it stay until their requests have ended."
	}
	return fmt.Sprintf("Requests go back to revision %d, before the revision begins.", f.State.Current.Stable)
}

// siteWeight returns the share of the requests that a Site gives to the revision, as its repository holds it. It is nil without tracks.
func siteWeight(f *siteView, t *deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery) *int32 {
	if !f.hasTracks() {
		return nil
	}
	delivered, _ := evidence.HeldTree(d, t.Path)
	for _, deliveredTrack := range delivered.Tracks {
		if deliveredTrack.Name == f.State.Current.Folder() && deliveredTrack.Revision == f.State.Current.Number {
			return new(deliveredTrack.Weight)
		}
	}
	return new(int32(0))
}

// withStep appends the current step to the message of a revision in tracks.
func withStep(f *Input, message string) string { return projection.Sentences(message, f.stepMessage()) }
