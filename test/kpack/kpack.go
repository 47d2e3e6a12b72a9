// Package kpack runs the real controller and the real webhook of kpack on a control plane of the harness, with a ClusterBuilder that kpack makes from
// small images.
//
// The cluster has no node that runs the pods of Builds: a Player reports their results, and pushes the images that they would push.
package kpack

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

const (
	// Namespace is where kpack lives.
	Namespace = "kpack"

	// Builder is the name of the ClusterBuilder.
	Builder = "default"

	// controllerAccount is whom the controller runs as. The webhook trusts this name.
	controllerAccount = "controller"

	webhookAccount = "webhook"

	// programImages are the images that the controller puts into pods. The Player runs none of them.
	programImages = "127.0.0.1/kpack/program"
)

// A Kpack is a running kpack. It ends with the control plane.
type Kpack struct {
	*Player

	cp           *controlplane.ControlPlane
	installation *installation
	stopPlaying  context.CancelFunc
}

// Start installs kpack and starts its controller and its webhook. It returns when the webhook answers and the ClusterBuilder is ready. It returns an
// error if something was not built or is refused, and with the end of its log if a program ends or does not get ready. The Player plays until the context
// ends.
func Start(ctx context.Context, cp *controlplane.ControlPlane) (*Kpack, error) {
	i, err := prepareInstallation(ctx, cp)
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare kpack")
	}
	if err := i.installInOrder(ctx); err != nil {
		return nil, errors.Wrap(err, "cannot install kpack")
	}
	k := &Kpack{cp: cp, installation: i}
	if err := k.startPodPlayer(ctx); err != nil {
		return nil, err
	}
	return k, errors.Wrap(k.makeBuilder(ctx), "cannot make ClusterBuilder")
}

// Restart starts the programs and the Player again, once the control plane was rebuilt with the content of a backup that has kpack: before Crossplane's RBAC
// manager runs, the webhook would take its port. Plans are lost, and the Player plays until the process ends. It returns an error if a program ends or does not
// get ready.
func (k *Kpack) Restart(ctx context.Context) error {
	k.stopPlaying()
	if err := k.installation.startPrograms(ctx); err != nil {
		return errors.Wrap(err, "cannot start kpack again")
	}
	return k.startPodPlayer(context.WithoutCancel(ctx))
}

// startPodPlayer starts the Player.
func (k *Kpack) startPodPlayer(ctx context.Context) error {
	ctx, k.stopPlaying = context.WithCancel(ctx)
	var err error
	k.Player, err = startPlayer(ctx, k.cp.Config)
	return err
}

// An installation is a Kpack before its start.
type installation struct {
	cp                  *controlplane.ControlPlane
	controller, webhook string
	objects             manifests
	// probe, hooks and profiling are ports: where the controller shows that it is ready, where the webhook is called, and a port that the
	// webhook needs.
	probe, hooks, profiling int
	ca                      []byte
}

func prepareInstallation(ctx context.Context, cp *controlplane.ControlPlane) (*installation, error) {
	paths := map[string]string{}
	for _, tool := range []string{"KPACK_CONTROLLER", "KPACK_WEBHOOK", "KPACK_CONFIG"} {
		path, err := toolbox.Path(ctx, tool)
		if err != nil {
			return nil, err
		}
		paths[tool] = path
	}
	ports, err := port.Free(3)
	if err != nil {
		return nil, err
	}
	i := &installation{cp: cp, controller: paths["KPACK_CONTROLLER"], webhook: paths["KPACK_WEBHOOK"], probe: ports[0], hooks: ports[1], profiling: ports[2]}
	certificates, err := makeCertificates()
	if err != nil {
		return nil, err
	}
	i.ca = certificates.caCertificate()
	i.objects, err = readManifests(paths["KPACK_CONFIG"], i.webhookURL(), certificates)
	return i, err
}

// webhookURL is where the API server calls the webhook: no Service leads to it.
func (i *installation) webhookURL() string { return fmt.Sprintf("https://127.0.0.1:%d", i.hooks) }

// installInOrder installs the webhooks last: the API server refuses objects while nothing answers there.
func (i *installation) installInOrder(ctx context.Context) error {
	if err := i.applyObjects(ctx, i.objects.plain); err != nil {
		return err
	}
	if err := i.startPrograms(ctx); err != nil {
		return err
	}
	return i.applyObjects(ctx, i.objects.webhooks)
}

func (i *installation) startPrograms(ctx context.Context) error {
	if err := i.startController(ctx); err != nil {
		return err
	}
	return i.startWebhook(ctx)
}

// startController starts the controller. It is ready when it serves profiles, which it does after its caches are filled.
func (i *installation) startController(ctx context.Context) error {
	kubeconfig, err := i.cp.Account(ctx, Namespace, controllerAccount)
	if err != nil {
		return err
	}
	args := []string{"-kubeconfig=" + kubeconfig}
	for _, program := range []string{"build-init", "rebase", "completion", "build-waiter"} {
		args = append(args, fmt.Sprintf("-%s-image=%s", program, programImages))
	}
	return i.cp.StartComponent(ctx, controlplane.Component{
		Name: "kpack-controller", Ready: fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/cmdline", i.probe),
		Program: controlplane.Program{Binary: i.controller, Args: args, Env: environment(i.probe, "SYSTEM_SERVICE_ACCOUNT="+controllerAccount)},
	})
}

// startWebhook starts the webhook. Its own probes are at a port that Crossplane's RBAC manager takes; it goes on without them, and answers a kubelet at
// the port where it is called.
func (i *installation) startWebhook(ctx context.Context) error {
	kubeconfig, err := i.cp.Account(ctx, Namespace, webhookAccount)
	if err != nil {
		return err
	}
	asKubelet, err := newProbeClient(i.ca)
	if err != nil {
		return err
	}
	return i.cp.StartComponent(ctx, controlplane.Component{
		Name: "kpack-webhook", Ready: i.webhookURL(), Client: asKubelet,
		Program: controlplane.Program{
			Binary: i.webhook, Args: []string{"-kubeconfig=" + kubeconfig},
			Env: environment(i.profiling, fmt.Sprintf("WEBHOOK_PORT=%d", i.hooks)),
		},
	})
}

// environment returns the variables that both programs need.
func environment(profiling int, extra ...string) []string {
	return append([]string{
		"SYSTEM_NAMESPACE=" + Namespace, "CONFIG_LOGGING_NAME=config-logging", "CONFIG_OBSERVABILITY_NAME=" + observability, "METRICS_DOMAIN=kpack.io",
		fmt.Sprintf("PROFILING_PORT=%d", profiling),
	}, extra...)
}
