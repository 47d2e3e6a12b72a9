package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/snapshot"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/gitserver"
)

// Repository is the repository of published packages. The control plane rewrites it to its own registry, so that packages, their dependencies and objects that
// Crossplane names after them are called as in public.
const Repository = "ghcr.io/intentplane"

const (
	// RuntimeExternal leaves it to the harness to run the programs of packages.
	RuntimeExternal = "External"

	// RuntimeDeployment is true if Crossplane creates a Deployment for the program of each package.
	RuntimeDeployment = "Deployment"
)

// A Package is a package file and the name under which it is published in Repository.
type Package struct {
	Name string
	File string
}

// A Program is a binary that serves a package.
type Program struct {
	Binary string
	Args   []string
	// Env has NAME=value entries. Nothing else of the environment is passed on.
	Env []string
}

// Options are the components and packages of a control plane.
type Options struct {
	// Tools are the programs to run. The default is the programs of the environment, and else the programs that the repository's
	// own tools build.
	Tools *toolbox.Paths

	// Configurations are published and installed.
	Configurations []Package

	// Version is that of every package in the registry. Dependencies are resolved among semantic versions.
	Version string

	// Dependencies are published; Crossplane installs them when a Configuration depends on them.
	Dependencies []Package

	// PackageRuntime is RuntimeExternal, the default, or RuntimeDeployment. With the latter Crossplane makes Deployments, whose programs are pulled from the
	// registry and run with their own settings, and nothing is installed: Configurations, Function and Provider are of no use.
	PackageRuntime string

	// RegistryUser and RegistryPassword are the credentials of the registry. Without a user it is open.
	RegistryUser     string
	RegistryPassword string

	// Manifests are files, or directories of files, that are applied before any package is installed: RBAC that packages
	// cannot ask for.
	Manifests []string

	// Function serves every Function that is installed. Without a binary none is started.
	Function Program

	// Provider is started, as ProviderServiceAccount, once the kinds of the first Provider exist. Without a binary none is started.
	Provider Program

	// CoreArgs are further flags of Crossplane's core.
	CoreArgs []string

	// PackageCache is the folder in which Crossplane keeps packages that it pulled, and its trust in signatures. The default is a folder of the control plane;
	// with another one no snapshot is kept.
	PackageCache string

	// APIServerArgs are further flags of the API server.
	APIServerArgs []string

	// Audit is an audit policy of the API server, as YAML. With one it writes AuditFile.
	Audit []byte

	// Snapshots keeps the content of the cluster when all packages were installed, and the next control plane of the same packages starts from there. The zero
	// Store keeps nothing. With RuntimeDeployment nothing is kept.
	Snapshots snapshot.Store

	// Git configures the Git server.
	Git []gitserver.Option

	// KeepDir keeps the directory after Stop, and KeepDirOnFailure keeps it when Start fails.
	KeepDir          bool
	KeepDirOnFailure bool

	// Progress, if it is set, is called with each phase that ended.
	Progress func(phase string, took time.Duration)

	// Waiting, if it exists, gets a sentence when the start has to wait for something outside of it, such as another control plane.
	Waiting func(description string)
}

// Product returns Options that install the packages that "make build xpkg" left in the repository's _output, both shapes. It returns an error if
// this process runs outside the repository or a package is not built.
func Product() (Options, error) {
	root, err := toolbox.Root()
	if err != nil {
		return Options{}, err
	}
	xpkg := func(name string) string { return filepath.Join(root, "_output", "xpkg", name+".xpkg") }
	bin := func(name string) string { return filepath.Join(root, "_output", "bin", name) }
	version, err := builtVersion(root)
	if err != nil {
		return Options{}, err
	}
	o := Options{
		Version: version,
		Configurations: []Package{
			{Name: "configuration-intentplane", File: xpkg("configuration")},
			{Name: "configuration-intentplane-namespaced", File: xpkg("configuration-namespaced")},
		},
		Dependencies: []Package{
			{Name: "function-intentplane", File: xpkg("function")},
			{Name: "provider-intentplane", File: xpkg("provider")},
		},
		Function:  Program{Binary: bin("function"), Args: []string{"--debug"}},
		Provider:  Program{Binary: bin("provider"), Args: []string{"--debug"}},
		Snapshots: snapshot.Store{Dir: filepath.Join(root, "_output", "snapshots")},
	}
	if rbac := filepath.Join(root, "examples", "rbac"); toolbox.Exists(rbac) {
		o.Manifests = []string{rbac}
	}
	return o, o.checkBuiltFiles()
}

// WithApplications installs the Configuration of Applications in the place of the namespaced one, which comes as its dependency: of two that are
// installed at the same moment Crossplane would install the second one twice. All control planes with Applications permit builds, so that they start from one
// snapshot.
func (o Options) WithApplications() Options {
	const dependency = "configuration-intentplane-namespaced"
	dir, all := filepath.Dir(o.Configurations[0].File), o.Configurations
	o.Configurations = []Package{{Name: "configuration-intentplane-applications", File: filepath.Join(dir, "configuration-applications.xpkg")}}
	o.Dependencies = slices.Clone(o.Dependencies)
	if builds := filepath.Join(dir, "..", "..", "examples", "builds"); toolbox.Exists(builds) {
		o.Manifests = append(slices.Clone(o.Manifests), builds)
	}
	for _, p := range all {
		if p.Name == dependency {
			o.Dependencies = append(o.Dependencies, p)
			continue
		}
		o.Configurations = append(o.Configurations, p)
	}
	return o
}

// builtVersion returns the VERSION that the packages were built with, which bounds their dependencies.
func builtVersion(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, "_output", "settings"))
	if err != nil {
		return "", errors.Wrap(err, `cannot read the built packages: run "make build xpkg"`)
	}
	version, _, _ := strings.Cut(string(b), " ")
	return version, nil
}

func (o Options) packageRuntime() string {
	if o.PackageRuntime == "" {
		return RuntimeExternal
	}
	return o.PackageRuntime
}

// checkBuiltFiles returns an error that names the missing file of the build.
func (o Options) checkBuiltFiles() error {
	for _, f := range o.builtFiles() {
		if f != "" && !toolbox.Exists(f) {
			return errors.Errorf(`cannot find %s: run "make build xpkg"`, f)
		}
	}
	return nil
}

// clusterOptions returns the options of the control plane's own cluster.
func (o Options) clusterOptions(dir string, tools *toolbox.Paths) kubernetes.Options {
	return kubernetes.Options{Dir: dir, Tools: tools, APIServerArgs: o.APIServerArgs, Audit: o.Audit}
}

// builtFiles are the programs and packages that are built before a control plane starts.
func (o Options) builtFiles() []string {
	files := []string{o.Function.Binary, o.Provider.Binary}
	for _, p := range slices.Concat(o.Configurations, o.Dependencies) {
		files = append(files, p.File)
	}
	return files
}

// findTools returns the tools to use.
func (o Options) findTools(ctx context.Context) (*toolbox.Paths, error) {
	if o.Tools != nil {
		return o.Tools, nil
	}
	return toolbox.Find(ctx)
}
