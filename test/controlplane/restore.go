package controlplane

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/snapshot"
)

// harness is the source of this package and of the packages below it: a change can change the content of a cluster after the packages were installed.
//
//go:embed *
var harness embed.FS

// packageCache is the folder in which Crossplane keeps the packages that it pulled.
const packageCache = "xpkg-cache"

// restoreSnapshot restores the content that a control plane had right after the installation of the same packages.
func (c *ControlPlane) restoreSnapshot() error {
	if c.o.Snapshots.Dir == "" || c.o.PackageRuntime == RuntimeDeployment || c.o.PackageCache != "" {
		return nil
	}
	var err error
	if c.snapshot, err = c.snapshotKey(); err != nil {
		return err
	}
	c.restored, err = c.o.Snapshots.Restore(c.snapshot, c.Dir)
	return err
}

// saveSnapshot saves the content of the cluster, unless it began with a snapshot.
func (c *ControlPlane) saveSnapshot(ctx context.Context) error {
	if c.restored || c.snapshot == "" {
		return nil
	}
	return c.SuspendEtcd(ctx, func() error { return c.o.Snapshots.Save(c.snapshot, c.Dir, kubernetes.EtcdFolder, packageCache) })
}

// snapshotKey is a digest of all that decides the content of a cluster when its packages are installed: the harness, the programs of Kubernetes and Crossplane,
// the packages, and the manifests. Flags of Crossplane's core change no object of a package.
func (c *ControlPlane) snapshotKey() (string, error) {
	parts := []string{c.o.Version, fmt.Sprint(c.o.Function.Binary != "", c.o.Provider.Binary != "", c.o.APIServerArgs)}
	for _, tool := range []string{c.tools.Etcd, c.tools.KubeAPIServer, c.tools.KubeControllers, c.tools.CrossplaneCore, c.tools.CrossplaneCRDs} {
		info, err := os.Stat(tool)
		if err != nil {
			return "", errors.Wrap(err, "cannot find tool")
		}
		parts = append(parts, tool, fmt.Sprint(info.Size(), info.ModTime()))
	}
	for i, p := range slices.Concat(c.o.Configurations, c.o.Dependencies) {
		image, err := digestOfPackage(p.File)
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprint(i < len(c.o.Configurations)), p.Name, image)
	}
	files, err := manifestContents(c.o.Manifests)
	return snapshot.Key(append(parts, files...)...), err
}

// digestOfPackage returns the digest of the configuration of a package's image, which names all of its layers.
func digestOfPackage(file string) (string, error) {
	m, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
	if err != nil || len(m) != 1 {
		return "", errors.Errorf("cannot read package %s: it holds %d images: %v", file, len(m), err)
	}
	return m[0].Config, nil
}

// manifestContents returns the contents of manifests, and of the harness.
func manifestContents(manifests []string) ([]string, error) {
	var out []string
	for _, m := range manifests {
		files, err := kubernetes.YAMLFiles(m)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return nil, errors.Wrap(err, "cannot read manifest")
			}
			out = append(out, string(b))
		}
	}
	err := fs.WalkDir(harness, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := harness.ReadFile(path)
		out = append(out, string(b))
		return err
	})
	return out, errors.Wrap(err, "cannot read harness")
}

// moveEndpoints shows Crossplane where this control plane serves the functions that a snapshot holds.
func (c *ControlPlane) moveEndpoints(ctx context.Context) error {
	l := &pkgv1.FunctionRevisionList{}
	if err := c.Client.List(ctx, l); err != nil {
		return errors.Wrap(err, "cannot list function revisions")
	}
	for i := range l.Items {
		if _, err := (functionRuntime{c}).Reconcile(ctx, &l.Items[i]); err != nil {
			return err
		}
	}
	return nil
}
