package observation

import (
	"context"
	"path"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
	"github.com/intentplane/intentplane/provider/git"
)

// findOverlaps returns, by the path of each pending directory, its first object that another claim delivers to the same Site.
func (g *Gatherer) findOverlaps(ctx context.Context, f decision.Facts, s *git.Snapshot) (map[string]overlap.Overlap, error) {
	out, claim := map[string]overlap.Overlap{}, f.Spec.ClaimRef
	c := overlap.Comparison{Names: g.Names, ReadFile: g.Repository.ReadFile, Skipped: func(file string, err error) {
		g.Logger.Info("Cannot compare with a file of another claim", "claim", claim.Namespace+"/"+claim.Name, "group", claim.APIGroup,
			"revision", f.Spec.AskedPosition().Revision, "file", file, "error", err)
	}}
	for _, t := range f.Spec.Trees {
		if t.Action == v1alpha1.ActionKeep || !f.IsClaimDirectory(t.Path) {
			continue
		}
		files, id := f.MarkedFiles(t)
		if f.Directories[t.Path].Tree == id {
			continue
		}
		found, err := c.Find(ctx, s, overlap.Directory{Path: t.Path, Site: f.Sites[t.Site], Files: files})
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		if found.IsOrphaned, err = g.hasLostDelivery(ctx, f, s, path.Dir(path.Dir(t.Path))+"/"+found.Namespace+"/"+found.Name); err != nil {
			return nil, err
		}
		out[t.Path] = *found
	}
	return out, nil
}

// hasLostDelivery reports whether a directory belongs to a claim of this cluster whose GitDelivery was deleted without its directories. It is false for an
// unreadable marker.
func (g *Gatherer) hasLostDelivery(ctx context.Context, f decision.Facts, s *git.Snapshot, dir string) (bool, error) {
	m, err := g.readMarkerAt(ctx, f, s, dir+"/"+tree.Marker)
	if err != nil || m == nil || m.ClusterUID != f.Marker.ClusterUID {
		return false, nil //nolint:nilerr // Then the directory counts as a claim's directory.
	}
	parts, err := g.DeliveriesOf(ctx, m.Claim)
	return err == nil && len(parts) == 0, err
}
