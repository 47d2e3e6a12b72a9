// Package credentials reads what a configuration names in Secrets: how to authenticate to a Git server, and whom to trust.
package credentials

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/git"
)

// Keys of Secrets.
const (
	keyUsername = "username"
	keyPassword = "password"
	keyToken    = "token"
)

// A GoneError is a Secret, or a key of one, that does not exist.
type GoneError struct {
	// Field of the configuration that names it.
	Field string
	// Detail says what is missing. It never holds a value.
	Detail string
}

// Error names the field and what is missing.
func (e *GoneError) Error() string { return e.Field + ": " + e.Detail }

// An InvalidError is a field of the configuration that cannot be understood, or not yet.
type InvalidError struct {
	// Field of the configuration.
	Field string
	// Detail says what is wrong with it.
	Detail string
}

// Error names the field and what is wrong with it.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Detail }

// A Config is where credentials are read for.
type Config struct {
	// Kind of the configuration.
	Kind string
	// Namespace of the configuration. Empty for a ClusterProviderConfig.
	Namespace string
	// Remote that the configuration names.
	Remote configv1alpha1.GitRemote
}

// Credentials are what a configuration's Secrets hold.
type Credentials struct {
	// Auth is nil for an anonymous client.
	Auth git.Auth
	// CABundle is empty where the system's certificates are trusted.
	CABundle []byte
}

// Read the credentials of a configuration. It returns a GoneError or an InvalidError, and another one if the API server cannot
// be asked.
func Read(ctx context.Context, r client.Reader, c Config) (Credentials, error) {
	if err := supported(c.Remote); err != nil {
		return Credentials{}, err
	}
	s := secrets{reader: r, config: c}
	auth, err := s.auth(ctx)
	if err != nil {
		return Credentials{}, err
	}
	ref := c.Remote.CABundleSecretRef
	if ref == nil {
		return Credentials{Auth: auth}, nil
	}
	bundle, err := s.value(ctx, "spec.git.caBundleSecretRef", ref.SecretReference, ref.Key)
	return Credentials{Auth: auth, CABundle: bundle}, err
}

// supported refuses what would otherwise be silently left out.
func supported(g configv1alpha1.GitRemote) error {
	const detail = "is not supported yet"
	switch {
	case g.Credentials.Type == configv1alpha1.CredentialsSSH, g.Credentials.Type == configv1alpha1.CredentialsGitHubApp:
		return &InvalidError{Field: "spec.git.credentials.type", Detail: string(g.Credentials.Type) + " " + detail}
	case g.Credentials.ClientCertSecretRef != nil:
		return &InvalidError{Field: "spec.git.credentials.clientCertSecretRef", Detail: detail}
	case g.Proxy != nil:
		return &InvalidError{Field: "spec.git.proxy", Detail: detail}
	case g.Signing != nil:
		return &InvalidError{Field: "spec.git.signing", Detail: detail}
	case g.KnownHostsSecretRef != nil:
		return &InvalidError{Field: "spec.git.knownHostsSecretRef", Detail: "SSH " + detail}
	}
	return nil
}

// secrets reads the Secrets of one configuration.
type secrets struct {
	reader client.Reader
	config Config
}

func (s secrets) auth(ctx context.Context) (git.Auth, error) {
	c := s.config.Remote.Credentials
	if c.Type == "" || c.Type == configv1alpha1.CredentialsNone {
		return nil, nil //nolint:nilnil // No way to authenticate is what was asked for.
	}
	const field = "spec.git.credentials.secretRef"
	if c.SecretRef == nil {
		return nil, &InvalidError{Field: field, Detail: "is required for credentials of type " + string(c.Type)}
	}
	switch c.Type {
	case configv1alpha1.CredentialsBasic:
		return s.basic(ctx, field, *c.SecretRef)
	case configv1alpha1.CredentialsBearer:
		token, err := s.value(ctx, field, *c.SecretRef, keyToken)
		return git.Bearer{Token: string(token)}, err
	}
	return nil, &InvalidError{Field: "spec.git.credentials.type", Detail: string(c.Type) + " is not known"}
}

func (s secrets) basic(ctx context.Context, field string, ref configv1alpha1.SecretReference) (git.Auth, error) {
	username, err := s.value(ctx, field, ref, keyUsername)
	if err != nil {
		return nil, err
	}
	password, err := s.value(ctx, field, ref, keyPassword)
	return git.Basic{Username: string(username), Password: string(password)}, err
}

func (s secrets) value(ctx context.Context, field string, ref configv1alpha1.SecretReference, key string) ([]byte, error) {
	at, err := s.key(field, ref)
	if err != nil {
		return nil, err
	}
	secret := &corev1.Secret{}
	err = s.reader.Get(ctx, at, secret)
	if kerrors.IsNotFound(err) {
		return nil, &GoneError{Field: field, Detail: "Secret " + at.String() + " does not exist"}
	}
	if err != nil {
		return nil, errors.Wrapf(err, "%s: cannot get Secret %s", field, at)
	}
	v := secret.Data[key]
	if len(v) == 0 {
		return nil, &GoneError{Field: field, Detail: "Secret " + at.String() + " has no key " + key}
	}
	return v, nil
}

// key is where the boundary between tenants is: a ProviderConfig reads Secrets of its own namespace, whatever it names.
func (s secrets) key(field string, ref configv1alpha1.SecretReference) (client.ObjectKey, error) {
	if s.config.Kind == policy.KindClusterProviderConfig {
		if ref.Namespace == "" {
			return client.ObjectKey{}, &InvalidError{Field: field + ".namespace", Detail: "is required in a ClusterProviderConfig"}
		}
		return client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, nil
	}
	if ref.Namespace != "" && ref.Namespace != s.config.Namespace {
		return client.ObjectKey{}, &InvalidError{Field: field + ".namespace", Detail: "a ProviderConfig reads Secrets of its own namespace only"}
	}
	return client.ObjectKey{Namespace: s.config.Namespace, Name: ref.Name}, nil
}

// Secrets returns the Secrets that a configuration names, whether they exist or not.
func Secrets(c Config) []client.ObjectKey {
	s := secrets{config: c}
	refs := []configv1alpha1.SecretReference{}
	if r := c.Remote.Credentials.SecretRef; r != nil {
		refs = append(refs, *r)
	}
	if r := c.Remote.CABundleSecretRef; r != nil {
		refs = append(refs, r.SecretReference)
	}
	out := []client.ObjectKey{}
	for _, r := range refs {
		if at, err := s.key("", r); err == nil {
			out = append(out, at)
		}
	}
	return out
}
