package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/offline"
	"github.com/intentplane/intentplane/function/render"
)

// kustomization is a file that is for kustomize, and for no API server.
const kustomization = "kustomization.yaml"

// A renderCommand renders an IntentDeployment.
type renderCommand struct {
	manifest.DeploymentFlags
	terminal.ObjectsFlag

	To         string `help:"Folder to write to, which must be empty or not exist, instead of the standard output. Each Site has a folder in it." predictor:"dir" xor:"to"`
	Diff       string `help:"Checkout of the repository that it would be delivered to: print the changes there, and exit with 1 if there are any." predictor:"dir" xor:"to"`
	PathPrefix string `help:"The configuration's pathPrefix in the repository, where no configuration is given."`
	Inputs     bool   `help:"Write the input of kustomize instead of its output." xor:"what"`
	Step       *int   `help:"Write the files of the Sites in this step of a canary, counted from 1, as validate prints them. The files of the stable revision in its track are left out." xor:"what,to"`
}

// A Rendering is the rendered delivery of one Site.
type Rendering struct {
	// Site, and the Path of the directory in the repository.
	Site string `json:"site,omitempty"`
	Path string `json:"path"`

	// Folder that the files were written to.
	Folder string `json:"folder,omitempty"`

	// Waits says that the Site receives nothing yet, since its cluster is not known to be ready: its directory stays as it is.
	Waits bool `json:"waits,omitempty"`

	// Removed says that the directory would be removed: the deployment does not go there any more. Then no Site is named.
	Removed bool `json:"removed,omitempty"`

	// Files by their path in the directory, if they were not written.
	Files map[string]string `json:"files,omitempty"`

	// Changes in a checkout, if it was compared with one.
	Changes []Change `json:"changes,omitempty"`
}

// rendered are the files for one Site. A Site that waits has none, and its directory stays as it is.
type rendered struct {
	site, path string
	files      tree.Files
	waits      bool
}

// Run prints the files for each Site, writes them to a folder, or prints the changes of a checkout. It returns an error for invalid objects,
// for objects that would not be delivered, and for unreadable ones.
func (r *renderCommand) Run(s *terminal.Streams) error {
	if err := r.checkForm(); err != nil {
		return err
	}
	all, claimOwner, err := r.renderDeployments(s.In)
	if err != nil {
		return err
	}
	switch {
	case r.Diff != "":
		return r.printDifferences(s, all, claimOwner)
	case r.To != "":
		return r.writeFolders(s.Out, all)
	}
	return r.printFiles(s.Out, all)
}

// checkForm returns an error for -o name where no objects are printed.
func (r *renderCommand) checkForm() error {
	if r.Output == "name" && (r.To != "" || r.Diff != "" || r.Inputs) {
		return terminal.UsageError{Err: errors.New("-o name prints the names of objects: leave out --to, --diff and --inputs")}
	}
	return nil
}

// renderDeployments renders in memory, so that nothing is written when one Site fails.
func (r *renderCommand) renderDeployments(in io.Reader) ([]rendered, owner, error) {
	p, err := r.compileOne(in)
	if err != nil {
		return nil, owner{}, err
	}
	all, err := r.renderFiles(p)
	return all, p.whose(), err
}

// A compiledDeployment is a deployment that can be rendered.
type compiledDeployment struct {
	*offline.Compiled

	from  *manifest.Catalog
	input deployment.Input
}

// whose says whose directories are rendered.
func (p compiledDeployment) whose() owner {
	return ownerOfDeployment(p.input.Claim, p.Selection.Places)
}

// compileOne compiles the single deployment that is named.
func (r *renderCommand) compileOne(in io.Reader) (compiledDeployment, error) {
	claims, from, err := r.LoadDeployments(in)
	if err != nil {
		return compiledDeployment{}, err
	}
	if !r.IsComplete() {
		return compiledDeployment{}, terminal.UsageError{Err: errors.New("--site and --blueprint, or --live, must be given")}
	}
	if len(claims) != 1 {
		return compiledDeployment{}, errors.Errorf("there must be one IntentDeployment, not %d", len(claims))
	}
	from.Prefix = r.PathPrefix
	input, compiled, err := from.CompileDeployment(&claims[0])
	if err != nil {
		return compiledDeployment{}, withReason(err)
	}
	return compiledDeployment{Compiled: compiled, from: from, input: input}, nil
}

func (r *renderCommand) renderFiles(c compiledDeployment) ([]rendered, error) {
	if r.Inputs {
		return kustomizeInputs(c.Compiled)
	}
	places, err := newLocalRenderer().renderSites(c.from.HasConfigs(), c.input, c.Compiled)
	if err != nil {
		return nil, withReason(err)
	}
	out := make([]rendered, 0, len(places))
	for _, p := range places {
		out = append(out, rendered{site: p.Place.Site.GetName(), path: p.Place.Path, files: p.Files, waits: p.Files == nil})
	}
	if r.Step == nil {
		return out, nil
	}
	waves, err := c.PlanCanary(c.input)
	if err != nil {
		return nil, withReason(err)
	}
	return filesInStep(out, waves, *r.Step)
}

