package clusters

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/rest"
	clientcmdapiv1 "k8s.io/client-go/tools/clientcmd/api/v1"

	"github.com/intentplane/intentplane/apis/boundedyaml"
	"github.com/intentplane/intentplane/provider/clusters/account"
)

// requestRate is how many requests per second are sent to one cluster, and requestBurst how many at once.
const requestRate, requestBurst = 20, 50

const (
	// maxKubeconfigBytes and maxKubeconfigMarks are the maximum size of a kubeconfig, and the maximum number of its characters that may begin a value. Each value
	// takes hundreds of bytes in memory while it is read. The certificates of all public authorities have 230 KiB.
	maxKubeconfigBytes, maxKubeconfigMarks = 512 << 10, 10_000

	// maxClientKeyBytes is the maximum size of a client key: an RSA key of 16,384 bits. A handshake takes time by the third power of the length.
	maxClientKeyBytes = 16 << 10

	// valueMarks may begin a line, an item, or a field.
	valueMarks = "\n,:[{"
)

// isTooLarge is true for a kubeconfig that takes long to read, or much memory.
func isTooLarge(data []byte) bool {
	marks := 0
	for i := range len(valueMarks) {
		marks += bytes.Count(data, []byte{valueMarks[i]})
	}
	return len(data) > maxKubeconfigBytes || marks > maxKubeconfigMarks
}

// fieldExec is the field of a kubeconfig that runs a program.
const fieldExec = "exec"

// A RefusedError reports an invalid kubeconfig, or a setting that is not allowed.
type RefusedError struct {
	// Field of the kubeconfig. Empty if it is all of it.
	Field string
	// Detail describes the error. It never holds a value of the kubeconfig.
	Detail string
}

// Error names the field.
func (e *RefusedError) Error() string {
	if e.Field == "" {
		return "the kubeconfig " + e.Detail
	}
	return "the kubeconfig's " + e.Field + " " + e.Detail
}

// Limits restrict the settings of a kubeconfig.
type Limits struct {
	// Insecure lets a kubeconfig trust any server.
	Insecure bool
	// Loopback lets a tenant's kubeconfig lead to the provider's own machine. It is for tests.
	Loopback bool
	// Accounts limit the answers of clusters. Nil sends nothing.
	Accounts *account.Accounts
}

// Parse a kubeconfig, as far as its current context goes. Its author is not trusted: it can neither run a program, nor
// read a file of the provider, nor use a proxy, nor impersonate another user. It returns a RefusedError.
func Parse(data []byte, l Limits) (*rest.Config, error) {
	if isTooLarge(data) {
		return nil, &RefusedError{Detail: "is too large"}
	}
	c := clientcmdapiv1.Config{}
	if boundedyaml.UnmarshalStrict(data, &c) != nil {
		return nil, &RefusedError{Detail: "cannot be parsed"} // The parser's message may repeat a token.
	}
	cluster, user, err := currentContext(c)
	if err != nil {
		return nil, err
	}
	if err := refuseUnsafe(cluster, user, l); err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:        cluster.Server,
		BearerToken: user.Token,
		Username:    user.Username,
		Password:    user.Password,
		QPS:         requestRate, Burst: requestBurst,
		// Warnings of a cluster are not for our log.
		WarningHandler: rest.NoWarnings{},
		TLSClientConfig: rest.TLSClientConfig{
			Insecure:   cluster.InsecureSkipTLSVerify,
			ServerName: cluster.TLSServerName,
			CAData:     cluster.CertificateAuthorityData,
			CertData:   user.ClientCertificateData,
			KeyData:    user.ClientKeyData,
		},
	}, nil
}

// currentContext returns the cluster and the user of the current context. A kubeconfig with two entries of one name is ambiguous, and refused.
func currentContext(c clientcmdapiv1.Config) (clientcmdapiv1.Cluster, clientcmdapiv1.AuthInfo, error) {
	contexts := map[string]clientcmdapiv1.Context{}
	for _, x := range c.Contexts {
		contexts[x.Name] = x.Context
	}
	clusters := map[string]clientcmdapiv1.Cluster{}
	for _, x := range c.Clusters {
		clusters[x.Name] = x.Cluster
	}
	users := map[string]clientcmdapiv1.AuthInfo{}
	for _, x := range c.AuthInfos {
		users[x.Name] = x.AuthInfo
	}
	if len(contexts) != len(c.Contexts) || len(clusters) != len(c.Clusters) || len(users) != len(c.AuthInfos) {
		return clientcmdapiv1.Cluster{}, clientcmdapiv1.AuthInfo{}, &RefusedError{Detail: "names something twice"}
	}
	context, ok := contexts[c.CurrentContext]
	cluster, ok2 := clusters[context.Cluster]
	user, ok3 := users[context.AuthInfo]
	if !ok || !ok2 || !ok3 {
		return clientcmdapiv1.Cluster{}, clientcmdapiv1.AuthInfo{}, &RefusedError{Field: "current-context", Detail: "names no context, or one without cluster and user"}
	}
	return cluster, user, nil
}

func refuseUnsafe(c clientcmdapiv1.Cluster, u clientcmdapiv1.AuthInfo, l Limits) error {
	const file, refused = "names a file, which is not read: put its content into the kubeconfig", "is refused"
	checks := []struct {
		bad    bool
		field  string
		detail string
	}{
		{bad: u.Exec != nil, field: fieldExec, detail: refused},
		{bad: u.AuthProvider != nil, field: "auth-provider", detail: refused},
		{bad: u.TokenFile != "", field: "tokenFile", detail: file},
		{bad: u.ClientCertificate != "", field: "client-certificate", detail: file},
		{bad: u.ClientKey != "", field: "client-key", detail: file},
		{bad: len(u.ClientKeyData) > maxClientKeyBytes, field: "client-key-data", detail: "is too large"},
		{bad: c.CertificateAuthority != "", field: "certificate-authority", detail: file},
		{bad: u.Impersonate != "" || u.ImpersonateUID != "" || len(u.ImpersonateGroups)+len(u.ImpersonateUserExtra) > 0, field: "act-as", detail: refused},
		{bad: c.ProxyURL != "", field: "proxy-url", detail: refused},
		{bad: c.InsecureSkipTLSVerify && !l.Insecure, field: "insecure-skip-tls-verify", detail: refused + ": name the certificates to trust"},
		{bad: c.InsecureSkipTLSVerify && len(c.CertificateAuthorityData) > 0, field: "insecure-skip-tls-verify", detail: "contradicts certificate-authority-data"},
	}
	for _, check := range checks {
		if check.bad {
			return &RefusedError{Field: check.field, Detail: check.detail}
		}
	}
	return checkServer(c.Server)
}

func checkServer(server string) error {
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Hostname() == "":
		return &RefusedError{Field: "server", Detail: "is not an address"}
	case u.Scheme != "https":
		return &RefusedError{Field: "server", Detail: "must be an https address"}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return &RefusedError{Field: "server", Detail: "must not hold credentials, a query or a fragment"}
	}
	return nil
}

// kubeconfigDigest distinguishes connections. It is not secret, and the kubeconfig does not follow from it.
func kubeconfigDigest(kubeconfig []byte) string {
	sum := sha256.Sum256(kubeconfig)
	return hex.EncodeToString(sum[:])
}

// IsRefused reports whether an error is a kubeconfig that is refused.
func IsRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}

// RunsProgram reports whether an error is a kubeconfig that is refused because it runs a program to get its credentials.
func RunsProgram(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.Field == fieldExec
}
