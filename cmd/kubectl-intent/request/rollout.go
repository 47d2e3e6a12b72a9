// Package request has the commands of kubectl intent that create requests: to promote, abort, retry or approve a revision, to refresh the observed state, or to
// prune directories and packages without an owner.
package request

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// askFlags name a deployment of which something is asked, and say how.
type askFlags struct {
	connection.Flags
	terminal.ObjectsFlag

	Name    string        `arg:""         help:"Name of an IntentDeployment. Where both API groups have one, intentdeployments.GROUP/NAME." predictor:"claim"`
	Reason  string        `help:"Why, for people who read the RolloutRequest later."`
	Yes     bool          `help:"Do not ask. abort, retry and rollback ask on a terminal before they make the RolloutRequest." short:"y"`
	DryRun  string        `default:"none" enum:"none,client"                                                                                help:"With client, the RolloutRequest is printed and not made."`
	Wait    bool          `help:"Wait until the RolloutRequest is done, or refused. Exits with 1 if it is refused, another revision took its place, or the revision did not end as asked: approve, retry and promote --full want it verified, abort and rollback that it does not run any more. Of promote with a step, wait until the step is released."`
	Timeout time.Duration `default:"10m"  help:"How long to wait."`
}

// Abort rejects the revision that goes out.
type Abort struct{ askFlags }

// Run rejects the revision that goes out. It returns an error for unreadable objects and for a request that cannot be created.
func (c *Abort) Run(s *terminal.Streams) error {
	return c.createRequest(s, withAction(rolloutv1alpha1.ActionAbort))
}

// Retry starts the same revision again.
type Retry struct{ askFlags }

// Run starts the same revision again. It returns an error for unreadable objects and for a request that cannot be created.
func (c *Retry) Run(s *terminal.Streams) error {
	return c.createRequest(s, withAction(rolloutv1alpha1.ActionRetry))
}

// Approve approves the update that waits.
type Approve struct{ askFlags }

// Run approves the update that waits. It returns an error when none does, for unreadable objects and for a request that cannot be created.
func (c *Approve) Run(s *terminal.Streams) error {
	return c.createRequest(s, func(ctx context.Context, a *asked) error {
		u := a.status.Update
		if u == (deploymentv1alpha1.UpdateStatus{}) {
			return explainNoUpdate(ctx, a.cluster, c.Name)
		}
		a.spec.Action = rolloutv1alpha1.ActionApproveUpdate
		a.spec.Update = updateReference(a.status)
		return nil
	})
}

// updateReference returns the update that the status shows. Where a renderer waits alone, that is with the Blueprint of the revision: an absent Blueprint
// would match a Blueprint that comes to the channel after the user read the status.
func updateReference(s deploymentv1alpha1.IntentDeploymentStatus) *rolloutv1alpha1.UpdateReference {
	return &rolloutv1alpha1.UpdateReference{Blueprint: cmp.Or(s.Update.Blueprint, s.Blueprint.Name), Renderer: s.Update.Renderer}
}

// explainNoUpdate returns why a RolloutRequest has no update to approve. The image that an Application holds back is approved in its spec, wherever a
// user keeps that: the error says with which value.
func explainNoUpdate(ctx context.Context, c *cluster.Cluster, name string) error {
	found, err := c.Application(ctx, name)
	if err != nil {
		return err
	}
	a := struct {
		Spec   applicationv1alpha1.ApplicationSpec   `json:"spec"`
		Status applicationv1alpha1.ApplicationStatus `json:"status"`
	}{}
	if found != nil {
		if err := json.Unmarshal(found.Application, &a); err != nil {
			return errors.Wrapf(err, "cannot decode Application %s", name)
		}
	}
	_, digest, isHeldBack := strings.Cut(a.Status.Build.Waiting.Image, "@")
	switch {
	case !isHeldBack:
		return errors.New("no update waits to be approved")
	case a.Spec.Build != nil && a.Spec.Build.Updates == applicationv1alpha1.UpdatesManual:
		return errors.Errorf("no update of its Blueprint waits to be approved, but a rebuilt image does: set spec.build.approved of the Application to %s", digest)
	}
	return errors.Errorf("no update waits to be approved: the rebuilt image %s comes with the next commit, as spec.build.updates says", digest)
}

// Rollback rolls back to an earlier revision.
type Rollback struct {
	askFlags

	ToRevision int64 `help:"Revision to roll back to. Without it, the newest verified earlier revision that does not run already."`
}

// Run rolls back to an earlier revision. It returns an error when there is none, for unreadable objects and for a request that cannot be created.
func (c *Rollback) Run(s *terminal.Streams) error {
	return c.createRequest(s, func(ctx context.Context, a *asked) error {
		a.spec.Action, a.spec.ToRevision = rolloutv1alpha1.ActionRollbackTo, &c.ToRevision
		if c.ToRevision != 0 {
			return nil
		}
		all, err := a.cluster.Deliveries(ctx, a.spec.DeploymentRef)
		if err != nil {
			return err
		}
		target := latestRollbackTarget(all, a.status)
		if target == 0 {
			return explainNoTarget(all, a.status)
		}
		a.spec.ToRevision = &target
		return nil
	})
}