// kustomizeInputs returns the inputs of kustomize.
func kustomizeInputs(c *offline.Compiled) ([]rendered, error) {
	out := make([]rendered, 0, len(c.Inputs))
	for i, input := range c.Inputs {
		files, err := render.Layout(input)
		if err != nil {
			return nil, withReason(wrapWithSite(input.Site.Name, deployment.RenderError(err, nil)))
		}
		out = append(out, rendered{site: input.Site.Name, path: c.Selection.Places[i].Path, files: files})
	}
	return out, nil
}

// printFiles prints the files. As text they are one stream of YAML, each with its path in the repository.
func (r *renderCommand) printFiles(w io.Writer, all []rendered) error {
	report := make([]Rendering, 0, len(all))
	for _, site := range all {
		report = append(report, Rendering{Site: site.site, Path: site.path, Waits: site.waits, Files: textOfFiles(site.files)})
	}
	return r.PrintValue(w, report, func() ([]string, error) { return namesOfObjects(all) }, func(w io.Writer) error { return r.printStream(w, all) })
}

// namesOfObjects returns the name of each object, once, as kubectl takes it.
func namesOfObjects(all []rendered) ([]string, error) {
	var out []string
	for _, site := range all {
		for _, name := range site.files.Names() {
			if path.Base(name) == kustomization {
				continue
			}
			documents, err := manifest.SplitDocuments(site.files[name])
			if err != nil {
				return nil, errors.Wrapf(err, "cannot read %s", name)
			}
			for _, d := range documents {
				o := metav1.PartialObjectMetadata{}
				if err := yaml.Unmarshal(d.Text, &o); err != nil {
					return nil, errors.Wrapf(err, "cannot read %s", name)
				}
				out = append(out, strings.TrimSuffix(strings.ToLower(o.Kind)+"."+o.GroupVersionKind().Group, ".")+"/"+o.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func textOfFiles(files tree.Files) map[string]string {
	out := map[string]string{}
	for name, b := range files {
		out[name] = string(b)
	}
	return out
}

func (r *renderCommand) printStream(w io.Writer, all []rendered) error {
	for _, site := range all {
		if site.waits {
			if _, err := fmt.Fprintf(w, "---\n# Site %s: %s: receives nothing before its cluster is known to be ready\n", terminal.QuoteInvisible(site.site), terminal.QuoteInvisible(site.path)); err != nil {
				return errors.Wrap(err, "cannot print")
			}
		}
		for _, name := range site.files.Names() {
			if path.Base(name) == kustomization && !r.Inputs {
				continue
			}
			if _, err := fmt.Fprintf(w, "---\n# Site %s: %s\n%s", terminal.QuoteInvisible(site.site), terminal.QuoteInvisible(path.Join(site.path, name)), r.printableFile(site.files[name])); err != nil {
				return errors.Wrap(err, "cannot print")
			}
		}
	}
	return nil
}

// printableFile returns the printed form of a file. Output of kustomize is YAML of ours, which has no control characters.
func (r *renderCommand) printableFile(file []byte) string {
	if r.Inputs {
		return terminal.QuoteInvisibleInText(string(file))
	}
	return string(file)
}

// writeFolders makes a folder for each Site, and prints its name.
func (r *renderCommand) writeFolders(w io.Writer, all []rendered) error {
	root, err := emptyFolder(r.To)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Its files are closed one by one.
	report := make([]Rendering, 0, len(all))
	for _, site := range all {
		if err := writeFiles(root, site.site, site.files); err != nil {
			return err
		}
		report = append(report, Rendering{Site: site.site, Path: site.path, Waits: site.waits, Folder: filepath.Join(r.To, site.site)})
	}
	return terminal.FormFlag(r.ObjectsFlag).PrintValue(w, report, func(w io.Writer) error {
		for _, rendering := range report {
			if _, err := fmt.Fprintln(w, terminal.QuoteLine(rendering.Folder)); err != nil {
				return errors.Wrap(err, "cannot print")
			}
		}
		return nil
	})
}

func (r *renderCommand) printDifferences(s *terminal.Streams, all []rendered, claimOwner owner) error {
	root, err := os.OpenRoot(r.Diff)
	if err != nil {
		return terminal.UsageError{Err: errors.Wrap(err, "cannot open the checkout")}
	}
	defer root.Close() //nolint:errcheck // Nothing was written.
	report, err := compareDirectories(root, all, claimOwner)
	if err != nil {
		return err
	}
	if err := terminal.FormFlag(r.ObjectsFlag).PrintValue(s.Out, report, func(w io.Writer) error { return printChanges(w, s.Colours, report) }); err != nil {
		return err
	}
	if slices.ContainsFunc(report, func(r Rendering) bool { return len(r.Changes) > 0 }) {
		return terminal.VerdictError{}
	}
	return nil
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

func writeFiles(root *os.Root, folder string, files tree.Files) error {
	for _, name := range files.Names() {
		if err := writeFile(root, path.Join(folder, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(root *os.Root, name string, b []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return errors.Wrapf(err, "cannot make the folder of %s", name)
	}
	return errors.Wrapf(root.WriteFile(name, b, 0o600), "cannot write %s", name)
}
