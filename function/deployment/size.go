package deployment

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/function/compose"
)

// Bounds of composed objects. An object stays below 1 MiB with all that it carries beside its trees (etcd takes 1.5 MiB), and
// Crossplane takes responses of 4 MiB.
const (
	maxDeliveryBytes = 900 << 10
	maxResponseBytes = 3 << 20
)

// CheckSize returns an error, whose reason ReasonOf returns, when the rendered files are too large for an object or for a response.
func CheckSize(in Input, rendered []compose.Rendered) error {
	in.Spec.Default()
	wanted, err := composeTrees(in, rendered)
	if err != nil {
		return err
	}
	return checkSizes(wanted, nil)
}

// composeTrees composes the deliveries of rendered files. It returns a problem for trees that do not fit.
func composeTrees(in Input, rendered []compose.Rendered) (map[string]*deliveryv1alpha1.GitDelivery, error) {
	out, err := compose.Deliveries(in.Claim, in.Spec.DeliveryConfig, rendered)
	if err != nil {
		return nil, sizeProblem(err)
	}
	return out, nil
}

// checkSizes returns a problem, with the numbers, when the deliveries are too large: one of them for an object, or all of them,
// including deliveries that stay until their successors are in place, for a response.
func checkSizes(wanted, observed map[string]*deliveryv1alpha1.GitDelivery) error {
	total := 0
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		n := compose.EncodedBytes(wanted[name])
		if n > maxDeliveryBytes {
			return sizeProblem(errors.Errorf("the trees for one repository have %d bytes, more than the %d that fit into one object: choose fewer Sites of that repository, or make their files smaller", n, maxDeliveryBytes))
		}
		total += n
	}
	for name, d := range observed {
		if wanted[name] == nil {
			total += compose.EncodedBytes(d)
		}
	}
	if total > maxResponseBytes {
		return sizeProblem(errors.Errorf("all trees have %d bytes, more than the %d that fit into one response: choose fewer Sites, or make their files smaller", total, maxResponseBytes))
	}
	return nil
}

// fitLater returns the desired deliveries without the later trees that do not fit: a delivery keeps its present trees beside them. The function brings the files
// that are left out when their step comes.
func fitLater(ds, observed map[string]*deliveryv1alpha1.GitDelivery) map[string]*deliveryv1alpha1.GitDelivery {
	out, total := maps.Clone(ds), 0
	for name, o := range observed {
		if ds[name] == nil {
			total += compose.EncodedBytes(o) // It stays until its successor is in place.
		}
	}
	for name, d := range ds {
		both := *d
		if o := observed[name]; o != nil && evidence.AsksForNothing(d) {
			both.Spec.ForProvider.Trees = slices.Concat(d.Spec.ForProvider.Trees, o.Spec.ForProvider.Trees)
		}
		bytes := compose.EncodedBytes(&both)
		if bytes > maxDeliveryBytes {
			out[name] = withoutLater(d)
			bytes = compose.EncodedBytes(withoutLater(&both))
		}
		total += bytes
	}
	if total > maxResponseBytes {
		for name, d := range ds {
			out[name] = withoutLater(d)
		}
	}
	return out
}

// withoutLater returns a delivery without later trees.
func withoutLater(d *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
	out := *d
	out.Spec.ForProvider.Later = nil
	return &out
}

func sizeProblem(err error) error {
	return terminalProblem(deploymentv1alpha1.ReasonTooLarge, deploymentv1alpha1.PhaseRendering, err)
}
