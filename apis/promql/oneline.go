package promql

import (
	"regexp"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

var whiteSpace = regexp.MustCompile(`\s+`)

// FitsOneLine reports whether a query means the same where one space replaces each sequence of white space, as some clients send it. A comment would then end
// the query, and a text with other white space would become another text.
func FitsOneLine(text string) bool {
	return slices.Equal(tokensOfQuery(text), tokensOfQuery(whiteSpace.ReplaceAllString(text, " ")))
}

// tokensOfQuery returns the tokens of a query without comments, up to its first syntax error.
func tokensOfQuery(text string) []string {
	var item parser.Item
	out, l := []string{}, parser.Lex(text)
	for l.NextItem(&item); item.Typ != parser.EOF && item.Typ != parser.ERROR; l.NextItem(&item) {
		if item.Typ != parser.COMMENT {
			out = append(out, item.Val)
		}
	}
	return out
}
