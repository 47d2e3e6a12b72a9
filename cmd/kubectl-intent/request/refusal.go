package request

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// expectRefusal returns why the deployment would refuse the request, as far as its GitDeliveries show, or nil if it would not. It returns nil
// as well for a user who may not read GitDeliveries: then the deployment answers the RolloutRequest.
func (a *asked) expectRefusal(ctx context.Context) error {
	if !slices.Contains([]rolloutv1alpha1.Action{rolloutv1alpha1.ActionAbort, rolloutv1alpha1.ActionRollbackTo, rolloutv1alpha1.ActionPromote}, a.spec.Action) {
		return nil
	}
	all, err := a.cluster.Deliveries(ctx, a.spec.DeploymentRef)
	if kerrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return err
	}
	v := newLedgerView(all)
	// No GitDelivery shows the state of the Gate.
	v.input.Proof.IsHeld = a.status.Canary != nil && a.status.Canary.State == deploymentv1alpha1.CanaryHeld
	return v.explainRefusal(v.expectedResult(a.spec), a.spec)
}

// A ledgerView is the ledger in the status of a deployment's GitDeliveries, with the directories of its Sites.
type ledgerView struct {
	state ledger.State
	input step.Input
}

// newLedgerView returns the view of the ledger in the GitDeliveries of a deployment.
func newLedgerView(all []*deliveryv1alpha1.GitDelivery) ledgerView {
	out := ledgerView{state: cause.NewestLedger(all)}
	treesBySite := map[string]deliveryv1alpha1.DeliveredTree{}
	for _, d := range all {
		if r := d.Status.AtProvider.Record; r == nil || r.Position != out.state.Position() {
			continue
		}
		for _, t := range d.Status.AtProvider.Trees {
			treesBySite[t.Site] = t
		}
	}
	if out.state.Current == nil {
		return out
	}
	out.input.HasAllReported = true
	for _, part := range out.state.Current.Parts {
		for _, site := range part.Sites {
			t, isKnown := treesBySite[site]
			out.input.HasAllReported = out.input.HasAllReported && isKnown
			out.input.Directories = append(out.input.Directories, step.Directory{Site: site, IsChosen: true, IsKnown: isKnown, Tree: t.Tree, Revision: t.Revision})
		}
	}
	slices.SortFunc(out.input.Directories, func(a, b step.Directory) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// expectedResult returns the expected result of a RolloutRequest.
func (v ledgerView) expectedResult(spec rolloutv1alpha1.RolloutRequestSpec) rolloutv1alpha1.Result {
	r := evidence.RequestOf(&rolloutv1alpha1.RolloutRequest{Spec: spec})
	return rolloutv1alpha1.Result(step.ResultOf(v.state, v.input, r))
}

// explainRefusal returns an error with its remedy for a result that refuses, and nil for any other.
func (v ledgerView) explainRefusal(r rolloutv1alpha1.Result, requestSpec rolloutv1alpha1.RolloutRequestSpec) error {
	if c := v.state.Current; c != nil && requestSpec.Revision > c.Number {
		return nil // The status names a revision that Git has not recorded yet: the deployment answers once it has.
	}
	if requestSpec.Action == rolloutv1alpha1.ActionPromote {
		if err := v.explainPromotion(r, requestSpec); err != nil {
			return err
		}
	}
	switch r {
	case rolloutv1alpha1.ResultAlreadyJudged:
		return errors.Errorf("revision %d cannot be aborted: it was judged already (%s); use rollback to restore an earlier revision",
			requestSpec.Revision, v.state.Verdict.Result)
	case rolloutv1alpha1.ResultUnknownRevision:
		return errors.Errorf("revision %d cannot be rolled back to: the history does not have it; %s", *requestSpec.ToRevision, v.describeTargets(requestSpec))
	case rolloutv1alpha1.ResultNoTarget:
		return errors.Errorf("revision %d cannot be rolled back to: it is the present one, was not verified in every repository, was rolled back itself, "+
			"or its files are gone; %s", *requestSpec.ToRevision, v.describeTargets(requestSpec))
	case rolloutv1alpha1.ResultNothingToRestore:
		return errors.Errorf("there is nothing to roll back: %s", v.describeUnchanged(requestSpec))
	case rolloutv1alpha1.ResultStale:
		return errors.Errorf("revision %d is not the present one any more, or was changed meanwhile: look at the deployment and ask again", requestSpec.Revision)
	}
	if r.Refused() {
		return errors.Errorf("the deployment would refuse it: %s", r)
	}
	return nil
}

// describeUnchanged says why a rollback would change nothing, and names the remedy.
func (v ledgerView) describeUnchanged(requestSpec rolloutv1alpha1.RolloutRequestSpec) string {
	target := *requestSpec.ToRevision
	if v.state.IsRejected() && v.state.Target == target && !v.state.Restored {
		return fmt.Sprintf("revision %d is being rolled back to revision %d already", v.state.Current.Number, target)
	}
	return fmt.Sprintf("the directories of all Sites hold the files of revision %d already; --to-revision says to which other one; %s", target, v.describeTargets(requestSpec))
}

// describeTargets says which revisions can be rolled back to.
func (v ledgerView) describeTargets(requestSpec rolloutv1alpha1.RolloutRequestSpec) string {
	out := []string{}
	for _, p := range slices.Backward(v.state.Targets()) {
		requestSpec.ToRevision = &p.Number
		if !v.expectedResult(requestSpec).Refused() {
			out = append(out, fmt.Sprint(p.Number))
		}
	}
	if len(out) == 0 {
		return "no revision can be rolled back to"
	}
	return "possible: " + strings.Join(out, ", ")
}
