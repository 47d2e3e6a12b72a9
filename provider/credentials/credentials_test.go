package credentials

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/signature"
)

func secretsIn(namespace string, data map[string]string) client.Reader {
	return &test.MockClient{MockGet: func(_ context.Context, key client.ObjectKey, o client.Object) error {
		s, ok := o.(*corev1.Secret)
		if !ok || key.Namespace != namespace || key.Name != "creds" {
			return kerrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
		}
		s.Data = map[string][]byte{}
		for k, v := range data {
			s.Data[k] = []byte(v)
		}
		return nil
	}}
}

func of(t configv1alpha1.CredentialsType, ref *configv1alpha1.SecretReference) configv1alpha1.GitRemote {
	return configv1alpha1.GitRemote{Credentials: configv1alpha1.Credentials{Type: t, SecretRef: ref}}
}

func TestReadCredentials(t *testing.T) {
	creds := &configv1alpha1.SecretReference{Name: "creds"}
	all := secretsIn("team-a", map[string]string{"username": "u", "password": "p", "token": "t", "ca.crt": "PEM"})
	broken := &test.MockClient{MockGet: test.NewMockGetFn(errors.New("boom"))}

	cases := map[string]struct {
		reason string
		reader client.Reader
		kind   string
		remote configv1alpha1.GitRemote
		want   Credentials
		err    error
	}{
		"None": {
			reason: "A configuration may ask for an anonymous client.",
			remote: of(configv1alpha1.CredentialsNone, nil),
		},
		"Basic": {
			reason: "Basic authentication reads user name and password.",
			remote: of(configv1alpha1.CredentialsBasic, creds),
			want:   Credentials{Auth: transport.Basic{Username: "u", Password: "p"}},
		},
		"BearerAndCA": {
			reason: "A token is read together with certificates to trust.",
			remote: configv1alpha1.GitRemote{
				Credentials:       configv1alpha1.Credentials{Type: configv1alpha1.CredentialsBearer, SecretRef: creds},
				CABundleSecretRef: &configv1alpha1.SecretKeyReference{SecretReference: *creds, Key: "ca.crt"},
			},
			want: Credentials{Auth: transport.Bearer{Token: "t"}, CABundle: []byte("PEM")},
		},
		"ClusterProviderConfig": {
			reason: "A ClusterProviderConfig names the namespace of its Secret.",
			kind:   policy.KindClusterProviderConfig,
			remote: of(configv1alpha1.CredentialsBearer, &configv1alpha1.SecretReference{Namespace: "team-a", Name: "creds"}),
			want:   Credentials{Auth: transport.Bearer{Token: "t"}},
		},
		"ClusterProviderConfigWithoutNamespace": {
			reason: "A ClusterProviderConfig that names no namespace is refused.",
			kind:   policy.KindClusterProviderConfig,
			remote: of(configv1alpha1.CredentialsBearer, creds),
			err:    &InvalidError{Field: "spec.git.credentials.secretRef.namespace", Detail: "is required in a ClusterProviderConfig"},
		},
		"CVE-2026-44935-ForeignNamespace": {
			reason: "A tenant's configuration cannot read a Secret of another tenant.",
			remote: of(configv1alpha1.CredentialsBearer, &configv1alpha1.SecretReference{Namespace: "team-b", Name: "creds"}),
			err:    &InvalidError{Field: "spec.git.credentials.secretRef.namespace", Detail: "a ProviderConfig reads Secrets of its own namespace only"},
		},
		"NoSecretRef": {
			reason: "A type that needs a Secret is refused without a reference.",
			remote: of(configv1alpha1.CredentialsBasic, nil),
			err:    &InvalidError{Field: "spec.git.credentials.secretRef", Detail: "is required for credentials of type Basic"},
		},
		"SecretGone": {
			reason: "The error names a Secret that does not exist.",
			reader: secretsIn("elsewhere", nil),
			remote: of(configv1alpha1.CredentialsBasic, creds),
			err:    &GoneError{Field: "spec.git.credentials.secretRef", Detail: "Secret team-a/creds does not exist"},
		},
		"KeyGone": {
			reason: "The error names a key that does not exist and shows no value.",
			reader: secretsIn("team-a", map[string]string{"username": "u"}),
			remote: of(configv1alpha1.CredentialsBasic, creds),
			err:    &GoneError{Field: "spec.git.credentials.secretRef", Detail: "Secret team-a/creds has no key password"},
		},
		"NoAnswer": {
			reason: "An error of the API server is not reported as a missing Secret.",
			reader: broken,
			remote: of(configv1alpha1.CredentialsBasic, creds),
			err:    errors.Wrap(errors.New("boom"), "spec.git.credentials.secretRef: cannot get Secret team-a/creds"),
		},
		"SSH": {
			reason: "An SSH key is read by the key names of Kubernetes, with known hosts beside it.",
			reader: secretsIn("team-a", map[string]string{"ssh-privatekey": "K", "known_hosts": "H"}),
			remote: of(configv1alpha1.CredentialsSSH, creds),
			want:   Credentials{Auth: transport.SSH{PrivateKey: "K"}, KnownHosts: []byte("H")},
		},
		"SSHOfFlux": {
			reason: "An SSH key is read by the key names of Flux, with known hosts in another Secret.",
			reader: secretsIn("team-a", map[string]string{"identity": "K", "password": "P", "hosts": "H", "known_hosts": "other"}),
			remote: configv1alpha1.GitRemote{
				Credentials:         configv1alpha1.Credentials{Type: configv1alpha1.CredentialsSSH, SecretRef: creds},
				KnownHostsSecretRef: &configv1alpha1.SecretKeyReference{SecretReference: *creds, Key: "hosts"},
			},
			want: Credentials{Auth: transport.SSH{PrivateKey: "K", Passphrase: "P"}, KnownHosts: []byte("H")},
		},
		"SSHWithoutKnownHosts": {
			reason: "An SSH key without known hosts is refused.",
			reader: secretsIn("team-a", map[string]string{"identity": "K"}),
			remote: of(configv1alpha1.CredentialsSSH, creds),
			err: &InvalidError{
				Field: "spec.git.knownHostsSecretRef", Detail: "is required for SSH, or a key known_hosts in the Secret with the private key",
			},
		},
		"SSHWithoutKey": {
			reason: "The error names both keys that may hold an SSH key.",
			remote: of(configv1alpha1.CredentialsSSH, creds),
			err:    &GoneError{Field: "spec.git.credentials.secretRef", Detail: "Secret team-a/creds has no key ssh-privatekey or identity"},
		},
		"GitHubApp": {
			reason: "A GitHub App is read by the key names of Flux.",
			reader: secretsIn("team-a", map[string]string{
				"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": "K", "githubAppBaseURL": "https://github.example.org/api/v3",
			}),
			remote: of(configv1alpha1.CredentialsGitHubApp, creds),
			want: Credentials{Auth: transport.GitHubApp{
				AppID: "1", InstallationID: "2", PrivateKey: "K", BaseURL: "https://github.example.org/api/v3",
			}},
		},
		"ClientCertificate": {
			reason: "A client certificate is read by the key names of kubernetes.io/tls.",
			reader: secretsIn("team-a", map[string]string{"tls.crt": "C", "tls.key": "K"}),
			remote: configv1alpha1.GitRemote{Credentials: configv1alpha1.Credentials{ClientCertSecretRef: creds}},
			want:   Credentials{Certificate: &transport.Certificate{Chain: []byte("C"), Key: "K"}},
		},
		"Proxy": {
			reason: "A proxy with user name and password is read.",
			remote: configv1alpha1.GitRemote{Proxy: &configv1alpha1.Proxy{URL: "http://proxy:3128", SecretRef: creds}},
			want:   Credentials{Proxy: &transport.Proxy{URL: "http://proxy:3128", Username: "u", Password: "p"}},
		},
		"OpenProxy": {
			reason: "A proxy without user name and password is read.",
			remote: configv1alpha1.GitRemote{Proxy: &configv1alpha1.Proxy{URL: "http://proxy:3128"}},
			want:   Credentials{Proxy: &transport.Proxy{URL: "http://proxy:3128"}},
		},
		"SigningSSH": {
			reason: "An SSH key that signs is read with the keys that it trusts.",
			reader: secretsIn("team-a", map[string]string{"identity": "K", "passphrase": "P", "trustedKeys": "T"}),
			remote: configv1alpha1.GitRemote{Signing: &configv1alpha1.Signing{Format: "SSH", SecretRef: *creds}},
			want:   Credentials{Signing: &signature.Key{Format: signature.FormatSSH, Private: "K", Passphrase: "P", Trusted: []byte("T")}},
		},
		"SigningOpenPGP": {
			reason: "An OpenPGP key that signs is read.",
			reader: secretsIn("team-a", map[string]string{"git.asc": "K"}),
			remote: configv1alpha1.GitRemote{Signing: &configv1alpha1.Signing{Format: "OpenPGP", SecretRef: *creds}},
			want:   Credentials{Signing: &signature.Key{Format: signature.FormatOpenPGP, Private: "K"}},
		},
		"SigningGone": {
			reason: "A signing key that cannot be read is an error, so that no commit is left unsigned.",
			remote: configv1alpha1.GitRemote{Signing: &configv1alpha1.Signing{Format: "OpenPGP", SecretRef: *creds}},
			err:    &GoneError{Field: "spec.git.signing.secretRef", Detail: "Secret team-a/creds has no key git.asc"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.reader == nil {
				tc.reader = all
			}
			if tc.kind == "" {
				tc.kind = policy.KindProviderConfig
			}
			got, err := Read(t.Context(), tc.reader, Config{Kind: tc.kind, Namespace: "team-a", Remote: tc.remote})
			if diff := cmp.Diff(tc.err, err, test.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nRead(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Credentials{}, "Namespace", "Guard")); diff != "" {
				t.Errorf("\n%s\nRead(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGuard(t *testing.T) {
	cases := map[string]struct {
		reason string
		config Config
		want   git.Remote
	}{
		"ProviderConfig": {
			reason: "A configuration of a namespace is guarded, and its namespace is accounted for it.",
			config: Config{Kind: policy.KindProviderConfig, Namespace: "team-a", Guard: address.Guard{Loopback: true}},
			want:   git.Remote{Namespace: "team-a", Guard: &address.Guard{Loopback: true}},
		},
		"Unknown": {
			reason: "A configuration of an unknown kind is guarded.",
			config: Config{Namespace: "team-a"},
			want:   git.Remote{Namespace: "team-a", Guard: &address.Guard{}},
		},
		"ClusterProviderConfig": {
			reason: "A configuration of an administrator is not guarded.",
			config: Config{Kind: policy.KindClusterProviderConfig, Guard: address.Guard{Loopback: true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := Read(t.Context(), secretsIn("team-a", nil), tc.config)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, c.Apply(git.Remote{})); diff != "" {
				t.Errorf("%s\nApply(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	cases := map[string]struct {
		reason string
		config Config
		want   []client.ObjectKey
	}{
		"None": {reason: "An anonymous client needs no Secret.", config: Config{Kind: policy.KindProviderConfig}, want: []client.ObjectKey{}},
		"Own": {
			reason: "A ProviderConfig names Secrets of its own namespace.",
			config: Config{
				Kind: policy.KindProviderConfig, Namespace: "team-a",
				Remote: of(configv1alpha1.CredentialsBasic, &configv1alpha1.SecretReference{Name: "creds"}),
			},
			want: []client.ObjectKey{{Namespace: "team-a", Name: "creds"}},
		},
		"All": {
			reason: "A configuration names all Secrets whose change matters to its users.",
			config: Config{Kind: policy.KindProviderConfig, Namespace: "team-a", Remote: configv1alpha1.GitRemote{
				Credentials: configv1alpha1.Credentials{
					SecretRef: &configv1alpha1.SecretReference{Name: "a"}, ClientCertSecretRef: &configv1alpha1.SecretReference{Name: "b"},
				},
				CABundleSecretRef:   &configv1alpha1.SecretKeyReference{SecretReference: configv1alpha1.SecretReference{Name: "c"}},
				KnownHostsSecretRef: &configv1alpha1.SecretKeyReference{SecretReference: configv1alpha1.SecretReference{Name: "d"}},
				Proxy:               &configv1alpha1.Proxy{SecretRef: &configv1alpha1.SecretReference{Name: "e"}},
				Signing:             &configv1alpha1.Signing{SecretRef: configv1alpha1.SecretReference{Name: "f"}},
			}},
			want: []client.ObjectKey{
				{Namespace: "team-a", Name: "a"},
				{Namespace: "team-a", Name: "b"},
				{Namespace: "team-a", Name: "c"},
				{Namespace: "team-a", Name: "d"},
				{Namespace: "team-a", Name: "e"},
				{Namespace: "team-a", Name: "f"},
			},
		},
		"Foreign": {
			reason: "A Secret that the configuration may not read is not named.",
			config: Config{
				Kind: policy.KindProviderConfig, Namespace: "team-a",
				Remote: of(configv1alpha1.CredentialsBasic, &configv1alpha1.SecretReference{Namespace: "team-b", Name: "creds"}),
			},
			want: []client.ObjectKey{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Secrets(tc.config)); diff != "" {
				t.Errorf("\n%s\nSecrets(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
