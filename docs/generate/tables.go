package main

import (
	"strings"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/function/application"
	"github.com/intentplane/intentplane/function/bundle"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/workloadcluster"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// formatTable writes a head and rows of equal length. Cells may be empty.
func formatTable(head []string, rows [][]string) string {
	b := &strings.Builder{}
	write := func(cells []string) {
		for _, c := range cells {
			b.WriteString(strings.TrimRight("| "+c, " ") + " ")
		}
		b.WriteString("|\n")
	}
	write(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, cells := range rows {
		write(cells)
	}
	return b.String()
}

// formatAsCode marks words as code, one after another.
func formatAsCode[S ~string](words ...S) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, "`"+string(w)+"`")
		}
	}
	return strings.Join(out, ", ")
}

// deploymentPhases are the rows by which a deployment has its phase.
func deploymentPhases() string {
	var rows [][]string
	for _, r := range phase.Rows() {
		rows = append(rows, []string{r.Known, formatAsCode(r.Phase), formatAsCode(r.Outcome)})
	}
	return formatTable([]string{"state", "phase", "outcome"}, rows)
}

// applicationPhases are the rows by which an Application has its phase.
func applicationPhases() string {
	var rows [][]string
	for _, r := range application.Rows() {
		rows = append(rows, []string{r.Known, formatAsCode(r.Phase)})
	}
	return formatTable([]string{"state", "phase"}, rows)
}

// bundlePhases are the rows by which a Bundle has its phase.
func bundlePhases() string {
	var rows [][]string
	for _, r := range bundle.Rows() {
		rows = append(rows, []string{r.Known, formatAsCode(r.Phase)})
	}
	return formatTable([]string{"state", "phase"}, rows)
}

// clusterPhases are the rows by which a cluster has its phase.
func clusterPhases() string {
	var rows [][]string
	for _, r := range workloadcluster.Rows() {
		rows = append(rows, []string{r.Known, formatAsCode(r.Phase)})
	}
	return formatTable([]string{"state", "phase"}, rows)
}

// phaseChanges returns the legal changes of a phase, in the order in which a new object comes to them.
func phaseChanges[P ~string](next map[P][]P) string {
	var rows [][]string
	visited := map[P]bool{}
	var visit func(P)
	visit = func(p P) {
		if visited[p] {
			return
		}
		visited[p] = true
		if p != "" && len(next[p]) > 0 {
			rows = append(rows, []string{formatAsCode(p), formatAsCode(next[p]...)})
		}
		for _, target := range next[p] {
			visit(target)
		}
	}
	visit("")
	return formatTable([]string{"from", "to"}, rows)
}

// wordsOfKind writes constants that mean something.
func wordsOfKind(kind string, all []constant) string {
	var rows [][]string
	for _, c := range all {
		rows = append(rows, []string{formatAsCode(c.value), c.doc})
	}
	return formatTable([]string{kind, ""}, rows)
}

// adviceTable writes the documented constants, with the advice about each reason.
func adviceTable(k advice.Kind, all []constant) string {
	kind := kindOfConstant(all[0])
	if kind == "type" {
		return wordsOfKind(kind, all)
	}
	var rows [][]string
	for _, c := range all {
		a, _ := advice.For(k, c.value)
		rows = append(rows, []string{formatAsCode(c.value), c.doc, actorText(a), tableCellText(a.Do)})
	}
	return formatTable([]string{kind, "", "who acts", "action"}, rows)
}

// actorText returns the actor of an advice, and the condition of the action.
func actorText(a advice.Advice) string {
	if a.EndsByItself && a.Actor != advice.NoActor {
		return a.Actor.Words() + ", if it lasts"
	}
	return a.Actor.Words()
}

// metricsTable lists the metrics of the provider.
func metricsTable() string {
	var rows [][]string
	for _, f := range telemetry.Families() {
		rows = append(rows, []string{formatAsCode(f.Name), f.Type(), formatAsCode(f.Labels...), f.Help})
	}
	return formatTable([]string{"metric", "type", "labels", ""}, rows)
}
