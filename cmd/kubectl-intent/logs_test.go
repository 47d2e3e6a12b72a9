package main

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
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// serveBuilt serves an Application with a source, its ImageBuild, a Build of kpack and the log of a step. The look that is asked for is done at once.
func serveBuilt(t *testing.T, observation buildv1alpha1.ImageBuildObservation, source string) {
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

const gitSource = `{"source": {"git": {"url": "https://git.example.org/api.git", "revision": "main"}}}`

func TestLogs(t *testing.T) {
	running := buildv1alpha1.ImageBuildObservation{Running: &buildv1alpha1.RunningBuild{Build: "api-build-2", Step: "detect"}}
	failed := buildv1alpha1.ImageBuildObservation{Failed: &buildv1alpha1.FailedBuild{Build: "api-build-2", Step: "export"}}
	built := buildv1alpha1.ImageBuildObservation{Latest: &buildv1alpha1.BuiltImage{Build: "api-build-2"}}
	cases := map[string]struct {
		reason string
		at     buildv1alpha1.ImageBuildObservation
		source string
		args   []string
		want   string
		code   int
	}{
		"Running":  {reason: "The step that runs is shown.", at: running, args: []string{"--build"}, want: "log of detect follow \n"},
		"Failed":   {reason: "The step that failed is shown.", at: failed, args: []string{"--build"}, want: "log of export follow \n"},
		"Built":    {reason: "Step build of the last image is shown.", at: built, args: []string{"--build", "--follow"}, want: "log of build follow true\n"},
		"Step":     {reason: "Another step is shown that the user names.", at: built, args: []string{"--build", "--step=analyze"}, want: "log of analyze follow \n"},
		"None":     {reason: "An Application without a Build has no log.", args: []string{"--build"}, want: "nothing was built yet", code: 1},
		"Image":    {reason: "An Application with an image has no build.", source: `{"image": "a:1"}`, args: []string{"--build"}, want: "is built of a source", code: 1},
		"NotBuild": {reason: "The command does not read logs of running pods.", at: built, want: "--build", code: 2},
		"Unbuilt":  {reason: "Flags for a Build are not ignored without one.", at: built, args: []string{"latency", "--follow"}, want: "are for --build", code: 2},
		"Both":     {reason: "A build has no checks.", at: built, args: []string{"latency", "--build"}, want: "a build has no check", code: 2},
		"Gone":     {reason: "A Build that is gone has no log.", at: buildv1alpha1.ImageBuildObservation{Latest: &buildv1alpha1.BuiltImage{Build: "api-build-1"}}, args: []string{"--build"}, want: "cannot get builds.kpack.io/api-build-1", code: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.source == "" {
				tc.source = gitSource
			}
			serveBuilt(t, tc.at, tc.source)
			out, problems := &strings.Builder{}, &strings.Builder{}
			code := runCommand(append([]string{"logs", "api"}, tc.args...), &terminal.Streams{Out: out}, problems)
			if code != tc.code || !strings.Contains(out.String()+problems.String(), tc.want) {
				t.Errorf("\n%s\nlogs: exit code %d: %s%s", tc.reason, code, out, problems)
			}
		})
	}
}
