package function

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
)

// checkQueries returns a problem when a gate could not ask what a Blueprint says.
func checkQueries(b catalogv1alpha1.BlueprintSpec) error {
	if err := promql.Check(b.Metrics); err != nil {
		// Its name is made of these, as its schema says.
		err = errors.Wrapf(err, "Blueprint %s-%s", b.BlueprintName, b.Version)
		return terminal(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhaseCompiling, err)
	}
	return nil
}
