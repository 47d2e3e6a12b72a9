package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
)

// A Server serves objects to their readers, as far as the tests read.
type Server struct {
	// Objects that it has.
	Objects []*unstructured.Unstructured

	// Absent kinds are not served, Denied kinds are forbidden, and Failing kinds have an outage.
	Absent, Denied, Failing map[string]bool

	// Made are the created objects, and Answers are the statuses of a RolloutRequest, one after the other.
	Made    []*unstructured.Unstructured
	Answers []string

	// AnswersAtOnce is how many answers a connection brings before it ends. 0 means one.
	AnswersAtOnce int

	// Requests counts the requests at the server, if it is set.
	Requests *atomic.Int64

	// Refused are the rights that an account does not have: "get namespaces".
	Refused map[string]bool

	// Idle is called when a client watches, and the server has no other answer.
	Idle func()
}

// Start returns the kubeconfig of a server that holds the objects of files.
func (a *Server) Start(t *testing.T, files ...string) string {
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
			a.Objects = append(a.Objects, o)
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
func (a *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.Requests != nil {
		a.Requests.Add(1)
	}
	if r.URL.Path == "/version" {
		replyWithJSON(w, http.StatusOK, map[string]any{"gitVersion": "v1.36.3"})
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
	case namespace == "" && a.Denied[key+" of all namespaces"]:
		replyWithError(w, kerrors.NewForbidden(resource.GroupResource(), name, nil))
	case a.Absent[key]:
		http.NotFound(w, r)
	case a.Failing[key]:
		replyWithError(w, kerrors.NewInternalError(io.ErrUnexpectedEOF))
	case a.Denied[key]:
		replyWithError(w, kerrors.NewForbidden(resource.GroupResource(), name, nil))
	case r.Method == http.MethodPost:
		a.answerCreate(w, r)
	case r.URL.Query().Get("watch") != "":
		a.answerWatch(w, r)
	case name != "":
		a.replyWithObject(w, resource, namespace, name)
	default:
		selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
		if err != nil {
			replyWithError(w, kerrors.NewBadRequest(err.Error()))
			return
		}
		wanted, ofType := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "type=")
		items := a.selectObjects(resource, namespace, func(o *unstructured.Unstructured) bool {
			return selector.Matches(labels.Set(o.GetLabels())) && (!ofType || o.Object["type"] == wanted)
		})
		kind := map[bool]string{true: "SecretList", false: "List"}[resource.Resource == "secrets"]
		replyWithJSON(w, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{}, "items": items})
	}
}

func (a *Server) replyWithObject(w http.ResponseWriter, resource schema.GroupVersionResource, namespace, name string) {
	found := a.selectObjects(resource, namespace, func(o *unstructured.Unstructured) bool { return o.GetName() == name })
	if len(found) == 0 {
		replyWithError(w, kerrors.NewNotFound(resource.GroupResource(), name))
		return
	}
	replyWithJSON(w, http.StatusOK, found[0])
}

func (a *Server) selectObjects(resource schema.GroupVersionResource, namespace string, matches func(*unstructured.Unstructured) bool) []any {
	out := []any{}
	for _, o := range a.Objects {
		objectResource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		if objectResource == resource && (o.GetNamespace() == namespace || namespace == "" && slices.Contains([]string{"gitdeliveries", "sitesyncs", "deployments", "providerconfigs", "secrets", "intentdeployments", "workloadclusters", "applications"}, objectResource.Resource)) && matches(o) {
			out = append(out, o.Object)
		}
	}
	return out
}

// answerCreate answers the creation of objects: the user is ann, and a RolloutRequest gets a name.
func (a *Server) answerCreate(w http.ResponseWriter, r *http.Request) {
	o := &unstructured.Unstructured{}
	if err := json.NewDecoder(r.Body).Decode(&o.Object); err != nil {
		replyWithError(w, kerrors.NewBadRequest(err.Error()))
		return
	}
	if o.GetKind() == "SelfSubjectReview" {
		o.Object["status"] = map[string]any{"userInfo": map[string]any{"username": "ann"}}
		replyWithJSON(w, http.StatusCreated, o.Object)
		return
	}
	if strings.HasSuffix(o.GetKind(), "SubjectAccessReview") {
		attributes, _, _ := unstructured.NestedStringMap(o.Object, "spec", "resourceAttributes")
		o.Object["status"] = map[string]any{"allowed": !a.Refused[attributes["verb"]+" "+attributes["resource"]]}
		replyWithJSON(w, http.StatusCreated, o.Object)
		return
	}
	a.Made = append(a.Made, o.DeepCopy())
	o.SetName(o.GetGenerateName() + "x")
	o.SetResourceVersion("1")
	a.Objects = append(a.Objects, o)
	replyWithJSON(w, http.StatusCreated, o.Object)
}

// answerWatch shows the requested RolloutRequest with each of its statuses. The last answer ends the connection, as a server may at any time.
func (a *Server) answerWatch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	version, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	left := max(a.AnswersAtOnce, 1)
	for _, o := range a.Objects {
		if "metadata.name="+o.GetName() != r.URL.Query().Get("fieldSelector") {
			continue
		}
		for i, text := range a.Answers {
			if i+2 <= version {
				continue
			}
			status := map[string]any{}
			_ = yaml.Unmarshal([]byte(text), &status)
			o.Object["status"] = status
			o.SetResourceVersion(strconv.Itoa(i + 2))
			_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": o.Object}) //nolint:errchkjson // A client that cannot read it says so.
			if left--; left == 0 {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
	if a.Idle != nil {
		a.Idle()
	}
	<-r.Context().Done()
}

func replyWithError(w http.ResponseWriter, err *kerrors.StatusError) {
	err.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	replyWithJSON(w, int(err.ErrStatus.Code), err.ErrStatus)
}

func replyWithJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // A client that cannot read it says so.
}
