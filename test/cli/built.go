package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// ServeBuilt serves an Application with a source, its ImageBuild, a Build of kpack and the log of a step. The look that is asked for is done at once.
func ServeBuilt(t *testing.T, observation buildv1alpha1.ImageBuildObservation, source string) {
	t.Helper()
	token := ""
	answer := func(w http.ResponseWriter, o any) {
		w.Header().Set("Content-Type", "application/json")
		b, err := json.Marshal(o)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write(b)
	}
	application := map[string]any{
		"apiVersion": "intentplane.dev/v1alpha1", "kind": "Application", "metadata": map[string]any{"namespace": "team-a", "name": "api"},
		"spec": json.RawMessage(source),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/intentplane.dev/v1alpha1/namespaces/team-a/applications/api", func(w http.ResponseWriter, _ *http.Request) { answer(w, application) })
	mux.HandleFunc("PATCH /apis/intentplane.dev/v1alpha1/namespaces/team-a/applications/api", func(w http.ResponseWriter, r *http.Request) {
		patch := metav1.PartialObjectMetadata{}
		_ = json.NewDecoder(r.Body).Decode(&patch)
		token = patch.Annotations["crossplane.io/reconcile-requested-at"]
		answer(w, application)
	})
	mux.HandleFunc("GET /apis/build.intentplane.dev/v1alpha1/namespaces/team-a/imagebuilds/api", func(w http.ResponseWriter, _ *http.Request) {
		b := buildv1alpha1.ImageBuild{Status: buildv1alpha1.ImageBuildStatus{AtProvider: observation}}
		b.APIVersion, b.Kind, b.Name = buildv1alpha1.GroupVersion.String(), "ImageBuild", "api"
		b.Spec.ForProvider.ClaimRef.APIGroup = "intentplane.dev"
		b.Spec.ForProvider.Source.Git = &buildv1alpha1.GitSource{Revision: "main"}
		b.Status.AtProvider.LookNow = strings.TrimSpace("before " + token)
		answer(w, b)
	})
	mux.HandleFunc("GET /apis/kpack.io/v1alpha2/namespaces/team-a/builds/api-build-2", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"apiVersion": "kpack.io/v1alpha2", "kind": "Build", "metadata": map[string]any{"name": "api-build-2"}, "status": map[string]any{"podName": "api-build-2-pod"}})
	})
	mux.HandleFunc("GET /api/v1/namespaces/team-a/pods/api-build-2-pod/log", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("log of " + r.URL.Query().Get("container") + " follow " + r.URL.Query().Get("follow") + "\n"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "` + s.URL + `"}}], contexts: [{name: a, context: {cluster: a, user: a, namespace: team-a}}], users: [{name: a, user: {}}]}`
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
}

// GitSource is the spec of an Application with a repository.
const GitSource = `{"source": {"git": {"url": "https://git.example.org/api.git", "revision": "main"}}}`
