package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
)

// A refreshCommand asks for a look at what is there now.
type refreshCommand struct {
	clusterFlags

	Name    string        `arg:""          help:"Name of an Application, an IntentDeployment, a WorkloadCluster or a Bundle. Where several have it, RESOURCE.GROUP/NAME." predictor:"subject"`
	NoWait  bool          `help:"Do not wait until the provider has looked at the repositories."`
	Timeout time.Duration `default:"1m"    help:"How long to wait."`
}

// Run annotates what has the name, waits until the provider has looked at each repository of its deployment, and prints what it found. It returns an error when
// the object cannot be annotated, and when the provider did not look in time.
func (c *refreshCommand) Run(s *streams) error {
	opened, err := c.openCluster()
	if err != nil {
		return usageError{err}
	}
	ctx, cancel := cancelAfter(context.Background(), c.Timeout)
	defer cancel()
	found, err := opened.Subject(ctx, c.Name)
	if err != nil {
		return err
	}
	token := s.now().UTC().Format(time.RFC3339Nano)
	if err := opened.Refresh(ctx, found, token); err != nil {
		return err
	}
	if c.NoWait || len(found.AllDeployments()) == 0 {
		return printLines(s, []string{c.Name + " was asked to reconcile"})
	}
	r := &refresher{streams: s, token: token, look: func(ctx context.Context) (*cluster.Subjects, error) { return opened.Subject(ctx, c.Name) }, interval: waitInterval, answered: map[string]bool{}}
	return errors.Wrap(r.awaitLooks(ctx), c.Name)
}

// A refresher waits until all repositories were looked at.
type refresher struct {
	*streams

	token    string
	look     func(context.Context) (*cluster.Subjects, error)
	interval time.Duration

	// answered are the deliveries whose answer was printed.
	answered map[string]bool
}

// awaitLooks prints the answer of each delivery, until all have answered.
func (r *refresher) awaitLooks(ctx context.Context) error {
	ticker := time.NewTicker(r.interval)
	defer ticker.Stop()
	for {
		found, err := r.look(ctx)
		if ctx.Err() != nil {
			return endError{errors.New("the provider did not look in time: kubectl intent why says what is in the way"), exitTimedOut}
		}
		if err != nil {
			return err
		}
		if isDone, err := r.printAnswers(found.AllDeployments()); isDone || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// printAnswers prints what deliveries answered, and returns true once all have. What the user may not read is waited for no longer.
func (r *refresher) printAnswers(all []*cause.Facts) (bool, error) {
	isDone := true
	for _, f := range all {
		if len(f.Deliveries) == 0 {
			return true, r.printUnseen(f)
		}
		isAnswered, err := r.printAnswersOf(f)
		if err != nil {
			return false, err
		}
		isDone = isDone && isAnswered
	}
	return isDone, nil
}

// printUnseen says that no delivery shows what came of a request, and why.
func (r *refresher) printUnseen(f *cause.Facts) error {
	line := f.Deployment.Metadata.Name + " was asked to reconcile: no GitDelivery says what came of it"
	return printLines(r.streams, append([]string{line}, unreadLines(f.Unread)...))
}

// printAnswersOf prints what the deliveries of one deployment answered.
func (r *refresher) printAnswersOf(f *cause.Facts) (bool, error) {
	isDone := true
	for i := range f.Deliveries {
		isAnswered, err := r.printAnswer(&f.Deliveries[i])
		if err != nil {
			return false, err
		}
		isDone = isDone && isAnswered
	}
	return isDone, nil
}

// printAnswer prints what a delivery answered once, and returns true if it has.
func (r *refresher) printAnswer(d *deliveryv1alpha1.GitDelivery) (bool, error) {
	if d.Status.LastHandledReconcileAt != r.token {
		return false, nil
	}
	if r.answered[d.Name] {
		return true, nil
	}
	r.answered[d.Name] = true
	return true, printLines(r.streams, []string{answerLine(d)})
}

func answerLine(d *deliveryv1alpha1.GitDelivery) string {
	ready := d.Status.GetCondition(xpv2.TypeReady)
	line := "GitDelivery " + d.Name + ": " + cmp.Or(string(ready.Reason), "Unknown")
	return strings.TrimSuffix(line+": "+ready.Message, ": ")
}

func unreadLines(unread []cause.Unread) []string {
	var out []string
	for _, u := range unread {
		out = append(out, "not read: "+u.What+": "+u.Why)
	}
	return out
}
