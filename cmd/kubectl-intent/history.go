package main

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
)

// A historyCommand shows the revisions of a deployment.
type historyCommand struct {
	clusterFlags
	formFlag

	Name     string `arg:"" help:"Name of an IntentDeployment, or of the Application that composed it. Where both API groups have one, intentdeployments.GROUP/NAME." predictor:"claim"`
	Revision int64  `help:"Show this revision alone."`
}

// Run prints the revisions that the ledger remembers. It returns an error for what cannot be read, and for a revision that the ledger does not remember.
func (c *historyCommand) Run(s *streams) error {
	opened, err := c.openCluster()
	if err != nil {
		return usageError{err}
	}
	f, err := findDeployment(context.Background(), opened, c.Name)
	if err != nil {
		return err
	}
	now := s.now()
	o := overview.ForDeployment(f, cause.FindForDeployment(f, now))
	if c.Revision != 0 {
		o.Revisions = slices.DeleteFunc(o.Revisions, func(r overview.Revision) bool { return r.Number != c.Revision })
	}
	if c.Revision != 0 && len(o.Revisions) == 0 {
		return errors.Errorf("%s: the ledger does not remember revision %d", c.Name, c.Revision)
	}
	if c.Output == "text" {
		return printLines(s, overview.HistoryLines(o, overview.Style{Now: now, Width: s.screen.width()}))
	}
	b, err := encodeValue(c.Output, map[string]any{"revisions": o.Revisions})
	if err != nil {
		return err
	}
	_, err = s.out.Write(b)
	return errors.Wrap(err, "cannot print")
}
