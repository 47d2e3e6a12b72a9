package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// An apiServer serves objects to their readers, as far as the tests read.
type apiServer struct {
	objects []*unstructured.Unstructured

	// absent kinds are not served, denied kinds are forbidden, and failing kinds have an outage.
	absent, denied, failing map[string]bool

	// made are the created objects, and answers are the statuses of a RolloutRequest, one after the other.
	made    []*unstructured.Unstructured
	answers []string

	// answersAtOnce is how many answers a connection brings before it ends. 0 means one.
	answersAtOnce int

	// requests counts the requests at the server, if it is set.
	requests *atomic.Int64

	// refused are the rights that an account does not have: "get namespaces".
	refused map[string]bool

	// idle is called when a client watches, and the server has no other answer.
	idle func()
}

// start returns the kubeconfig of a server that holds the objects of files.
func (a *apiServer) start(t *testing.T, files ...string) string {
	t.Helper()
	for _, file := range files {
		documents, err := manifest.ReadDocuments(nil, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range documents {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(d.Text, &o.Object); err != nil {
				t.Fatal(err)
			}
			a.objects = append(a.objects, o)
		}
	}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "` + s.URL + `"}}],
		contexts: [{name: a, context: {cluster: a, user: a, namespace: team-a}}, {name: b, context: {cluster: a, user: a}}], users: [{name: a, user: {token: a}}]}`
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// ServeHTTP answers GET /apis/GROUP/VERSION/[namespaces/NAMESPACE/]RESOURCE[/NAME], and the same of /api/VERSION.
func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.requests != nil {
		a.requests.Add(1)
	}
	if r.URL.Path == "/version" {
		reply(w, http.StatusOK, map[string]any{"gitVersion": "v1.36.3"})
		return
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")[1:]
	if strings.HasPrefix(r.URL.Path, "/api/") {
		path = slices.Concat([]string{""}, path)
	}
	namespace := ""
	if path[2] == "namespaces" {
		namespace, path = path[3], append(path[:2:2], path[4:]...)
	}
	resource := schema.GroupVersionResource{Group: path[0], Version: path[1], Resource: path[2]}
	name := strings.Join(path[3:], "")
	switch key := resource.GroupResource().String(); {
	case namespace == "" && a.denied[key+" of all namespaces"]:
		fail(w, kerrors.NewForbidden(resource.GroupResource(), name, nil))
	case a.absent[key]:
		http.NotFound(w, r)
	case a.failing[key]:
		fail(w, kerrors.NewInternalError(io.ErrUnexpectedEOF))
	case a.denied[key]:
		fail(w, kerrors.NewForbidden(resource.GroupResource(), name, nil))
	case r.Method == http.MethodPost:
		a.create(w, r)
	case r.URL.Query().Get("watch") != "":
		a.watch(w, r)
	case name != "":
		a.one(w, resource, namespace, name)
	default:
		selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
		if err != nil {
			fail(w, kerrors.NewBadRequest(err.Error()))
			return
		}
		wanted, ofType := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "type=")
		items := a.selected(resource, namespace, func(o *unstructured.Unstructured) bool {
			return selector.Matches(labels.Set(o.GetLabels())) && (!ofType || o.Object["type"] == wanted)
		})
		kind := map[bool]string{true: "SecretList", false: "List"}[resource.Resource == "secrets"]
		reply(w, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{}, "items": items})
	}
}

func (a *apiServer) one(w http.ResponseWriter, resource schema.GroupVersionResource, namespace, name string) {
	found := a.selected(resource, namespace, func(o *unstructured.Unstructured) bool { return o.GetName() == name })
	if len(found) == 0 {
		fail(w, kerrors.NewNotFound(resource.GroupResource(), name))
		return
	}
	reply(w, http.StatusOK, found[0])
}

func (a *apiServer) selected(resource schema.GroupVersionResource, namespace string, matches func(*unstructured.Unstructured) bool) []any {
	out := []any{}
	for _, o := range a.objects {
		objectResource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		if objectResource == resource && (o.GetNamespace() == namespace || namespace == "" && slices.Contains([]string{"gitdeliveries", "sitesyncs", "deployments", "providerconfigs", "secrets", "intentdeployments", "workloadclusters", "applications"}, objectResource.Resource)) && matches(o) {
			out = append(out, o.Object)
		}
	}
	return out
}

func fail(w http.ResponseWriter, err *kerrors.StatusError) {
	err.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	reply(w, int(err.ErrStatus.Code), err.ErrStatus)
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // A client that cannot read it says so.
}

const (
	claimsResource     = "intentdeployments.claims.intentplane.dev"
	namespacedResource = "intentdeployments.intentplane.dev"
)

func TestFromCluster(t *testing.T) {
	sites, blueprint, config, file := examples+"10-sites.yaml", examples+"20-blueprint.yaml", examples+"30-config.yaml", examples+"40-claim.yaml"
	want, _, code := runIntent("", "render", file, "--site", sites, "--blueprint", blueprint)
	if code != 0 || want == "" {
		t.Fatalf("run(...): exit code %d", code)
	}
	all := []string{sites, blueprint, config, file}
	namespaced := strings.Replace(claim, "claims.", "", 1)
	next := strings.Replace(bare, "metadata: {name: web-1.0.0}", "metadata: {name: web-2.0.0, labels: {blueprint: web, channel: next}}", 1)
	cases := map[string]struct {
		reason string
		in     string
		server apiServer
		files  []string
		args   []string
		code   int
		says   string
	}{
		"Claim":        {reason: "The objects can all be in the cluster.", files: all, args: []string{"render", "--claim", "shop"}},
		"Mixed":        {reason: "A file replaces the applied object of its name.", files: all[:3], args: []string{"render", file, "--live"}},
		"SiteInFile":   {reason: "An object of a file is not read from the cluster.", files: all[1:], server: apiServer{denied: map[string]bool{"sites.catalog.intentplane.dev": true}}, args: []string{"render", "--claim", "shop", "--site", sites}},
		"Resource":     {reason: "A name may say its group.", files: all, server: apiServer{objects: []*unstructured.Unstructured{parse(t, namespaced)}}, args: []string{"render", "--claim", claimsResource + "/shop"}},
		"Channel":      {reason: "Blueprints are selected by their labels.", files: all, server: apiServer{objects: []*unstructured.Unstructured{parse(t, next)}}, args: []string{"render", "--claim", "shop"}},
		"OneGroup":     {reason: "One of the two Configurations is enough.", files: all, server: apiServer{absent: map[string]bool{namespacedResource: true}}, args: []string{"render", "--claim", "shop"}},
		"Namespace":    {reason: "The namespace of a claim can be given with -n.", files: all, args: []string{"render", "--claim", "shop", "--context", "b", "-n", "team-a"}},
		"NoNamespace":  {reason: "A claim in a file is where kubectl would put it.", in: strings.NewReplacer("namespace: team-a, ", "", `"shop"`, `"shop", "sites": ["edge1", "edge2"], "replicas": 2`).Replace(claim), files: all[:3], args: []string{"render", "-", "--live"}},
		"OtherContext": {reason: "A deployment of another context is not found.", files: all, args: []string{"render", "--claim", "shop", "--context", "b"}, code: terminal.ExitInvalid, says: `namespace "default" has no IntentDeployment "shop"`},
		"Missing":      {reason: "A deployment that does not exist is named.", files: all, args: []string{"explain", "--claim", "shap"}, code: terminal.ExitInvalid, says: `namespace "team-a" has no IntentDeployment "shap"`},
		"NotInstalled": {
			reason: "A cluster without Intentplane gets another message than an absent object.", files: all, args: []string{"render", "--claim", "shop"}, code: terminal.ExitInvalid,
			server: apiServer{absent: map[string]bool{claimsResource: true, namespacedResource: true}}, says: "is Intentplane installed there?",
		},
		"NoSites": {
			reason: "A catalog whose kind is not installed is named.", files: all, args: []string{"render", "--claim", "shop"}, code: terminal.ExitInvalid,
			server: apiServer{absent: map[string]bool{"sites.catalog.intentplane.dev": true}}, says: "cannot get sites.catalog.intentplane.dev/edge1: the cluster does not have sites.catalog.intentplane.dev in version v1alpha1",
		},
		"MayNotGet": {
			reason: "A forbidden kind is named.", files: all, args: []string{"render", "--claim", "shop"}, code: terminal.ExitInvalid,
			server: apiServer{denied: map[string]bool{"sites.catalog.intentplane.dev": true}}, says: "cannot get sites.catalog.intentplane.dev/edge1: ask for the right to get it (examples/rbac has the roles), or give the object in a file: ",
		},
		"MayNotList": {
			reason: "A kind that the user may not list is named.", files: all, args: []string{"validate", file, "--live"}, code: terminal.ExitInvalid,
			server: apiServer{denied: map[string]bool{"blueprints.catalog.intentplane.dev": true}}, says: "cannot list blueprints.catalog.intentplane.dev: ask for the right to list them (examples/rbac has the roles), or give the object in a file: ",
		},
		"MissingSite": {
			reason: "A missing Site is a finding, and not a failure to read.",
			files:  all[1:], args: []string{"validate", file, "--live", "-o", "json"}, code: terminal.ExitInvalid, says: `"reason": "SiteMissing"`,
		},
		"TwoGroups": {
			reason: "One name in two groups is ambiguous.", files: all, args: []string{"render", "--claim", "shop"}, code: terminal.ExitInvalid,
			server: apiServer{objects: []*unstructured.Unstructured{parse(t, namespaced)}}, says: "say " + claimsResource + "/shop or " + namespacedResource + "/shop",
		},
		"Both":    {reason: "A file and a name are two things.", files: all, args: []string{"render", file, "--claim", "shop"}, code: terminal.ExitUsage, says: "either a file or --claim"},
		"Neither": {reason: "A command needs either a file or a claim.", files: all, args: []string{"explain"}, code: terminal.ExitUsage, says: "either a file or --claim"},
		"Context": {reason: "A context that does not exist is a mistake of the command line.", files: all, args: []string{"render", "--claim", "shop", "--context", "c"}, code: terminal.ExitUsage, says: "context was not found for specified context: c"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kubeconfig := tc.server.start(t, tc.files...)
			out, problems, code := runIntent(tc.in, append(tc.args, "--kubeconfig", kubeconfig)...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) {
				t.Fatalf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.says, code, out, problems)
			}
			if diff := cmp.Diff(want, out); code == 0 && diff != "" {
				t.Errorf("\n%s\nrun(%q): -from files, +from the cluster:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}
