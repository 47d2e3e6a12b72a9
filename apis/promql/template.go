// Package promql fills the queries of Blueprints with values, so that no value changes a query.
//
// A query is PromQL with placeholders in the values of its label matchers: job="{{service}}", or job=~"{{service}}-.*". There a value
// is quoted, and in a regular expression it is escaped, whatever it holds. Each filled query is parsed again, and has to equal the
// template, except for these values.
package promql

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/strutil"

	"github.com/intentplane/intentplane/apis/measure"
)

// maxCharacters is the greatest length of a query, as in the definition of Blueprints.
const maxCharacters = 4096

// openPlaceholder begins a placeholder.
const openPlaceholder = "{{"

// metricName is the label that holds the name of a metric.
const metricName = "__name__"

// placeholderPattern matches a placeholder, and any text that begins like one.
var placeholderPattern = regexp.MustCompile(`\{\{(?:([^{}]*)\}\})?`)

// Values that placeholders stand for.
type Values struct {
	// Service is the value of {{service}}.
	Service string

	// Namespace is the value of {{namespace}}.
	Namespace string

	// Site is the value of {{site}}.
	Site string

	// Canary and Stable are the values of {{canary}} and {{stable}}: the tracks of a canary, and of the revision that it is compared with. They are
	// empty for a query that is sent while no two tracks get requests, and which has no such placeholder.
	Canary, Stable string
}

// Placeholders of the tracks.
const (
	placeholderCanary = "canary"
	placeholderStable = "stable"
)

// placeholderValue returns the value of a placeholder, and whether a placeholder of this name exists.
func (v Values) placeholderValue(name string) (string, bool) {
	value, ok := map[string]string{
		"service": v.Service, "namespace": v.Namespace, "site": v.Site, placeholderCanary: v.Canary, placeholderStable: v.Stable,
	}[name]
	return value, ok
}

// A Template is a query with placeholders.
type Template struct {
	text string

	// matchers are the strings with placeholders, in the order of the text.
	matchers []matcher

	// weight of its regular expressions.
	weight int

	// values that the query can have.
	values measure.Range

	// isScalar and hasSingleSeries report whether the query returns a number, and whether it returns one series without labels.
	isScalar, isSingle bool

	// hasSelector and isPresence report whether the query reads a series, and whether its result depends on the presence of series.
	hasSelector, isPresence bool
}

// Weight returns the approximate cost of reading the query, and of reading it again for each value that it is filled with.
func (t *Template) Weight() int { return t.weight }

// CheckNoTracks returns an error for a query that names a track. It has a result only while two tracks get requests: at 100 percent the stable track gets no
// requests, so that a comparison with it would be good or bad by chance.
func (t *Template) CheckNoTracks() error {
	for _, m := range t.matchers {
		for _, found := range placeholderPattern.FindAllStringSubmatch(m.text, -1) {
			if found[1] == placeholderCanary || found[1] == placeholderStable {
				return errors.Errorf("%s stands for a track, and this query is asked where only one gets requests: put it into canary of a Blueprint's metric", found[0])
			}
		}
	}
	return nil
}

// Constant is true for a query without placeholders.
func (t *Template) Constant() bool { return len(t.matchers) == 0 }

// matcher is the value of one label matcher.
type matcher struct {
	// begin and end of the quoted string in the text.
	begin, end int

	// text of the string, and whether it is a regular expression.
	text  string
	regex bool
}

// Parse reads a query. It returns an error for text that is not PromQL, for a query that cannot be judged, as ReachOf says, and for a
// placeholder that is unknown, or that stands anywhere but in the value of a label matcher.
func Parse(text string) (*Template, error) {
	if err := checkLength(text); err != nil {
		return nil, err
	}
	t := &Template{text: text}
	var err error
	if t.weight, err = weighExpressions(text); err != nil {
		return nil, err
	}
	if err := t.scanPlaceholders(); err != nil {
		return nil, err
	}
	e, err := parseExpression(text)
	if err != nil {
		return nil, err
	}
	if _, err := reachOfExpression(e); err != nil {
		return nil, err
	}
	t.values, t.isScalar, t.isSingle = rangeOfExpression(e), e.Type() == parser.ValueTypeScalar, hasSingleSeries(e)
	t.hasSelector, t.isPresence = len(parser.ExtractSelectors(e)) > 0, emptinessOf(e).isAnswer
	return t, checkMatchers(e)
}

func checkLength(text string) error {
	if n := utf8.RuneCountInString(text); n > maxCharacters {
		return errors.Errorf("has %d characters, more than %d", n, maxCharacters)
	}
	return nil
}

// parseExpression parses a query, unless that would take too long.
func parseExpression(text string) (parser.Expr, error) {
	if _, err := weighExpressions(text); err != nil {
		return nil, err
	}
	e, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	return e, errors.Wrap(err, "is not PromQL")
}

// scanPlaceholders finds the strings with placeholders.
func (t *Template) scanPlaceholders() error {
	l := parser.Lex(t.text)
	var item, previous parser.Item
	for l.NextItem(&item); item.Typ != parser.EOF; l.NextItem(&item) {
		if item.Typ == parser.ERROR {
			return t.syntaxError(item)
		}
		if err := t.scanQueryToken(item, previous.Typ); err != nil {
			return err
		}
		if item.Typ != parser.COMMENT {
			previous = item
		}
	}
	return nil
}

