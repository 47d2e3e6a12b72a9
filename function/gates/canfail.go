package gates

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/threshold"
)

// checkCanFail returns an error, with the path of the field, for a check that no value can fail: it would pass each revision.
func (c *Compiler) checkCanFail(declared declaredCheck) error {
	if declared.kind.canFail == nil {
		return nil
	}
	limit, err := threshold.Parse(string(declared.Threshold))
	if err != nil {
		return errors.Wrap(err, thresholdFieldPath(declared))
	}
	canFail, err := declared.kind.canFail(c, &declared.Check, limit)
	if err != nil {
		return errors.Wrap(err, declared.path)
	}
	if canFail {
		return nil
	}
	return errors.Errorf("%s: %q holds for each value that can be measured, so that no revision fails the check: set a threshold that some values exceed",
		thresholdFieldPath(declared), limit)
}

// thresholdFieldPath returns the path that declares the threshold of a check.
func thresholdFieldPath(declared declaredCheck) string {
	if declared.fromDeployment {
		return declared.path + ": threshold"
	}
	return declared.path
}
