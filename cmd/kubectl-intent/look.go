package main

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
)

// A lookCommand asks for a look at a repository with source code.
type lookCommand struct {
	clusterFlags

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
		return printLines(s, []string{name + ": the repository will be looked at"})
	}
	read := func(ctx context.Context) (*buildv1alpha1.ImageBuild, error) { return opened.ImageBuild(ctx, name) }
	b, err := awaitLook(ctx, read, token, waitInterval)
	if err != nil {
		return errors.Wrap(err, name)
	}
	return printFound(s, b)
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

// printFound prints the commit that a look found. What it did not find is an error.
func printFound(s *streams, b *buildv1alpha1.ImageBuild) error {
	at, git := b.Status.AtProvider, b.Spec.ForProvider.Source.Git
	if trouble := at.SourceTrouble; trouble.Reason != "" {
		return errors.Errorf("%s: %s", trouble.Reason, trouble.Message)
	}
	if git == nil {
		return printLines(s, []string{"an archive is not looked at"})
	}
	return printLines(s, []string{git.Revision + " is at " + at.Wanted.Commit})
}
