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
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
)

const catalogVersion = "catalog.intentplane.dev/v1alpha1"

// A renderCommand renders an IntentDeployment.
type renderCommand struct {
	File       string `arg:""    help:"File with one IntentDeployment, or - for the standard input."`
	Site       string `help:"File with Sites. Each is rendered for, whatever the intent says." required:""`
	Blueprint  string `help:"File with one Blueprint."                                         required:""`
	Output     string `help:"Folder to write to, which must be empty or not exist. Each Site has a folder in it." required:"" short:"o" xor:"to"`
	Diff       string `help:"Checkout of the repository that it would be delivered to: print what would change there, and exit with 1 if anything would." required:"" xor:"to"`
	PathPrefix string `help:"The configuration's pathPrefix in the repository, for --diff."`
	Inputs     bool   `help:"Write what is given to kustomize instead of what comes from it."`
}

// target is one Site, and what is rendered for it.
type target struct {
	render.Input

	// path of the directory in the repository.
	path string
}

// Run writes a folder for each Site, or prints what would change in a checkout. It returns an error for objects that are not valid
// and for a Blueprint that does not render.
func (r *renderCommand) Run(s *streams) error {
	targets, timeout, err := r.read(s)
	if err != nil {
		return err
	}
	if r.Diff != "" {
		return r.diff(s, targets, timeout)
	}
	root, err := emptyFolder(r.Output)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Its files are closed one by one.
	return r.each(targets, timeout, func(t target, files tree.Files) error {
		if err := write(root, t.Site.Name, files); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.out, filepath.Join(r.Output, t.Site.Name))
		return errors.Wrap(err, "cannot print")
	})
}

func (r *renderCommand) diff(s *streams, targets []target, timeout time.Duration) error {
	root, err := os.OpenRoot(r.Diff)
	if err != nil {
		return usageError{errors.Wrap(err, "cannot open the checkout")}
	}
	defer root.Close() //nolint:errcheck // Nothing was written.
	d := &differ{root: root}
	err = r.each(targets, timeout, func(t target, files tree.Files) error { return d.compare(s.out, t.path, files) })
	if err == nil && d.differs {
		return verdictError{}
	}
	return err
}

// each renders for each Site.
func (r *renderCommand) each(targets []target, timeout time.Duration, do func(target, tree.Files) error) error {
	renderer := render.NewRenderer()
	for _, t := range targets {
		files, err := r.files(renderer, t.Input, timeout)
		if err != nil {
			return errors.Wrapf(err, "cannot render for Site %q", t.Site.Name)
		}
		if err := do(t, files); err != nil {
			return err
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
func (r *renderCommand) read(s *streams) ([]target, time.Duration, error) {
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
	wanted, _, err := function.Understand(claim.Spec)
	if err != nil {
		return nil, 0, err
	}
	timeout, err := time.ParseDuration(claim.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return nil, 0, errors.Wrap(err, "spec.compileConfig.renderTimeout")
	}
	out := make([]target, 0, len(sites))
	for i := range sites {
		dir := policy.Directory(r.PathPrefix, sites[i].Spec.Repository.Path, claim.GetNamespace(), claim.GetName())
		out = append(out, target{Input: input(claim, &blueprints[0], &sites[i], wanted), path: dir})
	}
	return out, timeout, nil
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
