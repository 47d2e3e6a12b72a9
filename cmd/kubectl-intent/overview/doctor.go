package overview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
)

// DoctorLines show the diagnosis of an installation, each problem with its fix, and a count of the results in the end.
func DoctorLines(all []diagnosis.Line, s Style) []string {
	var out []string
	for i, l := range all {
		if i+1 < len(all) && all[i+1].Object == l.Object && all[i+1].Fix == l.Fix {
			// One fix stands below all lines that it is for.
			l.Fix = ""
		}
		out = append(out, s.diagnosisLines(l)...)
	}
	counts := diagnosis.CountResults(all)
	end := []string{}
	for _, r := range []diagnosis.Result{diagnosis.OK, diagnosis.Problem, diagnosis.Unknown, diagnosis.Advice} {
		end = append(end, fmt.Sprintf("%d %s", counts[r], r))
	}
	return append(out, strings.Join(end, ", "))
}

// diagnosisLines shows the diagnosis of one object.
func (s Style) diagnosisLines(l diagnosis.Line) []string {
	parts := slices.DeleteFunc([]string{l.Check, l.Object, l.Reason, collapseSpaces(l.Message)}, func(text string) bool { return text == "" })
	out := s.labelledLines(string(l.Result), strings.Join(parts, ": "))
	if l.Fix != "" {
		out = append(out, s.labelledLines("", "Fix: "+l.Fix)...)
	}
	return out
}

// Columns aligns cells, uncut.
func Columns(cells [][]string) []string { return Style{}.alignColumns(cells) }
