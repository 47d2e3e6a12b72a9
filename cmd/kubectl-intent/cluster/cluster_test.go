package cluster

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// credentialPlugin is a command that a kubeconfig names, which prints a token.
const credentialPlugin = `#!/bin/sh
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "from-plugin"}}'
`

// idToken is one of OIDC's that does not end before the year 2100. Its signature is for the API server to check.
const idToken = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9.c2ln"

func TestCredentials(t *testing.T) {
	plugin := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(plugin, []byte(credentialPlugin), 0o700); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		user   string
		want   string
	}{
		"Token": {reason: "A token of the kubeconfig is sent.", user: `{token: a}`, want: "Bearer a"},
		"Exec": {
			reason: "A command that the kubeconfig names is run for a token.",
			user:   fmt.Sprintf(`{exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: Never}}`, plugin),
			want:   "Bearer from-plugin",
		},
		"OIDC": {
			reason: "The auth provider of OIDC is known, and sends its token.",
			user:   fmt.Sprintf(`{auth-provider: {name: oidc, config: {idp-issuer-url: "https://issuer.invalid", client-id: a, id-token: %q}}}`, idToken),
			want:   "Bearer " + idToken,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header.Get("Authorization")
				http.NotFound(w, r)
			}))
			defer server.Close()
			authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: %q, certificate-authority-data: %s}}],
				contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: %s}]}`, server.URL, base64.StdEncoding.EncodeToString(authority), tc.user)
			if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Open(Options{Kubeconfig: kubeconfig})
			if err != nil {
				t.Fatalf("\n%s\nOpen(...): %v", tc.reason, err)
			}
			c.ClaimNames(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nClaimNames(...): Authorization: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLoadConfigCompression(t *testing.T) {
	cases := map[string]struct {
		reason, cluster string
		isCompressed    bool
	}{
		"Remote":   {reason: "A remote API server compresses its answers.", cluster: `server: "https://api.example.org:6443"`, isCompressed: true},
		"Address":  {reason: "An API server at this machine does not compress its answers.", cluster: `server: "https://127.0.0.1:6443"`},
		"IPv6":     {reason: "An address of IPv6 may be of this machine too.", cluster: `server: "https://[::1]:6443"`},
		"Name":     {reason: "A host name may be of this machine too.", cluster: `server: "https://localhost:6443/clusters/a"`},
		"NoScheme": {reason: "A kubeconfig may name a server without a scheme.", cluster: `server: "127.0.0.1:8080"`},
		"Proxy": {
			reason:  "An address behind a proxy is of the machine of the proxy.",
			cluster: `server: "https://127.0.0.1:6443", proxy-url: "http://proxy.example.org:3128"`, isCompressed: true,
		},
		"Off": {
			reason:  "A kubeconfig may decline compression.",
			cluster: `server: "https://api.example.org:6443", disable-compression: true`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {%s}}], contexts: [{name: a, context: {cluster: a}}]}`, tc.cluster)
			if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, _, err := Options{Kubeconfig: kubeconfig}.loadKubeconfig()
			if err != nil {
				t.Fatalf("\n%s\nloadConfig(): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.isCompressed, !c.DisableCompression); diff != "" {
				t.Errorf("\n%s\nloadConfig(): compression: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
