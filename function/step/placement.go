package step

import (
	"cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/ledger"
)

// Workload is what the placement of a revision with tracks depends on, beside what ran before it.
type Workload struct {
	// Digest of what its pods depend on, whatever their number and their track.
	Digest string

	// IsEnabled says that the spec asks for steps.
	IsEnabled bool

	// HasPods is false for a workload that is to have none.
	HasPods bool

	// Serving is the track that gets requests by the directories, for a ledger that remembers no revision. Empty means none.
	Serving string
}

// Placement is the track of a revision, and what it begins beside.
type Placement struct {
	// Track of the revision. Empty means that it has none.
	Track string

	// Stable is the revision that it begins beside. 0 means that there is none.
	Stable int64

	// HasSteps says that the requests are shared between the two. Without steps the revision takes the track of the stable one.
	HasSteps bool
}

// PlaceRevision returns where the next revision of a workload goes. It has steps only if the pods of the stable revision differ by more than their
// number. It returns an error if the stable revision has no tracks: its pods have other names.
func PlaceRevision(s ledger.State, w Workload) (Placement, error) {
	stable := pastOf(s, s.Stable)
	switch {
	case stable == nil:
		return Placement{Track: cmp.Or(w.Serving, trackOf(s), ledger.TrackBlue)}, nil
	case stable.Track == "":
		return Placement{}, errors.Errorf("revision %d, which runs, has no tracks: a deployment cannot move to a Blueprint with spec.canary yet", stable.Number)
	case !w.IsEnabled, !w.HasPods, w.Digest == stable.Workload:
		return Placement{Track: stable.Track, Stable: stable.Number}, nil
	}
	return Placement{Track: ledger.OtherTrack(stable.Track), Stable: stable.Number, HasSteps: true}, nil
}

// trackOf returns the track of the current revision, or "".
func trackOf(s ledger.State) string {
	if s.Current == nil {
		return ""
	}
	return s.Current.Track
}

// awaitsPlacement is true if the trees of the desired revision are not those of the track that it has to take now: a verdict is about to be recorded,
// or was since they were rendered.
func (in Input) awaitsPlacement(s ledger.State) bool {
	d := in.Desired
	if d.Placement.Track == "" && !hasTracks(s) {
		return false
	}
	now, err := PlaceRevision(s, d.Workload)
	return err != nil || now != d.Placement || s.Verdict != nil && !in.IsRecorded
}
