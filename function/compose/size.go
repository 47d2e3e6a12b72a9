package compose

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
)

// Bounds of composed objects. An object stays below 1 MiB with all that it carries beside its trees (etcd takes 1.5 MiB), and
// Crossplane takes responses of 4 MiB.
const (
	maxDeliveryBytes = 900 << 10
	maxResponseBytes = 3 << 20
)

// CheckSizes returns an error, with the numbers, when the deliveries are too large: one of them for an object, or all of them,
// including deliveries that stay until their successors are in place, for a response.
func CheckSizes(wanted, observed map[string]*deliveryv1alpha1.GitDelivery) error {
	total := 0
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		n := EncodedBytes(wanted[name])
		if n > maxDeliveryBytes {
			return errors.Errorf("the trees for one repository have %d bytes, more than the %d that fit into one object: choose fewer Sites of that repository, or make their files smaller", n, maxDeliveryBytes)
		}
		total += n
	}
	for name, d := range observed {
		if wanted[name] == nil {
			total += EncodedBytes(d)
		}
	}
	if total > maxResponseBytes {
		return errors.Errorf("all trees have %d bytes, more than the %d that fit into one response: choose fewer Sites, or make their files smaller", total, maxResponseBytes)
	}
	return nil
}

// FitLater returns the desired deliveries without the later trees that do not fit: a delivery keeps its present trees beside them. The function brings the files
// that are left out when their step comes.
func FitLater(ds, observed map[string]*deliveryv1alpha1.GitDelivery) map[string]*deliveryv1alpha1.GitDelivery {
	out, total := maps.Clone(ds), 0
	for name, o := range observed {
		if ds[name] == nil {
			total += EncodedBytes(o) // It stays until its successor is in place.
		}
	}
	for name, d := range ds {
		both := *d
		if o := observed[name]; o != nil && evidence.AsksForNothing(d) {
			both.Spec.ForProvider.Trees = slices.Concat(d.Spec.ForProvider.Trees, o.Spec.ForProvider.Trees)
		}
		bytes := EncodedBytes(&both)
		if bytes > maxDeliveryBytes {
			out[name] = withoutLater(d)
			bytes = EncodedBytes(withoutLater(&both))
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
