package analysis

import (
	"go/ast"
	"net/http"
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expression"
)

// longestAnswerSeconds is how long a check waits for an answer.
const longestAnswerSeconds = 10

// argoWeb is a request of Argo Rollouts.
type argoWeb struct {
	URL            string `json:"url"`
	JSONPath       string `json:"jsonPath"`
	Method         string `json:"method"`
	TimeoutSeconds int64  `json:"timeoutSeconds"`
	Insecure       bool   `json:"insecure"`
}

func (c *converter) convertWeb(path string, m argoMetric, check deploymentv1alpha1.Check, values map[string]string) {
	w, providerField := m.Provider.Web, path+".provider.web"
	check.Type = typeWeb
	check.Web = &deploymentv1alpha1.WebCheck{URL: c.fill(providerField+".url", w.URL, values)}
	c.refuseWebFields(providerField, w, check.Web.URL)
	if w.TimeoutSeconds > 0 && w.TimeoutSeconds < longestAnswerSeconds {
		c.addNotef(providerField+".timeoutSeconds", "a check waits %d seconds for an answer", longestAnswerSeconds)
	}
	answer, err := answerPath(c.fill(providerField+".jsonPath", w.JSONPath, values))
	if err != nil {
		c.refusef(providerField+".jsonPath", "%s", err)
		return
	}
	if m.SuccessCondition == "" && m.FailureCondition == "" {
		c.refusef(path+".successCondition", "is absent, so that each answer would pass")
		return
	}
	n := newWebNote()
	if conditions, field, err := readConditions(m.SuccessCondition, m.FailureCondition); err == nil && conditions.comparesResult() {
		check.Web.Expression = c.expression(providerField+".jsonPath", conditions.webValue(answer))
		bounds := c.failableBounds(path+"."+field, check, conditions.bounds)
		n.addFailures(bounds, check)
		c.noteDifferences(path, n)
		c.addBounded(check, bounds)
		return
	}
	if hasElements(m.SuccessCondition) || hasElements(m.FailureCondition) {
		n.addText(DifferenceElement, "is an error, and the code of a character in Argo Rollouts")
	}
	c.noteDifferences(path, n)
	c.convertWebCondition(path, m, check, answer)
}

// hasElements reports whether a condition selects an element by its position.
func hasElements(text string) bool {
	e, err := parseCondition(text)
	if err != nil {
		return false
	}
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if index, ok := n.(*ast.IndexExpr); ok {
			_, err := numberOf(index.Index)
			found = found || err == nil
		}
		return true
	})
	return found
}

// An operandCount counts the parts of conditions.
type operandCount struct{ results, conversions, others int }

func (c condition) countOperands() operandCount {
	n := operandCount{}
	for _, e := range c.expressions() {
		ast.Inspect(e, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Ident:
				if node.Name == resultVariable {
					n.results++
				}
			case *ast.CallExpr:
				if isCallOf(node, "len") || isCallOf(node, "isNaN") {
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

// comparesResult reports whether the conditions compare the result itself with numbers, and convert it everywhere or nowhere.
func (c condition) comparesResult() bool {
	n := c.countOperands()
	return n.others == 0 && (n.conversions == 0 || n.conversions == n.results)
}

// webValue returns the number that the conditions compare, in CEL. An answer that Argo Rollouts cannot compare is an error: it converts a text with a
// function alone, and true is not 1.
func (c condition) webValue(answer string) string {
	if c.countOperands().conversions > 0 {
		return "double(" + answer + ")"
	}
	return answer + " + 0.0"
}

// newWebNote returns a note about the answers of a web server that Argo Rollouts judges differently.
func newWebNote() verdictNote {
	n := verdictNote{judge: judgeArgo}
	n.add(DifferenceNotJSON, isError, passes)
	n.addText(DifferenceNotSaidJSON, "is an error, and Argo Rollouts judges it")
	return n
}

func (c *converter) refuseWebFields(field string, w *argoWeb, url string) {
	if !strings.HasPrefix(url, "https://") || strings.Contains(url, "{{") {
		c.refusef(field+".url", "a web check asks one https address, without placeholders")
	}
	if w.Method != "" && w.Method != http.MethodGet {
		c.refusef(field+".method", "a web check asks with GET alone")
	}
	if w.TimeoutSeconds > longestAnswerSeconds {
		c.refusef(field+".timeoutSeconds", "a web check waits %d seconds for an answer", longestAnswerSeconds)
	}
	if w.Insecure {
		c.refusef(field+".insecure", "a web check verifies certificates")
	}
}

// convertWebCondition makes a check of a condition that is more than a comparison with a number: true is 1.
func (c *converter) convertWebCondition(path string, m argoMetric, check deploymentv1alpha1.Check, answer string) {
	text, field, prefix := m.SuccessCondition, path+".successCondition", ""
	if m.SuccessCondition != "" && m.FailureCondition != "" {
		c.refusef(path+".failureCondition", "an answer that neither condition decides is inconclusive, and a check passes or fails: remove it")
		return
	}
	if text == "" {
		text, field, prefix = m.FailureCondition, path+".failureCondition", "!"
	}
	e, err := parseCondition(text)
	if err != nil {
		c.refusef(field, "%s", err)
		return
	}
	w := newCELWriter(answer)
	in, err := w.condition(e)
	if err != nil {
		c.refusef(field, "%s", err)
		return
	}
	if constant, err := w.ignoringErrors().condition(e); err == nil {
		judged := check
		judged.Web, judged.Threshold = &deploymentv1alpha1.WebCheck{Expression: prefix + constant}, "== 1"
		c.refuseUnfailing(field, judged)
	}
	check.Web.Expression = c.expression(field, prefix+in)
	c.addBounded(check, c.failableBounds(field, check, []bound{{comparison: "==", limit: "1"}}))
}

// expression returns an expression that a check can evaluate.
func (c *converter) expression(field, text string) string {
	if _, err := expression.NewReader(1).Read(text); err != nil {
		c.refusef(field, "%s: %s", text, err)
	}
	return text
}
