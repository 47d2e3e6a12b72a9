package live

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestStatusCommand(t *testing.T) {
	all := map[string]*samples.Sample{"team-a": samples.RollingBack(), "team-b": samples.WrongPassword()}
	cases := map[string]struct {
		reason string
		server cli.Server
		args   []string
		code   int
		says   []string
		not    string
	}{
		"Name": {
			reason: "A deployment is shown with its parts.",
			args:   []string{"status", "shop"},
			says:   []string{"RollingBack", "├─ site edge1       Syncing  Flux", "└─ gate step 1      Failed   3 of 4"},
		},
		"Namespace": {
			reason: "Without a name all of the namespace are listed.",
			args:   []string{"status"}, says: []string{"NAME  PHASE", "shop  RollingBack"}, not: "team-b",
		},
		"All": {
			reason: "The deployments of all namespaces are listed.",
			args:   []string{"status", "-A"}, says: []string{"team-a     shop  RollingBack", "team-b     shop  Delivering", "AuthFailed"},
		},
		"Stuck": {
			reason: "Objects that need a person are listed alone.",
			args:   []string{"status", "-A", "--stuck"}, says: []string{"team-b     shop  Delivering"}, not: "team-a",
		},
		"NoneStuck": {
			reason: "A deployment that goes on by itself is not shown as stuck.",
			args:   []string{"status", "shop", "--stuck"}, says: []string{"Nothing needs a person."},
		},
		"None": {
			reason: "A namespace without deployments does not cause an error.",
			args:   []string{"status", "-n", "team-c"}, says: []string{"No Application, no IntentDeployment, no WorkloadCluster and no Bundle was found."},
		},
		"JSON": {
			reason: "A deployment is one object, with its finding.",
			args:   []string{"status", "shop", "-n", "team-b", "-o", "json"},
			says:   []string{`"phase": "Delivering"`, `"reason": "AuthFailed"`, `"actor": "PlatformTeam"`},
		},
		"YAML": {reason: "A list is one object too.", args: []string{"status", "-A", "-o", "yaml"}, says: []string{"items:\n- ", "namespace: team-b"}},
		"Names": {
			reason: "The names are valid for kubectl.",
			args:   []string{"status", "-A", "-o", "name"}, says: []string{"intentdeployment.intentplane.dev/shop\n"},
		},
		"Wide": {
			reason: "A wide list has the messages.",
			args:   []string{"status", "-A", "-o", "wide"}, says: []string{"MESSAGE", "git.example.org: 401 Unauthorized"},
		},
		"Missing": {
			reason: "A name that nothing has is an error.",
			args:   []string{"status", "shap"}, code: terminal.ExitInvalid,
			says: []string{`namespace "team-a" has no Application, no IntentDeployment, no WorkloadCluster and no Bundle "shap"`},
		},
		"Blind": {
			reason: "A kind that the user may not read is named, and does not cause an error.",
			server: cli.Server{Denied: map[string]bool{"gates.rollout.intentplane.dev": true}},
			args:   []string{"status", "shop"}, says: []string{"RollingBack", "Not read:   gates.rollout.intentplane.dev: the user may not read them"}, not: "gate step",
		},
		"ListDenied": {
			reason: "A kind that the user may not list is named below the others.", server: cli.Server{Denied: map[string]bool{"applications.intentplane.dev": true}},
			args: []string{"status", "-A"}, says: []string{"team-a     shop  RollingBack", "Not read: applications.intentplane.dev: the user may not read them"},
		},
		"NamesDenied": {
			reason: "A list of names reports the unread kind, too.", server: cli.Server{Denied: map[string]bool{"applications.intentplane.dev": true}},
			args: []string{"status", "-A", "-o", "name"}, says: []string{"intentdeployment.intentplane.dev/shop\n", "Not read: applications.intentplane.dev"},
		},
		"Outage": {
			reason: "A kind that the cluster could not list ends the command with an error, below the others.",
			server: cli.Server{Failing: map[string]bool{"applications.intentplane.dev": true}},
			args:   []string{"status", "-A"}, code: terminal.ExitInvalid,
			says: []string{
				"team-a     shop  RollingBack", "Not read: applications.intentplane.dev", "error: cannot list applications.intentplane.dev",
			},
		},
		"OutageJSON": {
			reason: "A program reads the rest, and the exit code.", server: cli.Server{Failing: map[string]bool{"applications.intentplane.dev": true}},
			args: []string{"status", "-A", "-o", "json"}, code: terminal.ExitInvalid, says: []string{`"unread"`, `"phase": "RollingBack"`},
		},
		"OutageBeneath": {
			reason: "The list of stuck objects is incomplete while packages cannot be listed.",
			server: cli.Server{Failing: map[string]bool{"functions.pkg.crossplane.io": true}},
			args:   []string{"status", "--stuck"}, code: terminal.ExitInvalid, says: []string{"error: cannot list functions.pkg.crossplane.io"},
		},
		"NameAndAll": {
			reason: "A name belongs to a namespace.",
			args:   []string{"status", "shop", "-A"}, code: terminal.ExitUsage, says: []string{"--all-namespaces is for a list"},
		},
		"WatchForm": {
			reason: "A watch prints text only.",
			args:   []string{"status", "--watch", "-o", "json"}, code: terminal.ExitUsage, says: []string{"--watch prints text"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent("", append(tc.args, "--kubeconfig", cli.ServeSamples(t, &tc.server, all))...)
			if code != tc.code || tc.not != "" && strings.Contains(out, tc.not) {
				t.Errorf("\n%s\nrun(%q): want %d and not %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.not, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nrun(%q): want %q, got:\n%s%s", tc.reason, tc.args, want, out, problems)
				}
			}
		})
	}
}

