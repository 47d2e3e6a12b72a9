package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
)

// A sitesCommand shows the Sites that a namespace may use.
type sitesCommand struct {
	clusterFlags
	formFlag
}

// Run prints the Sites that the namespace may use. It returns an error for what cannot be read.
func (c *sitesCommand) Run(s *streams) error {
	opened, err := c.openCluster()
	if err != nil {
		return usageError{err}
	}
	found, err := opened.Sites(context.Background())
	if err != nil {
		return err
	}
	entries := []overview.SiteEntry{}
	for i := range found.Sites {
		entries = append(entries, overview.ForSite(&found.Sites[i]))
	}
	slices.SortFunc(entries, func(a, b overview.SiteEntry) int { return strings.Compare(a.Name, b.Name) })
	if c.Output != "text" {
		return printEncoded(s, c.Output, map[string]any{"items": entries, "unread": found.Unread})
	}
	if len(entries) == 0 {
		return printLines(s, append([]string{"No Site may be used from namespace " + opened.Namespace() + "."}, unreadOffers(found.Unread)...))
	}
	return printLines(s, append(overview.SiteTable(entries, overview.Style{}), unreadOffers(found.Unread)...))
}

// A blueprintsCommand shows the Blueprints that a namespace may use.
type blueprintsCommand struct {
	clusterFlags
	formFlag

	Name string `arg:"" help:"Name that an intent says, or that of the object. All with the name are shown with their parameters and metrics." optional:""`
}

// Run prints the Blueprints, or those of one name with all that an author needs. It returns an error for what cannot be read, and for a name that none has.
func (c *blueprintsCommand) Run(s *streams) error {
	opened, err := c.openCluster()
	if err != nil {
		return usageError{err}
	}
	found, err := opened.Blueprints(context.Background())
	if err != nil {
		return err
	}
	entries := []overview.BlueprintEntry{}
	for i := range found.Blueprints {
		if e := overview.ForBlueprint(&found.Blueprints[i]); c.Name == "" || c.Name == e.Name || c.Name == e.Object {
			entries = append(entries, e)
		}
	}
	if c.Name != "" && len(entries) == 0 {
		return errors.New(strings.Join(append([]string{"no Blueprint " + c.Name + " was found"}, unreadOffers(found.Unread)...), "; "))
	}
	slices.SortFunc(entries, func(a, b overview.BlueprintEntry) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Object, b.Object))
	})
	if c.Output != "text" {
		return printEncoded(s, c.Output, map[string]any{"items": entries, "unread": found.Unread})
	}
	return printLines(s, append(c.blueprintLines(entries), unreadOffers(found.Unread)...))
}

func (c *blueprintsCommand) blueprintLines(entries []overview.BlueprintEntry) []string {
	switch {
	case len(entries) == 0:
		return []string{"No Blueprint was found."}
	case c.Name == "":
		return overview.BlueprintTable(entries, overview.Style{})
	}
	var out []string
	for i := range entries {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, overview.BlueprintLines(entries[i], overview.Style{})...)
	}
	return out
}

// unreadOffers say what could not be read, and who gives the right to.
func unreadOffers(unread []cause.Unread) []string {
	var out []string
	for _, u := range unread {
		out = append(out, "Not read: "+u.What+": "+u.Why+". These are the names that deployments of the namespace use; the ClusterRole intentplane:catalog-view shows all")
	}
	return out
}

func printEncoded(s *streams, form string, v any) error {
	b, err := encodeValue(form, v)
	if err != nil {
		return err
	}
	_, err = s.out.Write(b)
	return errors.Wrap(err, "cannot print")
}
