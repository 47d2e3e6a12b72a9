package connection_test

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/live"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// commands are the commands that the tests run, by the names that they have in the program.
type commands struct {
	Status live.Status `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

// TestConnectionFlags connects without a kubeconfig, by kubectl's flags alone.
func TestConnectionFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	mu, got := sync.Mutex{}, map[string]string{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		for _, name := range []string{"Authorization", "Impersonate-User", "Impersonate-Uid", "Impersonate-Group"} {
			got[name] = r.Header.Get(name)
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	authority := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"status", "-s", server.URL, "--token=secret", "--as=ann", "--as-uid=7", "--as-group=team"}
	want := map[string]string{"Authorization": "Bearer secret", "Impersonate-User": "ann", "Impersonate-Uid": "7", "Impersonate-Group": "team"}
	cases := map[string]struct {
		reason string
		args   []string
		want   map[string]string
	}{
		"Authority": {reason: "The certificate of the server is checked against the file.", args: []string{"--certificate-authority=" + authority}, want: want},
		"Insecure":  {reason: "A user may take any certificate.", args: []string{"--insecure-skip-tls-verify"}, want: want},
		"OtherName": {
			reason: "A certificate for another name is refused, and nothing is sent.",
			args:   []string{"--certificate-authority=" + authority, "--tls-server-name=other.test"}, want: map[string]string{},
		},
		"Unknown": {reason: "A certificate that no known authority signed is refused, and nothing is sent.", want: map[string]string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clear(got)
			_, problems, _ := runIntent("", append(flags, tc.args...)...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nheaders: -want, +got:\n%s\n%s", tc.reason, diff, problems)
			}
		})
	}
}

// TestChosenEntries connects to a cluster, and as a user, of a kubeconfig whose context names others.
func TestChosenEntries(t *testing.T) {
	mu, got := sync.Mutex{}, ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = r.Header.Get("Authorization")
		http.NotFound(w, r)
	}))
	defer server.Close()
	config := clientcmdapi.NewConfig()
	config.Clusters = map[string]*clientcmdapi.Cluster{"near": {Server: server.URL, InsecureSkipTLSVerify: true}, "gone": {Server: "https://127.0.0.1:1"}}
	config.AuthInfos = map[string]*clientcmdapi.AuthInfo{"ann": {Token: "of-ann"}, "bob": {Token: "of-bob"}}
	config.Contexts = map[string]*clientcmdapi.Context{"there": {Cluster: "gone", AuthInfo: "ann"}, "here": {Cluster: "near", AuthInfo: "ann"}}
	config.CurrentContext = "there"
	file := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Context": {reason: "Without a flag the context says both.", want: ""},
		"Cluster": {reason: "A flag names another cluster.", args: []string{"--cluster=near"}, want: "Bearer of-ann"},
		"User":    {reason: "A flag names another user.", args: []string{"--context=here", "--user=bob"}, want: "Bearer of-bob"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got = ""
			_, problems, _ := runIntent("", append([]string{"status", "--kubeconfig", file}, tc.args...)...)
			if got != tc.want {
				t.Errorf("\n%s\nthe API server was asked with %q, want %q: %s", tc.reason, got, tc.want, problems)
			}
		})
	}
}

// TestOldProgram runs a command of versions of the program on a cluster with a provider of version v0.3.0.
func TestOldProgram(t *testing.T) {
	const warning = "kubectl-intent: warning: kubectl-intent v0.1.0 is too old for Provider intentplane-provider-intentplane, which is v0.3.0: "
	cases := map[string]struct {
		reason  string
		version string
		denied  map[string]bool
		want    int
	}{
		"Old":     {reason: "A program that is two minor versions behind warns once.", version: "v0.1.0", want: 1},
		"Current": {reason: "A program that is one minor version behind does not warn.", version: "v0.2.0"},
		"Denied": {
			reason: "A user who may not read providers gets no warning.", version: "v0.1.0", denied: map[string]bool{"providers.pkg.crossplane.io": true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := cli.Server{Objects: cli.Installation(t), Denied: tc.denied}
			for _, o := range server.Objects {
				if o.GetKind() == "Provider" {
					o.Object["spec"] = map[string]any{"package": "ghcr.io/intentplane/provider-intentplane:v0.3.0"}
				}
			}
			out := &bytes.Buffer{}
			problems, _ := cli.RunWith(&commands{}, &terminal.Streams{Out: out, Version: tc.version}, "status", "--kubeconfig", server.Start(t))
			if got := strings.Count(problems, warning); got != tc.want {
				t.Errorf("\n%s\nkubectl-intent %s status: want %d warnings, got %d:\n%s%s", tc.reason, tc.version, tc.want, got, out, problems)
			}
		})
	}
}

// TestVisibleFlags compares the flags for the cluster in the help with the flags that people need often.
func TestVisibleFlags(t *testing.T) {
	parser, err := kong.New(&connection.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range parser.Model.Flags {
		if !f.Hidden && f.Name != "help" {
			got = append(got, f.Name)
		}
	}
	if diff := cmp.Diff([]string{"kubeconfig", "context", "namespace"}, got); diff != "" {
		t.Errorf("Help shows the flags of kubectl that choose a cluster and a namespace: -want, +got:\n%s", diff)
	}
}
