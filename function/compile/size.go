package compile

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
)

// CheckSize returns an error, whose reason ReasonOf returns, when the rendered files are too large for an object or for a response.
func CheckSize(d Deployment, rendered []compose.Rendered) error {
	d.Spec.Default()
	wanted, err := composeTrees(d, rendered)
	if err != nil {
		return err
	}
	if err := compose.CheckSizes(wanted, nil); err != nil {
		return sizeProblem(err)
	}
	return nil
}

// composeTrees composes the deliveries of rendered files. It returns a problem for trees that do not fit.
func composeTrees(d Deployment, rendered []compose.Rendered) (map[string]*deliveryv1alpha1.GitDelivery, error) {
	out, err := compose.Deliveries(d.Claim, d.Spec.DeliveryConfig, rendered)
	if err != nil {
		return nil, sizeProblem(err)
	}
	return out, nil
}

func sizeProblem(err error) error { return ErrorWithReason(deploymentv1alpha1.ReasonTooLarge, err) }
