package promql

import "testing"

func TestFitsOneLine(t *testing.T) {
	cases := map[string]struct {
		reason, query string
		want          bool
	}{
		"OneLine":   {reason: "A query of one line has one.", query: `sum(rate(a{b="c d"}[5m]))`, want: true},
		"Lines":     {reason: "The ends of lines between tokens mean nothing.", query: "sum(\n\trate(a[5m])\n)\n", want: true},
		"Comment":   {reason: "A comment would end the query.", query: "sum(a) # all\n/ sum(b)"},
		"Last":      {reason: "A comment at the end ends nothing.", query: "sum(a) # all", want: true},
		"First":     {reason: "A comment before the query would be all of it.", query: "# all\nsum(a)"},
		"Text":      {reason: "A text with two spaces would become another text.", query: `sum(a{b="c  d"})`},
		"TextOfTab": {reason: "A tab of a text would become a space.", query: "sum(a{b=`c\td`})"},
		"TextHash":  {reason: "A hash in a text is no comment.", query: "sum(a{b=\"#c\"}\n)", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if FitsOneLine(tc.query) != tc.want {
				t.Errorf("\n%s\nFitsOneLine(%q): want %v", tc.reason, tc.query, tc.want)
			}
		})
	}
}
