package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/process"
)

// A Backup is the content of the cluster at a moment. The zero Backup holds nothing.
type Backup struct {
	dir string
}

// Backup returns the present content of the cluster. Its etcd does not answer for a moment. It returns an error if the files cannot be copied.
func (c *ControlPlane) Backup(ctx context.Context) (Backup, error) {
	dir, err := os.MkdirTemp(c.Dir, "backup-")
	if err != nil {
		return Backup{}, errors.Wrap(err, "cannot make directory for backup")
	}
	b := Backup{dir: filepath.Join(dir, kubernetes.EtcdFolder)}
	err = c.SuspendEtcd(ctx, func() error { return os.CopyFS(b.dir, os.DirFS(c.etcdDirectory())) })
	return b, errors.Wrap(err, "cannot copy data of etcd")
}

// etcdDirectory is the directory of the cluster's data.
func (c *ControlPlane) etcdDirectory() string { return filepath.Join(c.Dir, kubernetes.EtcdFolder) }

// Rebuild switches everything off but the Git server and the registry, and starts another cluster in its place, with the content of a backup,
// under the same address. The program is called when the API server answers and no controller runs yet; it may be nil. It returns an
// error if a component does not get ready.
func (c *ControlPlane) Rebuild(ctx context.Context, from Backup, first func() error) error {
	c.epoch()
	c.Runner.StopAll()
	c.Runner = process.NewRunner(c.LogDirectory(), c.fail)
	if err := os.RemoveAll(c.etcdDirectory()); err != nil {
		return errors.Wrap(err, "cannot remove data of etcd")
	}
	if from.dir != "" {
		if err := os.CopyFS(c.etcdDirectory(), os.DirFS(from.dir)); err != nil {
			return errors.Wrap(err, "cannot copy data of etcd")
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(c.broken, func() { stop(c.Err()) })()
	return c.timePhase(fmt.Sprintf("rebuild from %q", filepath.Base(from.dir)), func() error { return c.restartCluster(ctx, first) })
}

func (c *ControlPlane) restartCluster(ctx context.Context, first func() error) error {
	if err := c.ResumeServer(ctx); err != nil {
		return err
	}
	if first != nil {
		if err := first(); err != nil {
			return err
		}
	}
	if err := c.StartControllers(); err != nil {
		return err
	}
	if err := c.startCrossplane(ctx, c.broken); err != nil {
		return err
	}
	if err := c.installPackages(ctx); err != nil {
		return err
	}
	return c.startControllersOfPackages(ctx)
}