// latestRollbackTarget returns the newest revision that can be rolled back to, or 0.
func latestRollbackTarget(all []*deliveryv1alpha1.GitDelivery, s deploymentv1alpha1.IntentDeploymentStatus) int64 {
	for _, p := range cause.NewestLedger(all).Targets() {
		if p.Number < s.Revision && p.Number != s.LiveRevision {
			return p.Number
		}
	}
	return 0
}

// explainNoTarget returns why a rollback has no target of its own. The revision that runs can be a target while a later one goes out: a user names it.
func explainNoTarget(all []*deliveryv1alpha1.GitDelivery, s deploymentv1alpha1.IntentDeploymentStatus) error {
	for _, p := range cause.NewestLedger(all).Targets() {
		if p.Number < s.Revision && p.Number == s.LiveRevision {
			return errors.Errorf("no earlier revision was verified everywhere that does not run already: --to-revision %d asks for the running revision", p.Number)
		}
	}
	return errors.New("no earlier revision was verified everywhere, so nothing can be rolled back to: change the intent")
}

func withAction(action rolloutv1alpha1.Action) func(context.Context, *asked) error {
	return func(_ context.Context, a *asked) error {
		a.spec.Action = action
		return nil
	}
}

// asked is the request to a deployment, with the deployment's status.
type asked struct {
	cluster *cluster.Cluster
	spec    rolloutv1alpha1.RolloutRequestSpec
	status  deploymentv1alpha1.IntentDeploymentStatus
}

// createRequest makes a RolloutRequest. The function complete fills in its spec.
func (f *askFlags) createRequest(s *terminal.Streams, complete func(context.Context, *asked) error) error {
	c, err := f.OpenFor(s)
	if err != nil {
		return err
	}
	ctx := context.Background()
	a, err := f.readDeployment(ctx, c)
	if err != nil {
		return err
	}
	if err := complete(ctx, a); err != nil {
		return errors.Wrap(err, f.Name)
	}
	if err := a.expectRefusal(ctx); err != nil {
		return errors.Wrap(err, f.Name)
	}
	o, err := a.requestObject(c.Namespace())
	if err != nil {
		return err
	}
	if f.DryRun == "client" {
		// Printed output can be applied, which needs a name.
		o.SetName(strings.TrimSuffix(o.GetGenerateName(), "-"))
		o.SetGenerateName("")
		return f.printRequest(s.Out, o, "would be created")
	}
	if isMeant, err := f.confirmRequest(s, a); err != nil || !isMeant {
		return err
	}
	if o, err = c.Ask(ctx, o); err != nil {
		return err
	}
	if !f.Wait {
		return f.printRequest(s.Out, o, "created")
	}
	return f.awaitResult(ctx, s, c, o)
}

// readDeployment reads the deployment: a request names the revision that it is about.
func (f *askFlags) readDeployment(ctx context.Context, c *cluster.Cluster) (*asked, error) {
	b, err := c.Claim(ctx, f.Name)
	if err != nil {
		return nil, err
	}
	// Additional fields of a newer version are not read.
	d := &struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ObjectMeta `json:"metadata"`
		Status          struct {
			Revision     int64                              `json:"revision"`
			LiveRevision int64                              `json:"liveRevision"`
			Blueprint    deploymentv1alpha1.BlueprintStatus `json:"blueprint"`
			Update       deploymentv1alpha1.UpdateStatus    `json:"update"`
			Canary       *deploymentv1alpha1.CanaryStatus   `json:"canary"`
		} `json:"status"`
	}{}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, errors.Wrapf(err, "cannot decode the status of %s", f.Name)
	}
	if d.Status.Revision == 0 {
		return nil, errors.Errorf("%s has no revision yet: kubectl intent why %s -n %s shows the obstacle", f.Name, f.Name, c.Namespace())
	}
	return &asked{
		cluster: c,
		spec: rolloutv1alpha1.RolloutRequestSpec{
			DeploymentRef: rolloutv1alpha1.DeploymentReference{APIGroup: schema.FromAPIVersionAndKind(d.APIVersion, d.Kind).Group, Kind: d.Kind, Name: d.Metadata.Name},
			Revision:      d.Status.Revision, RequestedBy: c.User(ctx), Reason: f.Reason,
		},
		status: deploymentv1alpha1.IntentDeploymentStatus{
			Revision: d.Status.Revision, LiveRevision: d.Status.LiveRevision, Blueprint: d.Status.Blueprint, Update: d.Status.Update, Canary: d.Status.Canary,
		},
	}, nil
}

