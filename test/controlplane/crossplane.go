package controlplane

import (
	"cmp"
	"context"
	_ "embed" // For the chart's RBAC.
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/test/controlplane/node"
	"github.com/intentplane/intentplane/test/controlplane/process"
)

const (
	coreServiceAccount = "crossplane"
	rbacServiceAccount = "rbac-manager"

	// ProviderServiceAccount is whom the provider runs as, in Namespace.
	ProviderServiceAccount = "provider-intentplane"

	caSecret     = "crossplane-root-ca"
	clientSecret = "crossplane-tls-client"

	caKey = "ca.crt"

	// reconcilesPerCore is the number of workers that Crossplane's controllers have for each core of this machine. On two cores 200 namespaced composites
	// took 66 s with Crossplane's default of 100 workers, with 1.71 times the writes, and 45 s with 8: figures at_once_200_s_100_workers_namespaced,
	// at_once_200_writes_100_workers_namespaced and at_once_200_s_namespaced.
	reconcilesPerCore = 4
)

// crossplaneRBAC has the objects that Crossplane's chart would install.
//
//go:embed manifests/crossplane.yaml
var crossplaneRBAC []byte

// startCrossplane starts Crossplane's core and its RBAC manager, each as its own service account, and the runtime of packages.
func (c *ControlPlane) startCrossplane(ctx, life context.Context) error {
	if err := c.CreateNamespace(ctx, Namespace); err != nil {
		return err
	}
	if err := c.ApplyYAML(ctx, crossplaneRBAC); err != nil {
		return err
	}
	if err := c.createAccounts(ctx); err != nil {
		return err
	}
	if c.o.PackageRuntime == RuntimeDeployment {
		c.node = node.New(node.Options{
			Namespace: Namespace, Config: c.Config, Client: c.Client, CreateAccount: c.CreateAccount, Runner: c.Runner, Dir: c.Dir, Failed: c.fail,
		})
		c.network = c.node.ServiceNetwork()
	}
	if err := c.initializeCrossplane(ctx); err != nil {
		return err
	}
	// The registry has to be reachable before Crossplane resolves the first package.
	if c.o.PackageRuntime != RuntimeDeployment {
		if err := c.rewriteRepository(ctx); err != nil {
			return err
		}
	}
	if err := c.startCrossplaneCore(ctx); err != nil {
		return err
	}
	if err := c.startRBACManager(); err != nil {
		return err
	}
	if c.o.PackageRuntime == RuntimeDeployment {
		return c.node.Start(life)
	}
	return c.startRuntime(ctx, life)
}

func (c *ControlPlane) createAccounts(ctx context.Context) error {
	for _, name := range c.serviceAccounts() {
		if err := c.CreateAccount(ctx, Namespace, name, c.AccountKubeconfig(name)); err != nil {
			return err
		}
	}
	return nil
}

// serviceAccounts that Crossplane does not make itself. It makes the provider's where it runs packages as Deployments.
func (c *ControlPlane) serviceAccounts() []string {
	if c.o.PackageRuntime == RuntimeDeployment {
		return []string{coreServiceAccount, rbacServiceAccount}
	}
	return []string{coreServiceAccount, rbacServiceAccount, ProviderServiceAccount}
}

// crossplaneEnvironment is the configuration of Crossplane's core.
func (c *ControlPlane) crossplaneEnvironment() []string {
	env := c.coreSettings()
	if c.network != nil {
		env = append(env, "HTTPS_PROXY="+c.network.URL)
	}
	return env
}

