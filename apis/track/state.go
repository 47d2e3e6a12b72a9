package track

import (
	"cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A State has the share of the requests and the size of each track.
type State struct {
	// Serving is the track that the weight is counted against: the track of the stable revision. It is at full size.
	Serving string

	// Other is the other track. Empty means the track that Other returns for Serving.
	Other string

	// IsLabelled is true if the pods of Plain have the label of a track, so that a front selects them alone. Otherwise it selects the pods of both while Plain
	// serves.
	IsLabelled bool

	// Weight is the share of the requests, in percent, that the other track gets.
	Weight int

	// Ahead is the share, in percent, that the other track is sized for. It is at least Weight, since pods come before the requests.
	Ahead int

	// Alone means that the directory has the track that serves alone. Weight and Ahead are then 0.
	Alone bool
}

// Validate returns an error for an impossible state.
func (s State) Validate() error {
	if !IsTrack(s.Serving) {
		return errors.Errorf("%q is not a track", s.Serving)
	}
	if !IsTrack(s.otherTrackName()) || s.otherTrackName() == s.Serving {
		return errors.Errorf("%q is not a track beside %s", s.otherTrackName(), s.Serving)
	}
	if s.Alone && (s.Weight != 0 || s.Ahead != 0) {
		return errors.Errorf("a track that is alone leaves no weight: got %d and %d", s.Weight, s.Ahead)
	}
	if s.Weight < 0 || s.Ahead < s.Weight || s.Ahead > 100 {
		return errors.Errorf("weight %d and the size for %d must rise from 0 to 100", s.Weight, s.Ahead)
	}
	return nil
}

// otherTrackName is the other track.
func (s State) otherTrackName() string { return cmp.Or(s.Other, Other(s.Serving)) }

// isPlainMove is true where one of two tracks is Plain.
func (s State) isPlainMove() bool {
	return !s.Alone && (s.Serving == Plain || s.otherTrackName() == Plain)
}

// routedTracks returns the tracks that have an entry in the rules of routes.
func (s State) routedTracks() []string {
	if s.Alone {
		return []string{s.Serving}
	}
	return []string{s.Serving, s.otherTrackName()}
}

// percentOfTrack returns the share of the requests that a track gets.
func (s State) percentOfTrack(track string) int {
	if track == s.Serving {
		return 100 - s.Weight
	}
	return s.Weight
}

// receivingTrack is the track that callers in the cluster are sent to. They are switched once, when the routes send all requests to the other track.
func (s State) receivingTrack() string {
	if s.Weight == 100 {
		return s.otherTrackName()
	}
	return s.Serving
}

// sizeOfTrack returns the number of pods of a track whose full size is full. A track has one pod at least, unless its full size is 0.
func (s State) sizeOfTrack(track string, full int64) int64 {
	if track == s.Serving || full == 0 {
		return full
	}
	return max(1, (full*int64(s.Ahead)+99)/100)
}
