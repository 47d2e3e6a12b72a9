package gates

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/apis/threshold"
)

// checkCanFail returns an error, with the path of the field, for a check that no value can fail: it would pass each revision.
func (c *Compiler) checkCanFail(declared declaredCheck) error {
	if declared.kind.values == nil {
		return nil
	}
	if err := checkFailureLimit(&declared.Check); err != nil {
		return errors.Wrap(err, declared.path)
	}
	values, err := declared.kind.values(c, &declared.Check)
	if err != nil {
		return errors.Wrap(err, declared.path)
	}
	path := declared.path
	if declared.fromDeployment {
		path += ": threshold"
	}
	return errors.Wrap(checkThresholdCanFail(declared.Threshold, values), path)
}

// checkThresholdCanFail returns an error for a threshold that holds for each value which can be measured.
func checkThresholdCanFail(text deploymentv1alpha1.Threshold, values measure.Range) error {
	t, err := threshold.Parse(string(text))
	if err != nil {
		return err
	}
	if t.HoldsFor(values) {
		return errors.Errorf("%q holds for each value that can be measured, so that no revision fails the check: set a threshold that some values exceed", t)
	}
	return nil
}

// checkFailureLimit returns an error for rules by which all measurements may fail.
func checkFailureLimit(c *deploymentv1alpha1.Check) error {
	if *c.FailureLimit >= *c.Count {
		return errors.Errorf("failureLimit: %d of %d measurements may fail, so that none has to pass: it must be less than count", *c.FailureLimit, *c.Count)
	}
	return nil
}
