package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// A Row is the row of one Bundle, Application, deployment or cluster in a list.
type Row struct {
	Overview

	Revision int64  `json:"revision,omitempty"`
	Live     int64  `json:"liveRevision,omitempty"`
	Sites    string `json:"sites,omitempty"`
	Step     string `json:"step,omitempty"`
}

// RowForDeployment returns the row of a deployment in a list.
func RowForDeployment(f *cause.Facts, found cause.Finding) Row {
	o := ForDeployment(f, found)
	// A list shows no parts, and reads no objects but the deployments.
	o.Parts, o.Revisions = nil, nil
	out := Row{Overview: o, Revision: f.Deployment.Status.Revision, Live: f.Deployment.Status.LiveRevision, Sites: f.Deployment.Status.Delivery.SitesReady}
	if c := f.Deployment.Status.Canary; c != nil && c.State != "" {
		out.Step = c.Step
		if c.Weight != nil {
			out.Step = strings.TrimSpace(fmt.Sprintf("%s %d%%", c.Step, *c.Weight))
		}
	}
	return out
}

// RowForCluster returns the row of a cluster in a list.
func RowForCluster(f *cause.ClusterFacts, found cause.Finding) Row {
	o := ForCluster(f, found)
	o.Parts = nil
	return Row{Overview: o}
}

// SortRows by namespace, name, kind and group.
func SortRows(rows []Row) {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Group, b.Group))
	})
}

// Stuck are the rows that need a person.
func Stuck(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !r.Finding.NeedsPerson() })
}

// Table returns a line for each row. The namespace is left out of a list of one.
func Table(rows []Row, s Style, withNamespace bool) []string {
	cells := [][]string{{"NAMESPACE", "NAME", "PHASE", "REV", "LIVE", "SITES", "PACKAGES", "STEP", "SINCE", "REASON", "WHO"}}
	for i := range rows {
		cells = append(cells, s.cellsOfRow(&rows[i]))
	}
	if s.IsWide {
		for i := range rows {
			cells[i+1] = append(cells[i+1], rows[i].Kind+"."+rows[i].Group, collapseSpaces(rows[i].Message))
		}
		cells[0] = append(cells[0], "KIND", "MESSAGE")
	}
	if !withNamespace {
		for i := range cells {
			cells[i] = cells[i][1:]
		}
	}
	return s.alignColumns(dropEmptyColumns(cells))
}

func (s Style) cellsOfRow(r *Row) []string {
	phase := r.Phase
	if r.Outcome == outcomeRolledBack || r.Outcome == outcomeHeldBack {
		phase = r.Outcome
	}
	age := ""
	if r.Since != nil {
		age = Elapsed(s.Now.Sub(r.Since.Time))
	}
	actor, reason := "", ""
	if !r.Finding.IsGood {
		reason = r.Finding.Reason()
		if r.Finding.Actor != advice.NoActor && r.Finding.NeedsPerson() {
			actor = shortActorName(r.Finding.Actor)
		}
	}
	return []string{r.Namespace, r.Name, cmp.Or(phase, "Unknown"), formatNumber(r.Revision), formatNumber(r.Live), r.Sites, r.Packages, r.Step, age, reason, actor}
}

// shortActorName returns how the documentation calls an actor, without its article.
func shortActorName(a advice.Actor) string { return strings.TrimPrefix(a.Words(), "the ") }

func formatNumber(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// dropEmptyColumns leaves out the columns that no row has a value in.
func dropEmptyColumns(cells [][]string) [][]string {
	out := make([][]string, len(cells))
	for col := range cells[0] {
		if len(cells) > 1 && !slices.ContainsFunc(cells[1:], func(row []string) bool { return row[col] != "" }) {
			continue
		}
		for i := range cells {
			out[i] = append(out[i], cells[i][col])
		}
	}
	return out
}

// alignColumns aligns cells. The last one is cut at the width.
func (s Style) alignColumns(cells [][]string) []string {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], widthOfText(c))
		}
	}
	var out []string
	for _, row := range cells {
		b := strings.Builder{}
		for i, c := range row {
			b.WriteString(c + strings.Repeat(" ", widths[i]-widthOfText(c)+2))
		}
		out = append(out, s.truncateLine(strings.TrimRight(b.String(), " ")))
	}
	return out
}
