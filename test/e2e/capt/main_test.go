// Package capt shows, on a real API server and with the provider's real binary, what becomes of a ManagedCluster that CAPT (Cluster API
// Provider Terraform) builds. What CAPT and the core of Cluster API write is written as they do; the environment may name their real
// controllers instead.
package capt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
)

var (
	// cp is the one API server of this package's tests, with the provider.
	cp *controlplane.ControlPlane

	// kube acts as the administrator.
	kube client.WithWatch
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	ctx := context.Background()
	core, err := controlplane.ToolPath(ctx, "CLUSTERAPI_1_10_CRDS")
	if err != nil {
		return 1, err
	}
	terraform, err := controlplane.ToolPath(ctx, "TERRAFORM_CRDS")
	if err != nil {
		return 1, err
	}
	cp, err = controlplane.StartAlone(ctx, core, filepath.Join(terraform, "tf.upbound.io_workspaces.yaml"), "manifests")
	if err != nil {
		return 1, err
	}
	if err := connect(); err != nil {
		return 1, errors.Join(err, cp.Stop())
	}
	if err := startReal(ctx); err != nil {
		return 1, errors.Join(err, cp.Stop())
	}
	code := m.Run()
	return code, errors.Join(cp.Err(), cp.Stop())
}

func connect() error {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, catalogv1alpha1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			return errors.Wrap(err, "cannot make scheme")
		}
	}
	var err error
	kube, err = client.NewWithWatch(cp.Config, client.Options{Scheme: s})
	return errors.Wrap(err, "cannot make client")
}
