package promql

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/strutil"
)

// Bounds of the regular expressions of one query. Prometheus' parser compiles each of them, and a few bytes may take it seconds and a
// gigabyte.
const (
	maxExpressions     = 64
	maxExpressionBytes = 2048

	// maxWeight of one query. A unit takes up to a microsecond, and some hundred bytes.
	maxWeight = 40_000
)

const (
	// folded is the last character that has an upper or a lower case: a class that ignores case is searched up to there.
	folded = 0x1e943

	// foldedPerUnit is the number of characters of such a class that weigh as much as one instruction.
	foldedPerUnit = 4
)

// flagsPattern matches the flags of a regular expression, and any text that looks like them.
var flagsPattern = regexp.MustCompile(`\(\?[imsU-]+`)

// weighExpressions returns the weight of the regular expressions of a query, before they are compiled. It returns an error for more than a query may
// have. Text that is not PromQL is weighed up to the syntax error.
func weighExpressions(text string) (int, error) {
	l := parser.Lex(text)
	var item, previous parser.Item
	found, bytes, weight := 0, 0, 0
	for l.NextItem(&item); item.Typ != parser.EOF && item.Typ != parser.ERROR; l.NextItem(&item) {
		if item.Typ == parser.STRING && isRegexMatcher(previous.Typ) {
			if found, bytes = found+1, bytes+len(item.Val); found > maxExpressions || bytes > maxExpressionBytes {
				return 0, errors.Errorf("has more than %d regular expressions, or more than %d bytes of them", maxExpressions, maxExpressionBytes)
			}
			if weight += weightOfExpression(item.Val); weight > maxWeight {
				return 0, errors.Errorf("the regular expression %.64s takes too long to compile: repeat less, and use smaller classes of characters", item.Val)
			}
		}
		if item.Typ != parser.COMMENT {
			previous = item
		}
	}
	return weight, nil
}

func isRegexMatcher(t parser.ItemType) bool { return t == parser.EQL_REGEX || t == parser.NEQ_REGEX }

// weightOfExpression returns the weight of a quoted regular expression. A malformed expression weighs nothing, because it is never compiled.
func weightOfExpression(quoted string) int {
	text, err := strutil.Unquote(quoted)
	if err != nil {
		return 0
	}
	// It is read as if it minded case: to read a large class that ignores it takes long in itself.
	plain := flagsPattern.ReplaceAllStringFunc(text, func(f string) string { return strings.ReplaceAll(f, "i", "s") })
	e, err := syntax.Parse(plain, syntax.Perl|syntax.DotNL)
	if err != nil && plain == text {
		return 0
	}
	if err != nil {
		return maxWeight + 1 // The text that looks like flags may be part of a class, without which it is not an expression.
	}
	return min(weightOfNode(e, plain != text, 1), maxWeight+1)
}

// weightOfNode returns the approximate number of instructions of a match, with the ranges of their classes. Above the bound it is not
// exact, since it might overflow.
func weightOfNode(e *syntax.Regexp, fold bool, times int) int {
	weight := times * (1 + len(e.Rune))
	if fold && e.Op == syntax.OpCharClass {
		weight += times * foldedWeight(e.Rune)
	}
	if e.Op == syntax.OpRepeat {
		times *= max(e.Min, e.Max, 1)
	}
	for _, sub := range e.Sub {
		if weight > maxWeight || times > maxWeight {
			return maxWeight + 1
		}
		weight += weightOfNode(sub, fold, times)
	}
	return weight
}

// foldedWeight returns the weight of the ranges of a class that ignores case: each of their characters is searched.
func foldedWeight(ranges []rune) int {
	weight := 0
	for i := 0; i+1 < len(ranges); i += 2 {
		weight += max(int(min(ranges[i+1], folded)-ranges[i])/foldedPerUnit, 0)
	}
	return weight
}
