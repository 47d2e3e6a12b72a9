// Package condition reads conditions of Argo Rollouts: as bounds of one value, and as expressions in CEL. It evaluates them as Argo Rollouts does. It is pure.
package condition

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// resultVariable is the name of the answer in a condition of Argo Rollouts.
const resultVariable = "result"

// NoDataPass is the verdict on a measurement without data where a condition accepts it.
const NoDataPass = "Pass"

// maxConditionBytes bounds a condition.
const maxConditionBytes = 4096

// A Condition is an expression of Argo Rollouts that was understood as comparisons of one value, all of which have to hold.
type Condition struct {
	// Bounds of the value, each on a side of its own.
	Bounds []Bound

	// NoData is NoDataPass where the condition accepts an answer without a value. Empty means that such an answer fails.
	NoData string

	// success and failure are the expressions. One of them may be nil.
	success, failure ast.Expr
}

// quotedText matches texts in quotes. Those in single quotes, which Go has for characters, have no other quotes in them.
var quotedText = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|'[^'\"\\\\]*'")

// parseCondition parses an expression. Expressions of Argo Rollouts have the syntax of Go, but for texts in single quotes, and for ends of lines, which end
// comments alone.
func parseCondition(text string) (ast.Expr, error) {
	if len(text) > maxConditionBytes {
		return nil, errors.Errorf("has more than %d bytes", maxConditionBytes)
	}
	if !strings.Contains(text, "//") {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	e, err := parser.ParseExpr(quotedText.ReplaceAllStringFunc(text, withGoQuotes))
	return e, errors.Wrap(err, "cannot read the condition")
}

// withGoQuotes returns a text in the quotes that Go has for texts.
func withGoQuotes(text string) string {
	if strings.HasPrefix(text, "'") {
		return `"` + strings.Trim(text, "'") + `"`
	}
	return text
}

// A boundReader reads bounds from a condition, or from a negated condition.
type boundReader struct {
	// isNegated is true if the bounds hold where the expression does not.
	isNegated bool
}

// negateOperator returns the operator that holds where the given operator does not.
func negateOperator(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GEQ
	case token.GEQ:
		return token.LSS
	case token.GTR:
		return token.LEQ
	case token.LEQ:
		return token.GTR
	case token.EQL:
		return token.NEQ
	case token.NEQ:
		return token.EQL
	case token.LAND:
		return token.LOR
	case token.LOR:
		return token.LAND
	}
	return op
}

// mirrorOperator returns a comparison whose sides are exchanged.
func mirrorOperator(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GTR
	case token.GTR:
		return token.LSS
	case token.LEQ:
		return token.GEQ
	case token.GEQ:
		return token.LEQ
	}
	return op
}

// readThresholdExpr returns the required condition. It returns an error for an expression that does not compare one value with numbers.
func (r boundReader) readThresholdExpr(e ast.Expr) (Condition, error) {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return boundReader{isNegated: !r.isNegated}.readThresholdExpr(e.X)
		}
	case *ast.BinaryExpr:
		op := r.effectiveOperator(e.Op)
		if op == token.LAND || op == token.LOR {
			return r.readLogicalExpr(op, e)
		}
		return r.readComparison(op, e)
	}
	return Condition{}, errors.New("is not a comparison of result or result[0] with a number")
}

func (r boundReader) effectiveOperator(op token.Token) token.Token {
	if r.isNegated {
		return negateOperator(op)
	}
	return op
}

// readLogicalExpr reads two conditions. Only a guard against missing data may be an alternative: a threshold has no alternatives.
func (r boundReader) readLogicalExpr(op token.Token, e *ast.BinaryExpr) (Condition, error) {
	for _, sides := range [][2]ast.Expr{{e.X, e.Y}, {e.Y, e.X}} {
		if r.isDataGuard(sides[0], op == token.LOR) {
			c, err := r.readThresholdExpr(sides[1])
			if op == token.LOR {
				c.NoData = NoDataPass
			}
			return c, err
		}
	}
	if op == token.LOR {
		return Condition{}, errors.New("accepts one of several things, and a check has one threshold")
	}
	left, err := r.readThresholdExpr(e.X)
	if err != nil {
		return Condition{}, err
	}
	right, err := r.readThresholdExpr(e.Y)
	c := Condition{Bounds: append(left.Bounds, right.Bounds...)}
	if left.NoData == right.NoData {
		c.NoData = left.NoData
	}
	return c, err
}

