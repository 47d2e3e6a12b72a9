package function

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/function/rollout"
)

// maxRounds is how often a catalog may be asked, as Crossplane would.
const maxRounds = 5

// Compiled is what a deployment comes to, without a control plane.
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
}

// Understand reads the intent of a spec, and names the field that it stands in. It returns an error, whose reason ReasonOf tells, for
// an intent that cannot be understood, and for one that says other than the gates.
func Understand(s deploymentv1alpha1.IntentDeploymentSpec) (intent.Intent, string, error) {
	return understand(&s)
}

// Said tells which values a spec, before its defaults are filled in, says of those that have one.
func Said(s deploymentv1alpha1.IntentDeploymentSpec) intent.Said {
	switch {
	case s.Intent != nil:
		return intent.SaidInText(*s.Intent)
	case s.Expectation != nil:
		return intent.SaidInExpectation(s.Expectation)
	}
	return intent.Said{}
}

// Compile understands a deployment and chooses from a catalog, as Run does. Where updates are for somebody to approve, that is the
// Blueprint which the status names: one without a status follows its spec. It returns an error, whose reason ReasonOf tells, when
// something is wrong with either, and the error of answer.
func Compile(in Input, answer func([]catalog.Need) (catalog.Answers, error)) (*Compiled, error) {
	in.Spec.Default()
	i, field, err := understand(&in.Spec)
	if err != nil {
		return nil, err
	}
	out := &Compiled{Intent: i, Field: field}
	if out.Selection, err = choose(in, query(in, i, field), answer); err != nil {
		return nil, err
	}
	for _, p := range out.Selection.Places {
		out.Inputs = append(out.Inputs, renderInput(in, i, out.Selection, p))
	}
	if err := checkSiteReplicas(in.Spec, i, out.Selection); err != nil {
		return out, err
	}
	if err := checkMetrics(out.Selection.Blueprint.Spec); err != nil {
		return out, err
	}
	return out, out.judge(in)
}

// CheckRead returns an error, whose reason ReasonOf tells, when the intent sets a value that the Blueprint does not read.
func (d *Compiled) CheckRead(in Input) error {
	return checkRead(in.Spec, d.Intent, &d.Selection.Blueprint)
}

// judge compiles the checks. It returns an error, whose reason ReasonOf tells, for waves that are not good and for what could not be judged.
func (d *Compiled) judge(in Input) error {
	r, err := rollout.NewRequest(in.Spec, "", d.Selection, "", render.Version)
	if err != nil {
		return err
	}
	d.Checks, err = judges(gates.NewCompiler(0), in, d.Intent, d.Selection, r.Plan)
	return err
}

// choose from a catalog, with the Blueprint that the deployment stays with.
func choose(in Input, q catalog.Query, answer func([]catalog.Need) (catalog.Answers, error)) (*catalog.Selection, error) {
	at := channel{}
	q.Pinned = at.pin(rollout.Pinned(told(in), in.Spec.Blueprint, q.BlueprintName()))
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
			return s, at.check(d)
		}
		if answers, err = answer(needs); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the catalog does not answer")
}

// told is the order that a status tells of, as far as its Blueprint goes, or nil. What a status does not tell is how that was chosen:
// as the spec says, for another choice is ordered at once.
func told(in Input) *rolloutv1alpha1.Order {
	b := in.Status.Blueprint
	if b.Name == "" {
		return nil
	}
	ref := &rolloutv1alpha1.BlueprintReference{Name: b.Name, Digest: b.Digest}
	if in.Spec.Blueprint.Version == "" {
		ref.Channel = in.Spec.Blueprint.Channel
	}
	return &rolloutv1alpha1.Order{Blueprint: ref}
}

// Render returns the files of each place, within the limits that hold there. It returns an error, whose reason ReasonOf tells, for
// what would not be delivered.
func (c *Core) Render(ctx context.Context, in Input, d *Compiled) ([]compose.Rendered, error) {
	in.Spec.Default()
	out, err := c.render(ctx, in, d.Intent, d.Selection)
	if err != nil {
		return nil, err
	}
	if err := d.CheckRead(in); err != nil {
		return nil, err
	}
	return out, Fits(in, out)
}

// Fits returns an error, whose reason ReasonOf tells, when what was rendered is too large to travel.
func Fits(in Input, rendered []compose.Rendered) error {
	in.Spec.Default()
	wanted, err := deliveries(in, rendered)
	if err != nil {
		return err
	}
	return fits(wanted, nil)
}

// ReasonOf returns the reason that a condition of the deployment would have for an error, or none when the error is a bug.
func ReasonOf(err error) string {
	p, err := problemOf(err)
	if err != nil || p == nil {
		return ""
	}
	return p.Reason
}

// Refused is the error of what was rendered, or would have been, and whose reason ReasonOf tells.
func Refused(err error, rendered tree.Files) error {
	if e := (&render.TimeoutError{}); errors.As(err, &e) {
		return late(err)
	}
	return Failed(renderReason(err, rendered), err)
}

// Failed is an error whose reason ReasonOf tells.
func Failed(reason string, err error) error {
	return terminal(reason, deploymentv1alpha1.PhaseRendering, err)
}
