// Package release delivers a shop in two tracks by the whole product: a claim, the function, the provider, Git, real Flux, a real gateway, and users
// who send requests all the time.
package release

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/kubelet"
)

// readyAfter is how long pods take until they answer. It is long enough for requests to find a track that is not ready.
const readyAfter = time.Second

// A Cluster has Flux, a gateway, and pods that answer.
type Cluster struct {
	*kubernetes.Cluster

	Gateway *kubernetes.Gateway
	Kubelet *kubelet.Kubelet

	// Faults of its pods.
	Faults *Faults
}

// StartCluster starts a cluster, which ends with the control plane. Its pods get addresses of a network of this machine. It returns an error if
// something does not get ready.
func StartCluster(ctx context.Context, cp *controlplane.ControlPlane, name string, network netip.Prefix) (*Cluster, error) {
	if err := kubelet.CheckNetwork(ctx, network); err != nil {
		return nil, err
	}
	k, err := cp.StartCluster(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(k.StartFlux(ctx), k.StartWorkloads()); err != nil {
		return nil, err
	}
	c := &Cluster{Cluster: k, Faults: &Faults{every: map[string]int{}, asked: map[string]int{}}}
	o := kubelet.Options{Network: network, ReadyAfter: readyAfter, Handler: c.Faults.handlerForPod}
	if c.Kubelet, err = kubelet.Start(ctx, k.Config, o); err != nil {
		return nil, err
	}
	c.Gateway, err = k.StartGateway(ctx)
	return c, err
}

// Account returns a kubeconfig with the rights that the examples give to the account of a Site's kubeconfig. It returns an error if the cluster does
// not give them.
func (c *Cluster) Account(ctx context.Context) ([]byte, error) {
	root, err := toolbox.Root()
	if err != nil {
		return nil, err
	}
	account, traffic := filepath.Join(root, "examples", "gitops", "flux", "edge1", "account.yaml"), filepath.Join(root, "examples", "rbac", "traffic.yaml")
	if err := c.Apply(ctx, account, traffic); err != nil {
		return nil, err
	}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: kubernetes.FluxNamespace, Name: "intentplane"}}
	if err := client.IgnoreAlreadyExists(c.Client.Create(ctx, bindTraffic(sa))); err != nil {
		return nil, errors.Wrap(err, "cannot bind role")
	}
	token := &authenticationv1.TokenRequest{}
	if err := c.Client.SubResource("token").Create(ctx, sa, token); err != nil {
		return nil, errors.Wrap(err, "cannot create token")
	}
	return c.encodeKubeconfig(token.Status.Token)
}

func bindTraffic(account *corev1.ServiceAccount) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "site-traffic"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "intentplane:traffic"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.GetNamespace(), Name: account.GetName()}},
	}
}

func (c *Cluster) encodeKubeconfig(token string) ([]byte, error) {
	ca := c.Config.CAData
	if len(ca) == 0 {
		var err error
		if ca, err = os.ReadFile(c.Config.CAFile); err != nil {
			return nil, errors.Wrap(err, "cannot read certificate of API server")
		}
	}
	b, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"edge": {Server: c.Config.Host, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"intentplane": {Token: token}},
		Contexts:       map[string]*clientcmdapi.Context{"edge": {Cluster: "edge", AuthInfo: "intentplane"}},
		CurrentContext: "edge",
	})
	return b, errors.Wrap(err, "cannot write kubeconfig")
}
