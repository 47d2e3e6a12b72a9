package live

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// History shows the revisions of a deployment.
type History struct {
	connection.Flags
	checkoutFlags
	terminal.WideFlag

	Name     string `arg:"" help:"Name of an IntentDeployment, or of the Application that composed it. Where both API groups have one, intentdeployments.GROUP/NAME." predictor:"claim"`
	Revision int64  `help:"Show this revision alone."`
}

// Run prints the revisions that the ledger remembers. It returns an error for unreadable objects, and for a revision that the ledger does not
// remember.
func (c *History) Run(s *terminal.Streams) error {
	if c.Checkout != "" {
		return c.showRemembered(s)
	}
	opened, err := c.OpenFor(s)
	if err != nil {
		return err
	}
	f, err := subject.FindDeployment(context.Background(), opened, c.Name)
	if err != nil {
		return err
	}
	now := s.Now()
	o := overview.ForDeployment(f, cause.FindForDeployment(f, now))
	if o.Revisions, err = c.selectRevisions(o.Revisions); err != nil {
		return err
	}
	return c.printRevisions(s, o.Revisions, func(style overview.Style) []string { return overview.HistoryLines(o, style) })
}

// showRemembered prints the revisions that a clone remembers.
func (c *History) showRemembered(s *terminal.Streams) error {
	_, m, err := c.findClaimMemory(context.Background(), c.Namespace, c.Name)
	if err != nil {
		return err
	}
	all, err := c.selectRevisions(overview.RememberedRevisions(m))
	if err != nil {
		return err
	}
	return c.printRevisions(s, all, func(style overview.Style) []string { return overview.RememberedLines(m, all, style) })
}

// selectRevisions returns the requested revision, or all.
func (c *History) selectRevisions(all []overview.Revision) ([]overview.Revision, error) {
	if c.Revision == 0 {
		return all, nil
	}
	i := slices.IndexFunc(all, func(r overview.Revision) bool { return r.Number == c.Revision })
	if i < 0 {
		return nil, errors.Errorf("%s: the ledger does not remember revision %d", c.Name, c.Revision)
	}
	return all[i : i+1], nil
}

func (c *History) printRevisions(s *terminal.Streams, all []overview.Revision, lines func(overview.Style) []string) error {
	if c.Output == "text" || c.Output == "wide" {
		return s.PrintLines(lines(overview.Style{Now: s.Now(), Width: s.Screen.Width(), IsWide: c.Output == "wide"}))
	}
	return s.PrintEncoded(c.Output, map[string]any{"revisions": all})
}
