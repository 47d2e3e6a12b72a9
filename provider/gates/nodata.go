package gates

import (
	"fmt"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// missingData returns the measurement of an answer without a value, such as an empty vector of Prometheus or too few samples. NoData decides its outcome: an
// empty or unknown NoData fails.
func (c Criteria) missingData(a Answer, message string) Measurement {
	if a.Early {
		return Measurement{Outcome: Early, Message: message}
	}
	switch c.NoData {
	case deploymentv1alpha1.NoDataInconclusive:
		return Measurement{Outcome: Inconclusive, Message: message}
	case deploymentv1alpha1.NoDataPass:
		return Measurement{Outcome: Pass, Message: message}
	case deploymentv1alpha1.NoDataWait:
		return Measurement{Outcome: Waiting, Message: message}
	}
	return Measurement{Outcome: Fail, Message: fmt.Sprintf("%s, which fails", message)}
}