// TestStatusSteersNothing quotes texts of others: neither a terminal nor a CI takes them for a command.
func TestStatusSteersNothing(t *testing.T) {
	s := samples.WrongPassword()
	s.Delivery.SetConditions(samples.NotReady("AuthFailed", "\x1b[2J gone"))
	server := &cli.Server{}
	out, _, code := runIntent("", "status", "shop", "--kubeconfig", cli.ServeSamples(t, server, map[string]*samples.Sample{"team-a": s}))
	if code != 0 || strings.Contains(out, "\x1b") || !strings.Contains(out, `\x1b[2J`) {
		t.Errorf("run(...): %d:\n%s", code, out)
	}
}

// stuckBeneath has a healthy deployment, a deployment without an answer, and an installation whose parts are edited.
func stuckBeneath(t *testing.T, edit func([]*unstructured.Unstructured)) *cli.Server {
	t.Helper()
	server := &cli.Server{Objects: cli.Installation(t)}
	server.Objects = append(server.Objects, cli.Parse(t, `{apiVersion: claims.intentplane.dev/v1alpha1, kind: XIntentDeployment, metadata: {name: shop-x, labels: {crossplane.io/claim-namespace: team-a}}}`))
	edit(server.Objects)
	objects, err := cli.AsClaim(samples.Verified()).Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.GetKind() != "IntentDeployment" {
			continue
		}
		if err := unstructured.SetNestedStringMap(o.Object, map[string]string{"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "XIntentDeployment", "name": "shop-x"}, "spec", "resourceRef"); err != nil {
			t.Fatal(err)
		}
		server.Objects = append(server.Objects, o)
	}
	return server
}

