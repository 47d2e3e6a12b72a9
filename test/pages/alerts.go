package pages

import (
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/intentplane/intentplane/provider/telemetry"
)

var (
	// queryBlock is a code block of queries, one a line, with comments.
	queryBlock = regexp.MustCompile("(?s)```promql\n(.*?)```")

	// alertRule is the query of a rule in a code block of Prometheus' rules.
	alertRule = regexp.MustCompile(`(?m)^- alert: \w+\n +expr: (.+)$`)

	// alertRow is a row of the table of ready-made alerts: its name, how long it holds until it fires, and its severity.
	alertRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\d+) ([mh]): .* \\| (\\w+) \\| [^|]+ \\|$")
)

// alertRowsOf returns the rows of a table of alerts, by their names: how long each holds until it fires, and its severity.
func alertRowsOf(page string) map[string]string {
	out := map[string]string{}
	for _, row := range alertRow.FindAllStringSubmatch(page, -1) {
		out[row[1]] = row[2] + row[3] + " " + row[4]
	}
	return out
}

// alertsOnPage returns the queries of the alerts that a page shows.
func alertsOnPage(page string) []string {
	var out []string
	for _, block := range queryBlock.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				out = append(out, line)
			}
		}
	}
	for _, found := range alertRule.FindAllStringSubmatch(page, -1) {
		out = append(out, found[1])
	}
	return out
}

// alertQueryError describes the error of the query of an alert: it does not parse, or asks for a metric or a label that the provider does not
// have. It is empty if nothing is.
func alertQueryError(query string) string {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return err.Error()
	}
	out := ""
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && out == "" {
			out = wrongSelector(s)
		}
		return nil
	})
	return out
}

func wrongSelector(s *parser.VectorSelector) string {
	isOfFamily := func(f telemetry.Family) bool {
		return s.Name == f.Name || f.Buckets != nil && slices.Contains([]string{f.Name + "_bucket", f.Name + "_count", f.Name + "_sum"}, s.Name)
	}
	all := telemetry.Families()
	i := slices.IndexFunc(all, isOfFamily)
	if i < 0 {
		return "the provider has no metric " + s.Name
	}
	labels := append(slices.Clone(all[i].Labels), model.MetricNameLabel)
	for _, m := range s.LabelMatchers {
		if !slices.Contains(labels, m.Name) {
			return s.Name + " has no label " + m.Name
		}
	}
	return ""
}
