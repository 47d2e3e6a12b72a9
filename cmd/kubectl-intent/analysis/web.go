package analysis

import (
	"net/http"
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expression"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/condition"
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

func (c *converter) convertWebMetric(path string, m argoMetric, check deploymentv1alpha1.Check, values map[string]string) {
	w, providerField := m.Provider.Web, path+".provider.web"
	check.Type = typeWeb
	check.Web = &deploymentv1alpha1.WebCheck{URL: c.fillPlaceholders(providerField+".url", w.URL, values)}
	c.refuseWebFields(providerField, w, check.Web.URL)
	if w.TimeoutSeconds > 0 && w.TimeoutSeconds < longestAnswerSeconds {
		c.addNotef(providerField+".timeoutSeconds", "a check waits %d seconds for an answer", longestAnswerSeconds)
	}
	answer, err := condition.AnswerPath(c.fillPlaceholders(providerField+".jsonPath", w.JSONPath, values))
	if err != nil {
		c.refuseInvalidText(providerField+".jsonPath", err)
		return
	}
	if m.SuccessCondition == "" && m.FailureCondition == "" {
		c.refuseFieldf(path+".successCondition", "is absent, so that each answer would pass")
		return
	}
	n := newWebVerdictNote()
	if conditions, field, err := condition.Read(m.SuccessCondition, m.FailureCondition); err == nil && conditions.ComparesResult() {
		check.Web.Expression = c.validateExpression(providerField+".jsonPath", conditions.WebValue(answer))
		bounds := c.failableBounds(path+"."+field, check, conditions.Bounds)
		n.addFailures(bounds, check)
		c.noteDifferences(path, n)
		c.addBoundChecks(check, bounds)
		return
	}
	if condition.SelectsElement(m.SuccessCondition) || condition.SelectsElement(m.FailureCondition) {
		n.addDifferenceText(DifferenceElement, "is an error, and the code of a character in Argo Rollouts")
	}
	c.noteDifferences(path, n)
	c.convertWebCondition(path, m, check, answer)
}

// newWebVerdictNote returns a note about the answers of a web server that Argo Rollouts judges differently.
func newWebVerdictNote() verdictNote {
	n := verdictNote{judge: judgeArgo}
	n.addDifference(DifferenceNotJSON, condition.IsError, condition.Passes)
	n.addDifferenceText(DifferenceNotSaidJSON, "is an error, and Argo Rollouts judges it")
	n.addDifferenceText(DifferenceRedirect, "is an error, and Argo Rollouts follows it")
	n.addDifferenceText(DifferenceLarge, "is an error, and Argo Rollouts judges it")
	return n
}

func (c *converter) refuseWebFields(field string, w *argoWeb, url string) {
	if !strings.HasPrefix(url, "https://") || strings.Contains(url, "{{") {
		c.refuseFieldf(field+".url", "a web check asks one https address, without placeholders")
	}
	if w.Method != "" && w.Method != http.MethodGet {
		c.refuseFieldf(field+".method", "a web check asks with GET alone")
	}
	if w.TimeoutSeconds > longestAnswerSeconds {
		c.refuseFieldf(field+".timeoutSeconds", "a web check waits %d seconds for an answer", longestAnswerSeconds)
	}
	if w.Insecure {
		c.refuseFieldf(field+".insecure", "a web check verifies certificates")
	}
}

// convertWebCondition makes a check of a condition that is more than a comparison with a number: true is 1.
func (c *converter) convertWebCondition(path string, m argoMetric, check deploymentv1alpha1.Check, answer string) {
	text, field, prefix := m.SuccessCondition, path+".successCondition", ""
	if m.SuccessCondition != "" && m.FailureCondition != "" {
		c.refuseFieldf(path+".failureCondition", "an answer that neither condition decides is inconclusive, and a check passes or fails: remove it")
		return
	}
	if text == "" {
		text, field, prefix = m.FailureCondition, path+".failureCondition", "!"
	}
	in, err := condition.ToCEL(text, answer)
	if err != nil {
		c.refuseInvalidText(field, err)
		return
	}
	if constant, err := condition.ToCELIgnoringErrors(text, answer); err == nil {
		judged := check
		judged.Web, judged.Threshold = &deploymentv1alpha1.WebCheck{Expression: prefix + constant}, "== 1"
		c.refuseUnfailing(field, judged)
	}
	check.Web.Expression = c.validateExpression(field, prefix+in)
	c.addBoundChecks(check, c.failableBounds(field, check, []condition.Bound{{Comparison: "==", Limit: "1"}}))
}

// validateExpression returns an expression that a check can evaluate.
func (c *converter) validateExpression(field, text string) string {
	if _, err := expression.NewReader(1).Read(text); err != nil {
		c.refuseFieldf(field, "%s: %s", text, err)
	}
	return text
}
