package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

// waitInterval is the time between two looks at a deployment.
const waitInterval = time.Second

// A waitCommand waits for the end of what a deployment asks for now.
type waitCommand struct {
	clusterFlags

	Name    string        `arg:""        help:"Name of an IntentDeployment. Where both API groups have one, intentdeployments.GROUP/NAME." predictor:"claim"`
	Timeout time.Duration `default:"30m" help:"How long to wait."`
}

// Run waits until the Sites run what the deployment asks for. It returns an error when that was rejected, rolled back or is held up until a
// person acts, when it takes longer than the timeout, and when the deployment cannot be read.
func (c *waitCommand) Run(s *streams) error {
	opened, err := c.open()
	if err != nil {
		return usageError{err}
	}
	ctx, cancel := cancelAfter(context.Background(), c.Timeout)
	defer cancel()
	look := func(ctx context.Context) ([]byte, error) { return opened.Claim(ctx, c.Name) }
	return errors.Wrap(awaitEnd(ctx, s.out, waitInterval, look), c.Name)
}

// cancelAfter returns a context that is cancelled when the timeout has passed. It has no deadline: the client refuses a request that its rate
// limit would begin after a deadline, with an error that does not say that time is up.
func cancelAfter(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(timeout, cancel)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

// A waitResult is what one look at a deployment says of what it asks for now.
type waitResult string

const (
	waitGoesOn    waitResult = "GoesOn"
	waitSucceeded waitResult = "Succeeded"
	waitFailed    waitResult = "Failed"
)

// A progress is where a deployment is, and what its status says.
type progress struct {
	result  waitResult
	message string
}

// awaitEnd looks at a deployment until two looks after one another agree on its end, and prints each change. Crossplane writes the status of a
// claim and its conditions one after the other, so that a single look may see the one without the other.
func awaitEnd(ctx context.Context, out io.Writer, interval time.Duration, look func(context.Context) ([]byte, error)) error {
	before := progress{}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		b, err := look(ctx)
		if ctx.Err() != nil {
			return errors.Errorf("it did not come to its end in time: %s", before.message)
		}
		if err != nil {
			return err
		}
		now, err := progressOf(b)
		if err != nil {
			return err
		}
		if now == before && now.result == waitSucceeded {
			return nil
		}
		if now == before && now.result == waitFailed {
			return verdictError{}
		}
		if now.message != before.message {
			if _, err := fmt.Fprintln(out, noCommand(plainMessage(now.message))); err != nil {
				return errors.Wrap(err, "cannot print")
			}
		}
		before = now
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// waitedFor is what is read of a deployment. What a newer version says beside it is not read.
type waitedFor struct {
	Spec   deploymentv1alpha1.IntentDeploymentSpec `json:"spec"`
	Status struct {
		IntentDigest string             `json:"intentDigest"`
		Phase        string             `json:"phase"`
		Outcome      string             `json:"outcome"`
		Message      string             `json:"message"`
		Conditions   []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// progressOf says where a deployment is, which is decoded from JSON. A status that speaks about an earlier spec says nothing of this one.
func progressOf(b []byte) (progress, error) {
	d := &waitedFor{}
	if err := json.Unmarshal(b, d); err != nil {
		return progress{}, errors.Wrap(err, "cannot decode the deployment")
	}
	want, err := digest.Spec(&d.Spec)
	if err != nil {
		return progress{}, errors.Wrap(err, "cannot compute the digest of the spec")
	}
	if d.Status.IntentDigest != want {
		return progress{result: waitGoesOn, message: "Pending: the status does not speak about this spec yet."}, nil
	}
	return progress{result: d.result(), message: d.Status.Phase + ": " + d.Status.Message}, nil
}

// result says whether the deployment came to an end. One that only a person can help did.
func (d *waitedFor) result() waitResult {
	held := d.Spec.Suspend != nil && *d.Spec.Suspend && d.conditionReason("Reconciling") == deploymentv1alpha1.ReasonSuspended
	switch outcome := deploymentv1alpha1.Outcome(d.Status.Outcome); {
	case outcome == deploymentv1alpha1.OutcomeFailed, outcome == deploymentv1alpha1.OutcomeRolledBack:
		return waitFailed
	case held, d.isTrue("Stalled"):
		return waitFailed
	case outcome == deploymentv1alpha1.OutcomeSucceeded && d.isTrue("Ready"):
		return waitSucceeded
	}
	return waitGoesOn
}

func (d *waitedFor) isTrue(typ string) bool {
	for _, c := range d.Status.Conditions {
		if c.Type == typ {
			return c.Status == metav1.ConditionStatus(corev1.ConditionTrue)
		}
	}
	return false
}

func (d *waitedFor) conditionReason(typ string) string {
	for _, c := range d.Status.Conditions {
		if c.Type == typ {
			return c.Reason
		}
	}
	return ""
}
