package main

import (
	"bytes"
	"context"
	"io"
	"path"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// A diffCommand compares a file with the delivered files, or two revisions.
type diffCommand struct {
	manifest.CatalogFlags
	checkoutFlags
	fetchFlag
	terminal.FormFlag

	File     string  `arg:"" help:"File with one IntentDeployment or Application, or - for the standard input. With --revision the name of a deployment." predictor:"file"`
	Revision []int64 `help:"Compare this revision with another one, both as the clone has them: given twice, the earlier one first."`
}

// Run prints how the files of each Site would change if the file were applied, or how they differ between two revisions. It exits with 1 when
// any do, as diff does. It returns an error for invalid objects, for objects that would not be delivered, and for unreadable ones.
func (c *diffCommand) Run(s *terminal.Streams) error {
	compare := func() ([]Rendering, error) { return c.compareFile(s.In) }
	if len(c.Revision) > 0 {
		compare = c.compareRevisions
	}
	report, err := compare()
	if err != nil {
		return err
	}
	if err := c.PrintValue(s.Out, report, func(w io.Writer) error { return printChanges(w, s.Colours, report) }); err != nil {
		return err
	}
	if slices.ContainsFunc(report, func(r Rendering) bool { return len(r.Changes) > 0 }) {
		return terminal.VerdictError{}
	}
	return nil
}

// compareFile returns how the files of each Site would change if the file were applied. While two revisions share the requests, the file is compared with the newer one.
func (c *diffCommand) compareFile(in io.Reader) ([]Rendering, error) {
	r := &renderCommand{DeploymentFlags: manifest.DeploymentFlags{CatalogFlags: c.CatalogFlags, File: c.File}}
	// Catalog objects that no file has are read from the cluster.
	r.Live = r.Live || len(c.Site) == 0 || len(c.Blueprint) == 0
	compiled, err := r.compileOne(in)
	if err != nil {
		return nil, errors.Wrap(err, c.File)
	}
	ctx := context.Background()
	f, err := c.findDelivered(ctx, compiled.whose())
	if err != nil {
		return nil, err
	}
	tracks, err := newestTracks(f)
	if err != nil {
		return nil, err
	}
	nextSites, err := renderInTracks(r, compiled, tracks)
	if err != nil {
		return nil, errors.Wrap(err, c.File)
	}
	from := newTreeReader(c.fetchFlag, nonEmptyLines(c.Checkout)...)
	defer from.removeClones()
	deliveredSites, err := from.deliveredFiles(ctx, f, tracks)
	if err != nil {
		return nil, err
	}
	return compareSites(deliveredSites, nextSites), nil
}

// findDelivered returns the deployment of the cluster that a file is of.
func (c *diffCommand) findDelivered(ctx context.Context, claimOwner owner) (*cause.Facts, error) {
	flags := c.Flags
	flags.Namespace = claimOwner.claim.Namespace
	opened, err := flags.OpenCluster()
	if err != nil {
		return nil, terminal.UsageError{Err: err}
	}
	return findDeployment(ctx, opened, "intentdeployments."+claimOwner.claim.APIGroup+"/"+claimOwner.claim.Name)
}

// compareSites returns the changes of the files of each Site, including removed Sites, whose directories are removed.
func compareSites(previous, next []rendered) []Rendering {
	byPath := map[string]rendered{}
	for _, site := range previous {
		byPath[site.path] = site
	}
	var out []Rendering
	for _, site := range next {
		r := Rendering{Site: site.site, Path: site.path, Waits: site.waits, Changes: []Change{}}
		if !site.waits {
			r.Changes = compareFiles(site.path, byPath[site.path].files, site.files)
		}
		delete(byPath, site.path)
		out = append(out, r)
	}
	for _, site := range previous {
		if _, isLeft := byPath[site.path]; isLeft {
			out = append(out, Rendering{Path: site.path, Removed: true, Changes: compareFiles(site.path, site.files, nil)})
		}
	}
	return out
}

// compareFiles returns how the files of a directory change.
func compareFiles(dir string, previous, next tree.Files) []Change {
	names := slices.Concat(previous.Names(), next.Names())
	slices.Sort(names)
	out := []Change{}
	for _, name := range slices.Compact(names) {
		if full := path.Join(dir, name); !bytes.Equal(previous[name], next[name]) {
			out = append(out, Change{File: full, Diff: unifiedDiff(full, previous[name], next[name])})
		}
	}
	return out
}
