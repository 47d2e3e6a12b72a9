package gates

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/function/catalog"
)

// webKind returns the kind of checks that read a JSON answer of a web server.
func webKind() kind {
	return kind{
		block: "web", read: readWebExpression, canFail: expressionCanFail,
		isSet: func(check *deploymentv1alpha1.Check) bool { return check.Web != nil },
		allow: func(_ *Compiler, _ Input, p catalog.Place, check *declaredCheck) error {
			return policy.CheckWeb(p.ConfigRef.Kind, &p.Config, check.Web)
		},
		textBytes: func(check *deploymentv1alpha1.Check) int { return len(check.Web.URL) + len(check.Web.Expression) },
	}
}

func readWebExpression(c *Compiler, check *deploymentv1alpha1.Check, _ *int) error {
	_, err := c.expressions.Read(check.Web.Expression)
	return errors.Wrap(err, "web.expression")
}

func expressionCanFail(c *Compiler, check *deploymentv1alpha1.Check, limit threshold.Threshold) (bool, error) {
	e, err := c.expressions.Read(check.Web.Expression)
	if err != nil {
		return false, errors.Wrap(err, "web.expression")
	}
	r, err := e.Range()
	return !limit.HoldsFor(r), errors.Wrap(err, "web.expression")
}
