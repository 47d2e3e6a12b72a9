// Package offline compiles and renders deployments without a control plane, as the function would, for the command line.
package offline

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
)

// maxRounds is the greatest number of requests to a catalog, as in Crossplane.
const maxRounds = 5

// Compiled is a deployment that was compiled without a control plane.
type Compiled struct {
	// Intent that was understood, and the field that holds it.
	Intent intent.Intent
	Field  string

	// Selection from the catalog.
	Selection *catalog.Selection

	// Inputs for the renderer, one for each place of the selection.
	Inputs []render.Input

	// Checks that the deployment is judged by.
	Checks gates.Checks

	// track that workloads are rendered in. Empty means the first track.
	track string
}

// PlaceIn has a workload in tracks rendered in a track. One without tracks stays as it is.
func (c *Compiled) PlaceIn(track string) {
	if c.Selection.Blueprint.Spec.Canary == nil {
		return
	}
	c.track = track
	for i := range c.Inputs {
		c.Inputs[i].Track = track
	}
}

// PlanCanary returns the steps in which the next revision goes out, wave by wave, or none for a deployment without steps. It returns an error for
// steps that cannot be planned.
func (c *Compiled) PlanCanary(in compile.Deployment) ([]canary.PlannedWave, error) {
	return canary.PlanSpec(in.Spec, c.Selection, len(c.Checks) > 0)
}

// ReadIntent reads the intent of a spec, and returns the field that holds it. It returns an error, whose reason compile.ReasonOf returns, for
// an intent that cannot be parsed, and for an intent that contradicts the gates.
func ReadIntent(s deploymentv1alpha1.IntentDeploymentSpec) (intent.Intent, string, error) {
	return compile.ReadIntent(&s)
}

// ValuesOf returns the values that a spec sets itself, before its defaults are filled in.
func ValuesOf(s deploymentv1alpha1.IntentDeploymentSpec) intent.Explicit {
	switch {
	case s.Intent != nil:
		return intent.ExplicitInText(*s.Intent)
	case s.Expectation != nil:
		return intent.ExplicitInExpectation(s.Expectation)
	}
	return intent.Explicit{}
}

// Compile reads the intent of a deployment and selects from a catalog, as the function does. If a user approves updates, it selects the
// Blueprint that the status names, or the Blueprint of the spec for a deployment without a status. It returns an error, whose reason
// compile.ReasonOf returns, for an invalid intent or selection, and the error of answer.
func Compile(in compile.Deployment, answer func([]catalog.Need) (catalog.Answers, error)) (*Compiled, error) {
	in.Spec.Default()
	i, field, err := compile.ReadIntent(&in.Spec)
	if err != nil {
		return nil, err
	}
	out := &Compiled{Intent: i, Field: field}
	if out.Selection, err = selectFromCatalog(in, compile.CatalogQuery(in, i, field), answer); err != nil {
		return nil, err
	}
	for _, p := range out.Selection.Places {
		out.Inputs = append(out.Inputs, compile.RenderInput(in, i, out.Selection, p))
	}
	if err := compile.CheckSelection(in, i, out.Selection); err != nil {
		return out, err
	}
	return out, out.compileChecks(in)
}

// CheckRead returns an error, whose reason compile.ReasonOf returns, when the intent sets a value that the Blueprint does not read.
func (c *Compiled) CheckRead(in compile.Deployment) error {
	return compile.CheckRead(in.Spec, c.Intent, &c.Selection.Blueprint)
}

// compileChecks returns an error, whose reason compile.ReasonOf returns, for invalid waves and for checks that cannot be measured.
func (c *Compiled) compileChecks(in compile.Deployment) error {
	r, err := compile.NewRequest(in.Spec, "", c.Selection, "", render.Version)
	if err != nil {
		return err
	}
	c.Checks, err = compile.Checks(gates.NewCompiler(0), in, c.Intent, c.Selection, r.Plan, step.Placement{})
	return err
}

// selectFromCatalog resolves a query, with the Blueprint that the deployment is pinned to.
func selectFromCatalog(in compile.Deployment, q catalog.Query, answer func([]catalog.Need) (catalog.Answers, error)) (*catalog.Selection, error) {
	channel := compile.Channel{}
	q.Pinned = channel.Pin(blueprintOfStatus(in), in.Spec.Blueprint, q.BlueprintName())
	answers := catalog.Answers{}
	for range maxRounds {
		s, needs, err := catalog.Resolve(q, answers)
		if err != nil {
			return nil, err
		}
		if s != nil {
			d, err := digest.Of(s.Blueprint.Spec, nil)
			if err != nil {
				return nil, err
			}
			return s, channel.CheckDigest(d)
		}
		if answers, err = answer(needs); err != nil {
			return nil, err
		}
	}
	return nil, errors.Errorf("cannot read the catalog: it was asked %d times, and does not answer all of it", maxRounds)
}

// blueprintOfStatus returns the Blueprint that a status shows, or nil. A status does not show how the Blueprint was chosen: it counts as chosen as the
// spec chooses, since the function orders another choice at once.
func blueprintOfStatus(in compile.Deployment) *ledger.BlueprintReference {
	b := in.Status.Blueprint
	if b.Name == "" {
		return nil
	}
	ref := &ledger.BlueprintReference{Name: b.Name, Digest: b.Digest}
	if in.Spec.Blueprint.Version == "" {
		ref.Channel = in.Spec.Blueprint.Channel
	}
	return ref
}

// Render returns the files of each place, within its limits. It returns an error, whose reason compile.ReasonOf returns, for files that the
// provider would refuse.
func Render(ctx context.Context, compiler *compile.Compiler, in compile.Deployment, c *Compiled) ([]compose.Rendered, error) {
	in.Spec.Default()
	out, err := compiler.RenderSites(ctx, in, c.Intent, c.Selection, c.track)
	if err != nil {
		return nil, err
	}
	if err := c.CheckRead(in); err != nil {
		return nil, err
	}
	return out, compile.CheckSize(in, out)
}
