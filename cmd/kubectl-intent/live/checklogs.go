package live

import (
	"context"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// showMeasured prints the measurements of a check of a deployment. It returns an error for a check that no Gate of the deployment has, with
// the existing checks.
func (c *Logs) showMeasured(s *terminal.Streams) error {
	if c.Check == "" {
		return terminal.UsageError{Err: errors.Errorf("name a check, or say --build: kubectl intent explain --claim %s lists the checks. Other logs are at the Sites: kubectl logs shows them there", c.Name)}
	}
	opened, err := c.OpenCluster()
	if err != nil {
		return terminal.UsageError{Err: err}
	}
	f, err := subject.FindDeployment(context.Background(), opened, c.Name)
	if err != nil {
		return err
	}
	all := overview.MeasuredChecks(f, c.Check)
	if len(all) == 0 {
		messages := append([]string{noCheckNamed(c.Name, c.Check, overview.CheckNames(f))}, subject.UnreadLines(f.Unread)...)
		return errors.New(strings.Join(messages, "; "))
	}
	return c.PrintValue(s.Out, map[string]any{"checks": all}, func(io.Writer) error {
		return s.PrintLines(overview.CheckLines(all, overview.Style{Now: s.Now(), Width: s.Screen.Width()}))
	})
}

func noCheckNamed(name, check string, existing []string) string {
	if len(existing) == 0 {
		return name + ": no check of the present revision is known"
	}
	return name + " has no check " + check + ", but " + strings.Join(existing, ", ")
}
