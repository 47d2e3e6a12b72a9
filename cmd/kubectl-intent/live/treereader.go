package live

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/clone"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/provider/mandate"
)

// fetchFlag lets a command fetch from repositories.
type fetchFlag struct {
	Fetch bool `help:"Fetch files that the GitDeliveries do not carry from their repositories, with the program git and your own credentials for it."`
}

// A treeReader reads the files that a deployment delivers: from its GitDeliveries and, where these do not carry them, from a clone of the repository.
type treeReader struct {
	fetchFlag

	// checkouts are clones that the user names.
	checkouts []string

	// opened are the clones, by the name of a GitDelivery and the branch, and folder has the fetched clones.
	opened map[string][]*clone.Clone
	folder string
}

func newTreeReader(f fetchFlag, checkouts ...string) *treeReader {
	return &treeReader{fetchFlag: f, checkouts: checkouts, opened: map[string][]*clone.Clone{}}
}

// removeClones removes the fetched clones.
func (r *treeReader) removeClones() {
	if r.folder != "" {
		_ = os.RemoveAll(r.folder)
	}
}

// deliveredFiles returns the files of each Site, sorted by Site. Of a Site in tracks it returns the files of its track alone.
func (r *treeReader) deliveredFiles(ctx context.Context, f *cause.Facts, tracks map[string]string) ([]rendering.Site, error) {
	var out []rendering.Site
	for i := range f.Deliveries {
		for _, t := range reachedTrees(&f.Deliveries[i]) {
			site, err := r.filesOfTree(ctx, &f.Deliveries[i], &t, tracks[t.Site])
			if err != nil {
				return nil, errors.Wrapf(err, "Site %q", t.Site)
			}
			out = append(out, site)
		}
	}
	if len(out) == 0 {
		return nil, errors.New(strings.Join(append([]string{f.Deployment.Metadata.Name + " delivers no files yet"}, subject.UnreadLines(f.Unread)...), "; "))
	}
	slices.SortFunc(out, func(a, b rendering.Site) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// reachedTrees returns the trees of the directories in the repository of a GitDelivery: the trees of the spec until the provider goes beyond the position of the
// spec by a mandate. A directory without tracks has the tree of its later step then, and each directory has the tree that the status reports, as after a
// rollback.
func reachedTrees(d *deliveryv1alpha1.GitDelivery) []deliveryv1alpha1.Tree {
	p, s := d.Spec.ForProvider, d.Status.AtProvider.RecordedState()
	if mandate.Position(d) == p.AskedPosition() {
		return p.Trees
	}
	if !s.HasTracks() {
		p = directories.At(p, s)
	}
	out := slices.Clone(p.Trees)
	for i, t := range out {
		if delivered, isKnown := evidence.HeldTree(d, t.Path); isKnown && delivered.Tree != t.Tree {
			out[i].Action, out[i].Tree = deliveryv1alpha1.ActionRestore, delivered.Tree
		}
	}
	return out
}

// filesOfTree returns the files of a Site. A Site that receives nothing yet has none, and a Site with action Keep has the files of its
// present tree.
func (r *treeReader) filesOfTree(ctx context.Context, d *deliveryv1alpha1.GitDelivery, t *deliveryv1alpha1.Tree, trackName string) (rendering.Site, error) {
	out := rendering.Site{Name: t.Site, Path: t.Path}
	if t.Action == deliveryv1alpha1.ActionKeep && t.Tree == "" {
		t = repositoryTree(d, t)
		out.Waits = t.Tree == ""
	}
	if out.Waits {
		return out, nil
	}
	carried, isWhole, err := carriedFiles(t)
	if err != nil {
		return out, err
	}
	if out.Files = carried; !isWhole && !isCarriedTrack(t, carried, trackName) {
		if out.Files, err = r.readTreeFiles(ctx, d, t, carried); err != nil {
			return out, err
		}
	}
	if trackName != "" {
		out.Files, err = filesOfTrack(out.Files, trackName)
	}
	return out, err
}

// repositoryTree returns a tree that stays, with the id that the repository reported for its directory, or with none.
func repositoryTree(d *deliveryv1alpha1.GitDelivery, t *deliveryv1alpha1.Tree) *deliveryv1alpha1.Tree {
	out := t.DeepCopy()
	delivered, _ := evidence.HeldTree(d, t.Path)
	out.Tree = delivered.Tree
	return out
}

// carriedFiles returns the files that a GitDelivery carries of a directory, and true if the directory has these and no others.
func carriedFiles(t *deliveryv1alpha1.Tree) (tree.Files, bool, error) {
	if len(t.Files) == 0 {
		return nil, false, nil
	}
	files, err := tree.Decode(t.Files)
	if err != nil {
		return nil, false, errors.Wrap(err, "cannot decode the files")
	}
	return files, len(t.Parts) == 0 && (t.Tree == "" || tree.ID(files) == t.Tree), nil
}

// isCarriedTrack is true where the GitDelivery carries all that the directory has of a track.
func isCarriedTrack(t *deliveryv1alpha1.Tree, carried tree.Files, trackName string) bool {
	return trackName != "" && t.Action != deliveryv1alpha1.ActionKeep && slices.ContainsFunc(carried.Names(), func(name string) bool { return strings.HasPrefix(name, trackName+"/") })
}

// readTreeFiles returns the files of a directory, of which a GitDelivery carries some or none.
func (r *treeReader) readTreeFiles(ctx context.Context, d *deliveryv1alpha1.GitDelivery, t *deliveryv1alpha1.Tree, carried tree.Files) (tree.Files, error) {
	all, err := r.openClones(ctx, d, t)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, from := range all {
		files, err := readFromClone(ctx, from, t, carried)
		if err == nil {
			return files, nil
		}
		failed = err
	}
	return nil, failed
}

// readFromClone adds files of a clone to the files that a GitDelivery carries of a directory. It returns an error for files that do not
// belong to the tree.
func readFromClone(ctx context.Context, from *clone.Clone, t *deliveryv1alpha1.Tree, carried tree.Files) (tree.Files, error) {
	if t.Action != deliveryv1alpha1.ActionDesired {
		return from.ReadDirectory(ctx, t.Tree, t.Branch, t.Path)
	}
	out := tree.Files{}
	maps.Copy(out, carried)
	for _, p := range t.Parts {
		files, err := from.ReadFiles(ctx, p.Tree)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read folder %s from the clone, which has the commits of the last fetch", p.Path)
		}
		for name, content := range files {
			out[p.Path+"/"+name] = content
		}
	}
	if t.Tree != "" && tree.ID(out) != t.Tree {
		return nil, errors.Errorf("the GitDelivery and the clone have other files of directory %s than tree %s, which is asked for", t.Path, t.Tree)
	}
	return out, nil
}

// openClones returns the clones that the user names, or a clone that is fetched now.
func (r *treeReader) openClones(ctx context.Context, d *deliveryv1alpha1.GitDelivery, t *deliveryv1alpha1.Tree) ([]*clone.Clone, error) {
	key := ""
	if len(r.checkouts) == 0 {
		key = d.Name + "/" + t.Branch
	}
	if all := r.opened[key]; all != nil {
		return all, nil
	}
	var err error
	if len(r.checkouts) > 0 {
		r.opened[key], err = openCheckouts(ctx, r.checkouts)
		return r.opened[key], err
	}
	c, err := r.fetchClone(ctx, d, t)
	if err == nil {
		r.opened[key] = []*clone.Clone{c}
	}
	return r.opened[key], err
}

func openCheckouts(ctx context.Context, dirs []string) ([]*clone.Clone, error) {
	var out []*clone.Clone
	for _, dir := range dirs {
		c, err := clone.Open(ctx, dir)
		if err != nil {
			return nil, terminal.UsageError{Err: err}
		}
		out = append(out, c)
	}
	return out, nil
}

// fetchClone fetches from the repository of a GitDelivery, if the user wants that.
func (r *treeReader) fetchClone(ctx context.Context, d *deliveryv1alpha1.GitDelivery, t *deliveryv1alpha1.Tree) (*clone.Clone, error) {
	remote := d.Status.AtProvider.Remote
	switch {
	case !r.Fetch:
		return nil, errors.Errorf("GitDelivery %s does not carry all files, as after a rollback and in a canary: directory %s of the repository has them. Name a clone of it with --checkout, or say --fetch", d.Name, t.Path)
	case remote == nil || remote.URL == "":
		return nil, errors.Errorf("GitDelivery %s does not say where its repository is: name a clone of it with --checkout", d.Name)
	}
	if r.folder == "" {
		var err error
		if r.folder, err = os.MkdirTemp("", "kubectl-intent-"); err != nil {
			return nil, errors.Wrap(err, "cannot make a folder for the clone")
		}
	}
	return clone.Fetch(ctx, filepath.Join(r.folder, strconv.Itoa(len(r.opened))), remote.URL, t.Branch)
}
