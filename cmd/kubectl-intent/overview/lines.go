package overview

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A Style is how lines are written.
type Style struct {
	// Now, in the zone in which times are shown.
	Now time.Time

	// Width of a line, in characters. 0 means that none is cut.
	Width int

	// IsWide shows all that there is: each revision and each Site.
	IsWide bool
}

const (
	// shownRevisions is how many revisions are shown, unless all are.
	shownRevisions = 4

	// shownSites is how many Sites are shown, unless all are: Sites that are not live first.
	shownSites = 12
)

// Lines returns the lines of one Bundle, Application, deployment or cluster.
func Lines(o Overview, s Style) []string {
	out := []string{s.headlineText(o)}
	out = append(out, s.wrapText(o.Message)...)
	out = append(out, s.wrapText(o.Finding.Meanwhile)...)
	out = append(out, s.nextActionLines(o.Finding)...)
	out = append(out, s.kindSpecificLine(o)...)
	if len(o.Revisions) > 0 {
		out = append(out, s.truncateLine(revisionRow("revision", "commit", "verdict", "sites", "requested by", "since")))
	}
	for i, r := range o.Revisions {
		if i >= shownRevisions && !s.IsWide {
			break
		}
		out = append(out, s.truncateLine(s.revisionLine(r)))
		if i == 0 {
			out = append(out, s.partLines(o.Parts)...)
		}
	}
	if len(o.Revisions) == 0 {
		out = append(out, s.partLines(o.Parts)...)
	}
	return append(out, s.unreadLines(o.Finding)...)
}

// headlineText names the object on the left, and where it is on the right.
func (s Style) headlineText(o Overview) string {
	left := fmt.Sprintf("%s  %s  %s %s", o.Name, o.Namespace, o.Kind, o.Group)
	right := o.Phase
	if right == "" {
		right = "Unknown"
	}
	if o.Outcome != "" && o.Outcome != o.Phase {
		right += "/" + o.Outcome
	}
	if o.Since != nil {
		right += " " + Elapsed(s.Now.Sub(o.Since.Time))
	}
	return s.justifyLine(left, right)
}

// justifyLine has one text on the left, and one on the right.
func (s Style) justifyLine(left, right string) string {
	if space := s.Width - widthOfText(left) - widthOfText(right); space >= 2 {
		return left + strings.Repeat(" ", space) + right
	}
	return s.truncateLine(left + "  " + right)
}

// nextActionLines names the actor, and the action. A finding without a problem has no lines.
func (s Style) nextActionLines(f cause.Finding) []string {
	if f.IsGood || f.Do == "" {
		return nil
	}
	return s.wrapText("Next: " + Do(f))
}

// Do returns the action for a finding, and the actor.
func Do(f cause.Finding) string {
	switch {
	case f.NeedsPerson():
		return fmt.Sprintf("%s (for %s)", strings.TrimSuffix(f.Do, "."), f.Actor.Words()) + "."
	case f.Actor != advice.NoActor:
		return fmt.Sprintf("%s (for %s, if it lasts)", strings.TrimSuffix(f.Do, "."), f.Actor.Words()) + "."
	case f.EndsByItself:
		return f.Do + " No action needed."
	}
	return f.Do
}

