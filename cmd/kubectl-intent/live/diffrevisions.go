package live

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/clone"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// compareRevisions returns how the files of each Site differ between two revisions of a deployment, as a clone has them.
func (c *Diff) compareRevisions() ([]rendering.Report, error) {
	switch {
	case len(c.Revision) != 2:
		return nil, terminal.UsageError{Err: errors.New("two revisions are compared: --revision N --revision M")}
	case c.Checkout == "":
		return nil, terminal.UsageError{Err: errors.New("the repository alone has the files of earlier revisions: name a clone of it with --checkout")}
	}
	ctx := context.Background()
	from, m, err := c.findClaimMemory(ctx, c.Namespace, c.File)
	if err != nil {
		return nil, err
	}
	previous, err := filesOfRevision(ctx, from, m, c.Revision[0])
	if err != nil {
		return nil, err
	}
	next, err := filesOfRevision(ctx, from, m, c.Revision[1])
	return rendering.CompareSites(previous, next), err
}

// filesOfRevision returns the files of each Site, sorted by Site.
func filesOfRevision(ctx context.Context, from *clone.Clone, m clone.Memory, number int64) ([]rendering.Site, error) {
	i := slices.IndexFunc(m.Revisions, func(h deliveryv1alpha1.HistoryEntry) bool { return h.Revision == number })
	if i < 0 || len(m.Revisions[i].Trees) == 0 {
		return nil, errors.Errorf("%s of the clone does not name the files of revision %d", m.Ref, number)
	}
	var out []rendering.Site
	for _, t := range m.Revisions[i].Trees {
		site, err := filesOfSite(ctx, from, m, t)
		if err != nil {
			return nil, errors.Wrapf(err, "revision %d, Site %q", number, t.Site)
		}
		out = append(out, site)
	}
	slices.SortFunc(out, func(a, b rendering.Site) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// filesOfSite returns the files of a Site. The path is the present path: the earlier path of a removed Site is unknown, and its name stands
// for it.
func filesOfSite(ctx context.Context, from *clone.Clone, m clone.Memory, t deliveryv1alpha1.HistoryTree) (rendering.Site, error) {
	files, err := from.ReadFiles(ctx, t.Tree)
	return rendering.Site{Name: t.Site, Path: cmp.Or(m.Paths[t.Site], t.Site), Files: files}, err
}
