package live

import (
	"context"
	"io"
	"time"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Doctor looks for errors of an installation.
type Doctor struct {
	connection.Flags
	terminal.FormFlag

	Pre     bool          `help:"Look at a cluster before Intentplane is installed: its version, Crossplane, and your rights."`
	Timeout time.Duration `default:"10s" help:"Time limit. Objects that were not read until then are unknown."`
}

// A diagnosisReport is the diagnosis as data.
type diagnosisReport struct {
	Items    []diagnosis.Line `json:"items"`
	Problems int              `json:"problems"`
}

// Run prints a line for each check, and returns an error that exits with 1 if there are problems.
func (c *Doctor) Run(s *terminal.Streams) error {
	expected, err := diagnosis.ReadExpected()
	if err != nil {
		return err
	}
	c.RequestTimeout = min(c.RequestTimeout, c.Timeout)
	opened, err := c.OpenCluster()
	if err != nil {
		return terminal.UsageError{Err: err}
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	lines := c.examineCluster(ctx, opened, expected, s.Version)
	report := diagnosisReport{Items: lines, Problems: diagnosis.CountResults(lines)[diagnosis.Problem]}
	err = c.PrintValue(s.Out, report, func(io.Writer) error {
		return s.PrintLines(overview.DoctorLines(lines, overview.Style{Width: s.Screen.Width()}))
	})
	if err == nil && report.Problems > 0 {
		return terminal.VerdictError{}
	}
	return err
}

func (c *Doctor) examineCluster(ctx context.Context, checked *cluster.Cluster, e *diagnosis.Expected, version string) []diagnosis.Line {
	f := &diagnosis.Facts{Client: version}
	if c.Pre {
		checked.Inspector().ReadReadiness(ctx, e, f)
		return diagnosis.ExamineBefore(e, f)
	}
	checked.Inspector().ReadHealth(ctx, e, f)
	return diagnosis.Examine(e, f)
}
