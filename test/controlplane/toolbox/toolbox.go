// Package toolbox finds the programs that a control plane consists of, and the root of the repository whose tools build them.
package toolbox

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Paths are the paths of the programs and folders that a control plane is made of. Each is named by a variable of the environment.
type Paths struct {
	Etcd            string // ETCD
	KubeAPIServer   string // KUBE_APISERVER
	KubeControllers string // KUBE_CONTROLLERS
	Kubectl         string // KUBECTL
	CrossplaneCore  string // CROSSPLANE_CORE
	CrossplaneCRDs  string // CROSSPLANE_CRDS
}

// Find returns the tools that the environment names, and for the others those in the build of tools/tools.sh. It returns an error
// that names the missing tools.
func Find(ctx context.Context) (*Paths, error) {
	t := &Paths{}
	if t.fillToolPaths(os.Getenv) {
		return t, nil
	}
	built, err := Built(ctx, namesOfTools()...)
	if err != nil {
		return nil, err
	}
	t.fillToolPaths(func(name string) string { return built[name] })
	return t, t.checkToolPaths()
}

// namesOfTools returns the variables that name tools, sorted.
func namesOfTools() []string {
	return slices.Sorted(maps.Keys((&Paths{}).pathsByName()))
}

func (t *Paths) pathsByName() map[string]*string {
	return map[string]*string{
		"ETCD": &t.Etcd, "KUBECTL": &t.Kubectl,
		"KUBE_APISERVER": &t.KubeAPIServer, "KUBE_CONTROLLERS": &t.KubeControllers,
		"CROSSPLANE_CORE": &t.CrossplaneCore, "CROSSPLANE_CRDS": &t.CrossplaneCRDs,
	}
}

// fillToolPaths sets each unset path and returns whether all paths are set.
func (t *Paths) fillToolPaths(get func(name string) string) bool {
	complete := true
	for name, path := range t.pathsByName() {
		if *path == "" {
			*path = get(name)
		}
		complete = complete && *path != ""
	}
	return complete
}

func (t *Paths) checkToolPaths() error {
	var errs []error
	for _, name := range namesOfTools() {
		errs = append(errs, t.checkToolPath(name))
	}
	return errors.Join(errs...)
}

// checkToolPath returns an error unless a tool is at the path in the environment.
func (t *Paths) checkToolPath(name string) error {
	if path := *t.pathsByName()[name]; !Exists(path) {
		return errors.Errorf(`cannot find %s=%q: run "make tools"`, name, path)
	}
	return nil
}

// Built returns the paths that tools/tools.sh prints for tools that it builds, or that the environment names.
func Built(ctx context.Context, names ...string) (map[string]string, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(root, "tools", "tools.sh"), append([]string{"env"}, names...)...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Wrapf(err, "cannot find tools: %s", strings.TrimSpace(complaint.String()))
	}
	built := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), "=")
		built[name] = strings.Trim(path, `'"`)
	}
	return built, nil
}

// Path returns the path of a program or a folder that the repository's own tools build, or that the environment names. It returns an
// error if it was not built.
func Path(ctx context.Context, name string) (string, error) {
	built, err := Built(ctx, name)
	return built[name], err
}

// Root returns the root of the repository, found upwards from the working directory. It returns an error if it does not exist.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", errors.Wrap(err, "cannot get working directory")
	}
	for d := dir; ; d = filepath.Dir(d) {
		if Exists(filepath.Join(d, "tools", "tools.sh")) {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", errors.Errorf("cannot find the repository above %s", dir)
		}
	}
}

// Exists reports whether there is a file or a folder at a path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
