// Package live has the commands of kubectl intent that read a cluster, or a clone in its place, and change nothing, such as status, why, logs, diff, history
// and doctor.
package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// redrawInterval is the shortest time between two drawings of changes: there are five in a second at most.
const redrawInterval = 200 * time.Millisecond

// Status shows Bundles, Applications, deployments and clusters.
type Status struct {
	connection.Flags
	terminal.ListFlag

	Name          string `arg:""         help:"Name of an Application, an IntentDeployment, a WorkloadCluster or a Bundle. Where several have it, RESOURCE.GROUP/NAME. Without a name all of the namespace are listed." optional:"" predictor:"subject"`
	AllNamespaces bool   `help:"List the objects of all namespaces."                                                                                                                   short:"A"`
	Watch         bool   `help:"Show each change, until the command is ended. On a terminal the output is drawn again, elsewhere each change is a line."                         short:"w"`
	Stuck         bool   `help:"Show only objects that do not go on until a person acts."`
}

// Run prints how far Bundles, Applications, deployments and clusters are. It returns an error for unreadable objects, also if it printed the
// rest: no script takes an outage for a list in which nothing is stuck.
func (c *Status) Run(s *terminal.Streams) error {
	if c.Name != "" && c.AllNamespaces {
		return terminal.UsageError{Err: errors.New("--all-namespaces is for a list: a name is one of a namespace")}
	}
	if c.Watch && c.Output != "text" && c.Output != "wide" {
		return terminal.UsageError{Err: errors.New("--watch prints text")}
	}
	opened, err := c.OpenFor(s)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if c.Watch {
		return c.watchChanges(ctx, s, opened)
	}
	found, err := c.readSubjects(ctx, opened)
	if err != nil {
		return err
	}
	return errors.Join(c.printSubjects(s, found), found.Failure)
}

// readSubjects reads the subjects to show, once.
func (c *Status) readSubjects(ctx context.Context, from *cluster.Cluster) (*cluster.Subjects, error) {
	found, err := c.readNamedSubjects(ctx, from)
	if err == nil && c.Stuck {
		from.ReadBeneath(ctx, found, c.namespaceToRead(from))
	}
	return found, err
}

// readNamedSubjects reads the subjects of the name or, without one, all.
func (c *Status) readNamedSubjects(ctx context.Context, from *cluster.Cluster) (*cluster.Subjects, error) {
	if c.Name != "" {
		return from.Subject(ctx, c.Name)
	}
	return from.All(ctx, c.namespaceToRead(from))
}

func (c *Status) namespaceToRead(opened *cluster.Cluster) string {
	if c.AllNamespaces {
		return cluster.AllNamespaces
	}
	return opened.Namespace()
}

// sortedRows returns the rows of subjects, sorted, and with --stuck only rows that need a person.
func (c *Status) sortedRows(found *cluster.Subjects, now time.Time) []overview.Row {
	out := subject.Rows(found, now)
	if c.Stuck {
		return overview.Stuck(out)
	}
	return out
}

// detailedOverviews returns overviews of subjects, with all parts.
func (c *Status) detailedOverviews(found *cluster.Subjects, now time.Time) []overview.Overview {
	out := subject.Overviews(found, now)
	if c.Stuck {
		return slices.DeleteFunc(out, func(o overview.Overview) bool { return !o.Finding.NeedsPerson() })
	}
	return out
}

// printSubjects prints the subjects, once.
func (c *Status) printSubjects(s *terminal.Streams, found *cluster.Subjects) error {
	now := s.Now()
	switch c.Output {
	case "json", "yaml":
		return c.printObjects(s, found, now)
	case "name":
		// The output is for another command, so a person reads the unread objects elsewhere.
		diagnostics := &terminal.Streams{Out: s.ErrOut}
		return errors.Join(diagnostics.PrintLines(overview.UnreadSummary(found.Beneath.Unread)), s.PrintLines(namesOfRows(c.sortedRows(found, now))))
	}
	return s.PrintLines(c.subjectLines(s, found, now))
}

func (c *Status) printObjects(s *terminal.Streams, found *cluster.Subjects, now time.Time) error {
	var v any = map[string]any{"items": c.sortedRows(found, now)}
	if all := c.detailedOverviews(found, now); c.Name != "" && len(all) == 1 {
		v = all[0]
	}
	if len(found.Beneath.Unread) > 0 && c.Name == "" {
		v = map[string]any{"items": c.sortedRows(found, now), "unread": found.Beneath.Unread}
	}
	return s.PrintEncoded(c.Output, v)
}

func namesOfRows(rows []overview.Row) []string {
	var out []string
	for i := range rows {
		out = append(out, strings.ToLower(rows[i].Kind)+"."+rows[i].Group+"/"+rows[i].Name)
	}
	return out
}

// subjectLines returns the lines of the subjects.
func (c *Status) subjectLines(s *terminal.Streams, found *cluster.Subjects, now time.Time) []string {
	style := overview.Style{Now: now, Width: s.Screen.Width(), IsWide: c.Output == "wide"}
	if c.Name == "" {
		return append(c.statusTableLines(s, found, style), overview.UnreadSummary(found.Beneath.Unread)...)
	}
	var out []string
	for i, o := range c.detailedOverviews(found, now) {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, overview.Lines(o, style)...)
	}
	if len(out) == 0 {
		out = []string{c.describeNothing()}
	}
	return append(out, overview.UnreadSummary(found.Beneath.Unread)...)
}

// statusTableLines returns a line for each object that is listed.
func (c *Status) statusTableLines(s *terminal.Streams, found *cluster.Subjects, style overview.Style) []string {
	rows := c.sortedRows(found, style.Now)
	if len(rows) == 0 {
		return []string{c.describeNothing()}
	}
	if s.Screen == nil {
		style.Width = 0
	}
	return overview.Table(rows, style, c.AllNamespaces)
}

func (c *Status) describeNothing() string {
	if c.Stuck {
		return "Nothing needs a person."
	}
	return "No Application, no IntentDeployment, no WorkloadCluster and no Bundle was found."
}
