package rendering

import (
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/offline"
	"github.com/intentplane/intentplane/function/render"
)

// A Deployment is a compiled IntentDeployment with its renderer.
type Deployment struct {
	*offline.Compiled

	from  *manifest.Catalog
	input compile.Deployment
}

// Owner returns the owner of the rendered directories.
func (p Deployment) Owner() Owner {
	return ownerOfClaim(p.input.Claim, p.Selection.Places)
}

// Compile compiles the single deployment of the flags. Paths get the prefix if the flags have no configuration.
func Compile(f *manifest.DeploymentFlags, prefix string, in io.Reader) (Deployment, error) {
	claims, from, err := f.LoadDeployments(in)
	if err != nil {
		return Deployment{}, err
	}
	if !f.IsComplete() {
		return Deployment{}, terminal.UsageError{Err: errors.New("--site and --blueprint, or --live, must be given")}
	}
	if len(claims) != 1 {
		return Deployment{}, errors.Errorf("there must be one IntentDeployment, not %d", len(claims))
	}
	from.Prefix = prefix
	input, compiled, err := from.CompileDeployment(&claims[0])
	if err != nil {
		return Deployment{}, WithReason(err)
	}
	return Deployment{Compiled: compiled, from: from, input: input}, nil
}

// RenderFiles returns the files for each Site.
func (p Deployment) RenderFiles() ([]Site, error) {
	places, err := NewRenderer().RenderSites(p.from.HasConfigs(), p.input, p.Compiled)
	if err != nil {
		return nil, WithReason(err)
	}
	out := make([]Site, 0, len(places))
	for _, site := range places {
		out = append(out, Site{Name: site.Place.Site.GetName(), Path: site.Place.Path, Files: site.Files, Waits: site.Files == nil})
	}
	return out, nil
}

// SelectStep returns the files of the Sites in a step of a canary, counted from 1.
func (p Deployment) SelectStep(all []Site, number int) ([]Site, error) {
	waves, err := p.PlanCanary(p.input)
	if err != nil {
		return nil, WithReason(err)
	}
	return filesInStep(all, waves, number)
}

// KustomizeInputs returns the inputs of kustomize.
func (p Deployment) KustomizeInputs() ([]Site, error) {
	out := make([]Site, 0, len(p.Inputs))
	for i, input := range p.Inputs {
		files, err := render.Layout(input)
		if err != nil {
			return nil, WithReason(wrapWithSite(input.Site.Name, compile.RenderError(err, nil)))
		}
		out = append(out, Site{Name: input.Site.Name, Path: p.Selection.Places[i].Path, Files: files})
	}
	return out, nil
}
