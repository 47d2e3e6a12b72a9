package expression

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
)

// A condition is the text of an expression without its negations, and whether their number is odd. A comparison has the text of one of two operators, the
// other comparisons being their negations or having their sides exchanged, so that opposites have one text.
type condition struct {
	text      string
	isNegated bool
}

// conditionOf returns the condition of an expression. Its text is empty where the expression cannot be written.
func (r ranger) conditionOf(e ast.Expr) condition {
	out := condition{}
	for e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.LogicalNot {
		e, out.isNegated = e.AsCall().Args()[0], !out.isNegated
	}
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		out.text = r.textOfExpression(e)
		return out
	}
	left, right := r.textOfExpression(e.AsCall().Args()[0]), r.textOfExpression(e.AsCall().Args()[1])
	switch e.AsCall().FunctionName() {
	case operators.Less:
		out.text = comparisonText(left, "<", right)
	case operators.Greater:
		out.text = comparisonText(right, "<", left)
	case operators.GreaterEquals:
		out.text, out.isNegated = comparisonText(left, "<", right), !out.isNegated
	case operators.LessEquals:
		out.text, out.isNegated = comparisonText(right, "<", left), !out.isNegated
	case operators.Equals:
		out.text = comparisonText(min(left, right), "==", max(left, right))
	case operators.NotEquals:
		out.text, out.isNegated = comparisonText(min(left, right), "==", max(left, right)), !out.isNegated
	default:
		out.text = r.textOfExpression(e)
	}
	return out
}

// comparisonText returns the text of a comparison, or nothing where a side has no text.
func comparisonText(left, operator, right string) string {
	if left == "" || right == "" {
		return ""
	}
	return "(" + left + ") " + operator + " (" + right + ")"
}

// areOpposites reports whether one of two conditions holds where the other does not.
func (r ranger) areOpposites(args []ast.Expr) bool {
	first, second := r.conditionOf(args[0]), r.conditionOf(args[1])
	return first.text != "" && first.text == second.text && first.isNegated != second.isNegated
}

// areSameExpressions reports whether two expressions are the same.
func (r ranger) areSameExpressions(args []ast.Expr) bool {
	text := r.textOfExpression(args[0])
	return text != "" && text == r.textOfExpression(args[1])
}

// textOfExpression returns the text of an expression, or nothing for an expression with a loop, which has no text once it is expanded.
func (r ranger) textOfExpression(e ast.Expr) string {
	text, err := parser.Unparse(e, r.types.SourceInfo())
	if err != nil {
		return ""
	}
	return text
}
