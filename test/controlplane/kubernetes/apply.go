package kubernetes

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// FieldOwner is the field owner of the harness.
const FieldOwner = client.FieldOwner("intentplane-harness")

// Apply applies YAML files, and the YAML files in directories, in the order of their names, by server-side apply. It returns an error at
// the first object that is refused.
func (k *Cluster) Apply(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		files, err := YAMLFiles(path)
		if err != nil {
			return err
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return errors.Wrapf(err, "cannot read %s", f)
			}
			if err := k.ApplyYAML(ctx, b); err != nil {
				return errors.Wrapf(err, "cannot apply %s", f)
			}
		}
	}
	return nil
}

// ApplyYAML applies a stream of YAML documents by server-side apply. It returns an error at the first object that is refused.
func (k *Cluster) ApplyYAML(ctx context.Context, stream []byte) error {
	objects, err := ParseYAML(stream)
	if err != nil {
		return err
	}
	for _, u := range objects {
		if err := k.ApplyObject(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// ApplyObject applies an object by server-side apply, and takes fields over from other owners. It returns an error if the object is
// refused.
func (k *Cluster) ApplyObject(ctx context.Context, u *unstructured.Unstructured) error {
	err := k.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), FieldOwner, client.ForceOwnership)
	return errors.Wrapf(err, "cannot apply %s %s", u.GetKind(), client.ObjectKeyFromObject(u))
}

// ParseYAML returns the objects of a stream of YAML documents, leaving out empty ones.
func ParseYAML(stream []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream)))
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, errors.Wrap(err, "cannot read YAML")
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &u.Object); err != nil {
			return nil, errors.Wrap(err, "cannot parse YAML")
		}
		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}
}

// kustomization is a file that names others, and holds no object.
const kustomization = "kustomization.yaml"

// YAMLFiles returns a file itself, and of a directory all YAML files with objects in and below it, sorted. It returns an error if there is
// nothing at this path.
func YAMLFiles(path string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if p == path || filepath.Ext(p) == ".yaml" && d.Name() != kustomization {
			files = append(files, p)
		}
		return nil
	})
	slices.Sort(files)
	return files, errors.Wrapf(err, "cannot list %s", path)
}

// KubectlPath returns the kubectl that Kubectl runs.
func (k *Cluster) KubectlPath() string {
	return k.o.Tools.Kubectl
}

// Kubectl runs kubectl as the administrator and returns its output. The error holds its error output.
func (k *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, k.o.Tools.Kubectl, args...)
	cmd.Env = []string{"KUBECONFIG=" + k.Kubeconfig, "HOME=" + filepath.Join(k.Dir, "home"), "PATH=" + os.Getenv("PATH")}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	return string(out), errors.Wrapf(err, "cannot run kubectl: %s", bytes.TrimSpace(complaint.Bytes()))
}
