package rendering

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/offline"
	"github.com/intentplane/intentplane/function/render"
)

// A Renderer renders deployments as the function does.
type Renderer struct {
	// Builder renders one directory.
	Builder *render.Renderer

	compiler *compile.Compiler
}

// NewRenderer returns a renderer with empty caches.
func NewRenderer() Renderer {
	r := render.NewRenderer()
	return Renderer{Builder: r, compiler: compile.New(r)}
}

// RenderSites returns the desired files of each Site. It returns an error, with a reason for compile.ReasonOf, for objects that the function
// would not deliver, and for objects that break a rule of their definition. It checks the limits of configurations only if they are given.
func (k Renderer) RenderSites(limited bool, in compile.Deployment, c *offline.Compiled) ([]compose.Rendered, error) {
	renderAll := k.renderWithoutLimits
	if limited {
		renderAll = k.withinLimits
	}
	out, err := renderAll(context.Background(), in, c)
	for i := 0; err == nil && i < len(out); i++ {
		// The Site waits: only the provider observes whether the cluster is ready.
		if out[i].Place.Site.Spec.Cluster.ClusterRef != nil {
			out[i].Files = nil
			continue
		}
		err = wrapWithSite(out[i].Place.Site.GetName(), invalidObjectError(CheckRules(&c.Selection.Blueprint, out[i].Files)))
	}
	return out, err
}

func (k Renderer) withinLimits(ctx context.Context, in compile.Deployment, c *offline.Compiled) ([]compose.Rendered, error) {
	return offline.Render(ctx, k.compiler, in, c)
}

func (k Renderer) renderWithoutLimits(ctx context.Context, in compile.Deployment, c *offline.Compiled) ([]compose.Rendered, error) {
	timeout, err := time.ParseDuration(in.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return nil, compile.ErrorWithReason(deploymentv1alpha1.ReasonInvalidSpec, errors.Wrap(err, "spec.compileConfig.renderTimeout"))
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := make([]compose.Rendered, len(c.Inputs))
	for i, input := range c.Inputs {
		out[i].Place = c.Selection.Places[i]
		// The Site waits, as in the installation.
		if out[i].Place.Site.Spec.Cluster.ClusterRef != nil {
			continue
		}
		if out[i].Files, err = k.buildSiteFiles(ctx, input); err != nil {
			return nil, wrapWithSite(input.Site.Name, compile.RenderError(err, out[i].Files))
		}
	}
	if err := c.CheckRead(in); err != nil {
		return nil, err
	}
	return out, compile.CheckSize(in, out)
}

func (k Renderer) buildSiteFiles(ctx context.Context, in render.Input) (tree.Files, error) {
	definitions, err := render.Definitions(in.Blueprint)
	if err != nil {
		return nil, err
	}
	files, err := k.Builder.Build(ctx, in)
	if err != nil {
		return nil, err
	}
	return files, policy.CheckObjects(files, definitions)
}
