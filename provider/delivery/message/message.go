// Package message has the texts and trailers of the commits of the provider: it writes them, and reads them again where the state of a repository was lost.
package message

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/oneline"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/trailers"
)

// deletion is the prefix of the subject of a commit that removes a claim.
const deletion = "Remove "

// maxListed is the maximum number of Sites or directories that a text lists.
const maxListed = 20

// A Delivery has the fields of the message of a commit that delivers or removes a claim.
type Delivery struct {
	Claim rolloutv1alpha1.ClaimReference

	// Applied is the state of the ledger that the directories follow from.
	Applied ledger.State

	ControlPlane string
	ClusterUID   string

	// Sites whose directories the commit changes, and the trees that these get.
	Sites []string
	Trees []state.Tree

	// Replaces is the tip that holds the change of another user. Empty where nothing is replaced.
	Replaces string

	// Removes is true for a claim that was deleted.
	Removes bool
}

// Text returns the message. Equal fields give an equal message. Text of users is made one line without control characters: the API server has
// checked the names, and a line break in other text would add a trailer.
func (d Delivery) Text() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n\n", d.subjectLine())
	if d.Replaces != "" {
		fmt.Fprintf(b, "Commit %s\nholds other files in directories of this claim.\n\n", d.Replaces)
	}
	if len(d.Sites) > 0 {
		fmt.Fprintf(b, "Sites: %s\n\n", d.formatSiteList())
	}
	for _, t := range d.trailerLines() {
		b.WriteString(trailers.Line(t[0], cleanOneLine(t[1])))
	}
	return b.String()
}

// trailerLines returns the trailers, from which the record is rebuilt if the state is lost.
func (d Delivery) trailerLines() [][2]string {
	c, s, p := d.Claim, d.Applied, d.Applied.Position()
	out := [][2]string{
		{trailers.Claim, trailers.ClaimValue(c)},
		{trailers.ControlPlane, d.ControlPlane},
		{trailers.Cluster, d.ClusterUID},
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
	out = append(out, trackTrailers(p, d.Trees)...)
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

func (d Delivery) subjectLine() string {
	claim, p := cleanOneLine(d.Claim.Namespace+"/"+d.Claim.Name), d.Applied.Position()
	switch {
	case d.Removes:
		return deletion + claim
	case p.Attempt > 0 && d.Applied.Target != 0 && d.Replaces == "":
		return fmt.Sprintf("Roll back %s from revision %d to %d at %s", claim, p.Revision, d.Applied.Target, formatSiteCount(len(d.Sites)))
	case len(d.Sites) == 0:
		return fmt.Sprintf("Remove files that %s revision %d no longer has", claim, p.Revision)
	case d.Replaces != "":
		return fmt.Sprintf("Restore %s revision %d at %s", claim, p.Revision, formatSiteCount(len(d.Sites)))
	}
	return fmt.Sprintf("Deliver %s revision %d to %s", claim, p.Revision, formatSiteCount(len(d.Sites)))
}

func (d Delivery) formatSiteList() string { return cleanOneLine(List(d.Sites)) }

// List returns names, sorted, and at most maxListed of them.
func List(names []string) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}

func formatSiteCount(sites int) string {
	if sites == 1 {
		return "1 site"
	}
	return fmt.Sprintf("%d sites", sites)
}

func cleanOneLine(s string) string { return oneline.Clean(s, 0) }

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

// Removal returns the message of a commit that removes directories which no object owns any more: a subject, and trailers by which the control plane
// finds it again. It makes each argument one line.
func Removal(subject, controlPlane, clusterUID string, further ...[2]string) string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s\n\n", cleanOneLine(subject))
	for _, t := range append([][2]string{{trailers.ControlPlane, controlPlane}, {trailers.Cluster, clusterUID}}, further...) {
		text.WriteString(trailers.Line(t[0], cleanOneLine(t[1])))
	}
	return text.String()
}
