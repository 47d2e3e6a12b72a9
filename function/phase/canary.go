package phase

import (
	"fmt"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// canaryStatus says how far a revision in tracks is. It is nil for one without tracks.
func canaryStatus(f *Input) *v1alpha1.CanaryStatus {
	if !f.State.HasTracks() {
		return nil
	}
	r, hold := *f.State.Current, trackHold(f)
	out := &v1alpha1.CanaryStatus{State: canaryState(f), Track: r.Track, Weight: new(askedWeight(f.State))}
	if r.HasSteps() {
		out.Step = fmt.Sprintf("%d/%d", f.State.Cursor.Step+1, len(r.Plan))
	}
	if !f.State.IsVerified() {
		out.StableRevision = r.Stable
	}
	if hold == step.HoldPaused && f.ObservedSync != nil && f.ObservedSync.Status.AtProvider.Pause != nil {
		out.Until = f.ObservedSync.Status.AtProvider.Pause.EndsAt.DeepCopy()
	}
	if hold == step.HoldAwaitsPromotion || hold == step.HoldGateHeld {
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

// canaryState returns the state in which a revision in tracks waits: by its hold, or else for the Sites or a Gate.
func canaryState(f *Input) v1alpha1.CanaryState {
	s, held := f.State, holdTable()[trackHold(f)].canary
	switch {
	case held != "":
		return held
	case f.isRollingBack():
		return v1alpha1.CanaryRollingBack
	case s.Verdict != nil:
		return ""
	case s.IsBeforeSteps(), askedWeight(s) == 0 && !f.IsLive():
		return v1alpha1.CanaryPreparing
	case f.IsLive() && s.IsGated():
		return v1alpha1.CanaryMeasuring
	}
	return v1alpha1.CanaryShifting
}

// trackHold returns why a revision in tracks does not go on although its Sites run it, or waits for the end of requests.
func trackHold(f *Input) step.Hold {
	s := f.State
	switch {
	case !s.HasTracks():
		return step.HoldNone
	case awaitsDrain(f):
		return step.HoldDraining
	case s.Verdict != nil, s.IsBeforeSteps(), !f.IsLive():
		return step.HoldNone
	}
	hold, _ := step.Input{Proof: f.StepProof()}.HoldAtStep(s)
	return hold
}

// awaitsDrain is true while requests leave a track, whose pods stay until these have ended.
func awaitsDrain(f *Input) bool {
	s := f.State
	switch {
	case s.IsRejected():
		return f.isRollingBack() && (s.Cursor.Stage > ledger.StageShift || s.Cursor.Stage == ledger.StageShift && f.IsLive())
	case s.IsVerified():
		return f.IsDraining
	}
	return s.IsBeforeSteps() && s.Cursor.Stage != ledger.StageBeside && s.Current.Stable != 0
}

// siteWeight returns the share of the requests that a Site gives to the revision, as its repository holds it. It is nil without tracks.
func siteWeight(f *siteView, t *deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery) *int32 {
	if !f.State.HasTracks() {
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
