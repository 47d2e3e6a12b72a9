package catalog

import (
	"fmt"
	"strings"
)

// shortCommit is the number of a commit's characters in a table.
const shortCommit = 8

// Table returns the figures that were measured, as a table of Markdown.
func (all Figures) Table() string {
	b := &strings.Builder{}
	b.WriteString("| figure | measured | bound | commit, day, load average | description |\n|---|---|---|---|---|\n")
	for _, f := range all {
		if f.Measured != nil {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.Name, f.formatMeasured(), f.Bound, f.Measured.measurementSource(), f.About)
		}
	}
	return b.String()
}

// formatMeasured is the value with its unit. One outside its bound is bold.
func (f Figure) formatMeasured() string {
	text := formatNumber(f.Measured.Value) + " " + f.Unit
	if f.IsOutside() {
		return "**" + text + "**"
	}
	return text
}

// measurementSource names the code of a measurement, and how busy the machine was. A mark is on measurements beside other programs.
func (m Measurement) measurementSource() string {
	text := strings.Join(strings.Fields(fmt.Sprintf("%.*s %s %s", shortCommit, m.Commit, m.Date, formatNumber(m.Load))), " ")
	if !m.IsAlone() {
		return text + " †"
	}
	return text
}
