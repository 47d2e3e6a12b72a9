package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/catalogview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Sites shows the Sites that a namespace may use.
type Sites struct {
	connection.Flags
	terminal.ListFlag
}

// Run prints the Sites that the namespace may use. It returns an error for an unreadable catalog.
func (c *Sites) Run(s *terminal.Streams) error {
	opened, err := c.OpenCluster()
	if err != nil {
		return terminal.UsageError{Err: err}
	}
	found, err := opened.Sites(context.Background())
	if err != nil {
		return err
	}
	slices.SortFunc(found.Sites, func(a, b catalogview.Site) int { return strings.Compare(a.Name, b.Name) })
	switch {
	case c.IsEncoded():
		return printCatalog(s, c.Output, found.Sites, found)
	case c.Output == "name":
		return s.PrintLines(namesOfCatalog("site", found.Sites, func(e catalogview.Site) string { return e.Name }))
	case len(found.Sites) == 0:
		return s.PrintLines(append([]string{"No Site may be used from namespace " + opened.Namespace() + "."}, originLines(found, opened.Namespace())...))
	}
	return s.PrintLines(append(overview.SiteTable(found.Sites, styleOfList(c.ListFlag)), originLines(found, opened.Namespace())...))
}

// Blueprints shows the Blueprints that a namespace may use.
type Blueprints struct {
	connection.Flags
	terminal.ListFlag

	Name string `arg:"" help:"Name that an intent says, or that of the object. All with the name are shown with their parameters and metrics." optional:""`
}

// Run prints the Blueprints, or the Blueprints of one name with all details for an author. It returns an error for an unreadable catalog, and
// for a name that no Blueprint has.
func (c *Blueprints) Run(s *terminal.Streams) error {
	opened, err := c.OpenCluster()
	if err != nil {
		return terminal.UsageError{Err: err}
	}
	found, err := opened.Blueprints(context.Background())
	if err != nil {
		return err
	}
	entries, origin := c.selectBlueprints(found.Blueprints), originLines(found, opened.Namespace())
	switch {
	case c.Name != "" && len(entries) == 0:
		return errors.New(strings.Join(append([]string{"no Blueprint " + c.Name + " was found"}, origin...), "; "))
	case c.IsEncoded():
		return printCatalog(s, c.Output, entries, found)
	case c.Output == "name":
		return s.PrintLines(namesOfCatalog("blueprint", entries, func(e catalogview.Blueprint) string { return e.Object }))
	}
	return s.PrintLines(append(c.blueprintLines(entries), origin...))
}

// selectBlueprints returns the Blueprints with the requested name, or all, sorted.
func (c *Blueprints) selectBlueprints(all []catalogview.Blueprint) []catalogview.Blueprint {
	out := []catalogview.Blueprint{}
	for _, e := range all {
		if c.Name == "" || c.Name == e.Name || c.Name == e.Object {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b catalogview.Blueprint) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Object, b.Object))
	})
	return out
}

func (c *Blueprints) blueprintLines(entries []catalogview.Blueprint) []string {
	switch {
	case len(entries) == 0:
		return []string{"No Blueprint was found."}
	case c.Name == "":
		return overview.BlueprintTable(entries, styleOfList(c.ListFlag))
	}
	var out []string
	for i := range entries {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, overview.BlueprintLines(entries[i], styleOfList(c.ListFlag))...)
	}
	return out
}

// namesOfCatalog returns names that kubectl takes.
func namesOfCatalog[T any](kind string, all []T, nameOf func(T) string) []string {
	var out []string
	for _, e := range all {
		out = append(out, kind+".catalog.intentplane.dev/"+nameOf(e))
	}
	return out
}

// printCatalog prints entries as data, with where they were read.
func printCatalog[T any](s *terminal.Streams, form string, entries []T, from *cluster.Catalog) error {
	if entries == nil {
		entries = []T{}
	}
	out := map[string]any{"items": entries, "unread": from.Unread}
	if from.Published != "" {
		out["configMap"], out["omitted"] = from.Published, from.Omitted
	}
	return s.PrintEncoded(form, out)
}

// originLines name the unread parts of the catalog, and the source that replaced them.
func originLines(c *cluster.Catalog, namespace string) []string {
	var out []string
	for _, u := range c.Unread {
		line := "Not read: " + u.Object + ": " + u.Reason + ". "
		if c.Published != "" {
			out = append(out, line+"The provider publishes this in ConfigMap "+c.Published)
			continue
		}
		out = append(out, line+"These are the names that deployments of the namespace use. The provider publishes more once you ask for it: kubectl create configmap "+
			catalogview.ConfigMapName+" -n "+namespace)
	}
	if c.Omitted > 0 {
		out = append(out, fmt.Sprintf("%d more may be used, for which the ConfigMap has no room: ask the platform team for the ClusterRole intentplane:catalog-view", c.Omitted))
	}
	return out
}

// styleOfList returns the style of a list, which is not cut.
func styleOfList(f terminal.ListFlag) overview.Style {
	return overview.Style{IsWide: f.Output == "wide"}
}
