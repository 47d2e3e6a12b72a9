package credentials

import (
	"context"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/signature"
)

func (s secrets) readAuth(ctx context.Context, out *Credentials) error {
	c := s.config.Remote.Credentials
	if c.Type == "" || c.Type == configv1alpha1.CredentialsNone {
		return nil // The configuration asks for an anonymous client.
	}
	if c.SecretRef == nil {
		return &InvalidError{Field: fieldCredentials, Detail: "is required for credentials of type " + string(c.Type)}
	}
	read, ok := map[configv1alpha1.CredentialsType]func(secretContent) (transport.Auth, error){
		configv1alpha1.CredentialsBasic:     newBasicAuth,
		configv1alpha1.CredentialsBearer:    newBearerAuth,
		configv1alpha1.CredentialsSSH:       newSSHAuth,
		configv1alpha1.CredentialsGitHubApp: newGitHubAppAuth,
	}[c.Type]
	if !ok {
		return &InvalidError{Field: "spec.git.credentials.type", Detail: string(c.Type) + " is not known"}
	}
	content, err := s.readAllowedSecret(ctx, fieldCredentials, *c.SecretRef)
	if err != nil {
		return err
	}
	out.Auth, err = read(content)
	return err
}

func newBasicAuth(c secretContent) (transport.Auth, error) {
	v, err := c.requiredTexts(keyUsername, keyPassword)
	if err != nil {
		return nil, err
	}
	return transport.Basic{Username: v[0], Password: v[1]}, nil
}

func newBearerAuth(c secretContent) (transport.Auth, error) {
	v, err := c.requiredTexts(keyToken)
	if err != nil {
		return nil, err
	}
	return transport.Bearer{Token: v[0]}, nil
}

func newSSHAuth(c secretContent) (transport.Auth, error) {
	key, err := c.firstPresentValue(keyPrivateKey, keyIdentity)
	if err != nil {
		return nil, err
	}
	return transport.SSH{PrivateKey: transport.Secret(key), Passphrase: transport.Secret(c.data[keyPassword])}, nil
}

func newGitHubAppAuth(c secretContent) (transport.Auth, error) {
	v, err := c.requiredTexts(keyAppID, keyInstallationID, keyAppPrivateKey)
	if err != nil {
		return nil, err
	}
	return transport.GitHubApp{AppID: v[0], InstallationID: v[1], PrivateKey: transport.Secret(v[2]), BaseURL: string(c.data[keyAppBaseURL])}, nil
}

func (s secrets) readCertificate(ctx context.Context, out *Credentials) error {
	ref := s.config.Remote.Credentials.ClientCertSecretRef
	if ref == nil {
		return nil
	}
	content, err := s.readAllowedSecret(ctx, fieldCertificate, *ref)
	if err != nil {
		return err
	}
	v, err := content.requiredTexts(keyCertificate, keyCertificateKey)
	if err != nil {
		return err
	}
	out.Certificate = &transport.Certificate{Chain: []byte(v[0]), Key: transport.Secret(v[1])}
	return nil
}

func (s secrets) readCABundle(ctx context.Context, out *Credentials) error {
	ref := s.config.Remote.CABundleSecretRef
	if ref == nil {
		return nil
	}
	content, err := s.readAllowedSecret(ctx, fieldCABundle, ref.SecretReference)
	if err != nil {
		return err
	}
	out.CABundle, err = content.firstPresentValue(ref.Key)
	return err
}

// readKnownHosts reads the host keys from a Secret of their own, or from the Secret of the SSH key. They are required: without them any
// server would be trusted.
func (s secrets) readKnownHosts(ctx context.Context, out *Credentials) error {
	ref, c := s.config.Remote.KnownHostsSecretRef, s.config.Remote.Credentials
	if ref != nil {
		hostsContent, err := s.readAllowedSecret(ctx, fieldKnownHosts, ref.SecretReference)
		if err != nil {
			return err
		}
		out.KnownHosts, err = hostsContent.firstPresentValue(ref.Key)
		return err
	}
	if c.Type != configv1alpha1.CredentialsSSH {
		return nil
	}
	authContent, err := s.readAllowedSecret(ctx, fieldCredentials, *c.SecretRef)
	if err != nil {
		return err
	}
	if out.KnownHosts = authContent.data[keyKnownHosts]; len(out.KnownHosts) == 0 {
		return &InvalidError{Field: fieldKnownHosts, Detail: "is required for SSH, or a key " + keyKnownHosts + " in the Secret with the private key"}
	}
	return nil
}

func (s secrets) readProxy(ctx context.Context, out *Credentials) error {
	p := s.config.Remote.Proxy
	if p == nil {
		return nil
	}
	out.Proxy = &transport.Proxy{URL: p.URL}
	if p.SecretRef == nil {
		return nil
	}
	content, err := s.readAllowedSecret(ctx, fieldProxy, *p.SecretRef)
	if err != nil {
		return err
	}
	v, err := content.requiredTexts(keyUsername, keyPassword)
	if err != nil {
		return err
	}
	out.Proxy.Username, out.Proxy.Password = v[0], transport.Secret(v[1])
	return nil
}

func (s secrets) readSigning(ctx context.Context, out *Credentials) error {
	g := s.config.Remote.Signing
	if g == nil {
		return nil
	}
	content, err := s.readAllowedSecret(ctx, fieldSigning, g.SecretRef)
	if err != nil {
		return err
	}
	format := signature.Format(g.Format)
	names := map[signature.Format][]string{
		signature.FormatSSH:     {keyPrivateKey, keyIdentity},
		signature.FormatOpenPGP: {keySigning},
	}[format]
	if names == nil {
		return &InvalidError{Field: "spec.git.signing.format", Detail: "must be SSH or OpenPGP"}
	}
	key, err := content.firstPresentValue(names...)
	if err != nil {
		return err
	}
	passphrase, _ := content.firstPresentValue(keyPassphrase, keyPassword)
	out.Signing = &signature.Key{Format: format, Private: string(key), Passphrase: string(passphrase), Trusted: content.data[keyTrusted]}
	return nil
}
