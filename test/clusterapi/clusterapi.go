// Package clusterapi runs the real controllers of Cluster API, with its in-memory infrastructure, on a control plane of the harness: core,
// kubeadm's bootstrap and control plane, and the infrastructure provider that Cluster API tests itself with, which needs no Docker here.
//
// Each runs as its own service account with the roles that its project gives it, and its webhooks are served by URL.
package clusterapi

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/cert"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// A provider is one of Cluster API's programs, and where it lives.
type provider struct {
	name, namespace, account string
	// program and config are the names of tools.
	program, config string
	args            []string
}

// knownProviders returns the providers of Cluster API. The names follow from their own manifests.
func knownProviders() []provider {
	topology := "--feature-gates=ClusterTopology=true"
	return []provider{
		{
			name: "clusterapi-core", namespace: "capi-system", account: "capi-manager",
			program: "CLUSTERAPI_CORE", config: "CLUSTERAPI_CORE_CONFIG", args: []string{topology},
		},
		{
			name: "clusterapi-bootstrap", namespace: "capi-kubeadm-bootstrap-system", account: "capi-kubeadm-bootstrap-manager",
			program: "CLUSTERAPI_BOOTSTRAP", config: "CLUSTERAPI_BOOTSTRAP_CONFIG",
		},
		{
			name: "clusterapi-controlplane", namespace: "capi-kubeadm-control-plane-system", account: "capi-kubeadm-control-plane-manager",
			program: "CLUSTERAPI_CONTROLPLANE", config: "CLUSTERAPI_CONTROLPLANE_CONFIG", args: []string{topology},
		},
		{
			name: "clusterapi-infrastructure", namespace: "capd-system", account: "capd-manager",
			program: "CLUSTERAPI_INFRASTRUCTURE", config: "CLUSTERAPI_INFRASTRUCTURE_CONFIG", args: []string{topology},
		},
	}
}

// Start installs Cluster API and starts its controllers, which end with the control plane. It returns when all of their webhooks answer. It
// returns an error if something was not built or is refused, and with the end of its log if a controller ends or does not get ready.
func Start(ctx context.Context, cp *controlplane.ControlPlane) error {
	var all []*installation
	for _, p := range knownProviders() {
		i, err := prepareInstallation(ctx, cp, p)
		if err != nil {
			return errors.Wrapf(err, "cannot prepare %s", p.name)
		}
		all = append(all, i)
	}
	// No controller starts before it could see the kinds of all others.
	for _, i := range all {
		if err := i.installObjects(ctx); err != nil {
			return errors.Wrapf(err, "cannot install %s", i.name)
		}
	}
	if err := cp.WaitForDefinitions(ctx); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, i := range all {
		g.Go(func() error { return i.startManager(gctx) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, i := range all {
		if err := i.installWebhooks(ctx); err != nil {
			return errors.Wrapf(err, "cannot install webhooks of %s", i.name)
		}
	}
	return nil
}

// An installation is one provider on a control plane.
type installation struct {
	provider

	cp      *controlplane.ControlPlane
	program string
	objects manifests
	// webhook and health are its ports, and certificates the directory of its certificate.
	webhook, health int
	certificates    string
}

// prepareInstallation makes a certificate, and reads the objects to install.
func prepareInstallation(ctx context.Context, cp *controlplane.ControlPlane, p provider) (*installation, error) {
	program, err := toolbox.Path(ctx, p.program)
	if err != nil {
		return nil, err
	}
	config, err := toolbox.Path(ctx, p.config)
	if err != nil {
		return nil, err
	}
	ports, err := port.Free(2)
	if err != nil {
		return nil, err
	}
	i := &installation{provider: p, cp: cp, program: program, webhook: ports[0], health: ports[1], certificates: cp.File(p.name)}
	ca, err := i.writeCertificates()
	if err != nil {
		return nil, err
	}
	i.objects, err = readKustomization(filepath.Join(config, "default"), fmt.Sprintf("https://127.0.0.1:%d", i.webhook), ca)
	return i, err
}

// writeCertificates writes the files that a kubelet would mount, and returns the CA certificate.
func (i *installation) writeCertificates() ([]byte, error) {
	crt, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make certificate")
	}
	if err := os.MkdirAll(i.certificates, 0o700); err != nil {
		return nil, errors.Wrap(err, "cannot make directory for certificate")
	}
	for name, b := range map[string][]byte{"tls.crt": crt, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(i.certificates, name), b, 0o600); err != nil {
			return nil, errors.Wrap(err, "cannot write certificate")
		}
	}
	return crt, nil
}

// installObjects installs all but the webhooks, which are not served yet.
func (i *installation) installObjects(ctx context.Context) error {
	for _, o := range i.objects.plain {
		if err := i.cp.ApplyObject(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (i *installation) startManager(ctx context.Context) error {
	kubeconfig, err := i.cp.Account(ctx, i.namespace, i.account)
	if err != nil {
		return err
	}
	health := fmt.Sprintf("127.0.0.1:%d", i.health)
	return i.cp.StartComponent(ctx, controlplane.Component{
		Name: i.name, Ready: "http://" + health + "/readyz",
		Program: controlplane.Program{
			Binary: i.program,
			Args: append([]string{
				"--health-addr=" + health, "--diagnostics-address=0", "--insecure-diagnostics=true", "--leader-elect=false",
				"--webhook-cert-dir=" + i.certificates, fmt.Sprintf("--webhook-port=%d", i.webhook), "--kubeconfig=" + kubeconfig,
			}, i.args...),
			// The in-memory API servers listen there.
			Env: []string{"POD_IP=127.0.0.1", "POD_NAMESPACE=" + i.namespace, "POD_NAME=" + i.name, "POD_UID=" + i.name},
		},
	})
}

// installWebhooks installs the webhooks, which are served now.
func (i *installation) installWebhooks(ctx context.Context) error {
	for _, o := range i.objects.webhooks {
		if err := i.cp.ApplyObject(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
