package render

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/test/soak"
)

var update = flag.Bool("update", false, "write the golden files")

func TestBuildExample(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		site   Site
	}{
		"Defaults": {
			reason: "A Blueprint's own values hold where the intent says nothing.",
			text:   `{"service": "shop"}`,
			site:   Site{Name: "edge1"},
		},
		"Everything": {
			reason: "A value of the intent is in each place where the Blueprint reads it.",
			text: `{"service": "shop", "site": "edge1", "replicas": {"edge1": 3}, "image": "registry.example.org/shop:2",
				"resources": {"cpu": "2", "memory": "4Gi"}, "parameters": {"greeting": "Hi: {{ $x }} # 1"}}`,
			site: Site{Name: "edge1", Layout: catalogv1alpha1.LayoutManifests},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := NewRenderer().Build(t.Context(), exampleInput(t, tc.text, tc.site))
			if err != nil {
				t.Fatalf("\n%s\nBuild(...): %v", tc.reason, err)
			}
			dir := filepath.Join("testdata", strings.ToLower(name))
			if *update {
				writeFiles(t, dir, got)
			}
			if diff := cmp.Diff(readFiles(t, dir), texts(got)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBuildIsKustomize(t *testing.T) {
	in := exampleInput(t, `{"service": "shop", "replicas": 2}`, Site{Name: "edge1", Parameters: map[string]string{"plmn": "00101"}})
	layout, err := Layout(in)
	if err != nil {
		t.Fatalf("Layout(...): %v", err)
	}
	objects, err := runKustomize(layout)
	if err != nil {
		t.Fatalf("kustomize(...): %v", err)
	}
	files, err := NewRenderer().Build(t.Context(), in)
	if err != nil {
		t.Fatalf("Build(...): %v", err)
	}
	rebuilt, err := runKustomize(files)
	if err != nil {
		t.Fatalf("kustomize(Build(...)): %v", err)
	}
	want, got := documents(t, objects.AsYaml), documents(t, rebuilt.AsYaml)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The delivered files build to the rendered objects: -want, +got:\n%s", diff)
	}
	contents := []string{}
	for _, name := range files.Names() {
		if name != kustomizationFile {
			contents = append(contents, string(files[name]))
		}
	}
	slices.Sort(contents)
	if diff := cmp.Diff(want, contents); diff != "" {
		t.Errorf("Files equal the output of kustomize: -want, +got:\n%s", diff)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	in := exampleInput(t, `{"service": "shop", "replicas": 2}`, Site{Name: "edge1", Parameters: map[string]string{"a": "1", "b": "2"}})
	r := NewRenderer()
	first, err := r.Build(t.Context(), in)
	if err != nil {
		t.Fatalf("Build(...): %v", err)
	}
	for range soak.Quick(20, 100) {
		rebuilt, err := r.Build(t.Context(), in)
		if err != nil {
			t.Fatalf("Build(...): %v", err)
		}
		if diff := cmp.Diff(texts(first), texts(rebuilt)); diff != "" {
			t.Fatalf("Build(...): -first, +again:\n%s", diff)
		}
	}
}

func TestBuildTimesOut(t *testing.T) {
	expired, end := context.WithTimeout(t.Context(), 1)
	defer end()
	<-expired.Done()
	givenUp, giveUp := context.WithCancel(t.Context())
	giveUp()
	cases := map[string]struct {
		reason string
		ctx    context.Context
		want   string
	}{
		"Waiting": {
			reason: "A Blueprint is not to blame for others.",
			ctx:    expired,
			want:   `cannot render Blueprint "web-1.0.0": other renderings took all the time that spec.compileConfig.renderTimeout gives: raise it, to 60s at most, or wait until they are done`,
		},
		"GivenUp": {
			reason: "A caller that gives up gets an error at once.",
			ctx:    givenUp,
			want:   `cannot render Blueprint "web-1.0.0": the call was cancelled`,
		},
	}
	in := exampleInput(t, `{"service": "shop"}`, Site{Name: "edge1"})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// No slot is ever free.
			_, err := (&Renderer{slots: make(chan struct{})}).Build(tc.ctx, in)
			if diff := cmp.Diff(tc.want, message(err)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
	// A rendering that has begun ends with the error of the timeout.
	if diff := cmp.Diff(`cannot render Blueprint "web-1.0.0" within spec.compileConfig.renderTimeout: raise it, to 60s at most, or make the Blueprint smaller`, message(renderTimeoutError(expired, in))); diff != "" {
		t.Errorf("tooLate(...): -want error, +got error:\n%s", diff)
	}
}

func TestBuildInParallel(t *testing.T) {
	r := NewRenderer()
	failed := make(chan error)
	for i := range 8 {
		in := filesInput(deployments(i + 1))
		go func() {
			_, err := r.Build(t.Context(), in)
			failed <- err
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Errorf("Build(...) beside others: %v", err)
		}
	}
}

func exampleInput(t *testing.T, text string, site Site) Input {
	t.Helper()
	b, err := os.ReadFile("../../examples/quickstart/20-blueprint.yaml")
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Blueprint: &catalogv1alpha1.Blueprint{}, Site: site, Claim: Claim{Namespace: "team-a", Name: "shop"}}
	if err := yaml.UnmarshalStrict(b, in.Blueprint); err != nil {
		t.Fatal(err)
	}
	if in.Intent, err = intent.FromText(text); err != nil {
		t.Fatal(err)
	}
	return in
}

func filesInput(files map[string]string) Input {
	in := Input{
		Blueprint: &catalogv1alpha1.Blueprint{},
		Intent:    intent.Intent{Service: "shop", Type: "web", Replicas: 1},
		Site:      Site{Name: "edge1"},
		Claim:     Claim{Namespace: "team-a", Name: "shop"},
	}
	in.Blueprint.Spec.Files = map[string]catalogv1alpha1.File{}
	for name, text := range files {
		in.Blueprint.Spec.Files[name] = catalogv1alpha1.File(text)
	}
	return in
}

func object(apiVersion, kind, metadata string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: " + metadata + "\n---\n"
}

func namespaces(t *testing.T, f tree.Files) []string {
	t.Helper()
	var out []string
	for _, name := range f.Names() {
		o := struct {
			Metadata struct {
				Namespace string `json:"namespace"`
			} `json:"metadata"`
		}{}
		if err := yaml.Unmarshal(f[name], &o); err != nil {
			t.Fatal(err)
		}
		out = append(out, name+" "+o.Metadata.Namespace)
	}
	return out
}

func documents(t *testing.T, encode func() ([]byte, error)) []string {
	t.Helper()
	b, err := encode()
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for d := range bytes.SplitSeq(b, []byte("---\n")) {
		out = append(out, string(d))
	}
	slices.Sort(out)
	return out
}

func texts(f tree.Files) map[string]string {
	out := map[string]string{}
	for name, b := range f {
		out[name] = string(b)
	}
	return out
}

func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

func writeFiles(t *testing.T, dir string, f tree.Files) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, b := range maps.All(f) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func contains(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// BenchmarkBuild compares a rendering with kustomize alone for the same files: each beside the other, so that a disturbance affects both.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{5, 20, 100} {
		in := filesInput(deployments(n))
		layout, err := Layout(in)
		if err != nil {
			b.Fatal(err)
		}
		r := NewRenderer()
		b.Run(fmt.Sprintf("objects=%d/build", n), func(b *testing.B) {
			for b.Loop() {
				benchBuild(b, r, in)
			}
		})
		b.Run(fmt.Sprintf("objects=%d/both", n), func(b *testing.B) {
			bare, ours := time.Duration(0), time.Duration(0)
			for b.Loop() {
				begin := b.Elapsed()
				benchBare(b, layout)
				middle := b.Elapsed()
				benchBuild(b, r, in)
				bare, ours = bare+middle-begin, ours+b.Elapsed()-middle
			}
			b.ReportMetric(float64(ours)/float64(bare), "build_over_kustomize")
		})
	}
}

func benchBuild(b *testing.B, r *Renderer, in Input) {
	b.Helper()
	if _, err := r.Build(b.Context(), in); err != nil {
		b.Fatal(err)
	}
}

func benchBare(b *testing.B, layout tree.Files) {
	b.Helper()
	objects, err := runKustomize(layout)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := objects.AsYaml(); err != nil {
		b.Fatal(err)
	}
}

// deployments returns a Blueprint with n Deployments, whose replicas come from the intent.
func deployments(n int) map[string]string {
	const manifest = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-%d
spec:
  replicas: 1
  selector:
    matchLabels: {app: app-%[1]d}
  template:
    metadata:
      labels: {app: app-%[1]d}
    spec:
      containers:
      - name: app
        image: nginx:1.27
        ports: [{name: http, containerPort: 80}]
        resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
        readinessProbe: {httpGet: {path: /, port: http}}
`
	all := strings.Builder{}
	for i := range n {
		fmt.Fprintf(&all, manifest+"---\n", i)
	}
	return map[string]string{
		"deployments.yaml": all.String(),
		"kustomization.yaml": `resources: [intent.yaml, deployments.yaml]
replacements:
- source: {kind: ConfigMap, name: intent, fieldPath: data.replicas}
  targets: [{select: {kind: Deployment}, fieldPaths: [spec.replicas]}]
`,
	}
}

// TestBuildOften renders the same input often, beside each other and beside others.
func TestBuildOften(t *testing.T) {
	r, in := NewRenderer(), filesInput(with("", nil))
	first, err := r.Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want, failed, rounds := fmt.Sprint(texts(first)), make(chan string), soak.Quick(25, 125)
	for range 8 {
		go func() {
			for range rounds {
				files, err := r.Build(t.Context(), in)
				if got := fmt.Sprint(texts(files)); err != nil || got != want {
					failed <- fmt.Sprintf("%v\n%s", err, got)
					return
				}
			}
			failed <- ""
		}()
	}
	for range 8 {
		if got := <-failed; got != "" {
			t.Errorf("Build(...): want\n%s\ngot %s", want, got)
		}
	}
}
