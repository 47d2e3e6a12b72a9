package clusters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

const canary = "canary-5d1c"

// honest has one of each thing that is allowed. "Y2E=" is the base64 of "ca".
const honest = `apiVersion: v1
kind: Config
current-context: a
clusters:
- name: c
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: Y2E=
    tls-server-name: api.example.org
contexts:
- name: a
  context: {cluster: c, user: u}
users:
- name: u
  user:
    token: canary-5d1c
    client-certificate-data: Y2E=
    client-key-data: Y2E=
- name: other
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never, provideClusterInfo: false}
`

func with(search, replacement string) string {
	if !strings.Contains(honest, search) {
		panic(search)
	}
	return strings.Replace(honest, search, replacement, 1)
}

// usersWithAlias returns users of a kubeconfig whose tokens are the value of an anchor.
func usersWithAlias(count int) string {
	out := strings.Builder{}
	for i := range count {
		fmt.Fprintf(&out, "- name: user%d\n  user: {token: *t}\n", i)
	}
	return out.String()
}

func TestParse(t *testing.T) {
	const user, cluster = "    token: canary-5d1c\n", "    certificate-authority-data: Y2E=\n"
	cases := map[string]struct {
		reason string
		config string
		limits Limits
		field  string
		detail string
	}{
		"Honest": {reason: "Only the user of the current context is checked.", config: honest},
		"Exec": {
			reason: "A kubeconfig may not run a program of the provider's machine.",
			config: with(
				user, user+"    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never, provideClusterInfo: false}\n",
			),
			field: "exec",
		},
		"AuthProvider": {
			reason: "A program that is built into clients is not run.",
			config: with(user, user+"    auth-provider: {name: gcp}\n"), field: "auth-provider",
		},
		"TokenFile": {
			reason: "A kubeconfig may not name the file of the provider's own token.",
			config: with(user, "    tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token\n"), field: "tokenFile",
		},
		"CertFile": {
			reason: "A client certificate is not read from a file.",
			config: with("client-certificate-data: Y2E=", "client-certificate: /etc/passwd"), field: "client-certificate",
		},
		"KeyFile": {reason: "A client key is not read from a file.", config: with("client-key-data: Y2E=", "client-key: /etc/passwd"), field: "client-key"},
		"CAFile": {
			reason: "A certificate authority is not read from a file.",
			config: with("certificate-authority-data: Y2E=", "certificate-authority: /etc/passwd"), field: "certificate-authority",
		},
		"Impersonation": {reason: "A kubeconfig may not impersonate another user.", config: with(user, user+"    as: admin\n"), field: "act-as"},
		"Groups":        {reason: "A kubeconfig may not impersonate a group.", config: with(user, user+"    as-groups: [system:masters]\n"), field: "act-as"},
		"Proxy": {
			reason: "A proxy would see every request, so none is used.",
			config: with(cluster, cluster+"    proxy-url: http://proxy:3128\n"), field: "proxy-url",
		},
		"Insecure": {
			reason: "Without verifying TLS, any server could answer for the cluster.",
			config: with(cluster, "    insecure-skip-tls-verify: true\n"), field: "insecure-skip-tls-verify",
		},
		"InsecureOnce": {
			reason: "Unverified TLS is accepted where the provider's limits allow it.",
			config: with(cluster, "    insecure-skip-tls-verify: true\n"), limits: Limits{Insecure: true},
		},
		"Contradiction": {
			reason: "A kubeconfig that names certificates and turns verification off contradicts itself.",
			config: with(cluster, cluster+"    insecure-skip-tls-verify: true\n"), limits: Limits{Insecure: true}, field: "insecure-skip-tls-verify",
		},
		"PlainHTTP": {reason: "A token is not sent over plain HTTP.", config: with("https://", "http://"), field: "server"},
		"UserInfo":  {reason: "Credentials in the server's URL are refused.", config: with("https://", "https://user:canary-5d1c@"), field: "server"},
		"NoServer":  {reason: "A cluster without a server is refused.", config: with("    server: https://10.0.0.1:6443\n", ""), field: "server"},
		"Socket":    {reason: "A Unix socket is not the address of a server.", config: with("https://10.0.0.1:6443", "unix:///var/run/x.sock"), field: "server"},
		"NoContext": {
			reason: "A current context that is not in the kubeconfig is refused.",
			config: with("current-context: a", "current-context: b"), field: "current-context",
		},
		"NoUser":       {reason: "A context whose user is not in the kubeconfig is refused.", config: with("user: u}", "user: nobody}"), field: "current-context"},
		"Twice":        {reason: "Two users of the same name are refused.", config: with("- name: other", "- name: u"), detail: "names something twice"},
		"UnknownField": {reason: "A field that the provider does not know is refused.", config: with(user, user+"    execute: sh\n"), detail: "cannot be parsed"},
		"DoubleKey": {
			reason: "A key that stands twice is refused, since two parsers could read different values.",
			config: with(user, user+"    token: other\n"), detail: "cannot be parsed",
		},
		"NoYAML": {reason: "The error about malformed YAML repeats no part of the text.", config: "token: [" + canary, detail: "cannot be parsed"},
		"Aliases": {
			reason: "Aliases of a long token would take a hundred times the memory of the text.", detail: "cannot be parsed",
			config: honest + "- name: long\n  user: {token: &t " + strings.Repeat("x", 20_000) + "}\n" + usersWithAlias(100),
		},
		"Large": {reason: "A kubeconfig has a limit.", config: honest + "# " + strings.Repeat("x", maxKubeconfigBytes), detail: "is too large"},
		"Values": {
			reason: "A kubeconfig of many values would take a hundred times the memory of the text.",
			config: honest + "preferences: {extensions: [" + strings.Repeat("{},", 10_000) + "]}\n", detail: "is too large",
		},
		"ClientKey": {
			reason: "A client key has a limit, since its author chooses the time of a handshake.",
			config: with("client-key-data: Y2E=", "client-key-data: "+strings.Repeat("Y2Fz", 10_000)), field: "client-key-data",
		},
		"Authorities": {
			reason: "A kubeconfig may trust hundreds of certificates.",
			config: with("certificate-authority-data: Y2E=", "certificate-authority-data: "+strings.Repeat("Y2Fz", 80_000)),
		},
		"Empty": {reason: "An empty text is refused as a kubeconfig.", config: "", field: "current-context"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(tc.config), tc.limits)
			var refused *RefusedError
			if err != nil && (!errors.As(err, &refused) || !IsRefused(err) || strings.Contains(err.Error(), canary)) {
				t.Fatalf("\n%s\nParse(): %v", tc.reason, err)
			}
			if refused == nil {
				refused = &RefusedError{}
			}
			if tc.field != refused.Field || (tc.detail != "" && tc.detail != refused.Detail) || (tc.field+tc.detail == "") != (err == nil) {
				t.Fatalf("\n%s\nParse(): want field %q %s, got %v", tc.reason, tc.field, tc.detail, err)
			}
			if name != "Honest" {
				return
			}
			want := &rest.Config{Host: "https://10.0.0.1:6443", BearerToken: canary, QPS: requestRate, Burst: requestBurst, WarningHandler: rest.NoWarnings{}, TLSClientConfig: rest.TLSClientConfig{
				ServerName: "api.example.org", CAData: []byte("ca"), CertData: []byte("ca"), KeyData: []byte("ca"),
			}}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" || got.BearerToken != canary || string(got.CAData) != "ca" {
				t.Errorf("\n%s\nParse(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
