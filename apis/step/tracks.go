package step

import (
	"cmp"
	"slices"

	"github.com/intentplane/intentplane/apis/ledger"
)

// Track is one track of a Site's directory.
type Track struct {
	// Revision whose pods the directory asks for in the track. 0 means that it has no such folder.
	Revision int64

	// Weight of the requests that the directory gives to the track, in percent.
	Weight int32

	// IsProven is true if all pods of the very folder that the track has were available once, by a position that is not before the last change of
	// the folder. They may not be now.
	IsProven bool

	// IsIdle is true if the Site was proven to give the track no requests, by a position after the last position that gave it any, and the time for
	// requests under way has passed since.
	IsIdle bool
}

// getsNoRequests is true for a track without requests, so that its pods may change.
func (t Track) getsNoRequests() bool { return t.Revision == 0 || t.IsIdle }

// Aim is the desired content of the directory of a Site in a position.
type Aim struct {
	// Keeps is true if the directory does not change. All other fields are empty then.
	Keeps bool

	// IsUnknown is true if the repository has to report the directory first, which stays as it is meanwhile. Nothing is proven of the position
	// before. Nothing else is set then.
	IsUnknown bool

	// Restores is true if the directory gets the tree of the target. All other fields are empty then.
	Restores bool

	// Put are the revisions whose folders replace the present ones, by track.
	Put map[string]int64

	// Serving is the track that gets the rest beside Weight. Empty means that the weights stay as they are.
	Serving string

	// Weight of the requests that the other track gets, in percent.
	Weight int32

	// Ahead is the share that the pods of the other track are enough for, in percent. Nil means that they stay as many as they are.
	Ahead *int32

	// IsAlone is true if the other track is removed.
	IsAlone bool
}

// origin is the starting point of a revision or a rollback at a Site: a verified revision in its track. The zero value means that no such revision exists.
type origin struct {
	track    string
	revision int64
}

// siteTracks is the recorded state of the tracks of one Site, and its origin.
type siteTracks struct {
	origin origin

	// track is the name of the origin's track, or of that of the revision where there is none. Home is that track of the directory, and other its other track.
	track       string
	home, other Track
	otherName   string

	// losesRequests says that the origin is the track that serves now, verified or not, and that a revision without tracks takes its requests.
	losesRequests bool

	// otherCanServe says that the other track has pods of a verified revision, which could get all requests.
	otherCanServe bool

	isKnown bool
}

// hasOriginPods is true if the pods of the origin are there. A track that gets requests beside another one was proven before it got any, and a workload
// without tracks served before. A track that loses its requests to the revision is not waited for: its pods may never be available.
func (t siteTracks) hasOriginPods() bool {
	served := t.home.Weight > 0 && (!t.other.getsNoRequests() || t.origin.track == ledger.TrackPlain || t.losesRequests)
	return t.home.Revision == t.origin.revision && (t.home.IsProven || served)
}

// isUnreported is true where the origin is pods without tracks, which may belong to a later revision than the verified one, and no repository says which
// the directory has.
func (t siteTracks) isUnreported() bool {
	return t.origin.track == ledger.TrackPlain && t.home.Revision == 0
}

// isPlainStranded is true where the other track has all requests, and the pods without tracks that these would go back to were not seen to be available.
func (t siteTracks) isPlainStranded() bool {
	return t.origin.track == ledger.TrackPlain && t.home.Weight == 0 && !t.home.IsProven && t.other.Weight == 100
}

// canReplacePods is true if the pods of the home may change, or need not. Where the other track cannot take over they are replaced one by one, and the
// other track must not get requests meanwhile.
func (t siteTracks) canReplacePods() bool {
	inPlace := !t.otherCanServe && t.other.getsNoRequests()
	return t.home.Revision == t.origin.revision || t.home.getsNoRequests() || inPlace
}

// isStageDone is true if a stage before the steps is complete.
func (t siteTracks) isStageDone(stage int32) bool {
	switch {
	case !t.isKnown:
		return false
	case stage == ledger.StageClear:
		return t.origin.revision == 0 || t.canReplacePods()
	case stage == ledger.StageBeside:
		return t.origin.revision == 0 || t.hasOriginPods()
	}
	return t.other.getsNoRequests()
}

// aimBeforeSteps returns the aim of the directory in a stage before the steps. The origin gets the requests as soon as its pods are there, even while
// other Sites wait.
func (t siteTracks) aimBeforeSteps(stage int32) Aim {
	switch {
	case !t.isKnown, t.origin.revision == 0 && t.home.Revision == 0:
		return Aim{Keeps: true}
	case t.origin.revision == 0: // The ledger does not name the previous server of requests. The track that the revision takes has the most requests.
		return Aim{Serving: t.track}
	case t.hasOriginPods(), stage == ledger.StageShift:
		return Aim{Serving: t.origin.track}
	case stage == ledger.StageBeside:
		return Aim{Put: map[string]int64{t.origin.track: t.origin.revision}}
	case t.home.Revision == t.origin.revision, t.home.getsNoRequests(), t.home.Weight == 0:
		return Aim{Keeps: true} // It is away once its requests have ended.
	case t.otherCanServe:
		return Aim{Serving: t.otherName}
	}
	return Aim{Serving: t.origin.track}
}

