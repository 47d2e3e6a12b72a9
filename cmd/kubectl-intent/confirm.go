package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// confirm asks the user to confirm a request that changes running workloads, and returns false for a refusal. Nothing is asked where no
// person answers, as in a script, nor with --yes.
func (f *askFlags) confirm(s *streams, a *asked) (bool, error) {
	question := a.question()
	if f.Yes || !s.isInteractive || question == "" {
		return true, nil
	}
	if isMeant, err := s.askUser(question); isMeant || err != nil {
		return isMeant, err
	}
	return false, errors.New("nothing was requested")
}

// askUser asks the user a question, and returns true if the answer is yes.
func (s *streams) askUser(question string) (bool, error) {
	if _, err := fmt.Fprintf(s.problems, "%s [y/N] ", quoteLine(question)); err != nil {
		return false, errors.Wrap(err, "cannot print")
	}
	answer, err := bufio.NewReader(s.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, errors.Wrap(err, "cannot read the answer")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// question returns the question about a request that changes running workloads, and is empty for another request.
func (a *asked) question() string {
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
