package step

import (
	"cmp"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/ledger"
)

// Workload is the input for the placement of a revision with tracks, beside the previous revisions.
type Workload struct {
	// Digest of the files that its pods depend on, regardless of their number and their track.
	Digest string

	// IsPlain is true if its Blueprint has no tracks. Only Serving counts then.
	IsPlain bool

	// IsEnabled is true if the spec asks for steps.
	IsEnabled bool

	// HasPods is false for a workload that is to have none.
	HasPods bool

	// Serving is the track, blue or green, that gets most of the requests by the directories. Empty means that neither gets any.
	Serving string
}

// Placement is the track of a revision, and the stable revision that it begins beside.
type Placement struct {
	// Track of the revision. Empty means that it has none.
	Track string

	// Stable is the revision that it begins beside. 0 means that there is none.
	Stable int64

	// HasSteps is true if the requests go from the stable revision to this one in steps. Without steps the revision takes the track of the stable one.
	HasSteps bool

	// IsMove is true if one of the two revisions has no tracks. The steps move all requests at once from the stable revision to this revision. Where
	// neither has tracks, the requests are taken back from a move to tracks that was given up.
	IsMove bool
}

// PlaceRevision returns where the next revision of a workload goes. It has steps only if the pods of the stable revision differ by more than their
// number, or have no track where it has one, or the other way round.
func PlaceRevision(s ledger.State, w Workload) (Placement, error) {
	stable := s.PastRevision(s.Stable)
	switch {
	case w.IsPlain:
		return placePlainRevision(s, w, stable)
	case stable == nil:
		return Placement{Track: cmp.Or(w.Serving, trackOfCurrent(s), ledger.TrackBlue)}, nil
	case ledger.IsPlain(stable.Track):
		return Placement{Track: ledger.TrackBlue, Stable: stable.Number, HasSteps: true, IsMove: true}, nil
	case !w.IsEnabled, !w.HasPods, w.Digest == stable.Workload:
		return Placement{Track: stable.Track, Stable: stable.Number}, nil
	}
	return Placement{Track: ledger.OtherTrack(stable.Track), Stable: stable.Number, HasSteps: true}, nil
}

// placePlainRevision returns where the next revision of a Blueprint without tracks goes. Once one came after a revision with tracks, its pods have a label that
// stays: to take it away would start all of them again. While a track has requests that the stable revision without tracks had before, they are taken back from
// there. It returns an error where pods in a track run of which nothing was verified.
func placePlainRevision(s ledger.State, w Workload, stable *ledger.Past) (Placement, error) {
	switch {
	case stable == nil && !ledger.IsPlain(trackOfCurrent(s)):
		return Placement{}, errors.Errorf("revision %d is in tracks and was not verified: a deployment moves to a Blueprint without spec.canary from a verified revision only", s.Current.Number)
	case stable == nil:
		return Placement{Track: trackOfCurrent(s)}, nil
	case !ledger.IsPlain(stable.Track):
		return Placement{Track: ledger.TrackPlain, Stable: stable.Number, HasSteps: true, IsMove: true}, nil
	case w.Serving != "":
		return Placement{Track: stable.Track, Stable: stable.Number, HasSteps: true, IsMove: true}, nil
	}
	return Placement{Track: stable.Track}, nil
}

// trackOfCurrent returns the track of the current revision, or "".
func trackOfCurrent(s ledger.State) string {
	if s.Current == nil {
		return ""
	}
	return s.Current.Track
}

// awaitsPlacement is true if the trees of the desired revision do not fit the track that it has to take now: a verdict is about to be recorded,
// or was since they were rendered.
func (in Input) awaitsPlacement(s ledger.State) bool {
	d := in.Desired
	if d.Placement.Track == "" && !s.HasTracks() {
		return false
	}
	if d.awaitsFirstVerdict(s) {
		return true
	}
	now, err := PlaceRevision(s, d.Workload)
	awaitsTracks := in.awaitsEmptyTracks(s) || in.awaitsReturn(s)
	return err != nil || now != d.Placement || s.Verdict != nil && !in.IsRecorded || awaitsTracks && d.Request != s.Current.Request
}

// awaitsReturn is true for a revision that would take requests back from a track, while these may still go back to the pods of the stable revision. A revision
// that is replaced by the next one found out that they cannot.
func (in Input) awaitsReturn(s ledger.State) bool {
	p := in.Desired.Placement
	if !ledger.IsPlain(p.Track) || !p.HasSteps || !isPlainRevision(s, p.Stable) {
		return false
	}
	isReplaced := s.TakesBack() && s.Cursor.Attempt == 0
	return !in.areTracksKnown() || !isReplaced && !in.areRequestsStranded(s)
}

// isPlainRevision is true for a past revision that has no tracks.
func isPlainRevision(s ledger.State, number int64) bool {
	p := s.PastRevision(number)
	return p != nil && ledger.IsPlain(p.Track)
}

// awaitsFirstVerdict is true while a revision in tracks would take all requests from one without tracks that may serve and was not judged yet. Once the latter is
// verified, the revision begins beside it. A plan that goes on is not waited for: the files for its other Sites are in no object any more.
func (d Desired) awaitsFirstVerdict(s ledger.State) bool {
	isMove := s.Current != nil && ledger.IsPlain(s.Current.Track) && !ledger.IsPlain(d.Placement.Track)
	return isMove && d.Placement.Stable == 0 && s.Verdict == nil && s.IsAtLastStep()
}

// awaitsEmptyTracks is true while a revision without tracks, which replaces another one in place, would remove pods of a track that may get requests. A
// revision that takes the requests over from a track has to be alone before: else its own tree would never be there to be restored.
func (in Input) awaitsEmptyTracks(s ledger.State) bool {
	p := in.Desired.Placement
	if !ledger.IsPlain(p.Track) || p.HasSteps || !s.HasTracks() {
		return false
	}
	if !in.areTracksKnown() || s.Current.Track == ledger.TrackPlain && s.IsVerified() {
		return true
	}
	return slices.ContainsFunc(in.Directories, func(d Directory) bool { return !d.trackBeside(ledger.TrackPlain).getsNoRequests() })
}

// isEditedBack is true for a move to tracks whose user asks for a Blueprint without tracks again between its waves, or while a user would have to decide on its
// Gate. It would never come to its end: the files for the Sites of later waves are in no object any more. Nor could the edit begin while a track gets requests.
func (in Input) isEditedBack(s ledger.State) bool {
	d := in.Desired
	isJudgedSoon := s.IsAtLastStep() && !in.Proof.IsHeld
	if d == nil || in.IsSuspended || !in.areTracksKnown() || isJudgedSoon || s.IsBeforeSteps() || !s.IsMove() || ledger.IsPlain(s.Current.Track) {
		return false
	}
	return ledger.IsPlain(d.Placement.Track) && d.Request.Intent != s.Current.Request.Intent
}

// editedBackVerdict is the verdict on a move that its user edits back.
func editedBackVerdict() ledger.Verdict {
	return ledger.Verdict{
		Result: ledger.VerdictRejected, Reason: ledger.RejectedRequested,
		Message: "The spec asks for a Blueprint without tracks again, before the move to tracks was verified.",
	}
}
