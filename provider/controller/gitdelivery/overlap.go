package gitdelivery

import (
	"context"
	"path"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
	"github.com/intentplane/intentplane/provider/git"
)

// findOverlaps returns, by the path of each pending directory, its first object that another claim delivers to the same Site.
func (e *external) findOverlaps(ctx context.Context, f facts, s *git.Snapshot) (map[string]overlap.Overlap, error) {
	out, claim := map[string]overlap.Overlap{}, f.spec.ClaimRef
	c := overlap.Comparison{Names: e.named, ReadFile: e.repo.ReadFile, Skipped: func(file string, err error) {
		e.logger.Info("Cannot compare with a file of another claim", "claim", claim.Namespace+"/"+claim.Name, "group", claim.APIGroup,
			"revision", f.spec.AskedPosition().Revision, "file", file, "error", err)
	}}
	for _, t := range f.spec.Trees {
		if t.Action == v1alpha1.ActionKeep || !f.isClaimDirectory(t.Path) {
			continue
		}
		files, id := f.markedFiles(t)
		if f.dirs[t.Path].tree == id {
			continue
		}
		found, err := c.Find(ctx, s, overlap.Directory{Path: t.Path, Site: f.sites[t.Site], Files: files})
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		if found.IsOrphaned, err = e.hasLostDelivery(ctx, f, s, path.Dir(path.Dir(t.Path))+"/"+found.Namespace+"/"+found.Name); err != nil {
			return nil, err
		}
		out[t.Path] = *found
	}
	return out, nil
}

// hasLostDelivery reports whether a directory belongs to a claim of this cluster whose GitDelivery was deleted without its directories. It is false for an
// unreadable marker.
func (e *external) hasLostDelivery(ctx context.Context, f facts, s *git.Snapshot, dir string) (bool, error) {
	m, err := e.readMarkerAt(ctx, f, s, dir+"/"+tree.Marker)
	if err != nil || m == nil || m.ClusterUID != f.marker.ClusterUID {
		return false, nil //nolint:nilerr // Then the directory counts as a claim's directory.
	}
	parts, err := e.deliveriesOf(ctx, m.Claim)
	return err == nil && len(parts) == 0, err
}

// isClaimDirectory is true for a directory named by the claim's namespace and name.
func (f facts) isClaimDirectory(dir string) bool {
	c := f.spec.ClaimRef
	return path.Base(dir) == c.Name && path.Base(path.Dir(dir)) == c.Namespace
}

// checkOverlaps refuses to write an object that another claim delivers to the same Site: an engine that builds all of the Site would stop for every claim
// of the Site. The earlier claim keeps the object. A tenant learns the names of its own namespace only.
func checkOverlaps(f facts) *decision {
	c := f.spec.ClaimRef
	for _, t := range f.spec.Trees {
		o, ok := f.overlaps[t.Path]
		if !ok {
			continue
		}
		return refuse(v1alpha1.ReasonObjectConflict, "claim %s/%s may not deliver %s to Site %q: %s", c.Namespace, c.Name, o.Object, t.Site, o.DescribeFor(c.Namespace))
	}
	return nil
}
