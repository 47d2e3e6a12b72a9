package gitdelivery

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
	"github.com/intentplane/intentplane/apis/oneline"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/trailers"
)

// deletion is the prefix of the subject of a commit that removes a claim.
const deletion = "Remove "

// maxListed is the maximum number of Sites or directories that a message lists.
const maxListed = 20

// A commitMessage has the fields of the message of a commit.
type commitMessage struct {
	claim rolloutv1alpha1.ClaimReference
	// applied is the state of the ledger that the directories follow from.
	applied      ledger.State
	controlPlane string
	clusterUID   string
	// sites whose directories the commit changes, and the trees that these get.
	sites []string
	trees []state.Tree
	// replaces is the tip that holds the change of another user. Empty where nothing is replaced.
	replaces string
	// removes is true for a claim that was deleted.
	removes bool
}

// messageText returns the message. Equal fields give an equal message. Text of users is made one line without control characters: the API server has
// checked the names, and a line break in other text would add a trailer.
func (l commitMessage) messageText() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n\n", l.subjectLine())
	if l.replaces != "" {
		fmt.Fprintf(b, "Commit %s\nholds other files in directories of this claim.\n\n", l.replaces)
	}
	if len(l.sites) > 0 {
		fmt.Fprintf(b, "Sites: %s\n\n", l.siteList())
	}
	for _, t := range l.trailerLines() {
		b.WriteString(trailers.Line(t[0], oneLine(t[1])))
	}
	return b.String()
}

// trailerLines returns the trailers, from which the record is rebuilt if the state is lost.
func (l commitMessage) trailerLines() [][2]string {
	c, s, p := l.claim, l.applied, l.applied.Position()
	out := [][2]string{
		{trailers.Claim, trailers.ClaimValue(c)},
		{trailers.ControlPlane, l.controlPlane},
		{trailers.Cluster, l.clusterUID},
		{trailers.Revision, fmt.Sprint(p.Revision)},
		{trailers.Step, fmt.Sprint(p.Step)},
		{trailers.Attempt, fmt.Sprint(p.Attempt)},
	}
	if s.Current != nil {
		r := s.Current.Request
		out = append(out, [][2]string{{trailers.Digest, r.Digest()}, {trailers.Intent, r.Intent}, {trailers.Versions, fmt.Sprintf("digests %d, renderer %d", r.Scheme, r.Renderer)}}...)
	}
	if s.Verdict != nil {
		out = append(out, [2]string{trailers.Verdict, strings.TrimSpace(fmt.Sprintf("%s %s", s.Verdict.Result, s.Verdict.Reason))})
	}
	if s.Target != 0 {
		out = append(out, [2]string{trailers.Target, fmt.Sprint(s.Target)})
	}
	out = append(out, trackTrailers(p, l.trees)...)
	if s.Current == nil {
		return out
	}
	return append(out, requestTrailers(s.Current.RequestRef)...)
}

// requestTrailers returns trailers with the name and UID of the RolloutRequest, the user, and the user's reason. They are for readers and audits: the
// provider rebuilds no state from them.
func requestTrailers(r *ledger.RequestReference) [][2]string {
	if r == nil {
		return nil
	}
	out := [][2]string{{trailers.Request, r.Name + " " + r.UID}}
	for _, t := range [][2]string{{trailers.RequestedBy, r.By}, {trailers.Reason, oneline.Clean(r.Reason, rolloutv1alpha1.MaxReason)}} {
		if t[1] != "" {
			out = append(out, t)
		}
	}
	return out
}

func (l commitMessage) subjectLine() string {
	claim, p := oneLine(l.claim.Namespace+"/"+l.claim.Name), l.applied.Position()
	switch {
	case l.removes:
		return deletion + claim
	case p.Attempt > 0 && l.applied.Target != 0 && l.replaces == "":
		return fmt.Sprintf("Roll back %s from revision %d to %d at %s", claim, p.Revision, l.applied.Target, countSites(len(l.sites)))
	case len(l.sites) == 0:
		return fmt.Sprintf("Remove files that %s revision %d no longer has", claim, p.Revision)
	case l.replaces != "":
		return fmt.Sprintf("Restore %s revision %d at %s", claim, p.Revision, countSites(len(l.sites)))
	}
	return fmt.Sprintf("Deliver %s revision %d to %s", claim, p.Revision, countSites(len(l.sites)))
}

