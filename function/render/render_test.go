package render

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/intent"
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
			reason: "What the intent says is where the Blueprint puts it.",
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
	objects, err := kustomize(layout)
	if err != nil {
		t.Fatalf("kustomize(...): %v", err)
	}
	files, err := NewRenderer().Build(t.Context(), in)
	if err != nil {
		t.Fatalf("Build(...): %v", err)
	}
	again, err := kustomize(files)
	if err != nil {
		t.Fatalf("kustomize(Build(...)): %v", err)
	}
	want, got := documents(t, objects.AsYaml), documents(t, again.AsYaml)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("What is delivered builds to what was rendered: -want, +got:\n%s", diff)
	}
	own := []string{}
	for _, name := range files.Names() {
		if name != kustomizationFile {
			own = append(own, string(files[name]))
		}
	}
	slices.Sort(own)
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("Files are what kustomize writes: -want, +got:\n%s", diff)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	in := exampleInput(t, `{"service": "shop", "replicas": 2}`, Site{Name: "edge1", Parameters: map[string]string{"a": "1", "b": "2"}})
	r := NewRenderer()
	first, err := r.Build(t.Context(), in)
	if err != nil {
		t.Fatalf("Build(...): %v", err)
	}
	for range 100 {
		again, err := r.Build(t.Context(), in)
		if err != nil {
			t.Fatalf("Build(...): %v", err)
		}
		if diff := cmp.Diff(texts(first), texts(again)); diff != "" {
			t.Fatalf("Build(...): -first, +again:\n%s", diff)
		}
	}
}

func TestBuildTooLate(t *testing.T) {
	over, end := context.WithTimeout(t.Context(), 1)
	defer end()
	<-over.Done()
	givenUp, giveUp := context.WithCancel(t.Context())
	giveUp()
	cases := map[string]struct {
		reason string
		ctx    context.Context
		want   string
	}{
		"Waiting": {
			reason: "A Blueprint is not to blame for others.",
			ctx:    over,
			want:   `cannot render Blueprint "web-1.0.0": other renderings took all the time that compileConfig.renderTimeout gives`,
		},
		"GivenUp": {
			reason: "Nobody waits for the answer.",
			ctx:    givenUp,
			want:   `cannot render Blueprint "web-1.0.0": the call was given up`,
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
	// What was begun.
	if diff := cmp.Diff(`cannot render Blueprint "web-1.0.0" within compileConfig.renderTimeout`, message(tooLate(over, in))); diff != "" {
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

func TestBuildNothing(t *testing.T) {
	_, err := NewRenderer().Build(t.Context(), Input{})
	if diff := cmp.Diff(`cannot render Blueprint "": there is no Blueprint`, message(err)); diff != "" {
		t.Errorf("Build(...) without a Blueprint: -want error, +got error:\n%s", diff)
	}
}

func TestBuildObjects(t *testing.T) {
	type want struct {
		files []string
		err   string
	}
	cases := map[string]struct {
		reason  string
		objects string
		want    want
	}{
		"Namespaces": {
			reason:  "Only an object without a namespace gets the claim's, and cluster-scoped ones get none.",
			objects: object("v1", "ConfigMap", "{name: a}") + object("v1", "ConfigMap", "{name: b, namespace: other}") + object("v1", "Namespace", "{name: c}"),
			want:    want{files: []string{"configmap-a.yaml team-a", "configmap-b.yaml other", "namespace-c.yaml "}},
		},
		"Collision": {
			reason:  "Objects with the same kind and name get file names that tell them apart.",
			objects: object("v1", "ConfigMap", "{name: a, namespace: b}") + object("v1", "ConfigMap", "{name: a, namespace: c}"),
			want:    want{files: []string{"configmap-a_8c7c32b728.yaml b", "configmap-a_b50f529827.yaml c"}},
		},
		"OddName": {
			reason:  "A name that is no file name is not one.",
			objects: object("rbac.authorization.k8s.io/v1", "Role", `{name: "a:B"}`),
			want:    want{files: []string{"role-a-b_80b63e980c.yaml team-a"}},
		},
		"Duplicate": {
			reason:  "An object may be there once.",
			objects: object("v1", "ConfigMap", "{name: a}") + object("v1", "ConfigMap", "{name: a, namespace: team-a}"),
			want:    want{err: "namespace transformation produces ID conflict"},
		},
		"OtherVersion": {
			reason:  "Two versions of an object are one object.",
			objects: object("x.org/v1", "Thing", "{name: a}") + object("x.org/v2", "Thing", "{name: a}"),
			want:    want{err: "Thing team-a/a: was rendered twice"},
		},
		"List": {
			reason:  "A list hides how many objects there are.",
			objects: "apiVersion: v1\nkind: List\nitems: []\n---\n",
			want:    want{err: "objects.yaml: is a list: each object must stand for itself"},
		},
		"GenerateName": {
			reason:  "A name that the API server makes up cannot be delivered again.",
			objects: object("v1", "ConfigMap", "{generateName: a}"),
			want:    want{err: "missing metadata.name"},
		},
		"PathName": {
			reason:  "A name is never a path.",
			objects: object("v1", "ConfigMap", "{name: ../a}"),
			want:    want{err: "ConfigMap team-a/../a: name is not valid"},
		},
		"NoKind": {
			reason:  "Everything has a kind.",
			objects: "apiVersion: v1\nmetadata: {name: a}\n",
			want:    want{err: "missing kind"},
		},
		"BadKind": {
			reason:  "A kind is a word.",
			objects: object("v1", "../Config", "{name: a}"),
			want:    want{err: "kind is not valid"},
		},
		"BadVersion": {
			reason:  "An API version is a group and a version.",
			objects: object("a/b/v1", "ConfigMap", "{name: a}"),
			want:    want{err: `apiVersion "a/b/v1" is not valid`},
		},
		"Nothing": {
			reason:  "A Blueprint renders something.",
			objects: "# nothing\n",
			want:    want{err: "0 objects were rendered"},
		},
		"TooMany": {
			reason:  "The number of objects is bounded.",
			objects: strings.Repeat(object("v1", "ConfigMap", "{name: a}"), 501),
			want:    want{err: "502 objects are read, more than 500"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := filesInput(map[string]string{
				"kustomization.yaml": "resources: [intent.yaml, objects.yaml]",
				"objects.yaml":       tc.objects,
			})
			in.Site.Layout = catalogv1alpha1.LayoutManifests
			got, err := NewRenderer().Build(t.Context(), in)
			if !contains(err, tc.want.err) {
				t.Errorf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.want.err, err)
			}
			if diff := cmp.Diff(tc.want.files, namespaces(t, got)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
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
