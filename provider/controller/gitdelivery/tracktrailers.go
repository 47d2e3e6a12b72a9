package gitdelivery

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/state"
)

// Trailers of commits that change directories with tracks.
const (
	// trailerTracks lists the tracks of the directories, such as "blue=6:80 green=7:20 edge1,edge2; green=7:100 edge3": the revision and the weight of
	// each track, and the Sites.
	trailerTracks = "Intentplane-Tracks"

	// trailerPosition is the position that the commit belongs to: epoch, revision, attempt, step and stage.
	trailerPosition = "Intentplane-Position"
)

const positionFormat = "%d.%d.%d.%d.%d"

// trackTrailers returns the trailers about tracks, or none for a commit that changes no directory with tracks.
func trackTrailers(p ledger.Position, trees []state.Tree) [][2]string {
	sites := map[string][]string{}
	for _, t := range trees {
		if len(t.Tracks) > 0 {
			tracks := describeTracks(t.Tracks)
			sites[tracks] = append(sites[tracks], t.Site)
		}
	}
	if len(sites) == 0 {
		return nil
	}
	said := []string{}
	for _, tracks := range slices.Sorted(maps.Keys(sites)) {
		said = append(said, tracks+" "+strings.Join(slices.Sorted(slices.Values(sites[tracks])), ","))
	}
	return [][2]string{
		{trailerPosition, fmt.Sprintf(positionFormat, p.Epoch, p.Revision, p.Attempt, p.Step, p.Stage)},
		{trailerTracks, strings.Join(said, "; ")},
	}
}

func describeTracks(tracks []v1alpha1.DeliveredTrack) string {
	out := []string{}
	for _, t := range slices.SortedFunc(slices.Values(tracks), func(a, b v1alpha1.DeliveredTrack) int { return cmp.Compare(a.Name, b.Name) }) {
		out = append(out, fmt.Sprintf("%s=%d:%d", t.Name, t.Revision, t.Weight))
	}
	return strings.Join(out, " ")
}

// parseTrackTrailers returns the tracks that a commit gave to Sites, without the ids of their folders. What cannot be read is left out.
func parseTrackTrailers(trailers map[string]string) (ledger.Position, map[string][]v1alpha1.DeliveredTrack) {
	p, out := ledger.Position{}, map[string][]v1alpha1.DeliveredTrack{}
	if _, err := fmt.Sscanf(trailers[trailerPosition], positionFormat, &p.Epoch, &p.Revision, &p.Attempt, &p.Step, &p.Stage); err != nil {
		return p, nil
	}
	for group := range strings.SplitSeq(trailers[trailerTracks], "; ") {
		fields := strings.Fields(group)
		if len(fields) < 2 {
			continue
		}
		tracks := parseTracks(fields[:len(fields)-1])
		for site := range strings.SplitSeq(fields[len(fields)-1], ",") {
			out[site] = tracks
		}
	}
	return p, out
}

func parseTracks(fields []string) []v1alpha1.DeliveredTrack {
	out := []v1alpha1.DeliveredTrack{}
	for _, field := range fields {
		name, numbers, _ := strings.Cut(field, "=")
		t := v1alpha1.DeliveredTrack{Name: name}
		if _, err := fmt.Sscanf(numbers, "%d:%d", &t.Revision, &t.Weight); err == nil && track.IsTrack(name) && t.Revision > 0 && t.Weight >= 0 && t.Weight <= 100 {
			out = append(out, t)
		}
	}
	return out
}

// A trackNote is what one commit says of the tracks of Sites.
type trackNote struct {
	position ledger.Position
	tracks   map[string][]v1alpha1.DeliveredTrack
}

// trackNotes returns what the commits of a claim say of tracks, the newest first.
func trackNotes(commits []commitTrailers, f facts) []trackNote {
	var out []trackNote
	for _, c := range commits {
		if p, tracks := parseTrackTrailers(c.all); c.claim == f.marker.Claim && len(tracks) > 0 {
			out = append(out, trackNote{position: p, tracks: tracks})
		}
	}
	return out
}

// tracksFromNotes returns the tracks of a Site's directory by the newest commit that says something of it, and when each got requests last: before that
// commit too, for as long as the directory had the track.
func tracksFromNotes(notes []trackNote, site string) []v1alpha1.DeliveredTrack {
	var out []v1alpha1.DeliveredTrack
	for _, n := range notes {
		said := n.tracks[site]
		if said == nil {
			continue
		}
		if out == nil {
			out = slices.Clone(said)
			for i := range out {
				out[i].ChangedAt = new(n.position)
			}
		}
		isComplete := true
		for i := range out {
			before := trackOf(said, out[i].Name)
			if out[i].WeighedAt == nil && before != nil && before.Weight > 0 {
				out[i].WeighedAt = new(n.position)
			}
			isComplete = isComplete && (out[i].WeighedAt != nil || before == nil)
		}
		if isComplete {
			break
		}
	}
	return out
}
