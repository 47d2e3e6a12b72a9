package blueprint

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/track/leftover"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
)

// exampleTimeout is the timeout for rendering an example: the default of a claim.
const exampleTimeout = 10 * time.Second

// Defaults for the names in an example, and the track of examples with tracks.
const (
	exampleTrack     = track.Blue
	exampleSite      = "example"
	exampleNamespace = "example"
)

// Result of one example.
type Result struct {
	// Name of the example, such as spec.examples[0].
	Name string

	// Site that it was rendered for, and the Files that this gave.
	Site  string
	Files tree.Files

	// Tracks say which objects each track has, and which both share. It is nil for a Blueprint without spec.canary.
	Tracks *leftover.Description

	// Err is the error of a failed example. Nil means success.
	Err error
}

// Test renders each of a Blueprint's own examples, and checks the rendered files. It returns an error for a Blueprint that is not
// valid, or that has no examples.
func Test(ctx context.Context, b *catalogv1alpha1.Blueprint, r render.Builder) ([]Result, error) {
	if err := Check(b); err != nil {
		return nil, err
	}
	if len(b.Spec.Examples) == 0 {
		return nil, errors.New("spec.examples: is empty: add an example to test")
	}
	out := make([]Result, 0, len(b.Spec.Examples))
	for i, e := range b.Spec.Examples {
		result := Result{Name: fmt.Sprintf("spec.examples[%d]", i)}
		result.Site, result.Files, result.Err = renderExample(ctx, b, e, r)
		if result.Err == nil && b.Spec.Canary != nil {
			result.Tracks, result.Err = leftover.Describe(result.Files, exampleTrack)
		}
		out = append(out, result)
	}
	return out, nil
}

func renderExample(ctx context.Context, b *catalogv1alpha1.Blueprint, e catalogv1alpha1.BlueprintExample, r render.Builder) (string, tree.Files, error) {
	wanted, err := intent.FromText(e.Intent)
	if err != nil {
		return "", nil, errors.Wrap(err, "intent")
	}
	site := siteOfExample(wanted)
	if !Serves(b, wanted.Type) {
		return site, nil, errors.Errorf("intent: the Blueprint does not serve type %q", wanted.Type)
	}
	if err := checkValuesRead(b, wanted); err != nil {
		return site, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, exampleTimeout)
	defer cancel()
	files, err := r.Build(ctx, render.Input{
		Blueprint: b,
		Intent:    wanted,
		Site:      render.Site{Name: site, Parameters: plainParameters(e.Parameters)},
		Claim:     render.Claim{Namespace: exampleNamespace, Name: wanted.Service},
		Track:     trackOfExamples(b),
	})
	if err != nil {
		return site, nil, err
	}
	definitions, err := render.Definitions(b)
	if err != nil {
		return site, nil, err
	}
	return site, files, policy.CheckObjects(filesOfObjects(files), definitions)
}

// trackOfExamples returns the track that the examples of a Blueprint are rendered in, or "" for one without tracks.
func trackOfExamples(b *catalogv1alpha1.Blueprint) string {
	if b.Spec.Canary == nil {
		return ""
	}
	return exampleTrack
}

// filesOfObjects returns the files of a directory by names without folders, and without the kustomizations of these.
func filesOfObjects(files tree.Files) tree.Files {
	out := tree.Files{}
	for name, content := range files {
		folder, file := path.Split(name)
		if folder == "" || file != "kustomization.yaml" {
			out[strings.ReplaceAll(name, "/", ".")] = content
		}
	}
	return out
}

// checkValuesRead returns an error for an intent that sets a value which the Blueprint does not read.
func checkValuesRead(b *catalogv1alpha1.Blueprint, i intent.Intent) error {
	uses, err := render.UsesOf(b)
	if err != nil {
		return err
	}
	return errors.Wrap(uses.CheckRead(i, b.GetName()), "intent")
}

// siteOfExample returns the first Site that an example names, or the default one.
func siteOfExample(i intent.Intent) string {
	if len(i.Sites) == 0 || i.Sites[0] == intent.SitesAll || i.Sites[0] == intent.SitesBoth {
		return exampleSite
	}
	return i.Sites[0]
}

func plainParameters(parameters map[string]catalogv1alpha1.ParameterValue) map[string]string {
	out := make(map[string]string, len(parameters))
	for k, v := range parameters {
		out[k] = string(v)
	}
	return out
}
