package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/rollout"
)

// expectRefusal returns why the deployment would refuse what is asked, as far as its GitDeliveries show, or nil if it would not. It returns nil as well
// for a user who may not read GitDeliveries: then the deployment answers the RolloutRequest.
func (a *asked) expectRefusal(ctx context.Context, now time.Time) error {
	if a.spec.Action != rolloutv1alpha1.ActionAbort && a.spec.Action != rolloutv1alpha1.ActionRollbackTo {
		return nil
	}
	all, err := a.cluster.Deliveries(ctx, a.spec.DeploymentRef)
	if kerrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return err
	}
	s := standingOf(all)
	request := &rolloutv1alpha1.RolloutRequest{Spec: a.spec}
	request.SetCreationTimestamp(metav1.NewTime(now))
	return refusalForResult(rollout.ResultOf(request, s), a.spec, s)
}

// standingOf returns what the GitDeliveries of a deployment say about it.
func standingOf(all []*deliveryv1alpha1.GitDelivery) rollout.Standing {
	order, _ := rollout.Current(all)
	s := rollout.Standing{Order: order, Remembered: rollout.Remembered(all), Targets: rollout.Targets(all), Known: rollout.Known(all)}
	if order == nil {
		return s
	}
	byName := map[string]*deliveryv1alpha1.GitDelivery{}
	for _, d := range all {
		byName[d.GetName()] = d
	}
	parts := slices.Collect(maps.Values(compose.Parts(byName, nil, *order)))
	s.InPlace = rollout.InPlace(*order, all, parts, func(string) bool { return true })
	return s
}

// refusalForResult returns what is wrong, and what to do, for a result that refuses, and nil for any other.
func refusalForResult(r rolloutv1alpha1.Result, asked rolloutv1alpha1.RolloutRequestSpec, s rollout.Standing) error {
	switch r {
	case rolloutv1alpha1.ResultAlreadyJudged:
		return errors.Errorf("revision %d cannot be aborted: it was judged already (%s); use rollback to go back to an earlier revision",
			asked.Revision, s.Order.Verdict.Result)
	case rolloutv1alpha1.ResultUnknownRevision:
		return errors.Errorf("revision %d cannot be rolled back to: the history does not have it; %s", *asked.ToRevision, describeTargets(s))
	case rolloutv1alpha1.ResultNoTarget:
		return errors.Errorf("revision %d cannot be rolled back to: it is the present one, was not verified in every repository, was rolled back itself, "+
			"or its files are gone; %s", *asked.ToRevision, describeTargets(s))
	case rolloutv1alpha1.ResultNothingToRestore:
		return errors.Errorf("there is nothing to roll back: %s", describeUnchanged(*asked.ToRevision, s))
	case rolloutv1alpha1.ResultStale:
		return errors.Errorf("revision %d is not the present one any more, or was changed meanwhile: look at the deployment and ask again", asked.Revision)
	}
	if r.Refused() {
		return errors.Errorf("the deployment would refuse it: %s", r)
	}
	return nil
}

// describeUnchanged says why a rollback to a revision would change nothing, and what to do.
func describeUnchanged(to int64, s rollout.Standing) string {
	if s.Order.GoesBackTo(to) && !rollout.Restored(*s.Order) {
		return fmt.Sprintf("revision %d is being rolled back to revision %d already", s.Order.Revision, to)
	}
	return fmt.Sprintf("the directories of all Sites hold the files of revision %d already; --to-revision says to which other one; %s", to, describeTargets(s))
}

// describeTargets says which revisions can be rolled back to.
func describeTargets(s rollout.Standing) string {
	out := []string{}
	for _, n := range slices.Backward(s.Targets) {
		if n != s.Order.Revision && !s.Order.GoesBackTo(n) && !slices.Contains(s.InPlace, n) {
			out = append(out, fmt.Sprint(n))
		}
	}
	if len(out) == 0 {
		return "no revision can be rolled back to"
	}
	return "possible: " + strings.Join(out, ", ")
}