// isDataGuard reports whether an expression asks whether data is missing, or with isMissing false whether there is some. Several of them may be joined.
func (r boundReader) isDataGuard(e ast.Expr, isMissing bool) bool {
	isMissing = isMissing != r.isNegated
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return e.Op == token.NOT && boundReader{}.isDataGuard(e.X, !isMissing)
	case *ast.CallExpr:
		return isMissing && isCallOfFunction(e, "isNaN") && isMeasuredValue(e.Args[0])
	case *ast.BinaryExpr:
		joiner, want := token.LAND, []token.Token{token.GTR, token.NEQ}
		if isMissing {
			joiner, want = token.LOR, []token.Token{token.EQL}
		}
		if e.Op == joiner {
			return boundReader{}.isDataGuard(e.X, isMissing) && boundReader{}.isDataGuard(e.Y, isMissing)
		}
		call, ok := e.X.(*ast.CallExpr)
		zero, err := parseSignedNumber(e.Y)
		return ok && err == nil && zero == 0 && slices.Contains(want, e.Op) && isCallOfFunction(call, "len") && isMeasuredValue(call.Args[0])
	}
	return false
}

func (r boundReader) readComparison(op token.Token, e *ast.BinaryExpr) (Condition, error) {
	value, limit := e.X, e.Y
	if !isMeasuredValue(value) {
		value, limit, op = e.Y, e.X, mirrorOperator(op)
	}
	number, err := parseSignedNumber(limit)
	if !isMeasuredValue(value) || err != nil {
		return Condition{}, errors.New("is not a comparison of result or result[0] with a number")
	}
	if !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL}, op) {
		return Condition{}, errors.Errorf("no threshold says %s", op)
	}
	b, err := NewBound(op.String(), number)
	return Condition{Bounds: []Bound{b}}, err
}

// isMeasuredValue reports whether an expression is the measured number.
func isMeasuredValue(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name == resultVariable
	case *ast.IndexExpr:
		variable, ok := e.X.(*ast.Ident)
		index, isNumber := ast.Unparen(e.Index).(*ast.BasicLit)
		return ok && variable.Name == resultVariable && isNumber && index.Kind == token.INT && index.Value == "0"
	case *ast.CallExpr:
		return (isCallOfFunction(e, "asFloat") || isCallOfFunction(e, "float")) && isMeasuredValue(e.Args[0])
	}
	return false
}

// isCallOfFunction reports whether a call is one of a function with one argument.
func isCallOfFunction(call *ast.CallExpr, name string) bool {
	f, ok := call.Fun.(*ast.Ident)
	return ok && f.Name == name && len(call.Args) == 1
}

// parseSignedNumber returns a number, which may have a sign.
func parseSignedNumber(e ast.Expr) (float64, error) {
	e = ast.Unparen(e)
	if signed, ok := e.(*ast.UnaryExpr); ok && signed.Op == token.SUB {
		n, err := parseSignedNumber(signed.X)
		return -n, err
	}
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.INT && l.Kind != token.FLOAT {
		return 0, errors.New("is not a number")
	}
	return strconv.ParseFloat(l.Value, 64)
}

// Read returns the condition that the two conditions of a metric require, one of which may be empty. With both, a value that neither decides is inconclusive,
// so that they have to be opposites. The text is the field of the error: successCondition or failureCondition.
func Read(success, failure string) (Condition, string, error) {
	if success == "" {
		c, denied, err := readCondition(failure, boundReader{isNegated: true})
		c.failure = denied
		return c, "failureCondition", err
	}
	c, accepted, err := readCondition(success, boundReader{})
	c.success = accepted
	if err != nil || failure == "" {
		return c, "successCondition", err
	}
	opposite, denied, err := readCondition(failure, boundReader{isNegated: true})
	if err == nil && !equalBounds(c.Bounds, opposite.Bounds) {
		err = errors.New("a value that neither condition decides is inconclusive, and a check passes or fails: let it be the opposite of successCondition, or remove it")
	}
	c.failure = denied
	return c, "failureCondition", err
}

func readCondition(text string, r boundReader) (Condition, ast.Expr, error) {
	e, err := parseCondition(text)
	if err != nil {
		return Condition{}, nil, err
	}
	c, err := r.readThresholdExpr(e)
	if err == nil && !haveOneSideEach(c.Bounds) {
		err = errors.New("bounds one side twice")
	}
	return c, e, err
}

// expressions returns the conditions that there are.
func (c Condition) expressions() []ast.Expr {
	return slices.DeleteFunc([]ast.Expr{c.success, c.failure}, func(e ast.Expr) bool { return e == nil })
}
