package live

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Why says why a Bundle, an Application, a deployment or a cluster does not go on.
type Why struct {
	connection.Flags
	terminal.FormFlag

	Name string `arg:"" help:"Name of an Application, an IntentDeployment, a WorkloadCluster or a Bundle. Where several have it, RESOURCE.GROUP/NAME." predictor:"subject"`
}

// Run prints the cause, since when it is there, who acts, the remedy, the events that wake the object, and the objects that were followed. It
// returns an error when nothing has the name.
func (c *Why) Run(s *terminal.Streams) error {
	opened, err := c.OpenFor(s)
	if err != nil {
		return err
	}
	ctx := context.Background()
	found, err := opened.Subject(ctx, c.Name)
	if err != nil {
		return err
	}
	opened.ReadInstallation(ctx, found)
	now := s.Now()
	all := subject.Overviews(found, now)
	if c.Output != "text" {
		b, err := terminal.Encode(c.Output, collectFindings(all))
		if err != nil {
			return err
		}
		_, err = s.Out.Write(b)
		return errors.Wrap(err, "cannot print")
	}
	style := overview.Style{Now: now, Width: s.Screen.Width()}
	for _, o := range all {
		if err := s.PrintLines(overview.WhyLines(o, style)); err != nil {
			return err
		}
	}
	return nil
}

// collectFindings returns the findings, and one finding as an object.
func collectFindings(all []overview.Overview) any {
	out := make([]cause.Finding, 0, len(all))
	for i := range all {
		out = append(out, all[i].Finding)
	}
	if len(out) == 1 {
		return out[0]
	}
	return map[string]any{"items": out}
}
