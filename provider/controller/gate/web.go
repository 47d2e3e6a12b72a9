package gate

import (
	"context"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/web"
)

// webKind is the kind of checks which read a JSON answer of a web server.
func webKind() kind {
	return kind{
		name:  "Web",
		isSet: func(c *v1alpha1.GateCheck) bool { return c.Web != nil },
		allow: func(_ *catalogv1alpha1.Site, k endpoint.Config, c v1alpha1.GateCheck) error {
			return policy.CheckWeb(k.Kind, k.Spec, c.Web)
		},
		ask: askWebServer,
	}
}

// askWebServer asks a server that the policy allows, without credentials.
func askWebServer(_ context.Context, e *external, s subject, t *meter.Task) (string, error) {
	u, err := web.Address(s.check.Web.URL)
	if err != nil {
		return "web.url: " + err.Error(), nil //nolint:nilerr // The address is invalid, so that the check can never be measured.
	}
	q, err := web.NewQuestion(e.clientFor(s.gate.GetNamespace()), e.memory.expressions, u, s.check.Web.Expression)
	if err != nil {
		return err.Error(), nil //nolint:nilerr // The expression is invalid, so that the check can never be measured.
	}
	t.Question, t.Host = q, q.Host()
	return "", nil
}
