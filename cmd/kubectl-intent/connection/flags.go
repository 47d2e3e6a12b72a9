// Package connection connects commands to a cluster, by the flags of kubectl.
package connection

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// warningTimeout limits the time that a command spends on the version of the provider.
const warningTimeout = 2 * time.Second

// Flags say which cluster. They are called as kubectl's are.
type Flags struct {
	Kubeconfig string `help:"Kubeconfig of the cluster."               predictor:"file"`
	Context    string `help:"Context of the kubeconfig."`
	Namespace  string `help:"Namespace of deployments that name none." short:"n"`

	hiddenFlags
}

// hiddenFlags are the rest of kubectl's flags about a connection. Help does not show them, as kubectl's help does not.
type hiddenFlags struct {
	As                    string        `help:"User to act as in the cluster."                         hidden:""`
	AsGroup               []string      `help:"Groups to act as in the cluster." hidden:"" sep:"none"`
	RequestTimeout        time.Duration `default:"30s" help:"How long one request to the cluster may take." hidden:""`
	Cluster               string        `help:"Cluster of the kubeconfig."                             hidden:""`
	User                  string        `help:"User of the kubeconfig."                                hidden:""`
	Server                string        `help:"Address of the API server."                             hidden:""          short:"s"`
	Token                 string        `help:"Token of the user."                                     hidden:""`
	AsUID                 string        `help:"UID to act as in the cluster."                          hidden:""          name:"as-uid"`
	CertificateAuthority  string        `help:"File with the certificate that signs the API server's." hidden:""          predictor:"file"`
	ClientCertificate     string        `help:"File with the user's certificate."                      hidden:""          predictor:"file"`
	ClientKey             string        `help:"File with the key of the user's certificate."           hidden:""          predictor:"file"`
	TLSServerName         string        `help:"Name in the API server's certificate."                  hidden:""          name:"tls-server-name"`
	InsecureSkipTLSVerify bool          `help:"Take any certificate of the API server."                hidden:""          name:"insecure-skip-tls-verify"`
}

// OpenCluster connects to the cluster.
func (f Flags) OpenCluster() (*cluster.Cluster, error) {
	return cluster.Open(f.ClusterOptions())
}

// OpenFor connects to the cluster, and warns a user whose program is too old for the provider that runs there.
func (f Flags) OpenFor(s *terminal.Streams) (*cluster.Cluster, error) {
	opened, err := f.OpenCluster()
	if err != nil {
		return nil, terminal.UsageError{Err: err}
	}
	ctx, cancel := context.WithTimeout(context.Background(), warningTimeout)
	defer cancel()
	warning := opened.Inspector().OldClientWarning(ctx, s.Version)
	if warning == "" {
		return opened, nil
	}
	_, err = fmt.Fprintf(s.ErrOut, "kubectl-intent: warning: %s\n", terminal.QuoteInvisible(warning))
	return opened, errors.Wrap(err, "cannot print")
}

// ClusterOptions returns the options of the connection.
func (f Flags) ClusterOptions() cluster.Options {
	return cluster.Options{Kubeconfig: f.Kubeconfig, Timeout: f.RequestTimeout, Overrides: clientcmd.ConfigOverrides{
		CurrentContext: f.Context,
		Context:        clientcmdapi.Context{Namespace: f.Namespace, Cluster: f.Cluster, AuthInfo: f.User},
		AuthInfo: clientcmdapi.AuthInfo{
			Impersonate: f.As, ImpersonateUID: f.AsUID, ImpersonateGroups: f.AsGroup, Token: f.Token, ClientCertificate: f.ClientCertificate, ClientKey: f.ClientKey,
		},
		ClusterInfo: clientcmdapi.Cluster{
			Server: f.Server, CertificateAuthority: f.CertificateAuthority, TLSServerName: f.TLSServerName, InsecureSkipTLSVerify: f.InsecureSkipTLSVerify,
		},
	}}
}
