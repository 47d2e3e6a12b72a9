package promql

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/intentplane/intentplane/test/soak"
)

func TestFill(t *testing.T) {
	plain := Values{Service: "shop", Namespace: "team-a", Site: "edge1"}
	cases := map[string]struct {
		reason string
		query  string
		values Values
		want   string
	}{
		"None":  {reason: "A query needs no placeholder.", query: "vector(1)", want: "vector(1)"},
		"Equal": {reason: "A value is quoted in the query.", query: `up{a="{{service}}",b!='{{namespace}}'}`, values: plain, want: `up{a="shop",b!="team-a"}`},
		"Regex": {reason: "In an expression it is one thing.", query: `up{a=~"{{service}}-.*"}`, values: plain, want: `up{a=~"(?:shop)-.*"}`},
		"Repeat": {
			reason: "A value in a regular expression is repeated as a whole.",
			query:  `up{a!~"({{site}}){2}|{{site}}+"}`, values: plain, want: `up{a!~"((?:edge1)){2}|(?:edge1)+"}`,
		},
		"Raw": {
			reason: "A raw string becomes a quoted one, so that the value can be escaped.",
			query:  "up{a=`\\d{{service}}`}", values: Values{Service: "`\"\n"}, want: `up{a="\\d` + "`" + `\"\n"}`,
		},
		"Both": {reason: "Text around a placeholder is kept.", query: `up{a="x-{{site}}/{{service}}"} # c`, values: plain, want: `up{a="x-edge1/shop"} # c`},
		"Spaces": {
			reason: "The rest of the query is not touched.",
			query:  "up {a = \"{{site}}\" ,\n b=\"\\x41\" } > 1_0", values: plain, want: "up {a = \"edge1\" ,\n b=\"\\x41\" } > 1_0",
		},
		"Escaped": {
			reason: "An escaped placeholder counts as a placeholder.", query: `up{a="\x7b{service}}"}`, values: plain, want: `up{a="shop"}`,
		},
		"Once": {
			reason: "A value that looks like a placeholder is not replaced again.",
			query:  `up{a="{{service}}{{site}}"}`, values: Values{Service: "{{site}}", Site: "b"}, want: `up{a="{{site}}b"}`,
		},
		"Nested": {
			reason: "Placeholders are replaced in each selector of a query.",
			query:  `histogram_quantile(0.99, sum by (le) (rate(x{a="{{site}}"}[5m] offset 1h))) / on() group_left avg_over_time(y{b="{{site}}"}[1h:1m])`,
			values: plain,
			want:   `histogram_quantile(0.99, sum by (le) (rate(x{a="edge1"}[5m] offset 1h))) / on() group_left avg_over_time(y{b="edge1"}[1h:1m])`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := fill(tc.query, tc.values)
			if err != nil {
				t.Fatalf("\n%s\nfill(%q): %v", tc.reason, tc.query, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfill(%q): -want, +got:\n%s", tc.reason, tc.query, diff)
			}
		})
	}
}

func fill(query string, v Values) (string, error) {
	template, err := Parse(query)
	if err != nil {
		return "", err
	}
	return template.Fill(v)
}

// hostile are values that would change a query if they were only put between its quotes.
func hostile() []string {
	return []string{
		`"} or vector(1) #`, `'} or vector(1) #`, "`} or vector(1) #", `\`, `\"`, `a\`, "a\nb", "a\r\nb", "\x00", "\t", `"`, `'`, "`", "{", "}",
		"{}", "{{site}}", "{{", "}}",
		".*", ".+", "a|b", "(", ")", "[", "]", "[a-z]", `\d`, `\E`, `\Q`, "^", "$", "?", "*", "+", "2", "{2}", "(?i)a", "(?:", "x){2}(", "#",
		`"#`, ",", `",b="c`, `a",__name__="x`,
		"é", "日本", "\u202e", "\ufeff", "\ufffd", "\u200b", "🙂", "\U0010ffff", strings.Repeat("a", 300), "$1", "%s", " ", "__name__", "-", `\u0041`, `\x41`,
	}
}

func TestNoValueChangesAQuery(t *testing.T) {
	queries := []string{
		`up{a="{{service}}"}`, `up{a='x{{service}}y'}`, "up{a=`{{service}}`}", `up{a!="{{service}}"}`, `up{a=~"{{service}}"}`,
		`up{a!~"{{service}}-.*|b{{service}}*"}`,
		`sum(rate(x{a="{{service}}",b=~"(?i)^{{service}}$"}[5m])) / sum(rate(x{c="{{service}}"}[5m])) # x`,
	}
	for _, q := range queries {
		for _, v := range hostile() {
			checkFilled(t, q, Values{Service: v})
		}
	}
}

