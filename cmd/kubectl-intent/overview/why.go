package overview

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// WhyLines say why a Bundle, an Application, a deployment or a cluster does not go on: the cause, since when, who acts, the event that wakes
// it, and the chain that was followed.
func WhyLines(o Overview, s Style) []string {
	f := o.Finding
	out := []string{s.headlineText(o)}
	out = append(out, s.wrapText(f.Meanwhile)...)
	if f.IsGood {
		out = append(out, s.wrapText("Nothing is in the way. "+o.Message)...)
		return append(out, s.unreadLines(f)...)
	}
	out = append(out, s.labelledLines("Cause:", formatLink(f.Cause()))...)
	if start := f.Since(); start != nil {
		out = append(out, s.labelledLines("Since:", s.clockAndAge(start))...)
	}
	out = append(out, s.labelledLines("Who acts:", actorText(f))...)
	if f.Do != "" {
		out = append(out, s.labelledLines("What to do:", f.Do)...)
	}
	if f.Wakes != advice.WakeNone {
		out = append(out, s.labelledLines("Wakes it:", string(f.Wakes))...)
	}
	out = append(out, "Followed:")
	for i, l := range f.Chain {
		out = append(out, s.truncateLine(strings.Repeat("  ", i)+"└─ "+formatLink(l)))
	}
	for _, l := range f.Waiting {
		out = append(out, s.labelledLines("Waits:", formatLink(l))...)
	}
	return append(out, s.unreadLines(f)...)
}

func (s Style) unreadLines(f cause.Finding) []string {
	var out []string
	for _, u := range f.Unread {
		out = append(out, s.labelledLines("Not read:", u.Object+": "+u.Reason)...)
	}
	return out
}

// labelWidth is how wide the first column is.
const labelWidth = 12

// labelledLines breaks a text into lines beside its label.
func (s Style) labelledLines(label, text string) []string {
	narrow := s
	if s.Width > 0 {
		narrow.Width = max(2*labelWidth, s.Width-labelWidth)
	}
	var out []string
	for _, line := range narrow.wrapText(text) {
		out = append(out, fmt.Sprintf("%-*s%s", labelWidth, label, line))
		label = ""
	}
	return out
}

func formatLink(l cause.Link) string {
	out := l.Object
	if l.Reason != "" {
		out += ": " + l.Reason
	}
	if l.Message != "" {
		out += ": " + collapseSpaces(l.Message)
	}
	return out
}

func (s Style) clockAndAge(timestamp *metav1.Time) string {
	return fmt.Sprintf("%s (%s)", s.formatClock(timestamp), Elapsed(s.Now.Sub(timestamp.Time)))
}

// actorText says who acts, and when.
func actorText(f cause.Finding) string {
	switch {
	case f.Actor == advice.NoActor:
		return "no one: it goes on by itself"
	case f.EndsByItself:
		return f.Actor.Words() + ", if it lasts"
	}
	return f.Actor.Words()
}
