package message

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/trailers"
)

// A History has the trailers of the commits of a control plane, the newest commit first. Any user who may push can write the same trailers.
type History []commitTrailers

// A commitTrailers has the trailers of a commit, about the revision that the commit delivered.
type commitTrailers struct {
	commit       string
	date         metav1.Time
	claim        rolloutv1alpha1.ClaimReference
	controlPlane string
	cluster      string
	revision     int64
	removes      bool
	// all of them, by their names.
	all map[string]string
}

// ReadHistory returns the trailers of the commits of a control plane, in the order of the messages. It omits unmanaged commits, and the commits of other control planes.
func ReadHistory(controlPlane string, notes []git.Message) History {
	var out History
	for _, n := range notes {
		if t, ok := parseCommitTrailers(n); ok && t.controlPlane == controlPlane {
			out = append(out, t)
		}
	}
	return out
}

// Cluster returns the UID of the cluster of the newest commit. It is empty if the trailers of the commit have none, or if no commit exists.
func (h History) Cluster() string {
	if len(h) == 0 {
		return ""
	}
	return h[0].cluster
}

// Records returns the records of claims by the path of the record. The given UID is the cluster of commits that name none. No revision in the records is
// verified: a commit shows an attempt, and not its result.
func (h History) Records(clusterUID string) map[string]state.RecordFile {
	out := map[string]state.RecordFile{}
	for _, c := range h {
		path := state.RecordPath(c.claim)
		r, isKnown := out[path]
		if !isKnown {
			r = state.RecordFile{Header: state.Header{Claim: c.claim, ClusterUID: cmp.Or(c.cluster, clusterUID)}, Commit: c.commit, CommitTime: &c.date, Deleted: c.removes}
		}
		r.LastNumber = max(r.LastNumber, c.revision) // Another user may have repeated an older commit of ours.
		out[path] = r
	}
	maps.DeleteFunc(out, func(_ string, r state.RecordFile) bool {
		_, err := r.Encode()
		return err != nil // The record could not be read back.
	})
	return out
}

// parseCommitTrailers parses the trailers of a commit. It returns false for an unmanaged commit.
func parseCommitTrailers(n git.Message) (commitTrailers, bool) {
	values := parseTrailers(n.Message)
	t := commitTrailers{commit: n.ID, date: metav1.Unix(n.Seconds, 0), controlPlane: values[trailers.ControlPlane], cluster: values[trailers.Cluster], all: values}
	var ok bool
	if t.claim, ok = parseClaimValue(values[trailers.Claim]); !ok {
		return commitTrailers{}, false
	}
	var err error
	if t.revision, err = strconv.ParseInt(values[trailers.Revision], 10, 64); err != nil || t.revision < 1 || t.revision > ledger.MaxNumber {
		return commitTrailers{}, false
	}
	t.removes = strings.HasPrefix(n.Message, deletion+t.claim.Namespace+"/"+t.claim.Name+"\n")
	return t, true
}

// parseTrailers returns the trailers of a message.
func parseTrailers(message string) map[string]string {
	message = strings.TrimRight(message, "\n")
	if i := strings.LastIndex(message, "\n\n"); i >= 0 {
		message = message[i+2:]
	}
	out := map[string]string{}
	for line := range strings.Lines(message) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			out[name] = value
		}
	}
	return out
}

// parseClaimValue parses the value of trailers.ClaimValue: group/Kind namespace/name.
func parseClaimValue(s string) (rolloutv1alpha1.ClaimReference, bool) {
	kind, name, ok := strings.Cut(s, " ")
	group, kind, ok2 := strings.Cut(kind, "/")
	ns, name, ok3 := strings.Cut(name, "/")
	c := rolloutv1alpha1.ClaimReference{APIGroup: group, Kind: kind, Namespace: ns, Name: name}
	plain := ok && ok2 && ok3 && kind != "" && !strings.ContainsAny(s, "\\") && !strings.Contains(ns+name, "/")
	return c, plain && objects.CheckPath(group+"/"+ns+"/"+name) == nil
}

// parseTrackTrailers returns the tracks that a commit gave to Sites, without the ids of their folders. It omits invalid text.
func parseTrackTrailers(values map[string]string) (ledger.Position, map[string][]v1alpha1.DeliveredTrack) {
	p, out := ledger.Position{}, map[string][]v1alpha1.DeliveredTrack{}
	if _, err := fmt.Sscanf(values[trailers.Position], positionFormat, &p.Epoch, &p.Revision, &p.Attempt, &p.Step, &p.Stage); err != nil || !p.IsWithinBounds() {
		return p, nil
	}
	for group := range strings.SplitSeq(values[trailers.Tracks], "; ") {
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
		if _, err := fmt.Sscanf(numbers, "%d:%d", &t.Revision, &t.Weight); err == nil && track.IsTrack(name) && t.Revision > 0 && t.Revision <= ledger.MaxNumber && t.Weight >= 0 && t.Weight <= 100 {
			out = append(out, t)
		}
	}
	return out
}

// A trackNote has the tracks of Sites by the trailers of one commit.
type trackNote struct {
	position ledger.Position
	tracks   map[string][]v1alpha1.DeliveredTrack
}

// TracksOf returns a function that returns the tracks of the directory of a claim at a Site.
func (h History) TracksOf(claim rolloutv1alpha1.ClaimReference) func(site string) []v1alpha1.DeliveredTrack {
	var notes []trackNote
	for _, c := range h {
		if p, tracks := parseTrackTrailers(c.all); c.claim == claim && len(tracks) > 0 {
			notes = append(notes, trackNote{position: p, tracks: tracks})
		}
	}
	return func(site string) []v1alpha1.DeliveredTrack { return tracksFromNotes(notes, site) }
}

// tracksFromNotes returns the tracks of a Site's directory by the newest commit with trailers about it, and the last position at which each track got
// requests: also before that commit, for as long as the directory had the track.
func tracksFromNotes(notes []trackNote, site string) []v1alpha1.DeliveredTrack {
	var out []v1alpha1.DeliveredTrack
	for _, n := range notes {
		noted := n.tracks[site]
		if noted == nil {
			continue
		}
		if out == nil {
			out = slices.Clone(noted)
			for i := range out {
				out[i].ChangedAt = new(n.position)
			}
		}
		isComplete := true
		for i := range out {
			previous := state.FindTrack(noted, out[i].Name)
			if out[i].WeighedAt == nil && previous != nil && previous.Weight > 0 {
				out[i].WeighedAt = new(n.position)
			}
			isComplete = isComplete && (out[i].WeighedAt != nil || previous == nil)
		}
		if isComplete {
			break
		}
	}
	return out
}

// Trailer returns the value of a trailer of a commit.
func Trailer(m git.Message, name string) string { return parseTrailers(m.Message)[name] }
