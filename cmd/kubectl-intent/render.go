package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
)

const catalogVersion = "catalog.intentplane.dev/v1alpha1"

// A renderCommand renders an IntentDeployment.
type renderCommand struct {
	File      string `arg:""    help:"File with one IntentDeployment, or - for the standard input."`
	Site      string `help:"File with Sites. Each is rendered for, whatever the intent says." required:""`
	Blueprint string `help:"File with one Blueprint."                                         required:""`
	Output    string `help:"Folder to write to, which must be empty or not exist. Each Site has a folder in it." required:"" short:"o"`
	Inputs    bool   `help:"Write what is given to kustomize instead of what comes from it."`
}

// Run writes a folder for each Site. It returns an error for objects that are not valid and for a Blueprint that does not render.
func (r *renderCommand) Run(s *streams) error {
	inputs, timeout, err := r.read(s)
	if err != nil {
		return err
	}
	root, err := emptyFolder(r.Output)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Its files are closed one by one.
	renderer := render.NewRenderer()
	for _, in := range inputs {
		files, err := r.files(renderer, in, timeout)
		if err != nil {
			return errors.Wrapf(err, "cannot render for Site %q", in.Site.Name)
		}
		if err := write(root, in.Site.Name, files); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(s.out, filepath.Join(r.Output, in.Site.Name)); err != nil {
			return errors.Wrap(err, "cannot print")
		}
	}
	return nil
}

func (r *renderCommand) files(renderer *render.Renderer, in render.Input, timeout time.Duration) (tree.Files, error) {
	if r.Inputs {
		return render.Layout(in)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return renderer.Build(ctx, in)
}

// read returns what is to be rendered, and how long each rendering may take.
func (r *renderCommand) read(s *streams) ([]render.Input, time.Duration, error) {
	claims, err := readClaims(s.in, r.File)
	if err != nil {
		return nil, 0, err
	}
	blueprints, err := readAll[catalogv1alpha1.Blueprint](s.in, r.Blueprint, "Blueprint", catalogVersion)
	if err != nil {
		return nil, 0, err
	}
	sites, err := readAll[catalogv1alpha1.Site](s.in, r.Site, "Site", catalogVersion)
	if err != nil {
		return nil, 0, err
	}
	if len(claims) != 1 || len(blueprints) != 1 {
		return nil, 0, errors.Errorf("there must be one IntentDeployment and one Blueprint, not %d and %d", len(claims), len(blueprints))
	}
	claim := &claims[0]
	claim.Spec.Default()
	wanted, err := understand(&claim.Spec)
	if err != nil {
		return nil, 0, err
	}
	timeout, err := time.ParseDuration(claim.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return nil, 0, errors.Wrap(err, "spec.compileConfig.renderTimeout")
	}
	out := make([]render.Input, 0, len(sites))
	for i := range sites {
		out = append(out, input(claim, &blueprints[0], &sites[i], wanted))
	}
	return out, timeout, nil
}

func understand(s *deploymentv1alpha1.IntentDeploymentSpec) (intent.Intent, error) {
	if (s.Intent == nil) == (s.Expectation == nil) {
		return intent.Intent{}, errors.New("spec: exactly one of intent and expectation must be set")
	}
	if s.Intent != nil {
		return intent.FromText(*s.Intent)
	}
	return intent.FromExpectation(s.Expectation)
}

func input(c *deploymentv1alpha1.IntentDeployment, b *catalogv1alpha1.Blueprint, s *catalogv1alpha1.Site, i intent.Intent) render.Input {
	parameters := make(map[string]string, len(s.Spec.Parameters))
	for k, v := range s.Spec.Parameters {
		parameters[k] = string(v)
	}
	group, _, _ := strings.Cut(c.APIVersion, "/")
	return render.Input{
		Blueprint: b,
		Intent:    i,
		Site:      render.Site{Name: s.GetName(), Parameters: parameters, Layout: s.Spec.Repository.Layout},
		Claim:     render.Claim{APIGroup: group, Namespace: c.GetNamespace(), Name: c.GetName()},
	}
}

// emptyFolder makes a folder, or takes an empty one: nothing of the user's is overwritten.
func emptyFolder(name string) (*os.Root, error) {
	if err := os.MkdirAll(name, 0o750); err != nil {
		return nil, errors.Wrap(err, "cannot make the folder to write to")
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the folder to write to")
	}
	if len(entries) > 0 {
		return nil, errors.Errorf("%s is not empty", name)
	}
	root, err := os.OpenRoot(name)
	return root, errors.Wrap(err, "cannot open the folder to write to")
}

func write(root *os.Root, folder string, files tree.Files) error {
	for _, name := range files.Names() {
		full := path.Join(folder, name)
		if err := root.MkdirAll(path.Dir(full), 0o750); err != nil {
			return errors.Wrapf(err, "cannot make the folder of %s", full)
		}
		if err := root.WriteFile(full, files[name], 0o600); err != nil {
			return errors.Wrapf(err, "cannot write %s", full)
		}
	}
	return nil
}
