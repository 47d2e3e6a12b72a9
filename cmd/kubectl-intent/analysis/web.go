package analysis

import (
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
	w, at := m.Provider.Web, path+".provider.web"
	check.Type = typeWeb
	check.Web = &deploymentv1alpha1.WebCheck{URL: c.fill(at+".url", w.URL, values)}
	c.refuseWebFields(at, w, check.Web.URL)
	answer, err := answerPath(c.fill(at+".jsonPath", w.JSONPath, values))
	if err != nil {
		c.refusef(at+".jsonPath", "%s", err)
		return
	}
	if m.SuccessCondition == "" && m.FailureCondition == "" {
		c.refusef(path+".successCondition", "is absent, so that each answer would pass")
		return
	}
	if is, _, err := readConditions(m.SuccessCondition, m.FailureCondition); err == nil && is.noData == "" {
		check.Web.Expression = c.expression(at+".jsonPath", answer)
		c.addBounded(check, is.bounds)
		return
	}
	c.convertWebCondition(path, m, check, answer)
}

func (c *converter) refuseWebFields(at string, w *argoWeb, url string) {
	if !strings.HasPrefix(url, "https://") || strings.Contains(url, "{{") {
		c.refusef(at+".url", "a web check asks one https address, without placeholders")
	}
	if w.Method != "" && w.Method != http.MethodGet {
		c.refusef(at+".method", "a web check asks with GET alone")
	}
	if w.TimeoutSeconds > longestAnswerSeconds {
		c.refusef(at+".timeoutSeconds", "a web check waits %d seconds for an answer", longestAnswerSeconds)
	}
	if w.Insecure {
		c.refusef(at+".insecure", "a web check verifies certificates")
	}
}

// convertWebCondition makes a check of a condition that is more than a comparison with a number: true is 1.
func (c *converter) convertWebCondition(path string, m argoMetric, check deploymentv1alpha1.Check, answer string) {
	text, field, is := m.SuccessCondition, path+".successCondition", ""
	if m.SuccessCondition != "" && m.FailureCondition != "" {
		c.refusef(path+".failureCondition", "an answer that neither condition decides is inconclusive, and a check passes or fails: remove it")
		return
	}
	if text == "" {
		text, field, is = m.FailureCondition, path+".failureCondition", "!"
	}
	e, err := parseCondition(text)
	if err != nil {
		c.refusef(field, "%s", err)
		return
	}
	in, err := celOf(e, answer)
	if err != nil {
		c.refusef(field, "%s", err)
		return
	}
	check.Web.Expression = c.expression(field, is+in)
	c.addBounded(check, []bound{{comparison: "==", limit: "1"}})
}

// expression returns an expression that a check can evaluate.
func (c *converter) expression(field, text string) string {
	if _, err := expression.NewReader(1).Read(text); err != nil {
		c.refusef(field, "%s: %s", text, err)
	}
	return text
}
