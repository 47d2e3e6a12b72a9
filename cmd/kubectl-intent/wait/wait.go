// Package wait has the command kubectl intent wait, which waits for the end of a request. Its exit codes are in the package terminal.
package wait

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// A Command waits for the end of the present request of an Application, a deployment or a Bundle.
type Command struct {
	connection.Flags
	terminal.FormFlag

	Name    string        `arg:""              help:"Name of an Application, an IntentDeployment or a Bundle. Where several have it, RESOURCE.GROUP/NAME."                                                                                                                     predictor:"subject"`
	For     string        `default:"succeeded" help:"State to wait for: succeeded; live, which is before gates have judged; step=N of a canary, counted from 1 as in its status, which is live then; or digest=FILE, which is that the spec in this file has succeeded, and no other one. A Bundle is waited for with succeeded or digest=FILE." name:"for"`
	Timeout time.Duration `default:"30m"       help:"How long to wait."`

	MissingTimeout time.Duration `default:"1m" help:"How long to wait for a Site, a Blueprint or a configuration that does not exist."`
}

// Run waits until the deployment is where the user wants it. It returns an error with an exit code of its own when that was rejected or is held up until a
// person acts, when it was rolled back, when it takes longer than the timeout, when another spec took its place, and when the deployment cannot be read.
func (c *Command) Run(s *terminal.Streams) error {
	opened, err := c.OpenFor(s)
	if err != nil {
		return err
	}
	ctx, cancel := connection.CancelAfter(context.Background(), c.Timeout)
	defer cancel()
	w := &waiter{interval: s.PollInterval(), missingTimeout: c.MissingTimeout, now: time.Now}
	w.observe, w.goal, err = c.chooseSubject(ctx, s, w, opened)
	if err != nil {
		return err
	}
	w.observe = w.awaitDecisions(w.observe, opened.UndecidedRequest)
	show := s.Out
	if c.Output != "text" {
		show = io.Discard
	}
	last, end := w.awaitDeploymentEnd(ctx, show)
	report := waitReport{Name: c.Name, Object: last.at, For: c.For, Result: last.waitResultName(end), Message: terminal.PlainMessage(last.message)}
	// In the text each change was printed already.
	err = c.PrintValue(s.Out, report, func(io.Writer) error { return s.PrintLines(subject.Lines(last.at)) })
	return errors.Join(err, errors.Wrap(end, c.Name))
}

// A waitReport is how a wait ended, for a program.
type waitReport struct {
	Name string `json:"name"`

	// Object is the awaited object in its last state.
	Object subject.Report `json:"object"`

	For string `json:"for"`

	// Result is Succeeded, Failed, RolledBack, Superseded, TimedOut, or GoesOn where the wait ended before.
	Result string `json:"result"`

	// Message is the last message of the object.
	Message string `json:"message,omitempty"`
}

// waitResultName names how a wait ended.
func (p progress) waitResultName(end error) string {
	var timedOut terminal.EndError
	if errors.As(end, &timedOut) && timedOut.Code == terminal.ExitTimedOut {
		return "TimedOut"
	}
	return string(cmp.Or(p.result, resultGoesOn))
}

// chooseSubject returns the observation of the Application of the name or, if there is none, of the deployment or, if there is none either,
// of the Bundle; and the awaited goal.
func (c *Command) chooseSubject(ctx context.Context, s *terminal.Streams, w *waiter, opened *cluster.Cluster) (func(context.Context) (progress, error), goal, error) {
	a, err := opened.Application(ctx, c.Name)
	// Where time is up already, the first look says so.
	if err != nil && ctx.Err() == nil {
		return nil, goal{}, err
	}
	if a == nil {
		return c.chooseOther(ctx, s, w, opened)
	}
	g, err := parseWaitGoal(c.For, s.In, digestOfApplicationFile)
	return w.observeApplication(func(ctx context.Context) (*cluster.ComposedApplication, error) {
		return opened.Application(ctx, c.Name)
	}), g, err
}

