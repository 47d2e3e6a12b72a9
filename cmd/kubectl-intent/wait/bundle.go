package wait

import (
	"context"
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// observeBundle returns the observation of a Bundle, of which look returns the JSON, or nil once there is none.
func (w *waiter) observeBundle(look func(context.Context) ([]byte, error)) func(context.Context) (progress, error) {
	return func(ctx context.Context) (progress, error) {
		b, err := look(ctx)
		if err != nil {
			return progress{}, err
		}
		if b == nil {
			return progress{}, errors.New("the Bundle was deleted")
		}
		p, err := w.progressOfBundle(b)
		p.at = subject.ReportEncoded(b)
		return p, err
	}
}

// progressOfBundle says where a Bundle is, which is decoded from JSON. A status that speaks about an earlier spec says nothing of this one.
func (w *waiter) progressOfBundle(encoded []byte) (progress, error) {
	b := &cause.Bundle{}
	if err := json.Unmarshal(encoded, b); err != nil {
		return progress{}, errors.Wrap(err, "cannot decode the Bundle")
	}
	want, err := digest.Bundle(&b.Spec.BundleSpec)
	if err != nil {
		return progress{}, errors.Wrap(err, "cannot compute the digest of the spec")
	}
	if p, isOther := w.goal.compareSpec(want); isOther {
		return p, nil
	}
	if b.Status.SpecDigest != want {
		return progress{result: resultGoesOn, message: "Pending: the status does not describe the current spec yet.", digest: want}, nil
	}
	return progress{result: endOfBundle(b), message: string(b.Status.Phase) + ": " + b.Status.Message, digest: want}, nil
}

// endOfBundle says whether a Bundle came to an end. A Bundle that only a person can help has ended.
func endOfBundle(b *cause.Bundle) result {
	all := b.Status.Conditions
	stalled := all.Get(bundlev1alpha1.TypeStalled)
	isStalled := all.IsTrue(bundlev1alpha1.TypeStalled)
	switch {
	case isStalled && stalled.Reason == statev1alpha1.PackageReasonRolledBack:
		return resultRolledBack
	case isStalled, b.Status.Phase == bundlev1alpha1.PhaseFailed, all.Get(bundlev1alpha1.TypeReconciling).Reason == bundlev1alpha1.ReasonHeldBack:
		return resultFailed
	case b.Status.Phase == bundlev1alpha1.PhaseSucceeded && all.IsTrue("Ready"):
		return resultSucceeded
	}
	return resultGoesOn
}

// parseGoalOfBundle parses the value of --for for a Bundle, whose packages have steps and Sites of their own.
func parseGoalOfBundle(text string, in io.Reader) (goal, error) {
	g, err := parseWaitGoal(text, in, digestOfBundleFile)
	if err == nil && (g.isLive || g.step > 0) {
		return goal{}, terminal.UsageError{Err: errors.Errorf("--for=%s: a Bundle is waited for with succeeded or digest=FILE: name one of its packages instead", text)}
	}
	return g, err
}

// digestOfBundleFile returns the digest of the spec of the single Bundle in a file.
func digestOfBundleFile(file string, in io.Reader) (string, error) {
	all, err := manifest.ReadObjects[bundlev1alpha1.Bundle](in, file, bundlev1alpha1.Kind, manifest.ClaimVersions()...)
	if err != nil {
		return "", err
	}
	if len(all) != 1 {
		return "", terminal.UsageError{Err: errors.Errorf("%s has %d Bundles, want one", file, len(all))}
	}
	sum, err := digest.Bundle(&all[0].Spec)
	return sum, errors.Wrap(err, "cannot compute the digest of the spec")
}