// checkFilled fills a query, reads it with Prometheus' own parser, and wants everything except the values unchanged, and each
// value equal to the given value.
func checkFilled(t *testing.T, query string, v Values) {
	t.Helper()
	filled, err := fill(query, v)
	if err != nil {
		t.Fatalf("fill(%q, %q): %v", query, v, err)
	}
	original, result := mustParse(t, query), mustParse(t, filled)
	matchers, filledMatchers := labelMatchersIn(original), labelMatchersIn(result)
	if len(matchers) != len(filledMatchers) {
		t.Fatalf("fill(%q, %q): has %d matchers, and had %d", query, v, len(filledMatchers), len(matchers))
	}
	for i := range matchers {
		if want := matchers[i].Value; !expanded(filledMatchers[i], want, v) {
			t.Errorf("fill(%q, %q): %q became %q", query, v, want, filledMatchers[i].Value)
		}
		matchers[i].Value, filledMatchers[i].Value = "", ""
	}
	if diff := cmp.Diff(parser.Tree(original), parser.Tree(result)); diff != "" {
		t.Errorf("fill(%q, %q): -before, +after:\n%s", query, v, diff)
	}
}

// expanded says whether a matcher has the value of a template. An expression is read as its author means it: a placeholder is the
// given value, character by character.
func expanded(m *labels.Matcher, template string, v Values) bool {
	replace := func(quote func(string) string) string {
		return strings.NewReplacer("{{service}}", quote(v.Service), "{{namespace}}", quote(v.Namespace), "{{site}}", quote(v.Site)).Replace(template)
	}
	if m.Type == labels.MatchEqual || m.Type == labels.MatchNotEqual || !strings.Contains(template, openPlaceholder) {
		return m.Value == replace(func(s string) string { return s })
	}
	for _, value := range []string{v.Service, v.Namespace, v.Site} {
		if !utf8.ValidString(value) {
			// It is not asked for, or it would have been refused.
			continue
		}
		if exact := regexp.MustCompile(`^(?s:` + literalGroup(value) + `)$`); !exact.MatchString(value) || exact.MatchString(value+"x") {
			return false
		}
	}
	return m.Value == replace(literalGroup)
}

func mustParse(t *testing.T, query string) parser.Expr {
	t.Helper()
	e, err := parseExpression(query)
	if err != nil {
		t.Fatalf("parse(%q): %v", query, err)
	}
	return e
}

