package live

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/render"
)

// Version prints versions.
type Version struct {
	connection.Flags
	terminal.FormFlag

	Client bool `help:"Print the versions of this program alone, and ask no cluster."`
}

// versionPatience is how long the command waits for the cluster.
const versionPatience = 10 * time.Second

// versionReport is the printed report.
type versionReport struct {
	// Client is the version of this program, and Renderer the version of its rendering rules. The installed functions have their own.
	Client   string `json:"client"`
	Renderer int32  `json:"renderer"`

	// Installed are the parts in the cluster, and Unread names the unreadable ones.
	Installed []diagnosis.Component `json:"installed,omitempty"`
	Unread    []cause.Unread        `json:"unread,omitempty"`
}

// Run prints the versions. It names unreadable objects, and does not fail for them.
func (c *Version) Run(s *terminal.Streams) error {
	out := versionReport{Client: s.Version, Renderer: render.Version}
	if !c.Client {
		c.readInstalled(&out)
	}
	return c.PrintValue(s.Out, out, func(io.Writer) error { return s.PrintLines(out.reportLines()) })
}

// readInstalled reads the versions of the installed parts.
func (c *Version) readInstalled(report *versionReport) {
	c.RequestTimeout = min(c.RequestTimeout, versionPatience)
	opened, err := c.OpenCluster()
	if err != nil {
		report.Unread = []cause.Unread{{Object: "cluster", Reason: err.Error()}}
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionPatience)
	defer cancel()
	f := &diagnosis.Facts{}
	opened.Inspector().ReadVersions(ctx, f)
	report.Installed, report.Unread = f.Components()
}

func (r versionReport) reportLines() []string {
	cells := [][]string{{"kubectl-intent", r.Client, ""}, {"renderer", fmt.Sprint(r.Renderer), "of kubectl-intent"}}
	for _, i := range r.Installed {
		cells = append(cells, []string{i.Kind, cmp.Or(i.Version, "Unknown"), i.Name})
		if i.Kind == diagnosis.KindFunction {
			cells = append(cells, []string{"renderer", cmp.Or(i.Renderer, "Unknown"), describeRenderer(&i)})
		}
	}
	return append(overview.Columns(cells), subject.UnreadLines(r.Unread)...)
}

// describeRenderer says whose renderer it is, and why it is unknown.
func describeRenderer(component *diagnosis.Component) string {
	if component.Renderer == "" {
		return "of " + component.Name + ": no annotation " + render.AnnotationVersion + " was read from its current FunctionRevision"
	}
	return "of " + component.Name
}
