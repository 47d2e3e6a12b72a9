package kubernetes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane/apis/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

const (
	// EtcdFolder is the folder of a cluster's directory that holds its data.
	EtcdFolder = "etcd"

	// certificates of the API server lie here.
	certificates = "apiserver"

	garbageCollector = "garbage-collector-controller"

	// controllers are the controllers of Kubernetes that a control plane without nodes needs: namespaces that finish deleting, aggregated
	// ClusterRoles, the service account of a new namespace.
	controllers = "namespace-controller,clusterrole-aggregation-controller,serviceaccount-controller"
)

// StartServer starts etcd and the API server, and returns when the API server is ready.
func (k *Cluster) StartServer(ctx context.Context) error {
	if err := k.startEtcd(); err != nil {
		return err
	}
	return k.startAPIServer(ctx)
}

// ResumeServer starts etcd and the API server under the address, the keys and the tokens of an earlier start, and returns when the API server is ready.
func (k *Cluster) ResumeServer(ctx context.Context) error {
	if err := errors.Join(k.startEtcd(), k.spawnAPIServer()); err != nil {
		return err
	}
	return k.waitForAPIServer(ctx)
}

func (k *Cluster) startEtcd() error {
	client, peer := "http://"+port.Address(k.ports.etcd), "http://"+port.Address(k.ports.etcdPeer)
	p, err := k.Runner.Start(process.Command{Name: "etcd", Path: k.o.Tools.Etcd, Args: []string{
		"--data-dir=" + filepath.Join(k.Dir, EtcdFolder),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		// The data dies with the control plane.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}, Env: []string{process.RareGC}})
	k.mu.Lock()
	k.etcd = p
	k.mu.Unlock()
	return err
}

// signingKey is the file with which the API server signs tokens of service accounts.
const signingKey = "sa.key"

// SuspendEtcd stops etcd while fn runs: its files are consistent as of a moment. It returns an error if etcd ended, or does not stop, and that of fn.
func (k *Cluster) SuspendEtcd(ctx context.Context, fn func() error) error {
	k.mu.Lock()
	p := k.etcd
	k.mu.Unlock()
	return p.SuspendWhile(ctx, fn)
}

func (k *Cluster) startAPIServer(ctx context.Context) error {
	token, err := k.writeAPIServerFiles()
	if err != nil {
		return err
	}
	if err := k.spawnAPIServer(); err != nil {
		return err
	}
	// The API server makes its certificate before it listens, and writes the key after it: with a key the file of the certificate is complete.
	if err := waitForFile(ctx, filepath.Join(k.apiServerDir(), "apiserver.key")); err != nil {
		return err
	}
	if err := k.connectAdministrator(token); err != nil {
		return err
	}
	return k.waitForAPIServer(ctx)
}

func (k *Cluster) apiServerDir() string { return filepath.Join(k.Dir, certificates) }

// spawnAPIServer starts the API server. Its end does not fail the control plane before it has answered.
func (k *Cluster) spawnAPIServer() error {
	args := slices.Concat(k.auditArguments(), k.o.APIServerArgs, []string{
		"--etcd-servers=http://" + port.Address(k.ports.etcd),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", k.ports.apiServer),
		"--cert-dir=" + k.apiServerDir(),
		"--authorization-mode=RBAC",
		"--token-auth-file=" + filepath.Join(k.Dir, "tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + filepath.Join(k.Dir, "sa.pub"),
		"--service-account-signing-key-file=" + filepath.Join(k.Dir, signingKey),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--endpoint-reconciler-type=none",
	})
	p, err := k.Runner.Spawn(process.Command{Name: "kube-apiserver", Path: k.o.Tools.KubeAPIServer, Args: args, Env: []string{process.RareGC}})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.apiServer = p
	return err
}

// RestartAPIServer kills the API server, as kill -9 does, and starts it again on the data of etcd. It returns an error if it does not get
// ready again.
func (k *Cluster) RestartAPIServer(ctx context.Context) error {
	k.currentAPIServer().Kill()
	if err := k.spawnAPIServer(); err != nil {
		return err
	}
	return k.waitForAPIServer(ctx)
}

// writeAPIServerFiles makes the keys of service accounts and the administrator's token, which it returns.
func (k *Cluster) writeAPIServerFiles() (string, error) {
	private, public, err := generateKeyPair()
	if err != nil {
		return "", err
	}
	token := newBearerToken()
	return token, k.WriteFiles(map[string][]byte{
		signingKey:   private,
		"sa.pub":     public,
		"tokens.csv": []byte(token + ",admin,admin,\"system:masters\"\n"),
		auditPolicy:  k.o.Audit,
	})
}

// auditPolicy is the name of the file with the audit policy.
const auditPolicy = "audit-policy.yaml"

func (k *Cluster) auditArguments() []string {
	if len(k.o.Audit) == 0 {
		return nil
	}
	return []string{"--audit-policy-file=" + filepath.Join(k.Dir, auditPolicy), "--audit-log-path=" + k.AuditFile(), "--audit-log-maxsize=1024"}
}

// AuditFile returns the path of the API server's audit log, one event of JSON in each line. It exists if Options have a policy.
func (k *Cluster) AuditFile() string { return filepath.Join(k.LogDirectory(), "audit.json") }

// WriteFiles writes files of these names into the directory of the cluster.
func (k *Cluster) WriteFiles(files map[string][]byte) error {
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(k.Dir, name), b, 0o600); err != nil {
			return errors.Wrapf(err, "cannot write %s", name)
		}
	}
	return nil
}

// connectAdministrator makes the administrator's kubeconfig and client.
func (k *Cluster) connectAdministrator(token string) error {
	if err := k.writeKubeconfig(k.Kubeconfig, token); err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", k.Kubeconfig)
	if err != nil {
		return errors.Wrap(err, "cannot read kubeconfig")
	}
	cfg.QPS = -1 // Waiting for our own queue would only slow tests down.
	k.Config = cfg

	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, apis.AddToScheme} {
		if err := add(s); err != nil {
			return errors.Wrap(err, "cannot make scheme")
		}
	}
	// A RESTMapper sends its first request when it is first used.
	k.Client, err = client.NewWithWatch(cfg, client.Options{Scheme: s})
	return errors.Wrap(err, "cannot make client")
}

// writeKubeconfig writes a kubeconfig with a token.
func (k *Cluster) writeKubeconfig(path, token string) error {
	ca, err := os.ReadFile(filepath.Join(k.apiServerDir(), "apiserver.crt"))
	if err != nil {
		return errors.Wrap(err, "cannot read certificate of API server")
	}
	config := newKubeconfig("https://"+port.Address(k.ports.apiServer), token, ca)
	return errors.Wrap(clientcmd.WriteToFile(config, path), "cannot write kubeconfig")
}

func newKubeconfig(server, token string, ca []byte) clientcmdapi.Config {
	const name = "intentplane"
	return clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{name: {Server: server, CertificateAuthorityData: ca}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {Token: token}},
		Contexts:  map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}}, CurrentContext: name,
	}
}

