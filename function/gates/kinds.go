package gates

import (
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/function/catalog"
)

// kindsOfChecks lists all kinds of checks. A new kind is one more entry, which is made in a file of its own; nothing else here depends on the kind of
// a check. How each kind is measured is listed in provider/controller/gate/kinds.go, and its fields are in apis/deployment/v1alpha1/gates_types.go.
func kindsOfChecks() []kind {
	return []kind{prometheusKind(), jobKind(), webKind(), availabilityKind()}
}

// A kind has the properties of checks of one type. A nil function has no effect.
type kind struct {
	// block is the name of the field that a check of this kind sets.
	block string

	// isSet reports whether a check sets that field.
	isSet func(check *deploymentv1alpha1.Check) bool

	// read refuses a check of a deployment that could never be measured, with an error that names the field. It adds the cost of
	// reading the check to weight: all checks of a deployment share one bound.
	read func(c *Compiler, check *deploymentv1alpha1.Check, weight *int) error

	// whyNoThreshold is the reason why a check of this kind has no threshold. Empty if it needs a threshold.
	whyNoThreshold string

	// canFail reports whether a measurement can fail the threshold, as far as that follows from the texts of a check. It is nil for a kind without a threshold.
	canFail func(c *Compiler, check *deploymentv1alpha1.Check, limit threshold.Threshold) (bool, error)

	// fillWeight returns the cost of filling a check for one Site, in the weight of regular expressions.
	fillWeight func(c *Compiler, check *deploymentv1alpha1.Check) (int, error)

	// fill sets the fields of a check that depend on the input and its Site.
	fill func(c *Compiler, in Input, check *deploymentv1alpha1.Check) error

	// allow returns an error, which names the field, for a check that may not be made at a place. It is never nil.
	allow func(c *Compiler, in Input, p catalog.Place, check *declaredCheck) error

	// textBytes returns how long the texts of a check are, in bytes.
	textBytes func(check *deploymentv1alpha1.Check) int

	// lead returns how long a revision has to be live before a check of it means anything.
	lead func(check *deploymentv1alpha1.Check) time.Duration
}

// kindOfCheck returns the kind of a check. It returns an error for a check that sets no block of any kind.
func kindOfCheck(check *deploymentv1alpha1.Check) (kind, error) {
	var blocks []string
	for _, k := range kindsOfChecks() {
		if k.isSet(check) {
			return k, nil
		}
		blocks = append(blocks, k.block)
	}
	return kind{}, errors.Errorf("type: one of %s must be set", strings.Join(blocks, ", "))
}

// Lead returns how long a Site has to run a revision before a check is measured first, because of the check's lookback. Zero if it looks
// at the present only. The initialDelay of the check counts if it is longer.
func Lead(check *deploymentv1alpha1.Check) time.Duration {
	k, err := kindOfCheck(check)
	if err != nil || k.lead == nil {
		return 0
	}
	return k.lead(check)
}
