package step

import "github.com/intentplane/intentplane/apis/ledger"

// advanceStage returns the event of the next stage in which something is to do, or that the present one is not over.
func (in Input) advanceStage(s ledger.State) (*ledger.Event, Hold) {
	stage := in.nextStage(s)
	switch {
	case stage == s.Cursor.Stage:
		return nil, HoldDraining
	case stage == ledger.StageSteps && !s.IsRejected() && in.isStepFrozen():
		return nil, HoldFrozen
	case stage == ledger.StageSteps && !s.IsRejected() && in.IsSuspended:
		return nil, HoldSuspended
	}
	return advanceStageEvent(s, stage), HoldNone
}

func advanceStageEvent(s ledger.State, stage int32) *ledger.Event {
	return &ledger.Event{Advanced: &ledger.Advanced{Step: s.Cursor.Step, Stage: stage}}
}

// nextStage returns the first stage in which something is to do at a Site. The content of the repositories alone ends no stage: only proof
// does.
func (in Input) nextStage(s ledger.State) int32 {
	if in.goesStraight(s) || in.cannotGoBack(s) {
		return ledger.StageSteps
	}
	for stage := s.Cursor.Stage; stage < ledger.StageSteps; stage++ {
		for _, d := range in.Directories {
			if !d.tracksInState(s).isStageDone(stage) {
				return stage
			}
		}
	}
	return ledger.StageSteps
}

// goesStraight is true where no other track is in use, and the next trees replace the existing ones: a rollback, or a revision in the track of the
// stable one.
func (in Input) goesStraight(s ledger.State) bool {
	if s.Cursor.Attempt == 0 && s.Current.HasSteps() {
		return false
	}
	for _, d := range in.Directories {
		if t := d.tracksInState(s); !t.isKnown || !t.other.getsNoRequests() {
			return false
		}
	}
	return true
}

// cannotGoBack is true for a revision that replaces another one in the middle of a move from pods without tracks, where these did not become available in
// time. Their requests stay with the track, whose pods Kubernetes replaces one by one.
func (in Input) cannotGoBack(s ledger.State) bool {
	return s.Cursor.Attempt == 0 && in.areRequestsStranded(s)
}

// areRequestsStranded is true where pods without tracks did not become available in time, so that requests cannot go back to them from a track. Any other Site
// has to be where steps begin.
func (in Input) areRequestsStranded(s ledger.State) bool {
	if in.Proof.Failure == nil || !s.IsBeforeSteps() {
		return false
	}
	isStranded := false
	for _, d := range in.Directories {
		t := d.tracksInState(s)
		if !t.isKnown || !t.isPlainStranded() && !t.other.getsNoRequests() {
			return false
		}
		isStranded = isStranded || t.isPlainStranded()
	}
	return isStranded
}

// removeOtherTrack returns the event by which a verified revision becomes alone, once its verdict is recorded and the other track serves nothing.
func removeOtherTrack(s ledger.State, in Input) (*ledger.Event, Hold) {
	if !s.HasTracks() || s.Cursor.Stage >= ledger.StageAlone || !in.IsRecorded {
		return nil, HoldNone
	}
	isLeft := false
	for _, d := range in.Directories {
		t := d.tracksInState(s)
		otherTrack := d.trackBeside(s.Current.Folder())
		if !t.isKnown || !otherTrack.getsNoRequests() {
			return nil, HoldDraining
		}
		isLeft = isLeft || otherTrack.Revision != 0
	}
	switch {
	case !isLeft:
		return nil, HoldNone // A suspension holds nothing back.
	case in.IsSuspended:
		return nil, HoldSuspended
	}
	return advanceStageEvent(s, ledger.StageAlone), HoldNone
}

// AimAt returns the aim of the directory of a Site in a state of a deployment with tracks.
func (in Input) AimAt(s ledger.State, d Directory) Aim {
	t := d.tracksInState(s)
	switch {
	case s.Cursor.Stage == ledger.StageAlone:
		return aimOfLoneRevision(*s.Current)
	case s.IsRejected() && s.Cursor.Attempt == 0:
		return Aim{Keeps: true}
	case s.IsBeforeSteps() && in.goesStraight(s):
		return Aim{Keeps: true} // The next position replaces the present trees: nothing is moved out of its way meanwhile.
	case s.IsBeforeSteps():
		return t.aimBeforeSteps(s.Cursor.Stage)
	case s.Cursor.Attempt > 0:
		return Aim{Restores: true}
	}
	return t.aimInPlanStep(s, d.Site)
}

// AimInStep returns the aim of the directory of a Site in the steps of the current revision, before a verdict and a rollback.
func (in Input) AimInStep(s ledger.State, d Directory) Aim {
	s.Verdict, s.Cursor.Attempt, s.Cursor.Stage = nil, 0, ledger.StageSteps
	return in.AimAt(s, d)
}

// aimOfLoneRevision returns the aim of a directory in which a revision is alone.
func aimOfLoneRevision(r ledger.Revision) Aim {
	return Aim{Put: map[string]int64{r.Folder(): r.Number}, Serving: r.Folder(), IsAlone: true}
}

// aimInPlanStep returns the aim of the directory in a step of the plan. Pods without tracks that kept the requests, while others were given to a track, are replaced
// where they are by a revision that takes the latter back.
func (t siteTracks) aimInPlanStep(s ledger.State, site string) Aim {
	reached, isReached := s.Current.StepAt(s.Cursor.Step, site)
	r := *s.Current
	put := map[string]int64{r.Folder(): r.Number}
	isReplaced := t.origin.revision == 0 || t.origin.track == r.Folder()
	switch {
	case !isReached:
		return Aim{Keeps: true}
	case !t.isKnown && (isReplaced || t.isUnreported() || t.isPlainStranded() || s.TakesBack()):
		return Aim{IsUnknown: true}
	case isReplaced && s.TakesBack():
		return aimOfLoneRevision(r)
	case isReplaced:
		return Aim{Put: put, Serving: r.Folder()}
	}
	put[t.origin.track] = t.origin.revision
	p := r.Plan[reached]
	aim := Aim{Put: put, Serving: t.origin.track, Weight: 100, Ahead: new(int32(100))}
	if p.Weight != nil && !t.isPlainStranded() {
		aim.Weight = *p.Weight
	}
	if p.Ahead != nil && !s.Cursor.Full {
		aim.Ahead = p.Ahead
	}
	return aim
}