func TestRefusedTemplates(t *testing.T) {
	const misplaced = "stands where no placeholder may"
	cases := map[string]struct {
		reason string
		query  string
		want   string
	}{
		"Metric":     {reason: "A placeholder as the beginning of a metric's name is refused.", query: `{{service}}_total{a="b"}`, want: misplaced},
		"MetricEnd":  {reason: "A placeholder as the end of a metric's name is refused.", query: `total_{{service}}`, want: misplaced},
		"MetricText": {reason: "A placeholder as a quoted metric name is refused.", query: `{"{{service}}",a="b"}`, want: misplaced},
		"NameLabel":  {reason: "A placeholder as the value of the label __name__ is refused.", query: `{__name__="{{service}}"}`, want: misplaced},
		"NameRegex": {
			reason: "A placeholder in a regular expression for the label __name__ is refused.",
			query:  `{__name__=~"{{service}}.*",a="b"}`, want: misplaced,
		},
		"Label":     {reason: "A placeholder as the name of a label is refused.", query: `up{ {{service}}="a"}`, want: misplaced},
		"LabelText": {reason: "A placeholder as a quoted label name is refused.", query: `up{"{{service}}"="a"}`, want: misplaced},
		"Unquoted":  {reason: "A placeholder without quotes is refused.", query: `up{a={{service}}}`, want: misplaced},
		"Duration":  {reason: "Nothing else is filled in.", query: `rate(up{a="{{site}}"}[{{service}}])`, want: misplaced},
		"Offset":    {reason: "Nothing else is filled in.", query: `up offset {{service}}`, want: misplaced},
		"Number":    {reason: "Nothing else is filled in.", query: `up > {{service}}`, want: misplaced},
		"Comment":   {reason: "A line break would end it.", query: "up # {{service}}", want: misplaced},
		"CommentIn": {reason: "A placeholder in a comment before a value is refused.", query: "up{a= # {{service}}\n\"b\"}", want: misplaced},
		"Replace": {
			reason: "A placeholder in a text that is not a matcher is refused.",
			query:  `label_replace(up, "a", "{{service}}", "b", ".*")`, want: misplaced,
		},
		"ReplaceEsc": {
			reason: "An escaped placeholder in a text that is not a matcher is refused.",
			query:  `label_replace(up, "a", "\x7b{service}}", "b", ".*")`, want: misplaced,
		},
		"Grouping": {reason: "A placeholder in a grouping clause is refused.", query: `sum by ("{{service}}") (up)`, want: misplaced},
		"Unknown": {
			reason: "A placeholder that is misspelled is refused, since it would match nothing.",
			query:  `up{a="{{servce}}"}`, want: `"{{servce}}" is not a placeholder`,
		},
		"Spaces": {reason: "They are written in one way.", query: `up{a="{{ service }}"}`, want: `"{{ service }}" is not a placeholder`},
		"Open":   {reason: "A placeholder without its second closing brace is refused.", query: `up{a="{{service}"}`, want: `"{{" is not a placeholder`},
		"Triple": {reason: "A placeholder with three braces is refused.", query: `up{a="{{{service}}}"}`, want: `"{{" is not a placeholder`},
		"Class":  {reason: "In a class it would be its letters.", query: `up{a=~"[{{service}}]"}`, want: "does not take a group"},
		"Backslash": {
			reason: "A placeholder after a backslash is refused, since the backslash would escape its first character.",
			query:  `up{a=~"\\{{service}}"}`, want: "does not take a group",
		},
		"Hidden": {reason: "A placeholder after a backslash in a group is refused.", query: `up{a=~"(\\{{service}}"}`, want: "does not take a group"},
		"Quoted": {
			reason: "A placeholder in a quoted part of a regular expression is refused.",
			query:  `up{a=~"\\Q{{service}}\\E"}`, want: "does not take a group",
		},
		"Flags":      {reason: "A placeholder in the flags of a regular expression is refused.", query: `up{a=~"(?{{service}})"}`, want: "does not take a group"},
		"NotRegex":   {reason: "An expression has to be one.", query: `up{a=~"({{service}}"}`, want: "does not take a group"},
		"NotPromQL":  {reason: "A query has to be one.", query: `sum(up{a="{{service}}"}`, want: "is not PromQL"},
		"OpenString": {reason: "A query has to be one.", query: `up{a="{{service}}}`, want: "is not PromQL"},
		"Range":      {reason: "A query that gives a range of values is refused.", query: `up{a="{{service}}"}[5m]`, want: "gives a range vector"},
		"Fixed":      {reason: "A query that can never be judged is refused at once.", query: `up{a="{{service}}"} @ 1`, want: "selects a fixed time"},
		"Month": {
			reason: "A query that looks back for a month is refused when it is parsed.",
			query:  `rate(up{a="{{service}}"}[30d])`, want: "has a window and offsets of more than 24h",
		},
		"Text": {reason: "A query that gives a text is refused when it is parsed.", query: `"up"`, want: "gives a string"},
		"Large": {
			reason: "A query that is too long is refused.",
			query:  `up{a="` + strings.Repeat("a", 4096) + `"}`, want: "has 4104 characters, more than 4096",
		},
		"Empty": {reason: "An empty query is refused.", query: "", want: "is not PromQL"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(tc.query); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nParse(%q): want error %q, got %v", tc.reason, tc.query, tc.want, err)
			}
		})
	}
}

func TestRefusedValues(t *testing.T) {
	cases := map[string]struct {
		reason string
		value  string
	}{
		"Empty":   {reason: "An empty value is refused, since it would match series without the label.", value: ""},
		"Unicode": {reason: "A value that is not valid UTF-8 is refused.", value: "a\xff"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, query := range []string{`up{a="{{site}}"}`, `up{a=~"x{{site}}"}`} {
				if _, err := fill(query, Values{Site: tc.value}); err == nil || !strings.Contains(err.Error(), "is not the value of a label") {
					t.Errorf("\n%s\nfill(%q, %q): got %v", tc.reason, query, tc.value, err)
				}
			}
			if _, err := fill(`up{a="{{service}}"}`, Values{Service: "a", Site: tc.value}); err != nil {
				t.Errorf("\nA value without a placeholder does not matter.\nfill(...): %v", err)
			}
		})
	}
}

func FuzzFill(f *testing.F) {
	queries := []string{`up{a="{{service}}",b=~"{{site}}-.*|x"}`, `rate(x{a!~"({{namespace}})+"}[5m])`, "up{a='{{site}}'} # b", `up{"{{service}}"="a"}`, `up{a=~"[{{site}}]"}`}
	for i, v := range hostile() {
		f.Add(queries[i%len(queries)], v, "a", v)
	}
	f.Fuzz(func(t *testing.T, query, service, namespace, site string) {
		defer soak.Input(t)()
		v := Values{Service: service, Namespace: namespace, Site: site}
		template, err := Parse(query)
		if err != nil {
			return
		}
		_, err = template.Fill(v)
		if err == nil {
			checkFilled(t, query, v)
			return
		}
		// A value is only refused when no label has it.
		if usual(v) {
			t.Errorf("Fill(%q) of %q: %v", v, query, err)
		}
	})
}

// usual reports whether a label can have the values.
func usual(v Values) bool {
	for _, value := range []string{v.Service, v.Namespace, v.Site} {
		if value == "" || !utf8.ValidString(value) {
			return false
		}
	}
	return true
}
