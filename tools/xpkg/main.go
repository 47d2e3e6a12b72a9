// Command xpkg builds a Crossplane package from a folder with the library that Crossplane's own command uses. The library is compiled
// with Crossplane's core, which the tests need anyhow, while the command takes minutes of its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/parser"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/parser/examples"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/parser/yaml"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/afero"
)

// request says what goes into the package and where the package goes.
type request struct {
	root     string
	examples string
	runtime  string
	output   string
}

func main() {
	r := request{}
	flag.StringVar(&r.root, "root", "", "The folder with crossplane.yaml and the manifests of the package.")
	flag.StringVar(&r.examples, "examples", "", "The folder with examples, which get their ids there. It may lie in the root. Crossplane does not install them.")
	flag.StringVar(&r.runtime, "runtime", "", "The tarball of the image that runs. Empty makes a package without a program.")
	flag.StringVar(&r.output, "output", "", "The file to write.")
	flag.Parse()

	if err := r.writePackage(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "xpkg:", err)
		os.Exit(1)
	}
}

// writePackage writes the package. It returns an error when the folder holds no valid package, or a file cannot be read or written.
func (r request) writePackage(ctx context.Context) error {
	if err := annotateFiles(r.examples); err != nil {
		return err
	}

	b, err := r.newBuilder()
	if err != nil {
		return err
	}

	opts, err := r.embedRuntime()
	if err != nil {
		return err
	}

	img, _, err := b.Build(ctx, opts...)
	if err != nil {
		return fmt.Errorf("cannot build the package in %q: %w", r.root, err)
	}

	if err := tarball.WriteToFile(r.output, nil, img); err != nil {
		return fmt.Errorf("cannot write %q: %w", r.output, err)
	}

	return nil
}

func (r request) newBuilder() (*xpkg.Builder, error) {
	root, err := filepath.Abs(r.root)
	if err != nil {
		return nil, fmt.Errorf("cannot find -root: %w", err)
	}

	ex, err := filepath.Abs(r.examples)
	if err != nil {
		return nil, fmt.Errorf("cannot find -examples: %w", err)
	}

	p, err := yaml.New()
	if err != nil {
		return nil, fmt.Errorf("cannot make a parser of packages: %w", err)
	}

	return xpkg.New(readYAML(root, xpkg.SkipContains(ex)), readYAML(ex), p, examples.New()), nil
}

// readYAML reads the YAML files below a folder, but for those that a filter skips.
func readYAML(folder string, skip ...parser.FilterFn) parser.Backend {
	filters := append([]parser.FilterFn{parser.SkipDirs(), parser.SkipNotYAML(), parser.SkipEmpty()}, skip...)
	return parser.NewFsBackend(afero.NewOsFs(), parser.FsDir(folder), parser.FsFilters(filters...))
}

// embedRuntime puts the package's layers on top of the image that runs.
func (r request) embedRuntime() ([]xpkg.BuildOpt, error) {
	if r.runtime == "" {
		return nil, nil
	}

	img, err := tarball.ImageFromPath(r.runtime, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot read -runtime: %w", err)
	}

	return []xpkg.BuildOpt{xpkg.WithBase(img)}, nil
}