// TestStuckBeneath finds stuck objects beneath the objects of users.
func TestStuckBeneath(t *testing.T) {
	isFalse := func(typ string) any {
		return map[string]any{"type": typ, "status": "False", "reason": "Broken", "message": "It is broken."}
	}
	cases := map[string]struct {
		reason string
		denied map[string]bool
		edit   func([]*unstructured.Unstructured)
		args   []string
		says   []string
	}{
		"None": {
			reason: "Nothing is stuck where packages, definitions and composites are well.",
			edit:   func([]*unstructured.Unstructured) {}, says: []string{"Nothing needs a person."},
		},
		"Provider": {
			reason: "A provider that is not healthy is listed, although no deployment waits for it yet.",
			edit:   func(all []*unstructured.Unstructured) { cli.SetConditions(all, "Provider", isFalse("Healthy")) },
			says:   []string{"intentplane-provider-intentplane  NotReady", "PackageUnhealthy", "platform team"},
		},
		"Package": {reason: "A Configuration that is not installed is listed.", edit: func(all []*unstructured.Unstructured) {
			cli.SetConditions(all, "Configuration", isFalse("Installed"))
		}, args: []string{"-A", "-o", "name"}, says: []string{"configuration.pkg.crossplane.io/configuration-intentplane-namespaced\n"}},
		"Definition": {reason: "A definition whose claims are not offered is listed.", edit: func(all []*unstructured.Unstructured) {
			cli.SetConditions(all, "CompositeResourceDefinition", isFalse("Offered"))
		}, args: []string{"-o", "json"}, says: []string{`"kind": "CompositeResourceDefinition"`, `"reason": "DefinitionNotActive"`, "Offered is False (Broken): It is broken."}},
		"Composite": {reason: "A deployment is stuck whose composite Crossplane cannot compose, although its own status does not report it.", edit: func(all []*unstructured.Unstructured) {
			cli.SetConditions(all, "XIntentDeployment", isFalse("Synced"))
		}, args: []string{"-A"}, says: []string{"team-a     shop", "CannotCompose"}},
		"Denied": {
			reason: "A kind that the user may not read is named once, and does not cause an error.", edit: func([]*unstructured.Unstructured) {},
			denied: map[string]bool{"providers.pkg.crossplane.io": true, "functions.pkg.crossplane.io": true},
			says:   []string{"Nothing needs a person.\nNot read: functions.pkg.crossplane.io, providers.pkg.crossplane.io: the user may not read them\n"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := stuckBeneath(t, tc.edit)
			server.Denied = tc.denied
			out, problems, code := runIntent("", append([]string{"status", "--stuck", "--kubeconfig", server.Start(t)}, tc.args...)...)
			for _, want := range tc.says {
				if code != 0 || !strings.Contains(out, want) {
					t.Errorf("\n%s\nstatus --stuck: exit code %d, want %q:\n%s%s", tc.reason, code, want, out, problems)
				}
			}
		})
	}
}

// maxStuckRequests is the number of requests for a list of stuck objects: eight lists of the objects of users, four of packages and definitions, and
// one for each kind of composite that has claims.
const maxStuckRequests = 13

// TestStuckRequests counts the requests for a list of stuck objects.
func TestStuckRequests(t *testing.T) {
	server, n := stuckBeneath(t, func([]*unstructured.Unstructured) {}), &atomic.Int64{}
	server.Requests = n
	if out, problems, code := runIntent("", "status", "-A", "--stuck", "--kubeconfig", server.Start(t)); code != 0 {
		t.Fatalf("status -A --stuck: %d\n%s%s", code, out, problems)
	}
	t.Logf("status -A --stuck: %d requests", n.Load())
	if n.Load() > maxStuckRequests {
		t.Errorf("status -A --stuck makes %d requests, want at most %d", n.Load(), maxStuckRequests)
	}
}

const (
	// benchDeployments is how many deployments there are of each shape, and benchPage how many of them a page has.
	benchDeployments = 500
	benchPage        = 250

	// benchManagedBytes is the size of the managed fields of one deployment.
	benchManagedBytes = 4000
)

// A pageServer answers lists of deployments page by page, and compresses them for clients that accept it, as an API server does.
type pageServer struct {
	// pages of each group, encoded.
	pages map[string][][]byte
}

// newPageServer returns a server of deployments in both shapes, whose claims have composites.
func newPageServer(b *testing.B) *pageServer {
	b.Helper()
	out := &pageServer{pages: map[string][][]byte{}}
	for _, group := range []string{"claims.intentplane.dev", "intentplane.dev"} {
		for first := 0; first < benchDeployments; first += benchPage {
			out.pages[group] = append(out.pages[group], encodePage(b, group, first))
		}
	}
	return out
}

