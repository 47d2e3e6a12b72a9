package offline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/fatih/color"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/track/leftover"
	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/blueprint"
	"github.com/intentplane/intentplane/function/render"
)

// Blueprint holds the commands for Blueprints.
type Blueprint struct {
	Create BlueprintCreate `cmd:"" help:"Make a Blueprint from a kustomize directory."`
	Test   BlueprintTest   `cmd:"" help:"Render a Blueprint's own examples, and list the values that it reads. Exits with 1 when one fails."`
}

// choices are the fields of a Blueprint that its directory does not contain.
type choices struct {
	Name    string   `help:"Name that all versions share."                      required:""`
	Version string   `help:"Version, such as 1.2.0."                            required:""`
	Type    []string `help:"Types of service that the Blueprint serves. Absent means its name."`
	Channel string   `help:"Channel that the version is in."`
}

func (c choices) createBlueprint(dir string) (*catalogv1alpha1.Blueprint, error) {
	types := c.Type
	if len(types) == 0 {
		types = []string{c.Name}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Wrap(err, "cannot open the directory")
	}
	defer root.Close() //nolint:errcheck // Nothing was written.
	b, err := blueprint.Create(root.FS(), blueprint.Options{Name: c.Name, Version: c.Version, Types: types, Channel: c.Channel})
	return b, errors.Wrapf(err, "cannot make a Blueprint from %s", dir)
}

// BlueprintCreate makes Blueprints.
type BlueprintCreate struct {
	choices

	Dir    string `arg:""                                                             help:"Kustomize directory. Its intent.yaml, or parameters.schema.yaml, names the parameters; its blueprint.yaml holds metrics, irreversible, unproven, canary and examples." predictor:"dir"`
	To     string `help:"File to write, instead of the standard output."                                                                                 predictor:"file"`
	Output string `default:"yaml" enum:"yaml,json" help:"Form of the Blueprint: yaml or json." short:"o"`
}

// Run writes the Blueprint, and advises about fixed fields that could follow an intent. It returns an error for a directory that would never
// render.
func (c *BlueprintCreate) Run(s *terminal.Streams) error {
	b, err := c.createBlueprint(c.Dir)
	if err != nil {
		return err
	}
	advice, err := blueprint.Advice(b)
	if err != nil {
		return err
	}
	for _, line := range advice {
		if _, err := fmt.Fprintf(s.ErrOut, "kubectl-intent: advice: %s\n", terminal.QuoteInvisible(line)); err != nil {
			return errors.Wrap(err, "cannot print")
		}
	}
	out, err := terminal.Encode(c.Output, b)
	if err != nil {
		return err
	}
	// JSON has no comments.
	if c.Output == "yaml" {
		out = append([]byte("# Made by \"kubectl intent blueprint create "+terminal.QuoteInvisible(path.Base(filepath.ToSlash(c.Dir)))+"\". Change that directory, and raise the version.\n"), out...)
	}
	if c.To == "" {
		_, err := s.Out.Write(out)
		return errors.Wrap(err, "cannot print")
	}
	return errors.Wrap(os.WriteFile(c.To, out, 0o644), "cannot write the Blueprint") //nolint:gosec // It holds no secrets.
}

// BlueprintTest renders examples.
type BlueprintTest struct {
	terminal.FormFlag

	Path string `arg:"" help:"File with Blueprints, - for the standard input, or a kustomize directory with examples in its blueprint.yaml." predictor:"file"`
}

// noExamples is the advice for a Blueprint without examples.
const noExamples = "no example exists: add an intent to examples in blueprint.yaml, or to spec.examples of the Blueprint"

// An ExampleResult says whether one example of a Blueprint renders.
type ExampleResult struct {
	// Blueprint, and the field of it that holds the example.
	Blueprint string `json:"blueprint"`
	Example   string `json:"example"`

	// Site that it was rendered for, and the number of Files.
	Site  string `json:"site"`
	Files int    `json:"files"`

	// Reads are the keys of the values that the Blueprint reads. An intent that sets another value is refused.
	Reads []string `json:"reads"`

	// Tracks say which objects each track has, which both share, and which routes divide the requests, for a Blueprint with spec.canary.
	Tracks *leftover.Description `json:"tracks,omitempty"`

	// Error says why it failed.
	Error string `json:"error,omitempty"`
}