// requestObject returns the request. The server finds a name for it, since the same may be asked twice.
func (a *asked) requestObject(namespace string) (*unstructured.Unstructured, error) {
	verb := map[rolloutv1alpha1.Action]string{
		rolloutv1alpha1.ActionAbort: "abort", rolloutv1alpha1.ActionApproveUpdate: "approve",
		rolloutv1alpha1.ActionRetry: "retry", rolloutv1alpha1.ActionRollbackTo: "rollback",
		rolloutv1alpha1.ActionPromote: "promote",
	}[a.spec.Action]
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&a.spec)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the RolloutRequest")
	}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
	o.SetGroupVersionKind(rolloutv1alpha1.GroupVersion.WithKind("RolloutRequest"))
	o.SetNamespace(namespace)
	o.SetGenerateName(fmt.Sprintf("%s-%s-%d-", a.spec.DeploymentRef.Name, verb, a.spec.Revision))
	return o, nil
}

// printRequest prints a request.
func (f *askFlags) printRequest(w io.Writer, o *unstructured.Unstructured, became string) error {
	return f.PrintValue(w, o.Object, namesOfRequest(o.GetName()), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "rolloutrequest.%s/%s %s\n", rolloutv1alpha1.GroupVersion.Group, terminal.QuoteInvisible(o.GetName()), became)
		return errors.Wrap(err, "cannot print")
	})
}

// namesOfRequest returns the name of a RolloutRequest, as kubectl takes it.
func namesOfRequest(name string) func() ([]string, error) {
	return func() ([]string, error) {
		return []string{"rolloutrequest." + rolloutv1alpha1.GroupVersion.Group + "/" + name}, nil
	}
}

// awaitResult prints each answer to a request, until there will be no other one.
func (f *askFlags) awaitResult(ctx context.Context, s *terminal.Streams, c *cluster.Cluster, o *unstructured.Unstructured) error {
	ctx, cancel := connection.CancelAfter(ctx, f.Timeout)
	defer cancel()
	// A program that reads the output expects one object.
	progress := io.Discard
	if f.Output == "text" {
		progress = s.Out
	}
	if err := f.printRequest(progress, o, "created"); err != nil {
		return err
	}
	last, previous := &rolloutv1alpha1.RolloutRequest{}, ""
	err := c.Follow(ctx, o, func(r *rolloutv1alpha1.RolloutRequest) (bool, error) {
		last = r
		answer := requestAnswer(r)
		if answer == previous || answer == "" {
			return false, nil
		}
		previous = answer
		_, err := fmt.Fprintln(progress, terminal.EscapeCommandOfCI(terminal.PlainMessage(answer)))
		return isAnswerFinal(r), errors.Wrap(err, "cannot print")
	})
	if ctx.Err() != nil {
		return timeoutError(o.GetName(), previous)
	}
	if err != nil {
		return err
	}
	if err := f.PrintValue(s.Out, last, namesOfRequest(o.GetName()), func(io.Writer) error { return nil }); err != nil {
		return err
	}
	return verdictOfRequest(last)
}

// timeoutError is the error of a request that did not end before the timeout, with the last answer.
func timeoutError(name, last string) error {
	if last == "" {
		return errors.Errorf("%s did not come to its end in time: the provider has not answered yet: does it run?", name)
	}
	return errors.Errorf("%s did not come to its end in time, and goes on. The last answer: %s", name, last)
}

// verdictOfRequest returns an error for a request that was refused, was superseded, or whose revision did not end as it asks for. The answer that
// says why was printed.
func verdictOfRequest(r *rolloutv1alpha1.RolloutRequest) error {
	switch {
	case isStepReleased(r):
		return nil
	case requestResult(r) != rolloutv1alpha1.ResultDone:
		return terminal.VerdictError{}
	case r.Status.End == "":
		return errors.Errorf("%s is done, and does not say how its revision ended: look at the deployment, for the installed version is older than this program", r.GetName())
	case !r.Status.End.Achieves(r.Spec.Action):
		return terminal.VerdictError{}
	}
	return nil
}

// requestResult returns the result of a request. It is empty before the provider observed it.
func requestResult(r *rolloutv1alpha1.RolloutRequest) rolloutv1alpha1.Result {
	return rolloutv1alpha1.Result(r.Status.GetCondition(rolloutv1alpha1.TypeCompleted).Reason)
}

// isStepReleased is true for a promotion that released its step. The revision may go on for days.
func isStepReleased(r *rolloutv1alpha1.RolloutRequest) bool {
	return r.Spec.Action == rolloutv1alpha1.ActionPromote && r.Spec.Step != nil && requestResult(r) == rolloutv1alpha1.ResultTaken
}

// isAnswerFinal is true for a request whose answer never changes, or is all that its user waits for.
func isAnswerFinal(r *rolloutv1alpha1.RolloutRequest) bool {
	result := requestResult(r)
	return isStepReleased(r) || result.Final() || string(result) == string(rolloutv1alpha1.ReasonSuperseded)
}

// requestAnswer returns the reason of a request, with words for it.
func requestAnswer(r *rolloutv1alpha1.RolloutRequest) string {
	c := r.Status.GetCondition(rolloutv1alpha1.TypeCompleted)
	if string(c.Reason) == string(rolloutv1alpha1.ResultTaken) {
		c = r.Status.GetCondition(rolloutv1alpha1.TypeAccepted)
	}
	return describeCondition(c)
}