// chooseOther returns the observation of the deployment of the name or, if there is none, of the Bundle; and the awaited goal.
func (c *Command) chooseOther(ctx context.Context, s *terminal.Streams, w *waiter, opened *cluster.Cluster) (func(context.Context) (progress, error), goal, error) {
	b, err := opened.Bundle(ctx, c.Name)
	if err != nil && ctx.Err() == nil {
		return nil, goal{}, err
	}
	if b != nil {
		g, err := parseGoalOfBundle(c.For, s.In)
		return w.observeBundle(func(ctx context.Context) ([]byte, error) { return opened.Bundle(ctx, c.Name) }), g, err
	}
	g, err := parseWaitGoal(c.For, s.In, digestOfDeploymentFile)
	return w.observeDeployment(func(ctx context.Context) ([]byte, error) { return opened.Claim(ctx, c.Name) }), g, err
}

// A result is the result of one look at a deployment for its present request.
type result string

const (
	resultGoesOn    result = "GoesOn"
	resultSucceeded result = "Succeeded"
	resultFailed    result = "Failed"

	resultRolledBack result = "RolledBack"
	resultSuperseded result = "Superseded"
)

// A progress is the state of a deployment, with the message of its status.
type progress struct {
	result  result
	message string

	// digest of the spec that the deployment has now.
	digest string

	// missing says that the deployment waits for a missing object: a Site, a Blueprint or a configuration.
	missing bool

	// isBlocked is true if no RolloutRequest takes effect before a user changes the spec, which is suspended or not valid.
	isBlocked bool

	// at is the object that was looked at.
	at subject.Report
}

// A waiter waits for the end of a deployment's request.
type waiter struct {
	goal goal

	// observe says where the Application or the deployment is.
	observe func(context.Context) (progress, error)

	// interval between two looks.
	interval time.Duration

	// missingTimeout is how long to wait for a missing object. It may be made later, as another part of the same change, and longer waits are
	// more often a mistake in a name.
	missingTimeout time.Duration

	now func() time.Time
}

