package wait

import (
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// observeApplication returns the observation of an Application.
func (w *waiter) observeApplication(look func(context.Context) (*cluster.ComposedApplication, error)) func(context.Context) (progress, error) {
	return func(ctx context.Context) (progress, error) {
		a, err := look(ctx)
		if err != nil {
			return progress{}, err
		}
		if a == nil {
			return progress{}, errors.New("the Application was deleted")
		}
		p, err := w.progressOfApplication(a)
		p.at = subject.ReportEncoded(a.Application)
		return p, err
	}
}

// progressOfApplication says where an Application is. A status that speaks about an earlier spec says nothing of this one.
func (w *waiter) progressOfApplication(composed *cluster.ComposedApplication) (progress, error) {
	a := &cause.Application{}
	if err := json.Unmarshal(composed.Application, a); err != nil {
		return progress{}, errors.Wrap(err, "cannot decode the Application")
	}
	d, err := decodeWaitedFor(composed.Deployment)
	if err != nil {
		return progress{}, err
	}
	want, err := digest.Application(&a.Spec.ApplicationSpec)
	if err != nil {
		return progress{}, errors.Wrap(err, "cannot compute the digest of the spec")
	}
	if p, isOther := w.goal.compareSpec(want); isOther {
		return p, nil
	}
	if a.Status.SpecDigest != want {
		return progress{result: resultGoesOn, message: "Pending: the status does not describe the current spec yet.", digest: want}, nil
	}
	if commit := a.Status.Source.Commit; commit != "" && composed.Commit != "" && commit != composed.Commit {
		return progress{result: resultGoesOn, message: "Pending: the status does not describe commit " + composed.Commit + " yet.", digest: want}, nil
	}
	return progress{
		result: w.goal.resultOfApplication(a, d), message: string(a.Status.Phase) + ": " + a.Status.Message, missing: d.isConditionFalse(deploymentv1alpha1.TypeSitesFound), digest: want,
		isBlocked: isRequestHeldBack(a) || a.Status.Conditions.IsFalse(applicationv1alpha1.TypeValid) || d.isConditionFalse(deploymentv1alpha1.TypeValid),
	}, nil
}

// decodeWaitedFor decodes a deployment. Where there is none, it says nothing.
func decodeWaitedFor(b []byte) (*waitedFor, error) {
	d := &waitedFor{}
	if b == nil {
		return d, nil
	}
	return d, errors.Wrap(json.Unmarshal(b, d), "cannot decode the deployment")
}

// resultOfApplication says whether an Application is where it is wanted. Its deployment says which Sites and which step are live.
func (g *goal) resultOfApplication(a *cause.Application, d *waitedFor) result {
	end := endOfApplication(a)
	sum, err := digest.Spec(&d.Spec)
	isOfDeployment := (g.isLive || g.step > 0) && isDelivered(a)
	if end != resultGoesOn || !isOfDeployment || err != nil || d.Status.IntentDigest != sum {
		return end
	}
	if g.resultOfGoal(d) == resultSucceeded {
		return resultSucceeded
	}
	return end
}

// isDelivered reports whether the deployment of an Application has the spec that the Application requests. Before, as while a commit is
// built, it has an earlier image, and its Sites are live with that one.
func isDelivered(a *cause.Application) bool {
	return slices.Contains([]applicationv1alpha1.Phase{applicationv1alpha1.PhaseDeploying, applicationv1alpha1.PhaseRunning, applicationv1alpha1.PhaseDegraded}, a.Status.Phase)
}

// endOfApplication says whether an Application came to an end. An Application that only a person can help has ended.
func endOfApplication(a *cause.Application) result {
	all := a.Status.Conditions
	switch {
	case a.Status.IsRolledBack():
		return resultRolledBack
	case a.Status.Phase == applicationv1alpha1.PhaseFailed, all.IsTrue(applicationv1alpha1.TypeStalled), isRequestHeldBack(a):
		return resultFailed
	case a.Status.Phase == applicationv1alpha1.PhaseRunning && all.IsTrue("Ready"):
		return resultSucceeded
	}
	return resultGoesOn
}

// isRequestHeldBack reports whether the deployment of an Application holds back the request of the Application.
func isRequestHeldBack(a *cause.Application) bool {
	return a.Status.Conditions.Get(applicationv1alpha1.TypeReconciling).Reason == applicationv1alpha1.ReasonHeldBack
}

// digestOfApplicationFile returns the digest of the spec of the single Application in a file.
func digestOfApplicationFile(file string, in io.Reader) (string, error) {
	all, err := manifest.ReadObjects[applicationv1alpha1.Application](in, file, applicationv1alpha1.Kind, manifest.ClaimVersions()...)
	if err != nil {
		return "", err
	}
	if len(all) != 1 {
		return "", terminal.UsageError{Err: errors.Errorf("%s has %d Applications, want one", file, len(all))}
	}
	sum, err := digest.Application(&all[0].Spec)
	return sum, errors.Wrap(err, "cannot compute the digest of the spec")
}
