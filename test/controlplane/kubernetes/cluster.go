// Package kubernetes starts a cluster of Kubernetes on loopback: etcd, the API server, and on request controllers of Kubernetes, Flux and a Gateway. It has no
// nodes.
package kubernetes

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// Options of a cluster.
type Options struct {
	// Dir is the directory of the cluster.
	Dir string

	// Tools are the programs to run.
	Tools *toolbox.Paths

	// APIServerArgs are further flags of the API server.
	APIServerArgs []string

	// Audit is an audit policy of the API server, as YAML. With one it writes AuditFile.
	Audit []byte
}

// A Cluster is an API server with its etcd, and the programs that are started for it.
type Cluster struct {
	// Dir holds all files of the cluster. The log of each component is logs/<component>.log in it.
	Dir string

	// Kubeconfig is the path of an administrator's kubeconfig, and Config is its content.
	Kubeconfig string
	Config     *rest.Config

	// Client acts as the administrator. Its scheme has the kinds of Kubernetes and of Crossplane; others are unstructured.
	Client client.WithWatch

	// Runner starts the programs of the cluster, and ends them. The owner of the cluster sets it before the first start, and again before ResumeServer.
	Runner *process.Runner

	o     Options
	ports ports

	mu        sync.Mutex
	etcd      *process.Process
	apiServer *process.Process
}

// ports are the ports of loopback that the components of a cluster listen on.
type ports struct{ etcd, etcdPeer, apiServer int }

// New makes the directory of a cluster, and starts nothing. It returns an error if it finds no free ports.
func New(o Options) (*Cluster, error) {
	free, err := port.Free(3)
	if err != nil {
		return nil, err
	}
	for _, d := range []string{"logs", "home", artifacts} {
		if err := os.MkdirAll(filepath.Join(o.Dir, d), 0o700); err != nil {
			return nil, errors.Wrap(err, "cannot make directory for cluster")
		}
	}
	p := ports{etcd: free[0], etcdPeer: free[1], apiServer: free[2]}
	return &Cluster{Dir: o.Dir, Kubeconfig: filepath.Join(o.Dir, "kubeconfig"), o: o, ports: p}, nil
}

// LogDirectory returns the directory of the logs of the cluster's components.
func (k *Cluster) LogDirectory() string { return filepath.Join(k.Dir, "logs") }

// Stop ends the cluster, as if its machine had been switched off.
func (k *Cluster) Stop() { k.Runner.StopAll() }

func (k *Cluster) currentAPIServer() *process.Process {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.apiServer
}
