package request

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// confirmRequest asks the user to confirm a request that changes running workloads, and returns false for a refusal. Nothing is asked where no
// person answers, as in a script, nor with --yes.
func (f *askFlags) confirmRequest(s *terminal.Streams, a *asked) (bool, error) {
	question := a.confirmQuestion()
	if f.Yes || !s.IsInteractive || question == "" {
		return true, nil
	}
	if isMeant, err := s.AskUser(question); isMeant || err != nil {
		return isMeant, err
	}
	return false, errors.New("nothing was requested")
}

// confirmQuestion returns the question about a request that changes running workloads, and is empty for another request.
func (a *asked) confirmQuestion() string {
	name := a.spec.DeploymentRef.Name
	switch a.spec.Action {
	case rolloutv1alpha1.ActionAbort:
		return fmt.Sprintf("Give up revision %d of %s?", a.spec.Revision, name)
	case rolloutv1alpha1.ActionRetry:
		return fmt.Sprintf("Deliver revision %d of %s again, as a new revision?", a.spec.Revision, name)
	case rolloutv1alpha1.ActionRollbackTo:
		if a.spec.ToRevision == nil {
			return ""
		}
		return fmt.Sprintf("Roll %s back from revision %d to revision %d?", name, a.spec.Revision, *a.spec.ToRevision)
	case rolloutv1alpha1.ActionApproveUpdate, rolloutv1alpha1.ActionPromote, rolloutv1alpha1.ActionMoveLedger:
	}
	return ""
}
