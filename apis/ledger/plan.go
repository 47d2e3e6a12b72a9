package ledger

import (
	"cmp"
	"slices"
)

// Tracks that the workload of a revision may take.
const (
	TrackBlue  = "blue"
	TrackGreen = "green"

	// TrackPlain is the track of a workload without tracks beside a workload with tracks: of a revision of a Blueprint without tracks after a revision
	// with tracks, and of its successors. Its objects have their own names.
	TrackPlain = "plain"
)

// HasTracks is true for a state whose directories may have tracks. A revision of a Blueprint without them has some only while it takes the requests over from
// one with.
func (s State) HasTracks() bool {
	if s.Current == nil {
		return false
	}
	return !IsPlain(s.Current.Track) || s.Current.HasSteps() && s.Cursor.Stage < StageAlone
}

// IsBeforeSteps is true while the requests of a deployment in tracks are moved to the track from which a revision or a rollback continues.
func (s State) IsBeforeSteps() bool { return s.HasTracks() && s.Cursor.Stage < StageSteps }

// NextStep returns the number of the next step, which the plan may not have. Before the steps that is the present step.
func (s State) NextStep() int32 {
	if s.IsBeforeSteps() {
		return s.Cursor.Step
	}
	return s.Cursor.Step + 1
}

// IsInSteps is true for a revision without a verdict that goes through the steps of its plan.
func (s State) IsInSteps() bool { return s.Current != nil && s.Verdict == nil && !s.IsBeforeSteps() }

// IsPauseReleased is true once a user released the pause behind the step, alone or with all others.
func (s State) IsPauseReleased() bool { return s.Cursor.Full || s.IsStepReleased() }

// PauseAfterStep returns the pause behind the step of a revision. It is empty before the steps, in a rollback, and once the revision is alone.
func (s State) PauseAfterStep() string {
	isOutside := s.Current == nil || s.IsBeforeSteps() || s.Cursor.Attempt > 0 || s.Cursor.Stage == StageAlone
	if isOutside || int(s.Cursor.Step) >= len(s.Current.Plan) {
		return ""
	}
	return s.Current.Plan[s.Cursor.Step].Pause
}

// IsStepReleased is true once a user released the pause behind the step by the number of the step.
func (s State) IsStepReleased() bool { return s.Cursor.Promoted > s.Cursor.Step }

// IsGateReleased is true once a user released the Gate of the step after it came to no verdict. The release of a pause, or of all of them, does not release a
// Gate: its user did not see the measurements.
func (s State) IsGateReleased() bool { return s.Cursor.GateReleased > s.Cursor.Step }

// IsStepLeftOut is true for a step that a user skipped during its execution: its Gate and its pause have no effect any more.
func (s State) IsStepLeftOut() bool {
	return s.Cursor.Full && int(s.Cursor.Step) < len(s.Current.Plan) && s.Current.Plan[s.Cursor.Step].SharesRequests()
}

// PastRevision returns a revision of the history by its number, or nil.
func (s State) PastRevision(number int64) *Past {
	for i := range s.History {
		if s.History[i].Number == number {
			return &s.History[i]
		}
	}
	return nil
}

// TakesBack is true for a state whose current revision takes the requests back from a move to tracks that was given up. Neither it nor the stable revision has
// tracks.
func (s State) TakesBack() bool {
	r := s.Current
	if r == nil || !IsPlain(r.Track) || !r.HasSteps() {
		return false
	}
	return slices.ContainsFunc(s.History, func(p Past) bool { return p.Number == r.Stable && IsPlain(p.Track) })
}

// IsMove is true for a state whose current revision takes the requests over from one without tracks, or the other way round, or back from a track.
func (s State) IsMove() bool {
	if !s.HasTracks() || !s.Current.HasSteps() {
		return false
	}
	stable := s.PastRevision(s.Current.Stable)
	return stable != nil && (IsPlain(s.Current.Track) || IsPlain(stable.Track))
}

// Folder returns the name of the track that the revision has in a directory with tracks.
func (r Revision) Folder() string { return cmp.Or(r.Track, TrackPlain) }

// IsPlain is true for a track of a Blueprint without tracks.
func IsPlain(track string) bool { return track == "" || track == TrackPlain }

// OtherTrack returns the track that a revision beside one in a track takes.
func OtherTrack(track string) string {
	if track == TrackBlue {
		return TrackGreen
	}
	return TrackBlue
}

// Stages of a revision with tracks, in their order. A revision without tracks stays in the first stage.
const (
	// StageClear moves requests off a track whose pods have to change.
	StageClear int32 = iota

	// StageBeside restores the pods from which the revision or the rollback continues, without further requests.
	StageBeside

	// StageShift gives all requests to these pods.
	StageShift

	// StageSteps goes through the steps of the plan, or restores the trees of the target.
	StageSteps

	// StageAlone removes the other track, once the verdict is recorded.
	StageAlone
)

// IsWhole is true for a step in which the revision gets all requests.
func (p Step) IsWhole() bool { return p.Weight == nil || *p.Weight == 100 }

// SharesRequests is true for a step in which the revision and the stable revision both get requests.
func (p Step) SharesRequests() bool { return !p.IsWhole() && *p.Weight > 0 }

// beginsWave is true for a step whose Sites have no part of the revision before it.
func (p Step) beginsWave() bool { return p.Weight == nil || *p.Weight == 0 }

// waveStartOfStep returns the index of the step that begins the wave of a step.
func (r Revision) waveStartOfStep(step int32) int32 {
	for step > 0 && !r.Plan[step].beginsWave() {
		step--
	}
	return step
}

// SitesAt returns the Sites whose share or trees a step of the plan decides: the Sites of its wave up to that step.
func (r Revision) SitesAt(step int32) []string {
	var out []string
	for _, p := range r.Plan[r.waveStartOfStep(step) : step+1] {
		out = append(out, p.Sites...)
	}
	return out
}

// StepAt returns the index of the step of the plan that a Site is in once the revision has come to a step, and whether the revision has come to
// the Site.
func (r Revision) StepAt(step int32, site string) (reached int32, isReached bool) {
	last := int32(len(r.Plan)) - 1 //nolint:gosec // A plan has at most 20 steps.
	for reached = min(step, last); reached >= 0; reached = r.waveStartOfStep(reached) - 1 {
		if slices.Contains(r.SitesAt(reached), site) {
			return reached, true
		}
	}
	return 0, false
}

// HasSteps is true for a revision that shares requests with the stable revision before it gets all of them.
func (r Revision) HasSteps() bool {
	for _, p := range r.Plan {
		if !p.IsWhole() {
			return true
		}
	}
	return false
}