// kindSpecificLine shows the fields that only one kind of object has.
func (s Style) kindSpecificLine(o Overview) []string {
	var parts []string
	all := []struct{ name, value string }{
		{"version", o.Version}, {"packages", o.Packages}, {"endpoint", o.Endpoint}, {"site", o.SiteName}, {"image", o.Image}, {"serving", o.Available}, {"url", o.URL},
	}
	for _, p := range all {
		if p.value != "" {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{s.truncateLine(strings.Join(parts, "  "))}
}

func revisionRow(number, commit, verdict, sites, requester, age string) string {
	return strings.TrimRight(fmt.Sprintf("%-9s %-8s %-18s %-9s %-19s %s", number, commit, verdict, sites, requester, age), " ")
}

func (s Style) revisionLine(r Revision) string {
	verdict := r.Verdict
	switch {
	case r.IsTarget:
		verdict += " (target)"
	case r.IsLive:
		verdict = strings.TrimSpace(verdict + " (live)")
	}
	return revisionRow(fmt.Sprint(r.Number), textOrDash(r.Commit), textOrDash(verdict), textOrDash(r.Sites), textOrDash(truncateText(r.RequestedBy, 19)), s.formatClock(r.Since))
}

// partLines are the parts, as branches of a tree.
func (s Style) partLines(all []Part) []string {
	visible, hidden := all, 0
	if !s.IsWide {
		visible, hidden = limitSiteParts(all)
	}
	var out []string
	for i, p := range visible {
		branch := "├─ "
		if i == len(visible)-1 && hidden == 0 {
			branch = "└─ "
		}
		out = append(out, s.truncateLine(branch+s.partLine(p)))
	}
	if hidden > 0 {
		out = append(out, fmt.Sprintf("└─ and %d more sites: -o wide shows all", hidden))
	}
	return out
}

// limitSiteParts returns the parts with as many Sites as there is room for, Sites that are not live first, and the number of Sites that are left
// out.
func limitSiteParts(all []Part) ([]Part, int) {
	sites, bad := 0, 0
	for _, p := range all {
		if p.Kind == partSite {
			sites++
			if !p.IsGood {
				bad++
			}
		}
	}
	if sites <= shownSites {
		return all, 0
	}
	roomForBad, roomForGood := min(bad, shownSites), max(0, shownSites-bad)
	var out []Part
	for _, p := range all {
		room := &roomForBad
		if p.IsGood {
			room = &roomForGood
		}
		if p.Kind == partSite {
			if *room == 0 {
				continue
			}
			*room--
		}
		out = append(out, p)
	}
	return out, sites - shownSites
}

func (s Style) partLine(p Part) string {
	detail := p.Detail
	if detail == "" && p.Since != nil {
		detail = s.formatClock(p.Since)
	}
	if p.Until != nil {
		detail = strings.TrimSpace(fmt.Sprintf("until %s, %s left. %s", s.formatClock(p.Until), Elapsed(max(0, p.Until.Sub(s.Now))), detail))
	}
	state := p.State
	if p.Note != "" {
		state = fmt.Sprintf("%-8s %s", p.State, strings.TrimSpace(p.Note))
	}
	line := fmt.Sprintf("%-16s %-18s", truncateText(p.Kind+" "+p.Name, 24), state)
	if p.Kind == partDelivery || p.Kind == partSite || p.Kind == partPackage {
		line += fmt.Sprintf(" %-9s", textOrDash(p.Commit))
	}
	return strings.TrimRight(line+" "+collapseSpaces(detail), " ")
}

// formatClock shows a time of this day by its hours, and another one by its date.
func (s Style) formatClock(timestamp *metav1.Time) string {
	if timestamp == nil || timestamp.IsZero() {
		return "-"
	}
	t := timestamp.In(s.Now.Location())
	if t.Format(time.DateOnly) == s.Now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// Elapsed shows how long something takes.
func Elapsed(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// wrapText breaks a text between words.
func (s Style) wrapText(text string) []string {
	words := strings.Fields(text)
	if s.Width == 0 || len(words) == 0 {
		return nonEmptyLines(strings.Join(words, " "))
	}
	var out []string
	line := words[0]
	for _, word := range words[1:] {
		if widthOfText(line)+1+widthOfText(word) <= s.Width {
			line += " " + word
			continue
		}
		out = append(out, s.truncateLine(line))
		line = word
	}
	return append(out, s.truncateLine(line))
}

func nonEmptyLines(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}

// truncateLine shortens a line to the width.
func (s Style) truncateLine(line string) string {
	if s.Width == 0 || s.IsWide {
		return line
	}
	return truncateText(line, s.Width)
}

// truncateText shortens a text, and says so with three dots.
func truncateText(text string, limit int) string {
	if widthOfText(text) <= limit {
		return text
	}
	r := []rune(text)
	return strings.TrimRight(string(r[:max(0, limit-3)]), " ") + "..."
}

func widthOfText(text string) int { return utf8.RuneCountInString(text) }

func collapseSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }

func textOrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