// encodePage encodes a page, which begins with the deployment of this number.
func encodePage(b *testing.B, group string, first int) []byte {
	b.Helper()
	token := ""
	if first+benchPage < benchDeployments {
		token = fmt.Sprint(first + benchPage)
	}
	var items []json.RawMessage
	for i := range benchPage {
		items = append(items, encodeDeployment(b, group, fmt.Sprintf("shop-%d", first+i)))
	}
	text, err := json.Marshal(map[string]any{"apiVersion": group + "/v1alpha1", "kind": "IntentDeploymentList", "metadata": map[string]any{"continue": token}, "items": items})
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func encodeDeployment(b *testing.B, group, name string) []byte {
	b.Helper()
	s := samples.RollingBack()
	s.Group = group
	all, err := s.Objects()
	if err != nil {
		b.Fatal(err)
	}
	o := all[0].Object
	o["metadata"].(map[string]any)["name"] = name
	o["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{
		"apiVersion": group + "/v1alpha1", "fieldsType": "FieldsV1", "manager": "crossplane", "operation": "Apply", "time": "2031-05-06T14:03:00Z",
		"fieldsV1": map[string]any{"f:status": strings.Repeat("x", benchManagedBytes)},
	}}
	if group == "claims.intentplane.dev" {
		o["spec"].(map[string]any)["resourceRef"] = map[string]any{"apiVersion": group + "/v1alpha1", "kind": "XIntentDeployment", "name": name + "-x7k2p"}
	}
	text, err := json.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func (s *pageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(r.URL.Path, "/")
	pages := s.pages[path[2]]
	if path[len(path)-1] != "intentdeployments" {
		http.NotFound(w, r)
		return
	}
	page := pages[0]
	if r.URL.Query().Get("continue") != "" {
		page = pages[1]
	}
	w.Header().Set("Content-Type", "application/json")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(page)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	_, _ = z.Write(page)
	_ = z.Close()
}

// writeKubeconfig returns a kubeconfig of a server.
func writeKubeconfig(b *testing.B, address string) string {
	b.Helper()
	out := filepath.Join(b.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: a, context: {cluster: a}}]}`, address)
	if err := os.WriteFile(out, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return out
}

// fetchPages reads all pages, and decodes nothing.
func (s *pageServer) fetchPages(b *testing.B, address string) {
	b.Helper()
	for group, pages := range s.pages {
		for i := range pages {
			url := fmt.Sprintf("%s/apis/%s/v1alpha1/intentdeployments", address, group)
			if i > 0 {
				url += "?continue=1"
			}
			answer, err := http.Get(url)
			if err != nil {
				b.Fatal(err)
			}
			_, err = io.Copy(io.Discard, answer.Body)
			if err = errors.Join(err, answer.Body.Close()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkStatusAll measures "status -A" of 1,000 deployments, half of them claims, without the start of the program. It reports the time relative to that of
// reading the same answers one after another, in the same run:
//
//	status_all_over_fetch
func BenchmarkStatusAll(b *testing.B) {
	s := newPageServer(b)
	server := httptest.NewServer(s)
	defer server.Close()
	kubeconfig := writeKubeconfig(b, server.URL)
	fetching := time.Duration(0)
	b.Run("fetch", func(b *testing.B) {
		for b.Loop() {
			s.fetchPages(b, server.URL)
		}
		fetching = b.Elapsed() / time.Duration(b.N)
	})
	b.Run("status", func(b *testing.B) {
		for b.Loop() {
			out, problems, code := runIntent("", "status", "-A", "--kubeconfig", kubeconfig)
			if lines := strings.Count(out, "\n"); code != 0 || lines != 2*benchDeployments+1 {
				b.Fatalf("status -A: exit code %d, %d lines: %s", code, lines, problems)
			}
		}
		ours := b.Elapsed() / time.Duration(b.N)
		b.ReportMetric(float64(ours)/float64(max(fetching, 1)), "status_all_over_fetch")
	})
}
