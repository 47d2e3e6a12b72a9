package controlplane

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
	garbageCollector = "garbage-collector-controller"

	// certificates of the API server lie here.
	certificates = "apiserver"

	// controllers are the controllers of Kubernetes that a control plane without nodes needs: namespaces that finish deleting, aggregated
	// ClusterRoles, the service account of a new namespace.
	controllers = "namespace-controller,clusterrole-aggregation-controller,serviceaccount-controller"
)

// startKubernetes starts etcd, the API server and its controllers, and returns when the API server is ready.
func (c *ControlPlane) startKubernetes(ctx context.Context) error {
	if err := c.startEtcd(); err != nil {
		return err
	}
	if err := c.startAPIServer(ctx); err != nil {
		return err
	}
	return c.startControllers("kube-controllers", controllers)
}

func (c *ControlPlane) startEtcd() error {
	client, peer := "http://"+port.Address(c.ports.etcd), "http://"+port.Address(c.ports.etcdPeer)
	p, err := c.runner.Start(process.Command{Name: "etcd", Path: c.tools.Etcd, Args: []string{
		"--data-dir=" + c.etcdDirectory(),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		// The data dies with the control plane.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}, Env: []string{rareGC}})
	c.mu.Lock()
	c.etcd = p
	c.mu.Unlock()
	return err
}

// signingKey is the file with which the API server signs tokens of service accounts.
const signingKey = "sa.key"

// etcdDirectory is the directory of the cluster's data.
func (c *ControlPlane) etcdDirectory() string { return filepath.Join(c.Dir, etcdFolder) }

// etcdFolder is the name of that directory.
const etcdFolder = "etcd"

func (c *ControlPlane) startAPIServer(ctx context.Context) error {
	token, err := c.writeAPIServerFiles()
	if err != nil {
		return err
	}
	if err := c.spawnAPIServer(); err != nil {
		return err
	}
	// The API server makes its certificate before it listens, and writes the key after it: with a key the file of the certificate is complete.
	if err := waitForFile(ctx, filepath.Join(c.apiServerDir(), "apiserver.key")); err != nil {
		return err
	}
	if err := c.connectAdministrator(token); err != nil {
		return err
	}
	return c.waitForAPIServer(ctx)
}

func (c *ControlPlane) apiServerDir() string { return filepath.Join(c.Dir, certificates) }

// rareGC reduces the garbage collections of etcd, the API server, Crossplane and Flux: with Go's default they are a fifth of the processor time of the API
// server, which needs most of it.
const rareGC = "GOGC=400"

// spawnAPIServer starts the API server. Its end does not fail the control plane before it has answered.
func (c *ControlPlane) spawnAPIServer() error {
	p, err := c.runner.Spawn(process.Command{Name: "kube-apiserver", Path: c.tools.KubeAPIServer, Args: slices.Concat(c.auditArguments(), c.o.APIServerArgs, []string{
		"--etcd-servers=http://" + port.Address(c.ports.etcd),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.ports.apiServer),
		"--cert-dir=" + c.apiServerDir(),
		"--authorization-mode=RBAC",
		"--token-auth-file=" + filepath.Join(c.Dir, "tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + filepath.Join(c.Dir, "sa.pub"),
		"--service-account-signing-key-file=" + filepath.Join(c.Dir, signingKey),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--endpoint-reconciler-type=none",
	}), Env: []string{rareGC}})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apiServer = p
	return err
}

// RestartAPIServer kills the API server, as kill -9 does, and starts it again on the data of etcd. It returns an error if it does not get
// ready again.
func (c *ControlPlane) RestartAPIServer(ctx context.Context) error {
	c.currentProcess(&c.apiServer).Kill()
	if err := c.spawnAPIServer(); err != nil {
		return err
	}
	return c.waitForAPIServer(ctx)
}

// writeAPIServerFiles makes the keys of service accounts and the administrator's token, which it returns.
func (c *ControlPlane) writeAPIServerFiles() (string, error) {
	private, public, err := newKeyPair()
	if err != nil {
		return "", err
	}
	token := newBearerToken()
	return token, c.writeFiles(map[string][]byte{
		signingKey:   private,
		"sa.pub":     public,
		"tokens.csv": []byte(token + ",admin,admin,\"system:masters\"\n"),
		auditPolicy:  c.o.Audit,
	})
}

// auditPolicy is the name of the file with the audit policy.
const auditPolicy = "audit-policy.yaml"

func (c *ControlPlane) auditArguments() []string {
	if len(c.o.Audit) == 0 {
		return nil
	}
	return []string{"--audit-policy-file=" + filepath.Join(c.Dir, auditPolicy), "--audit-log-path=" + c.AuditFile(), "--audit-log-maxsize=1024"}
}

// AuditFile returns the path of the API server's audit log, one event of JSON in each line. It exists if Options have a policy.
func (c *ControlPlane) AuditFile() string { return filepath.Join(c.Dir, "logs", "audit.json") }

func (c *ControlPlane) writeFiles(files map[string][]byte) error {
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(c.Dir, name), b, 0o600); err != nil {
			return errors.Wrapf(err, "cannot write %s", name)
		}
	}
	return nil
}

// connectAdministrator makes the administrator's kubeconfig and client.
func (c *ControlPlane) connectAdministrator(token string) error {
	if err := c.writeKubeconfig(c.Kubeconfig, token); err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return errors.Wrap(err, "cannot read kubeconfig")
	}
	cfg.QPS = -1 // Waiting for our own queue would only slow tests down.
	c.Config = cfg

	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, apis.AddToScheme} {
		if err := add(s); err != nil {
			return errors.Wrap(err, "cannot make scheme")
		}
	}
	// A RESTMapper sends its first request when it is first used.
	c.Client, err = client.NewWithWatch(cfg, client.Options{Scheme: s})
	return errors.Wrap(err, "cannot make client")
}