// syntaxError returns the reason why a query cannot be read up to its end. Prometheus accepts no placeholder outside of a string.
func (t *Template) syntaxError(item parser.Item) error {
	for _, begin := range []int{int(item.Pos) - 1, int(item.Pos)} {
		if begin >= 0 && begin < len(t.text) && strings.HasPrefix(t.text[begin:], openPlaceholder) {
			return misplacedError(t.text[begin:])
		}
	}
	_, err := parseExpression(t.text)
	return err
}

func misplacedError(text string) error {
	return errors.Errorf("%.64q stands where no placeholder may: only in the value of a label matcher", placeholderPattern.FindString(text))
}

// scanQueryToken records the placeholders of one token. Only the value of a matcher follows its operator.
func (t *Template) scanQueryToken(item parser.Item, previous parser.ItemType) error {
	text := item.Val
	if item.Typ == parser.STRING {
		var err error
		if text, err = strutil.Unquote(item.Val); err != nil {
			return errors.Wrapf(err, "cannot read the string %.64s", item.Val)
		}
	}
	begin := strings.Index(text, openPlaceholder)
	if begin < 0 {
		return nil
	}
	regex := isRegexMatcher(previous)
	if item.Typ != parser.STRING || !regex && previous != parser.EQL && previous != parser.NEQ {
		return misplacedError(text[begin:])
	}
	m := matcher{begin: int(item.Pos), end: int(item.Pos) + len(item.Val), text: text, regex: regex}
	t.matchers = append(t.matchers, m)
	return m.checkPlaceholders()
}

// checkPlaceholders returns an error for unknown placeholders, and for placeholders in a place where a regular expression does not match a text.
func (m matcher) checkPlaceholders() error {
	for _, found := range placeholderPattern.FindAllStringSubmatch(m.text, -1) {
		if _, ok := (Values{}).placeholderValue(found[1]); !ok {
			return errors.Errorf("%.64q is not a placeholder: they are {{namespace}}, {{service}} and {{site}}, and in canary of a metric {{canary}} and {{stable}}", found[0])
		}
	}
	if m.regex {
		return checkRegexMatcher(m.text)
	}
	return nil
}

// checkMatchers returns an error when a placeholder is the name of a metric, which is a label too.
func checkMatchers(e parser.Expr) error {
	for _, m := range labelMatchersIn(e) {
		if _, after, found := strings.Cut(m.Value, openPlaceholder); found && m.Name == metricName {
			return misplacedError(openPlaceholder + after)
		}
	}
	return nil
}

// labelMatchersIn returns the matchers of an expression, in the order of its text.
func labelMatchersIn(e parser.Expr) []*labels.Matcher {
	return slices.Concat(parser.ExtractSelectors(e)...)
}

// Fill returns the query with values for its placeholders. It returns an error for a value that no label can have, and for a value
// that would change the query.
func (t *Template) Fill(v Values) (string, error) {
	if t.Constant() {
		return t.text, nil
	}
	out, from := strings.Builder{}, 0
	for _, m := range t.matchers {
		if err := m.checkValues(v); err != nil {
			return "", err
		}
		out.WriteString(t.text[from:m.begin])
		// Prometheus takes every escape of Go, and not every character that Go would write as it is.
		out.WriteString(strconv.QuoteToASCII(m.fillMatcherText(v)))
		from = m.end
	}
	out.WriteString(t.text[from:])
	return out.String(), t.verifyFilled(out.String(), v)
}

// checkValues returns an error for values that no label has. An empty value would match series without the label.
func (m matcher) checkValues(v Values) error {
	for _, found := range placeholderPattern.FindAllStringSubmatch(m.text, -1) {
		if value, _ := v.placeholderValue(found[1]); value == "" || !utf8.ValidString(value) {
			return errors.Errorf("%s: %.64q is not the value of a label", found[0], value)
		}
	}
	return nil
}

// fillMatcherText returns the string with values for its placeholders. A value that looks like a placeholder is not replaced again.
func (m matcher) fillMatcherText(v Values) string {
	return placeholderPattern.ReplaceAllStringFunc(m.text, func(found string) string {
		value, _ := v.placeholderValue(placeholderPattern.FindStringSubmatch(found)[1])
		if m.regex {
			return literalGroup(value)
		}
		return value
	})
}

// verifyFilled returns an error unless a filled query differs from the template in the values of its matchers only, which must equal the given values.
func (t *Template) verifyFilled(filled string, v Values) error {
	want, err := parseExpression(t.text)
	if err != nil {
		return err
	}
	got, err := parseExpression(filled)
	if err != nil {
		return err
	}
	for _, m := range labelMatchersIn(want) {
		if strings.Contains(m.Value, openPlaceholder) {
			regex := m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp
			// The matcher is only printed, so that its compiled expression does not matter.
			m.Value = matcher{text: m.Value, regex: regex}.fillMatcherText(v)
		}
	}
	if want.String() != got.String() {
		return errors.New("the values would change the query")
	}
	return nil
}
