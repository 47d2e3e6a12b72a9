package request

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Look asks for a look at a repository with source code.
type Look struct {
	connection.Flags
	terminal.FormFlag

	Name    string        `arg:""          help:"Name of an Application with a source." predictor:"claim"`
	NoWait  bool          `help:"Do not wait until the provider has looked at the repository."`
	Timeout time.Duration `default:"1m"    help:"How long to wait."`
}

// Run annotates the Application, waits until the provider has looked, and prints the commit. It returns an error when the Application does not exist, when the
// look found no commit, and when the provider did not look in time.
func (c *Look) Run(s *terminal.Streams) error {
	opened, err := c.OpenFor(s)
	if err != nil {
		return err
	}
	ctx, cancel := connection.CancelAfter(context.Background(), c.Timeout)
	defer cancel()
	name, found, err := subject.FindBuilt(ctx, opened, c.Name)
	if err != nil {
		return err
	}
	facts := found.Applications[0]
	if err := refuseRefresh(&facts.Application); err != nil {
		return errors.Wrap(err, name)
	}
	if facts.Application.Spec.ResourceRef.Kind != "" {
		opened.ReadInstallation(ctx, found)
	}
	if err := refusePausedComposite(facts.Installed.Composite); err != nil {
		return errors.Wrap(err, name)
	}
	token := s.Now().UTC().Format(time.RFC3339Nano)
	if err := opened.Refresh(ctx, found, token); err != nil {
		return err
	}
	if c.NoWait {
		report := lookReport{Name: name, Object: subject.Reports(found, s.Now())[0], RequestedAt: token}
		return c.PrintValue(s.Out, report, func(io.Writer) error { return s.PrintLines([]string{name + ": the repository will be looked at"}) })
	}
	read := func(ctx context.Context) (*buildv1alpha1.ImageBuild, error) {
		return opened.ImageBuild(ctx, facts.Application.GroupVersionKind().Group, name)
	}
	b, err := awaitBuildRefresh(ctx, read, token, s.PollInterval())
	if kerrors.IsNotFound(err) || errors.Is(err, cluster.ErrForeignBuild) {
		err = explainNoBuild(facts)
	}
	if err != nil {
		return errors.Wrap(err, name)
	}
	report := newLookReport(name, token, b)
	report.Object = reportAfter(ctx, opened, found, c.Name, s.Now())
	return errors.Join(c.PrintValue(s.Out, report, func(io.Writer) error { return printFoundCommit(s, report) }), report.missingCommitError())
}

// refuseRefresh returns an error for an Application whose repository no provider looks at, with any request.
func refuseRefresh(a *cause.Application) error {
	if a.Spec.Source.Git == nil {
		return errors.New("an archive is not looked at: name another one in spec.source.blob.url, or set another spec.source.trigger to build this one again")
	}
	if a.Metadata.DeletionTimestamp != nil {
		return errors.New("the Application is being deleted, and Crossplane passes no request on")
	}
	if meta.IsPaused(&a.Metadata) {
		return describePause("the Application")
	}
	return nil
}

// refusePausedComposite returns an error for the paused composite of a claim. The composite is nil if there is none, or it could not be read.
func refusePausedComposite(composite *cause.Object) error {
	if composite == nil || !meta.IsPaused(&composite.Metadata) {
		return nil
	}
	return describePause(composite.Kind + " " + composite.Metadata.Name)
}

// describePause says that Crossplane does not reconcile an object.
func describePause(paused string) error {
	return errors.Errorf("%s: Crossplane passes no request on while %s has annotation %s: \"true\": remove it",
		xpv2.ReconcilePaused().Reason, paused, meta.AnnotationKeyReconciliationPaused)
}

// A lookReport is the result of a look, for a program.
type lookReport struct {
	Name string `json:"name"`

	// Object is the Application, as it was at the end.
	Object subject.Report `json:"object"`

	// RequestedAt is the value of the annotation.
	RequestedAt string `json:"requestedAt"`

	// Revision is the requested revision, and Commit the commit that it is at.
	Revision string `json:"revision,omitempty"`
	Commit   string `json:"commit,omitempty"`

	// Reason and Message why no commit was found.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

func newLookReport(name, token string, b *buildv1alpha1.ImageBuild) lookReport {
	observation, git := b.Status.AtProvider, b.Spec.ForProvider.Source.Git
	out := lookReport{Name: name, RequestedAt: token, Reason: observation.SourceTrouble.Reason, Message: observation.SourceTrouble.Message}
	if synced := b.GetCondition(xpv2.TypeSynced); !isRefreshAnswered(b, token) {
		out.Reason, out.Message = string(synced.Reason), synced.Message
	}
	if git != nil && out.Reason == "" {
		out.Revision, out.Commit = git.Revision, observation.Wanted.Commit
	}
	return out
}

// missingCommitError returns an error if no commit was found.
func (r lookReport) missingCommitError() error {
	if r.Reason == "" {
		return nil
	}
	return errors.Errorf("%s: %s", r.Reason, r.Message)
}

// reportAfter returns the report of the Application after the look, or its earlier report where it cannot be read again.
func reportAfter(ctx context.Context, opened *cluster.Cluster, subjects *cluster.Subjects, name string, now time.Time) subject.Report {
	if _, refreshed, err := subject.FindBuilt(ctx, opened, name); err == nil {
		subjects = refreshed
	}
	return subject.Reports(subjects, now)[0]
}

// explainNoBuild returns why an Application has no ImageBuild.
func explainNoBuild(f *cause.ApplicationFacts) error {
	valid := f.Application.Status.Conditions.Get(applicationv1alpha1.TypeValid)
	if valid.Status != metav1.ConditionFalse {
		return errors.New("the repository is not looked at yet: kubectl intent why shows the obstacle")
	}
	return errors.Errorf("%s: %s", valid.Reason, valid.Message)
}

// isRefreshAnswered reports whether the provider answered a request for a look.
func isRefreshAnswered(b *buildv1alpha1.ImageBuild, token string) bool {
	return strings.HasSuffix(b.Status.AtProvider.LookNow, token)
}

// isReconcileFailed reports whether the provider took a request up, and could not look. Its Synced condition says why.
func isReconcileFailed(b *buildv1alpha1.ImageBuild, token string) bool {
	synced := b.GetCondition(xpv2.TypeSynced)
	isPaused := synced.Reason == xpv2.ReconcilePaused().Reason
	return synced.Status == corev1.ConditionFalse && (isPaused || b.Status.LastHandledReconcileAt == token)
}

// awaitBuildRefresh waits until a request for a look was answered, or could not be.
func awaitBuildRefresh(ctx context.Context, read func(context.Context) (*buildv1alpha1.ImageBuild, error), token string, interval time.Duration) (*buildv1alpha1.ImageBuild, error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		b, err := read(ctx)
		if ctx.Err() != nil {
			return nil, terminal.EndError{Err: errors.New("the provider did not look in time: kubectl intent why shows the obstacle"), Code: terminal.ExitTimedOut}
		}
		if err != nil || isRefreshAnswered(b, token) || isReconcileFailed(b, token) {
			return b, err
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// printFoundCommit prints the commit that a look found. A failed look is reported by an error.
func printFoundCommit(s *terminal.Streams, r lookReport) error {
	if r.Reason != "" {
		return s.PrintLines([]string{r.Object.Line()})
	}
	return s.PrintLines([]string{r.Revision + " is at " + r.Commit, r.Object.Line()})
}
