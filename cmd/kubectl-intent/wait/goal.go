package wait

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// A goal is the awaited state of an Application or a deployment.
type goal struct {
	// isLive is true if the Sites have to run the revision, which gates may judge still.
	isLive bool

	// step of a canary that has to be live. 0 means all of them.
	step int

	// digest of the awaited spec. Before it was seen, the deployment may have another one. Empty means that any spec of the
	// deployment is awaited.
	digest string

	// isFixed is true if another spec ends the wait, once one was seen.
	isFixed bool

	// seen is the digest of the spec that the deployment had.
	seen string
}

// parseWaitGoal parses the value of --for, where sum returns the digest of the spec in a file. It returns an error for other text, and the error
// of sum.
func parseWaitGoal(text string, in io.Reader, sum func(file string, in io.Reader) (string, error)) (goal, error) {
	kind, value, _ := strings.Cut(text, "=")
	switch {
	case text == "succeeded":
		return goal{}, nil
	case text == "live":
		return goal{isLive: true, isFixed: true}, nil
	case kind == "step":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return goal{}, terminal.UsageError{Err: errors.Errorf("--for=step=%s: the step must be a number from 1", value)}
		}
		return goal{step: n, isFixed: true}, nil
	case kind == "digest" && value != "":
		want, err := sum(value, in)
		return goal{digest: want, isFixed: true}, err
	}
	return goal{}, terminal.UsageError{Err: errors.Errorf("--for=%s: want succeeded, live, step=N or digest=FILE", text)}
}

// digestOfDeploymentFile returns the digest of the spec of the single deployment in a file.
func digestOfDeploymentFile(file string, in io.Reader) (string, error) {
	all, err := manifest.ReadDeployments(in, file)
	if err != nil {
		return "", err
	}
	if len(all) != 1 {
		return "", terminal.UsageError{Err: errors.Errorf("%s has %d IntentDeployments, want one", file, len(all))}
	}
	sum, err := digest.Spec(&all[0].Spec)
	return sum, errors.Wrap(err, "cannot compute the digest of the spec")
}

// compareSpec returns the progress of the deployment, and true, if its spec is not the awaited spec: it was not applied yet, or another spec
// took its place.
func (g *goal) compareSpec(now string) (progress, bool) {
	if g.seen == "" && (g.digest == "" || g.digest == now) {
		g.seen = now
	}
	switch {
	case !g.isFixed || g.seen == now:
		return progress{}, false
	case g.seen == "":
		return progress{result: resultGoesOn, message: "Pending: the deployment does not have the spec of the file yet.", digest: now}, true
	}
	return progress{result: resultSuperseded, message: "Superseded: another spec took the place of the expected spec.", digest: now}, true
}

// resultOfGoal says whether the deployment is where it is wanted.
func (g *goal) resultOfGoal(d *waitedFor) result {
	end := d.resultOfWait()
	isBad := end == resultFailed || end == resultRolledBack
	switch {
	case isBad:
		return end
	case d.isOfEarlierRequest(), d.Status.Phase == string(deploymentv1alpha1.PhaseRollingBack):
		return end
	case g.isLive && d.isRevisionLive(), g.step > 0 && d.hasReachedStep(g.step):
		return resultSucceeded
	}
	return end
}

// isRevisionLive is true for a revision that the Sites run. Before the steps of a canary, and where its requests go back, they run another one.
func (d *waitedFor) isRevisionLive() bool {
	runsOther := d.hasCanaryState(deploymentv1alpha1.CanaryPreparing, deploymentv1alpha1.CanaryDraining, deploymentv1alpha1.CanaryRollingBack)
	return d.Status.Delivery.SyncState == string(deploymentv1alpha1.SyncLive) && !runsOther
}

// hasReachedStep is true for a canary at whose step, or at a later one, the Sites are live.
func (d *waitedFor) hasReachedStep(step int) bool {
	now, ok := subject.StepNumber(d.Status.Canary.Step)
	if !ok || d.hasCanaryState(deploymentv1alpha1.CanaryRollingBack) {
		return false
	}
	isOnItsWay := d.hasCanaryState(deploymentv1alpha1.CanaryPreparing, deploymentv1alpha1.CanaryShifting, deploymentv1alpha1.CanaryDraining, "")
	return int(now) > step || int(now) == step && !isOnItsWay
}

func (d *waitedFor) hasCanaryState(states ...deploymentv1alpha1.CanaryState) bool {
	return slices.Contains(states, deploymentv1alpha1.CanaryState(d.Status.Canary.State))
}