// awaitDeploymentEnd looks at a deployment until two looks after one another agree on its end, and prints each change. Crossplane writes the
// status of a claim and its conditions one after the other, so that a single look may see the status without the conditions. It returns the
// last progress.
func (w *waiter) awaitDeploymentEnd(ctx context.Context, out io.Writer) (progress, error) {
	previous, missingSince := progress{}, time.Time{}
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		current, err := w.observe(ctx)
		if ctx.Err() != nil {
			return previous, terminal.EndError{Err: errors.Errorf("it did not come to its end in time: %s", previous.message), Code: terminal.ExitTimedOut}
		}
		if err != nil {
			return previous, err
		}
		if current == previous && current.result != resultGoesOn {
			return current, current.result.verdictError()
		}
		if missingSince = w.missingSince(current, missingSince); w.isMissingTooLong(missingSince) {
			return current, errors.Errorf("an object that it names was not found within %s (--missing-timeout), and it goes on by itself once that exists: %s",
				w.missingTimeout, terminal.EscapeCommandOfCI(terminal.PlainMessage(current.message)))
		}
		if current.message != previous.message {
			if _, err := fmt.Fprintln(out, terminal.EscapeCommandOfCI(terminal.PlainMessage(current.message))); err != nil {
				return current, errors.Wrap(err, "cannot print")
			}
		}
		previous = current
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// verdictError returns nil for the awaited end, and an error with its exit code for another end.
func (r result) verdictError() error {
	switch r {
	case resultGoesOn, resultSucceeded:
		return nil
	case resultRolledBack:
		return terminal.VerdictError{Code: terminal.ExitRolledBack}
	case resultSuperseded:
		return terminal.VerdictError{Code: terminal.ExitSuperseded}
	case resultFailed:
	}
	return terminal.VerdictError{}
}

// missingSince returns since when a deployment has waited for a missing object, or the zero time.
func (w *waiter) missingSince(p progress, start time.Time) time.Time {
	switch {
	case !p.missing:
		return time.Time{}
	case start.IsZero():
		return w.now()
	}
	return start
}

func (w *waiter) isMissingTooLong(start time.Time) bool {
	return !start.IsZero() && w.now().Sub(start) >= w.missingTimeout
}

// waitedFor has the fields that are read from a deployment. Additional fields of a newer version are not read.
type waitedFor struct {
	Spec   deploymentv1alpha1.IntentDeploymentSpec `json:"spec"`
	Status struct {
		IntentDigest string           `json:"intentDigest"`
		Phase        string           `json:"phase"`
		Outcome      string           `json:"outcome"`
		HeldBack     bool             `json:"heldBack"`
		Message      string           `json:"message"`
		Conditions   cause.Conditions `json:"conditions"`
		Revision     int64            `json:"revision"`
		Delivery     struct {
			SyncState string `json:"syncState"`
		} `json:"delivery"`
		Canary struct {
			State string `json:"state"`
			Step  string `json:"step"`
		} `json:"canary"`
	} `json:"status"`
}

// observeDeployment returns the observation of a deployment, of which look returns the JSON.
func (w *waiter) observeDeployment(look func(context.Context) ([]byte, error)) func(context.Context) (progress, error) {
	return func(ctx context.Context) (progress, error) {
		b, err := look(ctx)
		if err != nil {
			return progress{}, err
		}
		p, err := w.decodeProgress(b)
		p.at = subject.ReportEncoded(b)
		return p, err
	}
}

// decodeProgress says where a deployment is, which is decoded from JSON. A status that speaks about an earlier spec says nothing of this one.
func (w *waiter) decodeProgress(b []byte) (progress, error) {
	d, err := decodeWaitedFor(b)
	if err != nil {
		return progress{}, err
	}
	want, err := digest.Spec(&d.Spec)
	if err != nil {
		return progress{}, errors.Wrap(err, "cannot compute the digest of the spec")
	}
	if p, isOther := w.goal.compareSpec(want); isOther {
		return p, nil
	}
	if d.Status.IntentDigest != want {
		return progress{result: resultGoesOn, message: "Pending: the status does not describe the current spec yet.", digest: want}, nil
	}
	return progress{
		result: w.goal.resultOfGoal(d), message: d.Status.Phase + ": " + d.Status.Message, missing: d.isConditionFalse("SitesFound"), digest: want,
		isBlocked: d.isSuspended() || d.isConditionFalse(deploymentv1alpha1.TypeValid),
	}, nil
}

// resultOfWait says whether the deployment came to an end. A deployment that only a person can help has ended.
func (d *waitedFor) resultOfWait() result {
	switch outcome := deploymentv1alpha1.Outcome(d.Status.Outcome); {
	case d.isSuspended():
		return resultFailed
	case d.isOfEarlierRequest():
		return resultGoesOn
	case outcome == deploymentv1alpha1.OutcomeFailed:
		return resultFailed
	case outcome == deploymentv1alpha1.OutcomeRolledBack:
		return resultRolledBack
	case d.isConditionTrue("Stalled"):
		return resultFailed
	case outcome == deploymentv1alpha1.OutcomeSucceeded && d.isConditionTrue("Ready"):
		return resultSucceeded
	}
	return resultGoesOn
}

// isSuspended reports whether spec.suspend holds back the request of the deployment.
func (d *waitedFor) isSuspended() bool {
	return d.Spec.Suspend != nil && *d.Spec.Suspend && (d.Status.HeldBack || d.conditionReason("Reconciling") == deploymentv1alpha1.ReasonSuspended)
}

// isOfEarlierRequest reports whether the status is about an earlier request, while the present one is held back.
func (d *waitedFor) isOfEarlierRequest() bool {
	s := deploymentv1alpha1.IntentDeploymentStatus{Outcome: deploymentv1alpha1.Outcome(d.Status.Outcome), HeldBack: d.Status.HeldBack}
	return s.IsOfEarlierRequest()
}

func (d *waitedFor) isConditionTrue(typ string) bool {
	return d.Status.Conditions.IsTrue(typ)
}

func (d *waitedFor) isConditionFalse(typ string) bool {
	return d.Status.Conditions.IsFalse(typ)
}

func (d *waitedFor) conditionReason(typ string) string {
	return d.Status.Conditions.Get(typ).Reason
}
