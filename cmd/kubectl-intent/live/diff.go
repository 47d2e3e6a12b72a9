package live

import (
	"context"
	"io"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Diff compares a file with the delivered files, or two revisions.
type Diff struct {
	manifest.CatalogFlags
	checkoutFlags
	fetchFlag
	terminal.FormFlag

	File     string  `arg:"" help:"File with one IntentDeployment or Application, or - for the standard input. With --revision the name of a deployment." predictor:"file"`
	Revision []int64 `help:"Compare this revision with another one, both as the clone has them: given twice, the earlier one first."`
}

// Run prints how the files of each Site would change if the file were applied, or how they differ between two revisions. It exits with 1 when
// any do, as diff does. It returns an error for invalid objects, for objects that would not be delivered, and for unreadable ones.
func (c *Diff) Run(s *terminal.Streams) error {
	compare := func() ([]rendering.Report, error) { return c.compareFile(s.In) }
	if len(c.Revision) > 0 {
		compare = c.compareRevisions
	}
	report, err := compare()
	if err != nil {
		return err
	}
	if err := c.PrintValue(s.Out, report, func(w io.Writer) error { return rendering.PrintChanges(w, s.Colours, report) }); err != nil {
		return err
	}
	if slices.ContainsFunc(report, func(r rendering.Report) bool { return len(r.Changes) > 0 }) {
		return terminal.VerdictError{}
	}
	return nil
}

// compareFile returns how the files of each Site would change if the file were applied. While two revisions share the requests, the file is compared with the newer one.
func (c *Diff) compareFile(in io.Reader) ([]rendering.Report, error) {
	flags := manifest.DeploymentFlags{CatalogFlags: c.CatalogFlags, File: c.File}
	// Catalog objects that no file has are read from the cluster.
	flags.Live = flags.Live || len(c.Site) == 0 || len(c.Blueprint) == 0
	compiled, err := rendering.Compile(&flags, "", in)
	if err != nil {
		return nil, errors.Wrap(err, c.File)
	}
	ctx := context.Background()
	f, err := c.findDelivered(ctx, compiled.Owner())
	if err != nil {
		return nil, err
	}
	tracks, err := newestTracks(f)
	if err != nil {
		return nil, err
	}
	nextSites, err := renderInTracks(compiled, tracks)
	if err != nil {
		return nil, errors.Wrap(err, c.File)
	}
	from := newTreeReader(c.fetchFlag, c.namedCheckouts()...)
	defer from.removeClones()
	deliveredSites, err := from.deliveredFiles(ctx, f, tracks)
	if err != nil {
		return nil, err
	}
	return rendering.CompareSites(deliveredSites, nextSites), nil
}

// namedCheckouts returns the clone that the user names, or none.
func (c *Diff) namedCheckouts() []string {
	if c.Checkout == "" {
		return nil
	}
	return []string{c.Checkout}
}

// findDelivered returns the deployment of the cluster that a file is of.
func (c *Diff) findDelivered(ctx context.Context, claimOwner rendering.Owner) (*cause.Facts, error) {
	flags := c.Flags
	flags.Namespace = claimOwner.Claim.Namespace
	opened, err := flags.OpenCluster()
	if err != nil {
		return nil, terminal.UsageError{Err: err}
	}
	return subject.FindDeployment(ctx, opened, "intentdeployments."+claimOwner.Claim.APIGroup+"/"+claimOwner.Claim.Name)
}