func (l commitMessage) siteList() string { return oneLine(listNames(l.sites)) }

// listNames returns names, sorted, and at most maxListed of them.
func listNames(names []string) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}

func countSites(sites int) string {
	if sites == 1 {
		return "1 site"
	}
	return fmt.Sprintf("%d sites", sites)
}

func oneLine(s string) string { return oneline.Clean(s, 0) }

// A commitTrailers has the trailers of a commit of this control plane, about the revision that the commit delivered. Any user who may push can write the
// same trailers.
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

// commitsOfControlPlane returns the trailers of the commits of a control plane, in the order of the commits.
func commitsOfControlPlane(controlPlane string, notes []git.Message) []commitTrailers {
	var out []commitTrailers
	for _, n := range notes {
		if t, ok := parseCommitTrailers(n); ok && t.controlPlane == controlPlane {
			out = append(out, t)
		}
	}
	return out
}

// parseCommitTrailers parses the trailers of a commit. It returns false for an unmanaged commit.
func parseCommitTrailers(n git.Message) (commitTrailers, bool) {
	values := lastBlock(n.Message)
	t := commitTrailers{commit: n.ID, date: metav1.Unix(n.Seconds, 0), controlPlane: values[trailers.ControlPlane], cluster: values[trailers.Cluster], all: values}
	var ok bool
	if t.claim, ok = parseClaim(values[trailers.Claim]); !ok {
		return commitTrailers{}, false
	}
	var err error
	if t.revision, err = strconv.ParseInt(values[trailers.Revision], 10, 64); err != nil || t.revision < 1 || t.revision > ledger.MaxNumber {
		return commitTrailers{}, false
	}
	t.removes = strings.HasPrefix(n.Message, deletion+t.claim.Namespace+"/"+t.claim.Name+"\n")
	return t, true
}

// lastBlock returns the trailers of a message.
func lastBlock(message string) map[string]string {
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

// parseClaim parses the value of trailers.ClaimValue: group/Kind namespace/name.
func parseClaim(s string) (rolloutv1alpha1.ClaimReference, bool) {
	kind, name, ok := strings.Cut(s, " ")
	group, kind, ok2 := strings.Cut(kind, "/")
	ns, name, ok3 := strings.Cut(name, "/")
	c := rolloutv1alpha1.ClaimReference{APIGroup: group, Kind: kind, Namespace: ns, Name: name}
	plain := ok && ok2 && ok3 && kind != "" && !strings.ContainsAny(s, "\\") && !strings.Contains(ns+name, "/")
	return c, plain && objects.CheckPath(group+"/"+ns+"/"+name) == nil
}

// positionFormat is the format of trailers.Position.
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
	groups := []string{}
	for _, tracks := range slices.Sorted(maps.Keys(sites)) {
		groups = append(groups, tracks+" "+strings.Join(slices.Sorted(slices.Values(sites[tracks])), ","))
	}
	return [][2]string{
		{trailers.Position, fmt.Sprintf(positionFormat, p.Epoch, p.Revision, p.Attempt, p.Step, p.Stage)},
		{trailers.Tracks, strings.Join(groups, "; ")},
	}
}

func describeTracks(tracks []v1alpha1.DeliveredTrack) string {
	out := []string{}
	for _, t := range slices.SortedFunc(slices.Values(tracks), func(a, b v1alpha1.DeliveredTrack) int { return cmp.Compare(a.Name, b.Name) }) {
		out = append(out, fmt.Sprintf("%s=%d:%d", t.Name, t.Revision, t.Weight))
	}
	return strings.Join(out, " ")
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

// trackNotes returns the tracks by the trailers of a claim's commits, the newest commit first.
func trackNotes(commits []commitTrailers, f facts) []trackNote {
	var out []trackNote
	for _, c := range commits {
		if p, tracks := parseTrackTrailers(c.all); c.claim == f.marker.Claim && len(tracks) > 0 {
			out = append(out, trackNote{position: p, tracks: tracks})
		}
	}
	return out
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
			previous := trackByName(noted, out[i].Name)
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