func (c *ControlPlane) coreSettings() []string {
	return []string{
		process.RareGC,
		"KUBECONFIG=" + c.AccountKubeconfig(coreServiceAccount),
		"POD_NAMESPACE=" + Namespace,
		"POD_SERVICE_ACCOUNT=" + coreServiceAccount,
		"CRDS_PATH=" + c.tools.CrossplaneCRDs,
		"WEBHOOK_ENABLED=false",
		"TLS_CA_SECRET_NAME=" + caSecret,
		"TLS_CLIENT_SECRET_NAME=" + clientSecret,
		"TLS_SERVER_SECRET_NAME=crossplane-tls-server",
		"TLS_CLIENT_CERTS_DIR=" + filepath.Join(c.Dir, "tls-client"),
		"XPKG_CACHE_DIR=" + cmp.Or(c.o.PackageCache, filepath.Join(c.Dir, packageCache)),
	}
}

// initializeCrossplane runs core init until it succeeds, since it may be faster than the API server establishes CRDs.
func (c *ControlPlane) initializeCrossplane(ctx context.Context) error {
	if err := c.waitForAggregation(ctx); err != nil {
		return err
	}
	var last error
	err := process.PollUntil(ctx, func(ctx context.Context) (bool, error) {
		last = c.Runner.RunToEnd(ctx, process.Command{
			Name: "core-init", Path: c.tools.CrossplaneCore, Args: []string{"core", "init"}, Env: c.crossplaneEnvironment(),
		})
		return last == nil, nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// waitForAggregation waits until core's ClusterRole has its rules. A token without them only meets refusals.
func (c *ControlPlane) waitForAggregation(ctx context.Context) error {
	err := process.PollUntil(ctx, func(ctx context.Context) (bool, error) {
		cr := &rbacv1.ClusterRole{}
		err := c.Client.Get(ctx, types.NamespacedName{Name: coreServiceAccount}, cr)
		return len(cr.Rules) > 0, err
	})
	return errors.Wrap(err, "cannot see rules in aggregated ClusterRole of Crossplane")
}

func (c *ControlPlane) startCrossplaneCore(ctx context.Context) error {
	s := &corev1.Secret{}
	if err := c.Client.Get(ctx, types.NamespacedName{Namespace: Namespace, Name: clientSecret}, s); err != nil {
		return errors.Wrap(err, "cannot get client certificate of Crossplane")
	}
	if err := c.writeServingCertificates("tls-client", s.Data); err != nil {
		return err
	}
	args := []string{
		"core", "start", "--package-runtime=" + c.o.packageRuntime(),
		// Many claims at once collapse into conflicts with Crossplane's default of 100 workers on few cores.
		fmt.Sprintf("--max-reconcile-rate=%d", reconcilesPerCore*runtime.NumCPU()),
		fmt.Sprintf("--metrics-port=%d", c.ports.coreMetrics),
		fmt.Sprintf("--health-probe-port=%d", c.ports.coreProbe),
	}
	p, err := c.Runner.Start(process.Command{Name: "core", Path: c.tools.CrossplaneCore, Args: append(args, c.o.CoreArgs...), Env: c.crossplaneEnvironment()})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.core = p
	return err
}

// KillCore ends Crossplane's core, as kill -9 does, and returns after its end. RestartCore starts it again.
func (c *ControlPlane) KillCore() {
	c.currentProcess(&c.core).Kill()
}

// RestartCore kills Crossplane's core, as kill -9 does, and starts it again. It returns an error if it cannot be started.
func (c *ControlPlane) RestartCore(ctx context.Context) error {
	c.KillCore()
	return c.startCrossplaneCore(ctx)
}

// writeServingCertificates writes the certificates that a kubelet would mount.
func (c *ControlPlane) writeServingCertificates(dir string, data map[string][]byte) error {
	files := map[string][]byte{}
	for _, k := range []string{caKey, corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
		files[filepath.Join(dir, k)] = data[k]
	}
	return c.WriteFiles(files)
}

func (c *ControlPlane) startRBACManager() error {
	_, err := c.Runner.Start(process.Command{
		Name: "rbac-manager", Path: c.tools.CrossplaneCore,
		Args: []string{"rbac", "start", "--provider-clusterrole=crossplane:allowed-provider-permissions"},
		Env:  []string{"KUBECONFIG=" + c.AccountKubeconfig(rbacServiceAccount)},
	})
	return err
}
