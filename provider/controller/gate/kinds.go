package gate

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/verdict"
)

// listCheckKinds lists all kinds of checks. A new kind is one more entry, which is made in a file of its own; nothing else here depends on the kind of
// a check. How each kind is compiled is listed in function/gates/kinds.go, and its fields are in apis/deployment/v1alpha1/gates_types.go.
func listCheckKinds() []kind {
	return []kind{prometheusKind(), jobKind(), webKind(), availabilityKind()}
}

// A kind is how checks of one type are carried out. Either ask or run is set.
type kind struct {
	// name is the type of the checks.
	name string

	// isSet reports whether a check sets the block of fields of this kind.
	isSet func(c *v1alpha1.GateCheck) bool

	// allow returns an error, which names the field, for a check that may not be made at a Site with a configuration.
	allow func(site *catalogv1alpha1.Site, k endpoint.Config, c v1alpha1.GateCheck) error

	// ask sets the question of a task that the scheduler measures, with the host that it asks. It returns why that can never be asked, and an
	// error if the API server cannot be reached.
	ask func(ctx context.Context, e *external, s subject, t *meter.Task) (string, error)

	// run carries out a check by itself, without questions, and writes the result into the facts. Last is the previous result of the check.
	// It returns an error if the API server cannot be reached.
	run func(ctx context.Context, e *external, s subject, last v1alpha1.CheckResult, into *verdict.CheckFacts) error

	// lead returns how long a revision has to be live before a check of it means anything. Nil means no time.
	lead func(e *external, c v1alpha1.GateCheck) time.Duration
}

// A subject is a check, with all that its question follows from.
type subject struct {
	*reconcileCache

	// config of the Site's repository. It is set for questions alone.
	config endpoint.Config
	check  v1alpha1.GateCheck
	site   *catalogv1alpha1.Site
}

// kindOfCheck returns the kind of a check. It returns an error for an unknown type, and for a type whose block of fields is not set.
func kindOfCheck(c v1alpha1.GateCheck) (kind, error) {
	names := []string{}
	for _, k := range listCheckKinds() {
		names = append(names, k.name)
		if k.name != c.Type {
			continue
		}
		if !k.isSet(&c) {
			return kind{}, errors.Errorf("type: the fields of type %s are not set", c.Type)
		}
		return k, nil
	}
	return kind{}, errors.Errorf("type: %q is not one of %s", c.Type, strings.Join(names, ", "))
}