func (k *Cluster) waitForAPIServer(ctx context.Context) error {
	hc, err := rest.HTTPClientFor(k.Config)
	if err != nil {
		return errors.Wrap(err, "cannot make client")
	}
	starts, started := 1, time.Now()
	err = process.PollUntil(ctx, func(ctx context.Context) (bool, error) {
		p := k.currentAPIServer()
		switch {
		case p.IsAlive() && process.CheckURL(ctx, hc, k.Config.Host+"/readyz") == nil:
			return true, nil
		case p.IsAlive() && time.Since(started) < maxAPIServerStart:
			return false, nil
		}
		p.Kill()
		if starts == maxAPIServerStarts {
			return false, p.FailureWithLog("did not answer")
		}
		starts, started = starts+1, time.Now()
		return false, k.spawnAPIServer()
	})
	if err == nil {
		k.Runner.FailAtEnd(k.currentAPIServer())
	}
	return errors.Wrap(err, "cannot reach API server")
}

const (
	// maxAPIServerStarts is the maximum number of starts of the API server. On a busy machine its first initialization times out after a minute, and it exits:
	// a kubelet would start it again.
	maxAPIServerStarts = 4

	// maxAPIServerStart is the time limit of one start: the waits for the API server have time for all starts, and two minutes more. A process that hangs is
	// ended, and started again, as the startup probe of a kubelet does.
	maxAPIServerStart = (process.Timeout - 2*time.Minute) / maxAPIServerStarts
)

// StartControllers starts the controllers that a cluster without nodes needs.
func (k *Cluster) StartControllers() error {
	return k.runControllers("kube-controllers", controllers)
}

// StartGarbageCollector starts the controller that removes objects without an owner.
func (k *Cluster) StartGarbageCollector() error {
	return k.runControllers("garbage-collector", garbageCollector)
}

// runControllers starts a process that runs just these controllers.
func (k *Cluster) runControllers(name, controllers string) error {
	_, err := k.Runner.Start(process.Command{Name: name, Path: k.o.Tools.KubeControllers, Args: []string{
		"--kubeconfig=" + k.Kubeconfig,
		"--controllers=" + controllers,
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=200", "--kube-api-burst=400",
	}})
	return err
}

// CreateNamespace makes a namespace that nothing else makes. A cluster that comes from a backup has it.
func (k *Cluster) CreateNamespace(ctx context.Context, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return errors.Wrapf(client.IgnoreAlreadyExists(k.Client.Create(ctx, ns)), "cannot create namespace %s", name)
}

func waitForFile(ctx context.Context, path string) error {
	err := process.PollUntil(ctx, func(context.Context) (bool, error) { return toolbox.Exists(path), nil })
	return errors.Wrapf(err, "cannot find %s", path)
}
