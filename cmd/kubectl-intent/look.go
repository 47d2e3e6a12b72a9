package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
)

// A lookCommand asks for a look at a repository with source code.
type lookCommand struct {
	clusterFlags
	formFlag

	Name    string        `arg:""          help:"Name of an Application with a source." predictor:"claim"`
	NoWait  bool          `help:"Do not wait until the provider has looked at the repository."`
	Timeout time.Duration `default:"1m"    help:"How long to wait."`
}

// Run annotates the Application, waits until the provider has looked, and prints the commit. It returns an error when the Application does not exist, when the
// look found no commit, and when the provider did not look in time.
func (c *lookCommand) Run(s *streams) error {
	opened, err := c.openCluster()
	if err != nil {
		return usageError{err}
	}
	ctx, cancel := cancelAfter(context.Background(), c.Timeout)
	defer cancel()
	name, found, err := findBuilt(ctx, opened, c.Name)
	if err != nil {
		return err
	}
	token := s.now().UTC().Format(time.RFC3339Nano)
	if err := opened.Refresh(ctx, found, token); err != nil {
		return err
	}
	if c.NoWait {
		report := lookReport{Name: name, Object: reportObjects(found, s.now())[0], RequestedAt: token}
		return c.printValue(s.out, report, func(io.Writer) error { return printLines(s, []string{name + ": the repository will be looked at"}) })
	}
	read := func(ctx context.Context) (*buildv1alpha1.ImageBuild, error) { return opened.ImageBuild(ctx, name) }
	b, err := awaitLook(ctx, read, token, waitInterval)
	if err != nil {
		return errors.Wrap(err, name)
	}
	report := newLookReport(name, token, b)
	report.Object = reportAfter(ctx, opened, found, c.Name, s.now())
	return errors.Join(c.printValue(s.out, report, func(io.Writer) error { return printFound(s, report) }), report.trouble())
}

// A lookReport is what a look found, for a program.
type lookReport struct {
	Name string `json:"name"`

	// Object is the Application, as it was at the end.
	Object objectReport `json:"object"`

	// RequestedAt is the value of the annotation.
	RequestedAt string `json:"requestedAt"`

	// Revision that was looked for, and the Commit that it is at. An archive has none.
	Revision string `json:"revision,omitempty"`
	Commit   string `json:"commit,omitempty"`

	// Reason and Message why no commit was found.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

func newLookReport(name, token string, b *buildv1alpha1.ImageBuild) lookReport {
	at, git := b.Status.AtProvider, b.Spec.ForProvider.Source.Git
	out := lookReport{Name: name, RequestedAt: token, Reason: at.SourceTrouble.Reason, Message: at.SourceTrouble.Message}
	if git != nil && out.Reason == "" {
		out.Revision, out.Commit = git.Revision, at.Wanted.Commit
	}
	return out
}

// trouble returns an error if no commit was found.
func (r lookReport) trouble() error {
	if r.Reason == "" {
		return nil
	}
	return errors.Errorf("%s: %s", r.Reason, r.Message)
}

// reportAfter returns the report of the Application after the look, or that of before where it cannot be read again.
func reportAfter(ctx context.Context, opened *cluster.Cluster, before *cluster.Subjects, name string, now time.Time) objectReport {
	if _, after, err := findBuilt(ctx, opened, name); err == nil {
		before = after
	}
	return reportObjects(before, now)[0]
}

// findBuilt returns the one Application of a name, which has a source.
func findBuilt(ctx context.Context, opened *cluster.Cluster, name string) (string, *cluster.Subjects, error) {
	found, err := opened.Subject(ctx, name)
	if err != nil {
		return "", nil, err
	}
	if len(found.Applications) != 1 || !found.Applications[0].Application.Spec.IsBuilt() {
		return "", nil, errors.Errorf("%s: no Application of that name is built of a source", name)
	}
	return found.Applications[0].Application.Metadata.Name, found, nil
}

// awaitLook waits until a look has answered a request.
func awaitLook(ctx context.Context, read func(context.Context) (*buildv1alpha1.ImageBuild, error), token string, interval time.Duration) (*buildv1alpha1.ImageBuild, error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		b, err := read(ctx)
		if ctx.Err() != nil {
			return nil, endError{errors.New("the provider did not look in time: kubectl intent why says what is in the way"), exitTimedOut}
		}
		if err != nil || strings.HasSuffix(b.Status.AtProvider.LookNow, token) {
			return b, err
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// printFound prints the commit that a look found. What it did not find is said by an error.
func printFound(s *streams, r lookReport) error {
	switch {
	case r.Reason != "":
		return printLines(s, []string{r.Object.line()})
	case r.Revision == "":
		return printLines(s, []string{"an archive is not looked at", r.Object.line()})
	}
	return printLines(s, []string{r.Revision + " is at " + r.Commit, r.Object.line()})
}