// trackBeside returns the other track of a directory. It never has more than two.
func (d Directory) trackBeside(name string) Track { return d.Tracks[d.trackNameBeside(name)] }

// trackNameBeside returns the name of the other track of a directory, or the name that a revision beside the track would take.
func (d Directory) trackNameBeside(name string) string {
	for _, otherName := range []string{ledger.TrackBlue, ledger.TrackGreen, ledger.TrackPlain} {
		if otherName != name && d.Tracks[otherName].Revision != 0 {
			return otherName
		}
	}
	return ledger.OtherTrack(name)
}

// originAtSite returns the origin of the current revision or its rollback at a Site.
func originAtSite(s ledger.State, site string) origin {
	number := s.Current.Stable
	if s.Cursor.Attempt > 0 {
		number = s.Target
	}
	p := s.PastRevision(number)
	if p == nil {
		return origin{}
	}
	_, isServed := slices.BinarySearchFunc(p.Trees, site, func(t ledger.SiteTree, name string) int { return cmp.Compare(t.Site, name) })
	if !isServed {
		return origin{}
	}
	return origin{track: cmp.Or(p.Track, ledger.TrackPlain), revision: number}
}

// isVerifiedRevision is true for a revision that was verified, also if a user withdrew it since.
func isVerifiedRevision(s ledger.State, number int64) bool {
	p := s.PastRevision(number)
	return p != nil && p.Verdict != nil && p.Verdict.Result == ledger.VerdictVerified
}

// areTracksKnown is true if the tracks of each directory are known.
func (in Input) areTracksKnown() bool {
	return !slices.ContainsFunc(in.Directories, func(d Directory) bool { return !d.AreTracksKnown })
}

// tracksInState returns the recorded tracks of a directory in a state, and its origin.
func (d Directory) tracksInState(s ledger.State) siteTracks {
	t := siteTracks{origin: originAtSite(s, d.Site), isKnown: d.AreTracksKnown}
	t.losesRequests = s.TakesBack() && s.Cursor.Attempt == 0
	if t.losesRequests {
		t.origin = d.servingBefore(*s.Current)
	}
	t.track = cmp.Or(t.origin.track, s.Current.Folder())
	t.home, t.other, t.otherName = d.Tracks[t.track], d.trackBeside(t.track), d.trackNameBeside(t.track)
	switch {
	case t.origin.track == ledger.TrackPlain && t.home.Revision != 0:
		t.origin.revision = t.home.Revision // A directory without tracks goes on from its present revision: it was replaced in place.
	case t.origin.revision == 0 && t.otherName == ledger.TrackPlain:
		t.other = Track{} // Nothing without tracks was verified.
	}
	t.otherCanServe = (isVerifiedRevision(s, t.other.Revision) || t.hasForgottenOther(s)) && !t.isOtherUnproven()
	return t
}

// servingBefore returns the origin of a revision without tracks that takes the requests back from a track: that track, or pods without tracks where it has
// none. The revision is beside a track only where it takes requests back from it.
func (d Directory) servingBefore(r ledger.Revision) origin {
	plain, otherTrack := d.Tracks[ledger.TrackPlain], d.trackBeside(ledger.TrackPlain)
	if otherTrack.Revision != 0 && (otherTrack.Weight > 0 || plain.Revision == r.Number) {
		return origin{track: d.trackNameBeside(ledger.TrackPlain), revision: otherTrack.Revision}
	}
	return origin{track: ledger.TrackPlain, revision: plain.Revision}
}

// isOtherUnproven is true for pods without tracks that stand by and were not seen to be available. Their revision may have been verified without that: an engine
// that does not wait for pods says that they are there as soon as it applied them.
func (t siteTracks) isOtherUnproven() bool {
	return t.otherName == ledger.TrackPlain && t.other.Weight == 0 && !t.other.IsProven
}

// hasForgottenOther is true for another track whose revision the history has dropped, as it may drop a withdrawn revision. Of two tracks that share
// the requests, the older revision is the verified one.
func (t siteTracks) hasForgottenOther(s ledger.State) bool {
	n := t.other.Revision
	return t.home.Weight > 0 && t.other.Weight > 0 && n < t.home.Revision && n != s.Current.Number && s.PastRevision(n) == nil
}
