package offline

import (
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Render renders an IntentDeployment.
type Render struct {
	manifest.DeploymentFlags
	terminal.ObjectsFlag

	To         string `help:"Folder to write to, which must be empty or not exist, instead of the standard output. Each Site has a folder in it." predictor:"dir" xor:"to"`
	Diff       string `help:"Checkout of the repository that it would be delivered to: print the changes there, and exit with 1 if there are any." predictor:"dir" xor:"to"`
	PathPrefix string `help:"The configuration's pathPrefix in the repository, where no configuration is given."`
	Inputs     bool   `help:"Write the input of kustomize instead of its output." xor:"what"`
	Step       *int   `help:"Write the files of the Sites in this step of a canary, counted from 1, as validate prints them. The files of the stable revision in its track are left out." xor:"what,to"`
}

// Run prints the files for each Site, writes them to a folder, or prints the changes of a checkout. It returns an error for invalid objects,
// for objects that would not be delivered, and for unreadable ones.
func (r *Render) Run(s *terminal.Streams) error {
	p := rendering.Printer{ObjectsFlag: r.ObjectsFlag, To: r.To, Diff: r.Diff, IsInput: r.Inputs}
	if err := p.CheckForm(); err != nil {
		return err
	}
	d, err := rendering.Compile(&r.DeploymentFlags, r.PathPrefix, s.In)
	if err != nil {
		return err
	}
	// All Sites are rendered before anything is written, so that nothing is written when one of them fails.
	all, err := r.renderFiles(d)
	if err != nil {
		return err
	}
	return p.PrintSites(s, all, d.Owner())
}

func (r *Render) renderFiles(d rendering.Deployment) ([]rendering.Site, error) {
	if r.Inputs {
		return d.KustomizeInputs()
	}
	out, err := d.RenderFiles()
	if err != nil || r.Step == nil {
		return out, err
	}
	return d.SelectStep(out, *r.Step)
}
