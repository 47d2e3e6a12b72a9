package compile

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/render"
)

// problemError carries a problem up to where it freezes the revision.
type problemError struct{ phase.Problem }

// Error is the problem's message.
func (e *problemError) Error() string { return e.Message }

// terminalProblem returns a problem that only a person can solve.
func terminalProblem(reason string, in deploymentv1alpha1.Phase, err error) error {
	return &problemError{phase.Problem{Reason: reason, Message: err.Error(), Terminal: true, Phase: in}}
}

// InvalidSpec returns the problem of a spec that a user has to correct.
func InvalidSpec(err error) error {
	return terminalProblem(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhaseCompiling, err)
}

// timeoutProblem returns the problem of a rendering that exceeded its timeout. A retry may be faster.
func timeoutProblem(err error) error {
	return &problemError{phase.Problem{
		Reason: deploymentv1alpha1.ReasonRenderTimeout, Message: err.Error(), Terminal: true, Retried: true, Phase: deploymentv1alpha1.PhaseRendering,
	}}
}

// PendingProblem returns a problem that ends when a missing object appears.
func PendingProblem(reason, message string) error {
	return &problemError{phase.Problem{Reason: reason, Message: message, Phase: deploymentv1alpha1.PhasePending}}
}

// ProblemOf returns the problem in an error, or the error itself if it has no problem: such an error is a bug.
func ProblemOf(err error) (*phase.Problem, error) {
	if e := (&catalog.InvalidError{}); errors.As(err, &e) {
		err = InvalidSpec(err)
	}
	if e := (&catalog.MissingError{}); errors.As(err, &e) {
		err = PendingProblem(e.Reason, err.Error())
	}
	if e := (&problemError{}); errors.As(err, &e) {
		return &e.Problem, nil
	}
	return nil, err
}

// ReasonOf returns the reason that a condition of the deployment would have for an error, or none when the error is a bug.
func ReasonOf(err error) string {
	p, err := ProblemOf(err)
	if err != nil || p == nil {
		return ""
	}
	return p.Reason
}

// RenderError returns the error of rendered files, or of files that could not be rendered, so that ReasonOf returns its reason.
func RenderError(err error, rendered tree.Files) error {
	if e := (&render.TimeoutError{}); errors.As(err, &e) {
		return timeoutProblem(err)
	}
	return ErrorWithReason(renderReason(err, rendered), err)
}

// ErrorWithReason returns an error of rendering whose reason ReasonOf returns.
func ErrorWithReason(reason string, err error) error {
	return terminalProblem(reason, deploymentv1alpha1.PhaseRendering, err)
}
