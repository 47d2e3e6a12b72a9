package controlplane

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

// Tools are the paths of the programs and folders that a control plane is made of. Each is named by a variable of the environment.
type Tools struct {
	Etcd            string // ETCD
	KubeAPIServer   string // KUBE_APISERVER
	KubeControllers string // KUBE_CONTROLLERS
	Kubectl         string // KUBECTL
	CrossplaneCore  string // CROSSPLANE_CORE
	CrossplaneCRDs  string // CROSSPLANE_CRDS
}

// FindTools returns the tools that the environment names, and for the others those in the build of tools/tools.sh. It returns an error
// that names the missing tools.
func FindTools(ctx context.Context) (*Tools, error) {
	t := &Tools{}
	if t.fillPaths(os.Getenv) {
		return t, nil
	}
	built, err := builtTools(ctx, namesOfTools()...)
	if err != nil {
		return nil, err
	}
	t.fillPaths(func(name string) string { return built[name] })
	return t, t.checkPaths()
}

// namesOfTools returns the variables that name tools, sorted.
func namesOfTools() []string {
	return slices.Sorted(maps.Keys((&Tools{}).pathsByName()))
}

func (t *Tools) pathsByName() map[string]*string {
	return map[string]*string{
		"ETCD": &t.Etcd, "KUBECTL": &t.Kubectl,
		"KUBE_APISERVER": &t.KubeAPIServer, "KUBE_CONTROLLERS": &t.KubeControllers,
		"CROSSPLANE_CORE": &t.CrossplaneCore, "CROSSPLANE_CRDS": &t.CrossplaneCRDs,
	}
}

// fillPaths sets each unset path and returns whether all paths are set.
func (t *Tools) fillPaths(get func(name string) string) bool {
	complete := true
	for name, path := range t.pathsByName() {
		if *path == "" {
			*path = get(name)
		}
		complete = complete && *path != ""
	}
	return complete
}

func (t *Tools) checkPaths() error {
	var errs []error
	for _, name := range namesOfTools() {
		errs = append(errs, t.checkPath(name))
	}
	return errors.Join(errs...)
}

// checkPath returns an error unless a tool is at the path in the environment.
func (t *Tools) checkPath(name string) error {
	if path := *t.pathsByName()[name]; !fileExists(path) {
		return errors.Errorf(`cannot find %s=%q: run "make tools"`, name, path)
	}
	return nil
}

// builtTools returns the paths that tools/tools.sh prints for tools that it builds, or that the environment names.
func builtTools(ctx context.Context, names ...string) (map[string]string, error) {
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
