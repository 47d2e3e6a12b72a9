package node

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
)

const (
	// functionPort and metricsPort are where containers of packages listen, by Crossplane's contract; probePort is the provider's own choice.
	functionPort = 9443
	metricsPort  = 8080
	probePort    = 8081
)

// A pod is the pod of a Deployment, as a process.
type pod struct {
	template corev1.PodTemplateSpec
	process  *process.Process

	// ports are those on loopback behind each port of the container. All pods share the network of this machine.
	ports map[int32]int
}

// startPod pulls the image of a Deployment, runs it, and returns when its program is ready.
func (n *Node) startPod(ctx context.Context, d *appsv1.Deployment) (*pod, error) {
	t := d.Spec.Template
	if len(t.Spec.Containers) != 1 {
		return nil, errors.Errorf("cannot run Deployment %s: it has %d containers, and one is supported", d.GetName(), len(t.Spec.Containers))
	}
	container := t.Spec.Containers[0]
	keys, err := n.pullSecrets(ctx, t.Spec)
	if err != nil {
		return nil, err
	}
	binary, err := pullProgram(ctx, container.Image, keys, n.podDirectory(d))
	if err != nil {
		return nil, err
	}
	env, err := n.containerEnvironment(ctx, d)
	if err != nil {
		return nil, err
	}
	p := &pod{template: *t.DeepCopy()}
	listen, err := p.assignPorts(t.Labels)
	if err != nil {
		return nil, err
	}
	p.process, err = n.o.Runner.Start(process.Command{Name: d.GetName(), Path: binary, Args: slices.Concat(container.Args, listen), Env: env})
	if err != nil {
		return nil, err
	}
	if err := p.awaitReadiness(ctx); err != nil {
		p.process.Kill()
		return nil, err
	}
	return p, nil
}

// assignPorts chooses ports, and returns the flags that make the program listen on them.
func (p *pod) assignPorts(labels map[string]string) ([]string, error) {
	free, err := port.Free(2)
	if err != nil {
		return nil, err
	}
	if _, ok := labels[pkgv1.LabelFunction]; ok {
		p.ports = map[int32]int{functionPort: free[0]}
		return []string{"--address=" + port.Address(free[0])}, nil
	}
	p.ports = map[int32]int{metricsPort: free[0], probePort: free[1]}
	return []string{
		"--metrics-bind-address=" + port.Address(free[0]), "--health-probe-bind-address=" + port.Address(free[1]), "--allow-loopback-clusters", "--allow-loopback-git",
	}, nil
}

func (p *pod) awaitReadiness(ctx context.Context) error {
	if number, ok := p.ports[functionPort]; ok {
		return errors.Wrapf(p.process.AwaitPort(ctx, number), "cannot reach %s", p.process.Name)
	}
	url := fmt.Sprintf("http://%s/readyz", port.Address(p.ports[probePort]))
	err := p.process.AwaitURL(ctx, http.DefaultClient, url)
	return errors.Wrapf(err, "cannot see %s ready", p.process.Name)
}

// containerEnvironment returns that of the container, with its Secrets as files and the kubeconfig of its service account.
func (n *Node) containerEnvironment(ctx context.Context, d *appsv1.Deployment) ([]string, error) {
	mounts, err := n.mountSecrets(ctx, d)
	if err != nil {
		return nil, err
	}
	account := d.Spec.Template.Spec.ServiceAccountName
	kubeconfig := filepath.Join(n.podDirectory(d), "kubeconfig")
	if err := n.o.CreateAccount(ctx, d.GetNamespace(), account, kubeconfig); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, e := range d.Spec.Template.Spec.Containers[0].Env {
		v := e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			v = valueOfField(d, e.ValueFrom.FieldRef.FieldPath)
		}
		if dir, ok := mounts[v]; ok {
			v = dir
		}
		values[e.Name] = v
	}
	env := []string{"KUBECONFIG=" + kubeconfig}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		for variable, value := range values {
			v = strings.ReplaceAll(v, "$("+variable+")", value)
		}
		env = append(env, name+"="+v)
	}
	return env, nil
}

// valueOfField returns a field of a Deployment's pods that Crossplane reads by the downward API.
func valueOfField(d *appsv1.Deployment, path string) string {
	if path == "metadata.namespace" {
		return d.GetNamespace()
	}
	label := strings.TrimSuffix(strings.TrimPrefix(path, "metadata.labels['"), "']")
	return d.Spec.Template.Labels[label]
}

// mountSecrets writes the Secrets that the container mounts, and returns the directory behind each path in it.
func (n *Node) mountSecrets(ctx context.Context, d *appsv1.Deployment) (map[string]string, error) {
	out := map[string]string{}
	for _, m := range d.Spec.Template.Spec.Containers[0].VolumeMounts {
		i := slices.IndexFunc(d.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if i < 0 || d.Spec.Template.Spec.Volumes[i].Secret == nil {
			continue
		}
		volume := d.Spec.Template.Spec.Volumes[i].Secret
		s := &corev1.Secret{}
		if err := n.o.Client.Get(ctx, types.NamespacedName{Namespace: d.GetNamespace(), Name: volume.SecretName}, s); err != nil {
			return nil, errors.Wrapf(err, "cannot mount Secret %s", volume.SecretName)
		}
		dir := filepath.Join(n.podDirectory(d), m.Name)
		if err := writeSecret(dir, s, volume.Items); err != nil {
			return nil, err
		}
		out[m.MountPath] = dir
	}
	return out, nil
}

// writeSecret writes the keys of a Secret that items name, and all where they name none.
func writeSecret(dir string, s *corev1.Secret, items []corev1.KeyToPath) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return errors.Wrap(err, "cannot make directory of Secret")
	}
	if len(items) == 0 {
		for key := range s.Data {
			items = append(items, corev1.KeyToPath{Key: key, Path: key})
		}
	}
	for _, i := range items {
		if err := os.WriteFile(filepath.Join(dir, i.Path), s.Data[i.Key], 0o600); err != nil {
			return errors.Wrapf(err, "cannot write key %s of Secret %s", i.Key, s.GetName())
		}
	}
	return nil
}
