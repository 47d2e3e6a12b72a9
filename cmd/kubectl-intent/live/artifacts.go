package live

import (
	"context"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/subject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Artifacts shows the files that a deployment delivers.
type Artifacts struct {
	connection.Flags
	terminal.ObjectsFlag
	fetchFlag

	Checkout []string `help:"Clone of a repository, from which files are read that the GitDeliveries do not carry, as after a rollback and in a canary. Given once for each repository." predictor:"dir" sep:"none"`
	Name     string   `arg:"" help:"Name of an IntentDeployment, or of the Application that composed it. Where both API groups have one, intentdeployments.GROUP/NAME." predictor:"claim"`
	To       string   `help:"Folder to write to, which must be empty or not exist, instead of the standard output. Each Site has a folder in it." predictor:"dir"`
}

// Run prints the files of each Site, as the GitDeliveries of the deployment carry them or as the repository has them, or writes them to a
// folder. It returns an error for unreadable objects and files.
func (c *Artifacts) Run(s *terminal.Streams) error {
	p := rendering.Printer{ObjectsFlag: c.ObjectsFlag, To: c.To}
	if err := p.CheckForm(); err != nil {
		return err
	}
	opened, err := c.OpenCluster()
	if err != nil {
		return terminal.UsageError{Err: err}
	}
	ctx := context.Background()
	f, err := subject.FindDeployment(ctx, opened, c.Name)
	if err != nil {
		return err
	}
	from := newTreeReader(c.fetchFlag, c.Checkout...)
	defer from.removeClones()
	all, err := from.deliveredFiles(ctx, f, nil)
	if err != nil {
		return err
	}
	return p.PrintSites(s, all, rendering.Owner{})
}
