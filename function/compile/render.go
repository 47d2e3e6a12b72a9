package compile

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/function/render/guard"
)

// RenderSites returns the files of each Site of a selection, in a track or, if none is named, in the first track. A workload without tracks has none. It
// returns an error, whose reason ReasonOf returns, for files that the provider would refuse.
func (c *Compiler) RenderSites(ctx context.Context, d Deployment, i intent.Intent, s *catalog.Selection, name string) ([]compose.Rendered, error) {
	first := initialTrack(s)
	if first == "" || name == "" {
		name = first
	}
	return c.renderSitesIn(ctx, d, i, s, name)
}

// renderSitesIn returns the files of each Site of a selection in a track, which is empty for a workload without tracks.
func (c *Compiler) renderSitesIn(ctx context.Context, d Deployment, i intent.Intent, s *catalog.Selection, name string) ([]compose.Rendered, error) {
	// The schema lets only durations through.
	timeout, err := time.ParseDuration(d.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return nil, terminalProblem(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhasePending, errors.Wrap(err, "spec.compileConfig.renderTimeout"))
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	counts := map[catalog.ConfigRef]int{} // Places with the same configuration are in one delivery.
	for _, p := range s.Places {
		counts[p.ConfigRef]++
	}
	for _, p := range s.Places {
		if err := policy.CheckCount(p.ConfigRef.Kind, &p.Config, counts[p.ConfigRef]); err != nil {
			return nil, terminalProblem(deploymentv1alpha1.ReasonPolicyDenied, deploymentv1alpha1.PhaseRendering, err)
		}
	}
	return renderEachPlace(s.Places, func(p catalog.Place) (compose.Rendered, error) {
		if err := ctx.Err(); err != nil {
			return compose.Rendered{}, timeoutProblem(errors.Errorf("cannot render for all Sites within spec.compileConfig.renderTimeout, which is %s: raise it, to 60s at most, or choose fewer Sites", timeout))
		}
		return c.renderPlace(ctx, d, i, s, p, name)
	})
}

// placesAtOnce is the number of Sites that one call renders in parallel.
const placesAtOnce = 4

// renderEachPlace renders for several places at once. Of several errors it returns the first in the order of places. A panic goes on in the
// goroutine of the caller, which recovers it as the error of one call: here it would end the process, which serves the deployments of all tenants.
func renderEachPlace(places []catalog.Place, do func(catalog.Place) (compose.Rendered, error)) ([]compose.Rendered, error) {
	out, errs, panics := make([]compose.Rendered, len(places)), make([]error, len(places)), make([]string, len(places))
	slots, all := make(chan struct{}, placesAtOnce), sync.WaitGroup{}
	for n := range places {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			defer func() {
				if p := recover(); p != nil {
					panics[n] = fmt.Sprintf("%.256v\n%s", p, debug.Stack())
				}
			}()
			out[n], errs[n] = do(places[n])
		})
	}
	all.Wait()
	for _, p := range panics {
		if p != "" {
			panic(p)
		}
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// renderPlace returns the files of one Site.
func (c *Compiler) renderPlace(ctx context.Context, d Deployment, i intent.Intent, s *catalog.Selection, p catalog.Place, name string) (compose.Rendered, error) {
	out, input := compose.Rendered{Place: p}, RenderInput(d, i, s, p)
	input.Track = name
	if err := guard.CheckValues(i, input.Site.Name, input.Site.Parameters, guard.Context(&s.Blueprint), input.Site.Expansion); err != nil {
		return out, valueProblem(d.Spec, err)
	}
	files, err := c.renderer.Build(ctx, input)
	if err == nil {
		err = c.checker.Check(&s.Blueprint, policyInput(d, p, files))
	}
	if err != nil {
		return out, RenderError(err, files)
	}
	packed, err := c.packer.Pack(files)
	if err != nil {
		return out, sizeProblem(err)
	}
	out.Files, out.Packed = files, &packed
	return out, nil
}

// renderReason returns the reason why there is nothing to deliver. Rendered files that are well-formed violate a limit.
func renderReason(err error, rendered tree.Files) string {
	if e := (&guard.VariableError{}); errors.As(err, &e) {
		return deploymentv1alpha1.ReasonPolicyDenied
	}
	if e := (&policy.InvalidError{}); errors.As(err, &e) || rendered == nil {
		return deploymentv1alpha1.ReasonRenderFailed
	}
	return deploymentv1alpha1.ReasonPolicyDenied
}

// RenderInput returns the input of the renderer for one Site.
func RenderInput(d Deployment, i intent.Intent, s *catalog.Selection, p catalog.Place) render.Input {
	return render.Input{
		Blueprint: &s.Blueprint,
		Intent:    i,
		Site: render.Site{
			Name: p.Site.GetName(), Parameters: siteParameters(p), Layout: p.Site.Spec.Repository.Layout,
			Engine: p.Site.Spec.Engine.Type, Expansion: expansion.ModeAt(p.Site.Spec.Engine),
		},
		Claim: render.Claim{APIGroup: d.Claim.APIGroup, Namespace: d.Claim.Namespace, Name: d.Claim.Name},
		Track: initialTrack(s),
	}
}

func policyInput(d Deployment, p catalog.Place, files tree.Files) policy.Input {
	return policy.Input{
		Claim:      d.Claim,
		Site:       &p.Site,
		ConfigKind: p.ConfigRef.Kind,
		Config:     &p.Config,
		Branch:     p.Config.Git.Branch,
		Path:       p.Path,
		Layout:     p.Site.Spec.Repository.Layout,
		Files:      files,
	}
}
