package condition

import "go/ast"

// SelectsElement reports whether a condition selects an element by its position. It is false for a condition that cannot be read.
func SelectsElement(text string) bool {
	e, err := parseCondition(text)
	if err != nil {
		return false
	}
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if index, ok := n.(*ast.IndexExpr); ok {
			_, err := parseSignedNumber(index.Index)
			found = found || err == nil
		}
		return true
	})
	return found
}

// An operandCount counts the parts of conditions.
type operandCount struct{ results, conversions, others int }

func (c Condition) countOperands() operandCount {
	n := operandCount{}
	for _, e := range c.expressions() {
		ast.Inspect(e, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Ident:
				if node.Name == resultVariable {
					n.results++
				}
			case *ast.CallExpr:
				if isCallOfFunction(node, "len") || isCallOfFunction(node, "isNaN") {
					n.others++
				}
				n.conversions++
			case *ast.IndexExpr:
				n.others++
			}
			return true
		})
	}
	return n
}

// ComparesResult reports whether the conditions compare the result itself with numbers, and convert it everywhere or nowhere.
func (c Condition) ComparesResult() bool {
	n := c.countOperands()
	return n.others == 0 && (n.conversions == 0 || n.conversions == n.results)
}

// WebValue returns the number that the conditions compare, in CEL. An answer that Argo Rollouts cannot compare is an error: it converts a text with a
// function alone, and true is not 1.
func (c Condition) WebValue(answer string) string {
	if c.countOperands().conversions > 0 {
		return "double(" + answer + ")"
	}
	return answer + " + 0.0"
}