// Run prints the values that each Blueprint reads, and one line for each example. It returns an error when one fails, or when there is none.
func (t *BlueprintTest) Run(s *terminal.Streams) error {
	blueprints, err := t.readBlueprints(s)
	if err != nil {
		return err
	}
	r := render.NewRenderer()
	all := []ExampleResult{}
	for i := range blueprints {
		results, err := testBlueprint(&blueprints[i], r)
		if err != nil {
			return errors.Wrapf(err, "cannot test Blueprint %q", blueprints[i].GetName())
		}
		all = append(all, results...)
	}
	if err := t.PrintValue(s.Out, all, func(w io.Writer) error { return printResults(w, s.Colours, all) }); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(r ExampleResult) bool { return r.Error != "" }) {
		return terminal.VerdictError{}
	}
	return nil
}

// testBlueprint renders the examples of a Blueprint, and reports the values that it reads. A Blueprint without examples fails, with that as
// the reason.
func testBlueprint(b *catalogv1alpha1.Blueprint, r render.Builder) ([]ExampleResult, error) {
	if err := blueprint.Check(b); err != nil {
		return nil, err
	}
	uses, err := render.UsesOf(b)
	if err != nil {
		return nil, err
	}
	if len(b.Spec.Examples) == 0 {
		return []ExampleResult{{Blueprint: b.GetName(), Example: "spec.examples", Reads: uses.ReadKeys(), Error: noExamples}}, nil
	}
	results, err := blueprint.Test(context.Background(), b, r)
	if err != nil {
		return nil, err
	}
	out := make([]ExampleResult, 0, len(results))
	for _, result := range results {
		if result.Err == nil {
			result.Err = rendering.CheckRules(b, result.Files)
		}
		out = append(out, newExampleResult(b.GetName(), uses.ReadKeys(), result))
	}
	return out, nil
}

func newExampleResult(name string, reads []string, r blueprint.Result) ExampleResult {
	out := ExampleResult{Blueprint: name, Example: r.Name, Site: r.Site, Files: len(r.Files), Reads: reads, Tracks: r.Tracks}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	return out
}

func (t *BlueprintTest) readBlueprints(s *terminal.Streams) ([]catalogv1alpha1.Blueprint, error) {
	if info, err := os.Stat(t.Path); err != nil || !info.IsDir() {
		return manifest.ReadObjects[catalogv1alpha1.Blueprint](s.In, t.Path, "Blueprint", manifest.CatalogVersion)
	}
	// Nothing depends on its name.
	b, err := blueprint.CreateForTest(os.DirFS(t.Path))
	if err != nil {
		return nil, errors.Wrapf(err, "cannot make a Blueprint from %s", t.Path)
	}
	return []catalogv1alpha1.Blueprint{*b}, nil
}

func printResults(w io.Writer, colours terminal.Palette, all []ExampleResult) error {
	for i, r := range all {
		if i == 0 || all[i-1].Blueprint != r.Blueprint {
			if _, err := fmt.Fprintf(w, "%s reads %s\n", terminal.QuoteLine(r.Blueprint), terminal.QuoteInvisible(cmp.Or(strings.Join(r.Reads, ", "), "nothing"))); err != nil {
				return errors.Wrap(err, "cannot print")
			}
		}
		verdict := fmt.Sprintf("%s: %d files for Site %s", colours.Paint("ok", color.FgGreen), r.Files, terminal.QuoteInvisible(r.Site))
		if r.Error != "" {
			verdict = colours.Paint("failed", color.FgRed) + ": " + terminal.PlainMessage(r.Error)
		}
		if _, err := fmt.Fprintf(w, "%s %s %s\n", terminal.QuoteLine(r.Blueprint), terminal.QuoteInvisible(r.Example), verdict); err != nil {
			return errors.Wrap(err, "cannot print")
		}
		if err := printTracks(w, r); err != nil {
			return err
		}
	}
	return nil
}

// printTracks prints a line for the objects of each track, for shared and for routed objects, and one for each name that may be a wrong
// reference.
func printTracks(w io.Writer, r ExampleResult) error {
	if r.Tracks == nil {
		return nil
	}
	lines := []string{
		"each track has " + joinObjects(r.Tracks.PerTrack),
		"both tracks share " + joinObjects(r.Tracks.Shared),
		"requests are divided by " + joinObjects(r.Tracks.Routed),
	}
	for _, l := range r.Tracks.Leftovers {
		lines = append(lines, "warning: "+l.String())
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "%s %s %s\n", terminal.QuoteLine(r.Blueprint), terminal.QuoteInvisible(r.Example), terminal.QuoteInvisible(line)); err != nil {
			return errors.Wrap(err, "cannot print")
		}
	}
	return nil
}

func joinObjects(objects []object.Object) string {
	texts := make([]string, 0, len(objects))
	for _, o := range objects {
		texts = append(texts, o.Kind+" "+o.Name)
	}
	return strings.Join(texts, ", ")
}
