// Package credentials reads the Secrets that a configuration names: how to authenticate to a Git server, which certificates to trust, which
// proxy to use, and the key to sign with.
package credentials

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/signature"
)

// Keys of Secrets. The keys of SSH and of GitHub Apps are the same as in Kubernetes and Flux.
const (
	keyUsername       = "username"
	keyPassword       = "password"
	keyToken          = "token"
	keyPrivateKey     = "ssh-privatekey"
	keyIdentity       = "identity"
	keyKnownHosts     = "known_hosts"
	keyCertificate    = "tls.crt"
	keyCertificateKey = "tls.key"
	keyAppID          = "githubAppID"
	keyInstallationID = "githubAppInstallationID"
	keyAppPrivateKey  = "githubAppPrivateKey"
	keyAppBaseURL     = "githubAppBaseURL"
	keySigning        = "git.asc"
	keyPassphrase     = "passphrase"
	keyTrusted        = "trustedKeys"
)

// Fields of a configuration that name Secrets.
const (
	fieldCredentials = "spec.git.credentials.secretRef"
	fieldCertificate = "spec.git.credentials.clientCertSecretRef"
	fieldCABundle    = "spec.git.caBundleSecretRef"
	fieldKnownHosts  = "spec.git.knownHostsSecretRef"
	fieldProxy       = "spec.git.proxy.secretRef"
	fieldSigning     = "spec.git.signing.secretRef"
)

// A GoneError is a Secret, or a key of one, that does not exist.
type GoneError struct {
	// Field of the configuration that names it.
	Field string
	// Detail names the missing part. It never holds a value.
	Detail string
}

// Error names the field and the missing part.
func (e *GoneError) Error() string { return e.Field + ": " + e.Detail }

// An InvalidError is a field of the configuration that is not valid.
type InvalidError struct {
	// Field of the configuration.
	Field string
	// Detail describes the error.
	Detail string
}

// Error names the field and its error.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Detail }

// A Config is the configuration that credentials are read for.
type Config struct {
	// Kind of the configuration.
	Kind string
	// Namespace of the configuration. Empty for a ClusterProviderConfig.
	Namespace string
	// Remote that the configuration names.
	Remote configv1alpha1.GitRemote
	// Guard restricts the addresses that a configuration of a namespace may lead to. The zero Guard is the strictest.
	Guard address.Guard
}

// Credentials are the content of a configuration's Secrets.
type Credentials struct {
	// Auth is nil for an anonymous client.
	Auth transport.Auth
	// CABundle is empty where the system's certificates are trusted.
	CABundle []byte
	// KnownHosts are the host keys of an SSH server.
	KnownHosts []byte
	// Proxy is nil where there is none.
	Proxy *transport.Proxy
	// Certificate is nil where the client presents none.
	Certificate *transport.Certificate
	// Signing is nil where commits are not signed.
	Signing *signature.Key
	// Namespace of the configuration. Empty for a ClusterProviderConfig.
	Namespace string
	// Guard is nil for a ClusterProviderConfig, which its administrator wrote.
	Guard *address.Guard
}

// Apply returns the remote with these credentials.
func (c Credentials) Apply(r git.Remote) git.Remote {
	r.Namespace, r.Guard = c.Namespace, c.Guard
	r.Auth, r.CABundle, r.KnownHosts = c.Auth, c.CABundle, c.KnownHosts
	r.Proxy, r.Certificate, r.Signing = c.Proxy, c.Certificate, c.Signing
	return r
}

// Read the credentials of a configuration. It returns a GoneError or an InvalidError, and another error if the API server cannot be read.
func Read(ctx context.Context, r client.Reader, c Config) (Credentials, error) {
	s := secrets{reader: r, config: c}
	out := Credentials{}
	if c.Kind != policy.KindClusterProviderConfig {
		out.Namespace, out.Guard = c.Namespace, &c.Guard
	}
	for _, read := range []func(context.Context, *Credentials) error{s.readAuth, s.readCertificate, s.readCABundle, s.readKnownHosts, s.readProxy, s.readSigning} {
		if err := read(ctx, &out); err != nil {
			return Credentials{}, err
		}
	}
	return out, nil
}

// Secrets returns the Secrets that a configuration names, whether they exist or not.
func Secrets(c Config) []client.ObjectKey {
	s := secrets{config: c}
	out := []client.ObjectKey{}
	for _, r := range secretReferences(c.Remote) {
		if key, err := s.allowedSecretKey("", r); err == nil {
			out = append(out, key)
		}
	}
	return out
}

func secretReferences(g configv1alpha1.GitRemote) []configv1alpha1.SecretReference {
	refs := []*configv1alpha1.SecretReference{g.Credentials.SecretRef, g.Credentials.ClientCertSecretRef}
	for _, r := range []*configv1alpha1.SecretKeyReference{g.CABundleSecretRef, g.KnownHostsSecretRef} {
		if r != nil {
			refs = append(refs, &r.SecretReference)
		}
	}
	if g.Proxy != nil {
		refs = append(refs, g.Proxy.SecretRef)
	}
	if g.Signing != nil {
		refs = append(refs, &g.Signing.SecretRef)
	}
	out := []configv1alpha1.SecretReference{}
	for _, r := range refs {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out
}
