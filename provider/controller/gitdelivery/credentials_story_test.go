package gitdelivery

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
)

const canary = "canary-91c3"

// echo is a server that sends everything back that it was sent.
func echo(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := fmt.Sprint(r.Header)
		w.Header().Set("X-Echo", strings.ReplaceAll(text, "\n", " "))
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestCanaries fails with each kind of credential at hand, and looks for it in all that is said.
func TestCanaries(t *testing.T) {
	t.Parallel()
	server := echo(t)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	app := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)}))
	host, key, err := gitserver.NewSSHKey()
	if err != nil {
		t.Fatal(err)
	}
	knownHosts := "127.0.0.1 " + string(ssh.MarshalAuthorizedKey(host.PublicKey()))
	ref := configv1alpha1.SecretReference{Namespace: "intentplane", Name: "creds"}
	cases := map[string]struct {
		data   map[string]string
		change func(*configv1alpha1.GitRemote)
	}{
		"Password": {data: map[string]string{"username": "u", "password": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.Credentials = configv1alpha1.Credentials{Type: configv1alpha1.CredentialsBasic, SecretRef: &ref}
		}},
		"Token": {data: map[string]string{"token": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.Credentials = configv1alpha1.Credentials{Type: configv1alpha1.CredentialsBearer, SecretRef: &ref}
		}},
		"URL": {change: func(g *configv1alpha1.GitRemote) { g.URL = strings.Replace(g.URL, "://", "://u:"+canary+"@", 1) }},
		"SSH": {data: map[string]string{"identity": canary, "password": canary, "known_hosts": knownHosts}, change: func(g *configv1alpha1.GitRemote) {
			g.URL = "ssh://git@127.0.0.1/r"
			g.Credentials = configv1alpha1.Credentials{Type: configv1alpha1.CredentialsSSH, SecretRef: &ref}
		}},
		"KnownHosts": {data: map[string]string{"identity": string(key), "known_hosts": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.URL = "ssh://git@127.0.0.1/r"
			g.Credentials = configv1alpha1.Credentials{Type: configv1alpha1.CredentialsSSH, SecretRef: &ref}
		}},
		"Signing": {data: map[string]string{"identity": canary, "passphrase": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.Signing = &configv1alpha1.Signing{Format: "SSH", SecretRef: ref}
		}},
		"SigningOpenPGP": {data: map[string]string{"git.asc": canary, "passphrase": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.Signing = &configv1alpha1.Signing{Format: "OpenPGP", SecretRef: ref}
		}},
		"SigningThatWorks": {data: map[string]string{"identity": string(key), "username": "u", "password": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.Signing = &configv1alpha1.Signing{Format: "SSH", SecretRef: ref}
			g.Credentials = configv1alpha1.Credentials{Type: configv1alpha1.CredentialsBasic, SecretRef: &ref}
		}},
		"Proxy": {data: map[string]string{"username": "u", "password": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.Proxy = &configv1alpha1.Proxy{URL: server.URL, SecretRef: &ref}
		}},
		"ProxyURL": {change: func(g *configv1alpha1.GitRemote) {
			g.Proxy = &configv1alpha1.Proxy{URL: "http://u:" + canary + "@proxy"}
		}},
		"ClientKey": {data: map[string]string{"tls.crt": ca, "tls.key": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.Credentials.ClientCertSecretRef = &ref
		}},
		"App": {
			data: map[string]string{"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": app, "githubAppBaseURL": server.URL},
			change: func(g *configv1alpha1.GitRemote) {
				g.Credentials = configv1alpha1.Credentials{Type: configv1alpha1.CredentialsGitHubApp, SecretRef: &ref}
			},
		},
		"CABundle": {data: map[string]string{"ca.crt": canary}, change: func(g *configv1alpha1.GitRemote) {
			g.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: ref, Key: "ca.crt"}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			data := map[string][]byte{"trust": []byte(ca)}
			for k, v := range tc.data {
				data[k] = []byte(v)
			}
			w.must(w.kube.Create(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}, Data: data}))
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Git.URL = server.URL + "/team/repo"
			c.Spec.Git.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: ref, Key: "trust"}
			if strings.HasPrefix(name, "SSH") || name == "KnownHosts" {
				c.Spec.Git.CABundleSecretRef = nil
			}
			tc.change(&c.Spec.Git)
			w.must(w.kube.Update(w.Context(), c))
			w.create(w.first())
			err := w.try("web")
			d := w.get("web")
			status, encodeErr := json.Marshal(d.Status)
			w.must(encodeErr)
			output := fmt.Sprintf("%v %+v %#v %s %v", err, err, err, status, w.events)
			if len(d.Status.Conditions) == 0 || strings.Contains(string(status), `"Delivered"`) {
				t.Errorf("nothing went wrong: %s", status)
			}
			for _, secret := range append(strings.Split(app, "\n")[1:4], canary, strings.Split(string(key), "\n")[1]) {
				if strings.Contains(output, secret) {
					t.Errorf("a credential is in the message: %s", output)
				}
			}
		})
	}
}
