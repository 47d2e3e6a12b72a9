package compile

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/function/render/guard"
)

// checkValuesRead returns a problem when the intent sets a value that its Blueprint does not read. A Blueprint that was read once is not read
// again.
func (c *Compiler) checkValuesRead(d Deployment, i intent.Intent, s *catalog.Selection) error {
	uses, err := c.usesOfBlueprint(&s.Blueprint)
	if err != nil {
		return err
	}
	return valueProblem(d.Spec, uses.CheckRead(i, s.Blueprint.GetName()))
}

// usesOfBlueprint returns the values that a Blueprint reads. A Blueprint that cannot be rendered counts as reading every value here:
// rendering reports its problem.
func (c *Compiler) usesOfBlueprint(b *catalogv1alpha1.Blueprint) (guard.Uses, error) {
	raw, err := json.Marshal(b.Spec.Files)
	if err != nil {
		return guard.Uses{}, errors.Wrap(err, "cannot encode the files of the Blueprint")
	}
	u, err := c.uses.Remember(sha256.Sum256(raw), func() (guard.Uses, int, error) {
		u, err := render.UsesOf(b)
		return u, u.Bytes(), err
	})
	if err != nil {
		return usesEverything(), nil //nolint:nilerr // Rendering reports the problem of this Blueprint.
	}
	return u, nil
}

// CheckRead returns an error, whose reason ReasonOf returns, when an intent sets a value that a Blueprint does not read.
func CheckRead(s deploymentv1alpha1.IntentDeploymentSpec, i intent.Intent, b *catalogv1alpha1.Blueprint) error {
	uses, err := render.UsesOf(b)
	if err != nil {
		uses = usesEverything()
	}
	return valueProblem(s, uses.CheckRead(i, b.GetName()))
}

func usesEverything() guard.Uses {
	return guard.Uses{Values: true, Whole: true, Workload: true, Replicas: true}
}

// valueProblem returns the problem of an intent that sets a value which its Blueprint does not read, or which an engine would replace.
func valueProblem(s deploymentv1alpha1.IntentDeploymentSpec, err error) error {
	if e := (&guard.UnreadError{}); errors.As(err, &e) {
		return terminalProblem(deploymentv1alpha1.ReasonNotSupportedByBlueprint, deploymentv1alpha1.PhaseCompiling, errors.New(e.In(intentFieldPrefix(s))))
	}
	if e := (&guard.VariableError{}); errors.As(err, &e) {
		return terminalProblem(deploymentv1alpha1.ReasonPolicyDenied, deploymentv1alpha1.PhaseRendering, errors.New(e.In(intentFieldPrefix(s))))
	}
	return err
}

// intentFieldPrefix returns the prefix of the paths of fields of the intent.
func intentFieldPrefix(s deploymentv1alpha1.IntentDeploymentSpec) string {
	if s.Expectation != nil {
		return "spec.expectation."
	}
	return "spec.intent: "
}
