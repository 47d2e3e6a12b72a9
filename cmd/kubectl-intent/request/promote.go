package request

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Promote releases a step of a canary, or all of them.
type Promote struct {
	askFlags

	Step *int32 `help:"Step whose pause ends, counted from 1 as in column STEP: for 3/5 it is --step 3. Without it, the step that waits for a user, or whose pause runs now." xor:"promote"`
	Full bool   `help:"Release all steps: the revision gets all requests as soon as it has the pods for them, and the last step is judged."                xor:"promote"`
}

// Run releases a step of a canary, or all of them. It returns an error when no step pauses or waits for a user, and for unreadable objects or
// a refused request.
func (c *Promote) Run(s *terminal.Streams) error {
	return c.createRequest(s, func(_ context.Context, a *asked) error {
		a.spec.Action = rolloutv1alpha1.ActionPromote
		if c.Full {
			a.spec.Full = &c.Full
			return nil
		}
		if a.spec.Step = c.Step; a.spec.Step == nil {
			a.spec.Step = stepToRelease(a.status.Canary)
		}
		if a.spec.Step == nil {
			return errors.New("no step pauses or waits for a user: --step releases a step that does not wait yet, and --full all of them")
		}
		return nil
	})
}

// stepToRelease returns the step that waits for a user, or whose pause runs. It returns nil if there is none.
func stepToRelease(c *deploymentv1alpha1.CanaryStatus) *int32 {
	if c == nil {
		return nil
	}
	if n, ok := subject.StepNumber(c.Step); ok && c.State == deploymentv1alpha1.CanaryPaused {
		return &n
	}
	return c.Promote
}

// explainPromotion returns an error with its remedy for a result that refuses a promotion.
func (v ledgerView) explainPromotion(r rolloutv1alpha1.Result, requestSpec rolloutv1alpha1.RolloutRequestSpec) error {
	steps := "all steps"
	if requestSpec.Step != nil {
		steps = fmt.Sprintf("step %d", *requestSpec.Step)
	}
	switch r {
	case rolloutv1alpha1.ResultAlreadyJudged:
		return errors.Errorf("%s of revision %d cannot be released: the revision was judged already (%s)", steps, requestSpec.Revision, v.state.Verdict.Result)
	case rolloutv1alpha1.ResultUnknownStep:
		return errors.Errorf("%s of revision %d cannot be released: no user is awaited there; %s", steps, requestSpec.Revision, v.describeSteps(requestSpec))
	case rolloutv1alpha1.ResultStale:
		if v.state.Current.Number == requestSpec.Revision {
			return errors.Errorf("%s of revision %d cannot be released: it was released already, or is passed; %s", steps, requestSpec.Revision, v.describeSteps(requestSpec))
		}
	}
	return nil
}

// describeSteps says which step can be released now.
func (v ledgerView) describeSteps(requestSpec rolloutv1alpha1.RolloutRequestSpec) string {
	out := []string{}
	for n := int32(0); int(n) < len(v.state.Current.Plan); n++ {
		requestSpec.Step, requestSpec.Full = new(n+1), nil
		if !v.expectedResult(requestSpec).Refused() {
			out = append(out, fmt.Sprint(n+1))
		}
	}
	if len(out) == 0 {
		return "no step can be released"
	}
	return "possible: " + strings.Join(out, ", ")
}
