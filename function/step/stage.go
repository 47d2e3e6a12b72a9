package step

import "github.com/intentplane/intentplane/apis/ledger"

// isBeforeSteps is true while the requests of a deployment with tracks are moved to where a revision or a rollback goes on from.
func isBeforeSteps(s ledger.State) bool { return hasTracks(s) && s.Cursor.Stage < ledger.StageSteps }

// advanceStage returns the event of the next stage in which something is to do, or that the present one is not over.
func (in Input) advanceStage(s ledger.State) (*ledger.Event, Hold) {
	stage := in.nextStage(s)
	switch {
	case stage == s.Cursor.Stage:
		return nil, HoldDraining
	case stage == ledger.StageSteps && !s.IsRejected() && in.isFrozen(s):
		return nil, HoldFrozen
	case stage == ledger.StageSteps && !s.IsRejected() && in.IsSuspended:
		return nil, HoldSuspended
	}
	return stageEvent(s, stage), HoldNone
}

func stageEvent(s ledger.State, stage int32) *ledger.Event {
	return &ledger.Event{Advanced: &ledger.Advanced{Step: s.Cursor.Step, Stage: stage}}
}

// nextStage returns the first stage in which something is to do at a Site. It never looks at what the repositories hold alone: only what was proven
// ends a stage.
func (in Input) nextStage(s ledger.State) int32 {
	if in.goesStraight(s) || in.cannotGoBack(s) {
		return ledger.StageSteps
	}
	for stage := s.Cursor.Stage; stage < ledger.StageSteps; stage++ {
		for _, d := range in.Directories {
			if !in.tracksOf(s, d).isOver(stage) {
				return stage
			}
		}
	}
	return ledger.StageSteps
}

// goesStraight is true where no other track is in use, and the trees to come replace what is there: a rollback, or a revision in the track of the
// stable one.
func (in Input) goesStraight(s ledger.State) bool {
	if s.Cursor.Attempt == 0 && s.Current.HasSteps() {
		return false
	}
	for _, d := range in.Directories {
		if t := in.tracksOf(s, d); !t.isKnown || !t.other.isAway() {
			return false
		}
	}
	return true
}

// cannotGoBack is true for a revision that replaces another one in the middle of a move from pods without tracks, where these did not become available in
// time. Their requests stay with the track, whose pods Kubernetes replaces one by one. Any other Site has to be where the steps begin.
func (in Input) cannotGoBack(s ledger.State) bool {
	if in.Proof.Failure == nil || s.Cursor.Attempt > 0 {
		return false
	}
	isStranded := false
	for _, d := range in.Directories {
		t := in.tracksOf(s, d)
		if !t.isKnown || !t.isStranded() && !t.other.isAway() {
			return false
		}
		isStranded = isStranded || t.isStranded()
	}
	return isStranded
}

// removeOtherTrack returns the event by which a verified revision becomes alone, once its verdict is recorded and the other track serves nothing.
func removeOtherTrack(s ledger.State, in Input) (*ledger.Event, Hold) {
	if !hasTracks(s) || s.Cursor.Stage >= ledger.StageAlone || !in.IsRecorded {
		return nil, HoldNone
	}
	if in.IsSuspended {
		return nil, HoldSuspended
	}
	isLeft := false
	for _, d := range in.Directories {
		t := in.tracksOf(s, d)
		other := d.trackBeside(s.Current.Track)
		if !t.isKnown || !other.isAway() {
			return nil, HoldDraining
		}
		isLeft = isLeft || other.Revision != 0
	}
	if !isLeft {
		return nil, HoldNone
	}
	return stageEvent(s, ledger.StageAlone), HoldNone
}

// AimAt returns what the directory of a Site has in a state of a deployment with tracks.
func (in Input) AimAt(s ledger.State, d Directory) Aim {
	t := in.tracksOf(s, d)
	switch {
	case s.Cursor.Stage == ledger.StageAlone:
		return Aim{Put: map[string]int64{s.Current.Track: s.Current.Number}, Serving: s.Current.Track, IsAlone: true}
	case s.IsRejected() && s.Cursor.Attempt == 0:
		return Aim{Keeps: true}
	case isBeforeSteps(s) && in.goesStraight(s):
		return Aim{Keeps: true} // The next position replaces what is there: nothing is moved out of its way meanwhile.
	case isBeforeSteps(s):
		return t.aimBefore(s.Cursor.Stage)
	case s.Cursor.Attempt > 0:
		return Aim{Restores: true}
	}
	return t.aimInStep(s, d.Site)
}

// aimInStep returns what the directory has in a step of the plan.
func (t siteTracks) aimInStep(s ledger.State, site string) Aim {
	at, isReached := s.Current.StepAt(s.Cursor.Step, site)
	r := *s.Current
	put := map[string]int64{r.Track: r.Number}
	isReplaced := t.origin.revision == 0 || t.origin.track == r.Track
	switch {
	case !isReached:
		return Aim{Keeps: true}
	case !t.isKnown && (isReplaced || t.isUnreported() || t.isStranded()):
		return Aim{IsUnknown: true}
	case isReplaced:
		return Aim{Put: put, Serving: r.Track}
	}
	put[t.origin.track] = t.origin.revision
	p := r.Plan[at]
	aim := Aim{Put: put, Serving: t.origin.track, Weight: 100, Ahead: new(int32(100))}
	if p.Weight != nil && !t.isStranded() {
		aim.Weight = *p.Weight
	}
	if p.Ahead != nil && !s.Cursor.Full {
		aim.Ahead = p.Ahead
	}
	return aim
}
