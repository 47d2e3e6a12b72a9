package request

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Refresh requests a look at the present state.
type Refresh struct {
	connection.Flags
	terminal.FormFlag

	Name    string        `arg:""          help:"Name of an Application, an IntentDeployment, a WorkloadCluster or a Bundle. Where several have it, RESOURCE.GROUP/NAME." predictor:"subject"`
	NoWait  bool          `help:"Do not wait until the provider has looked."`
	Timeout time.Duration `default:"1m"    help:"How long to wait."`
}

// Run annotates the object of the name, waits until the provider has looked at each repository, Site and Gate of its deployment, or at the
// cluster, and prints the results. It returns an error when the object cannot be annotated, and when the provider did not look in time.
func (c *Refresh) Run(s *terminal.Streams) error {
	opened, err := c.OpenFor(s)
	if err != nil {
		return err
	}
	ctx, cancel := connection.CancelAfter(context.Background(), c.Timeout)
	defer cancel()
	found, err := opened.Subject(ctx, c.Name)
	if err != nil {
		return err
	}
	token := s.Now().UTC().Format(time.RFC3339Nano)
	if err := opened.Refresh(ctx, found, token); err != nil {
		return err
	}
	if c.NoWait || len(found.AllDeployments()) == 0 && len(found.Clusters) == 0 {
		report := refreshReport{Name: c.Name, Objects: subject.Reports(found, s.Now()), RequestedAt: token, Answers: []lookAnswer{}}
		return c.PrintValue(s.Out, report, func(io.Writer) error { return s.PrintLines([]string{c.Name + " was asked to reconcile"}) })
	}
	look := func(ctx context.Context) (*cluster.Subjects, error) { return opened.Subject(ctx, c.Name) }
	r := &refresher{token: token, look: look, last: found, interval: s.PollInterval(), answered: map[string]bool{}, report: refreshReport{Name: c.Name, RequestedAt: token, Answers: []lookAnswer{}}}
	r.print = func(lines []string) error { return s.PrintLines(lines) }
	if c.Output != "text" {
		r.print = func([]string) error { return nil }
	}
	end := r.awaitReconciles(ctx)
	r.report.Objects = subject.Reports(r.last, s.Now())
	// In the text each answer was printed already.
	err = c.PrintValue(s.Out, r.report, func(io.Writer) error { return s.PrintLines(subject.Lines(r.report.Objects...)) })
	return errors.Join(err, errors.Wrap(end, c.Name))
}

// A refreshReport is the result of a request, for a program.
type refreshReport struct {
	Name string `json:"name"`

	// Objects of the name, as they were at the end.
	Objects []subject.Report `json:"objects"`

	// RequestedAt is the value of the annotation.
	RequestedAt string `json:"requestedAt"`

	// Answers of the objects of the provider: GitDeliveries, SiteSyncs, Gates and ManagedClusters.
	Answers []lookAnswer `json:"answers"`

	Unread []cause.Unread `json:"unread,omitempty"`
}

// A lookAnswer is the result of one object of the provider, such as a GitDelivery in its repository.
type lookAnswer struct {
	// Object, as a person would name it.
	Object  string `json:"object"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// answerLine is the answer as a text.
func (a lookAnswer) answerLine() string {
	return strings.TrimSuffix(a.Object+": "+a.Reason+": "+a.Message, ": ")
}

// A looker is an object of the provider that answers a request to reconcile.
type looker struct {
	object string

	// handled is the request that it answered last.
	handled string
	ready   xpv2.Condition
}

// reconciledObjects returns the objects that the provider reconciles for a deployment.
func reconciledObjects(f *cause.Facts) []looker {
	var out []looker
	for i := range f.Deliveries {
		d := &f.Deliveries[i]
		out = append(out, looker{object: "GitDelivery " + d.Name, handled: d.Status.LastHandledReconcileAt, ready: d.GetCondition(xpv2.TypeReady)})
	}
	for i := range f.Syncs {
		s := &f.Syncs[i]
		out = append(out, looker{object: "SiteSync " + s.Name, handled: s.Status.LastHandledReconcileAt, ready: s.GetCondition(xpv2.TypeReady)})
	}
	for i := range f.Gates {
		g := &f.Gates[i]
		out = append(out, looker{object: "Gate " + g.Name, handled: g.Status.LastHandledReconcileAt, ready: g.GetCondition(xpv2.TypeReady)})
	}
	return out
}

// A refresher waits until the provider has looked at all objects.
type refresher struct {
	token    string
	look     func(context.Context) (*cluster.Subjects, error)
	interval time.Duration

	// print lines while the wait goes on.
	print func(lines []string) error

	// last is the last observation.
	last *cluster.Subjects

	// answered are the objects whose answer was printed, and report has these answers.
	answered map[string]bool
	report   refreshReport
}

// awaitReconciles prints the answer of each object of the provider, until all have answered.
func (r *refresher) awaitReconciles(ctx context.Context) error {
	ticker := time.NewTicker(r.interval)
	defer ticker.Stop()
	for {
		found, err := r.look(ctx)
		if ctx.Err() != nil {
			return terminal.EndError{Err: errors.New("the provider did not look in time: kubectl intent why shows the obstacle"), Code: terminal.ExitTimedOut}
		}
		if err != nil {
			return err
		}
		r.last = found
		if isDone, err := r.printAnswers(found); isDone || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// printAnswers prints the answers of the provider, and returns true once all have come. Objects that the user may not read are not awaited.
func (r *refresher) printAnswers(found *cluster.Subjects) (bool, error) {
	var all []looker
	for _, f := range found.AllDeployments() {
		if len(f.Deliveries) == 0 {
			return true, r.printUnseen(f.Deployment.Metadata.Name, "GitDelivery", f.Unread)
		}
		all = append(all, reconciledObjects(f)...)
	}
	for _, f := range found.Clusters {
		m := f.Managed
		if m == nil {
			return true, r.printUnseen(f.Cluster.Metadata.Name, "ManagedCluster", f.Unread)
		}
		all = append(all, looker{object: "ManagedCluster " + m.Name, handled: m.Status.LastHandledReconcileAt, ready: m.GetCondition(xpv2.TypeReady)})
	}
	isDone := true
	for _, l := range all {
		isAnswered, err := r.printAnswer(l)
		if err != nil {
			return false, err
		}
		isDone = isDone && isAnswered
	}
	return isDone, nil
}

// printUnseen says that no object of a kind shows the result of a request, and why.
func (r *refresher) printUnseen(name, kind string, unread []cause.Unread) error {
	line := name + " was asked to reconcile: no " + kind + " shows the result"
	r.report.Unread = append(r.report.Unread, unread...)
	return r.print(append([]string{line}, subject.UnreadLines(unread)...))
}

// printAnswer prints the answer of an object once, and returns true if it has one.
func (r *refresher) printAnswer(l looker) (bool, error) {
	if l.handled != r.token {
		return false, nil
	}
	if r.answered[l.object] {
		return true, nil
	}
	a := lookAnswer{Object: l.object, Reason: cmp.Or(string(l.ready.Reason), "Unknown"), Message: l.ready.Message}
	r.answered[l.object], r.report.Answers = true, append(r.report.Answers, a)
	return true, r.print([]string{a.answerLine()})
}
