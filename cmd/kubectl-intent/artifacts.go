package main

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
)

// An artifactsCommand shows the files that a deployment delivers.
type artifactsCommand struct {
	clusterFlags
	formFlag

	Name string `arg:"" help:"Name of an IntentDeployment, or of the Application that composed it. Where both API groups have one, intentdeployments.GROUP/NAME." predictor:"claim"`
	To   string `help:"Folder to write to, which must be empty or not exist, instead of the standard output. Each Site has a folder in it." predictor:"dir"`
}

// Run prints the files of each Site as the GitDeliveries of the deployment carry them, or writes them to a folder. It returns an error for what cannot be read, and for a
// Site whose files the GitDelivery does not carry.
func (c *artifactsCommand) Run(s *streams) error {
	opened, err := c.openCluster()
	if err != nil {
		return usageError{err}
	}
	f, err := findDeployment(context.Background(), opened, c.Name)
	if err != nil {
		return err
	}
	all, err := deliveredFiles(f)
	if err != nil {
		return err
	}
	printer := &renderCommand{formFlag: c.formFlag, To: c.To}
	if c.To != "" {
		return printer.writeFolders(s.out, all)
	}
	return printer.printFiles(s.out, all)
}

// findDeployment returns the one deployment of a name, and what was composed for it.
func findDeployment(ctx context.Context, from *cluster.Cluster, name string) (*cause.Facts, error) {
	found, err := from.Subject(ctx, name)
	if err != nil {
		return nil, err
	}
	all := found.AllDeployments()
	if len(all) != 1 {
		return nil, errors.Errorf("%s is the name of %d IntentDeployments, want one: say intentdeployments.GROUP/NAME", name, len(all))
	}
	return all[0], nil
}

// deliveredFiles returns the files of each Site, sorted by Site, as the GitDeliveries carry them.
func deliveredFiles(f *cause.Facts) ([]rendered, error) {
	var out []rendered
	for i := range f.Deliveries {
		for _, t := range f.Deliveries[i].Spec.ForProvider.Trees {
			one, err := filesOfTree(&t)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		return nil, errors.New(strings.Join(append([]string{f.Deployment.Metadata.Name + " delivers no files yet"}, unreadLines(f.Unread)...), "; "))
	}
	slices.SortFunc(out, func(a, b rendered) int { return strings.Compare(a.site, b.site) })
	return out, nil
}

// filesOfTree returns the files of a Site. A Site that receives nothing yet has none. It returns an error where the files are in the repository alone.
func filesOfTree(t *deliveryv1alpha1.Tree) (rendered, error) {
	out := rendered{site: t.Site, path: t.Path, waits: t.Action == deliveryv1alpha1.ActionKeep && t.Tree == ""}
	if out.waits {
		return out, nil
	}
	if len(t.Files) == 0 || len(t.Parts) > 0 {
		return out, errors.Errorf("Site %q: the GitDelivery does not carry all files, as after a rollback or in a canary: directory %s of the repository has them", t.Site, t.Path)
	}
	files, err := tree.Decode(t.Files)
	if err != nil {
		return out, errors.Wrapf(err, "cannot decode the files of Site %q", t.Site)
	}
	if id := tree.ID(files); t.Tree != "" && id != t.Tree {
		return out, errors.Errorf("Site %q: the GitDelivery carries other files than the directory %s holds: it keeps an earlier revision", t.Site, t.Path)
	}
	out.files = files
	return out, nil
}