// writeKubeconfig writes a kubeconfig with a token.
func (c *ControlPlane) writeKubeconfig(path, token string) error {
	ca, err := os.ReadFile(filepath.Join(c.apiServerDir(), "apiserver.crt"))
	if err != nil {
		return errors.Wrap(err, "cannot read certificate of API server")
	}
	config := newKubeconfig("https://"+port.Address(c.ports.apiServer), token, ca)
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

func (c *ControlPlane) waitForAPIServer(ctx context.Context) error {
	hc, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return errors.Wrap(err, "cannot make client")
	}
	starts, started := 1, time.Now()
	err = process.PollUntil(ctx, func(ctx context.Context) (bool, error) {
		p := c.currentProcess(&c.apiServer)
		switch {
		case p.IsAlive() && process.CheckURL(ctx, hc, c.Config.Host+"/readyz") == nil:
			return true, nil
		case p.IsAlive() && time.Since(started) < maxAPIServerStart:
			return false, nil
		}
		p.Kill()
		if starts == maxAPIServerStarts {
			return false, p.FailureWithLog("did not answer")
		}
		starts, started = starts+1, time.Now()
		return false, c.spawnAPIServer()
	})
	if err == nil {
		c.runner.FailAtEnd(c.currentProcess(&c.apiServer))
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

// startControllers starts a process that runs just these controllers.
func (c *ControlPlane) startControllers(name, controllers string) error {
	_, err := c.runner.Start(process.Command{Name: name, Path: c.tools.KubeControllers, Args: []string{
		"--kubeconfig=" + c.Kubeconfig,
		"--controllers=" + controllers,
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=200", "--kube-api-burst=400",
	}})
	return err
}

// createNamespace makes a namespace that nothing else makes. A cluster that comes from a backup has it.
func (c *ControlPlane) createNamespace(ctx context.Context, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return errors.Wrapf(client.IgnoreAlreadyExists(c.Client.Create(ctx, ns)), "cannot create namespace %s", name)
}

func waitForFile(ctx context.Context, path string) error {
	err := process.PollUntil(ctx, func(context.Context) (bool, error) { return toolbox.Exists(path), nil })
	return errors.Wrapf(err, "cannot find %s", path)
}
