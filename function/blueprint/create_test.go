package blueprint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestCreate(t *testing.T) {
	const kustomization = "resources: [intent.yaml, a.yaml]\n"
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	const defaults = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: intent}\ndata: {replicas: '1', param-greeting: Hello}\n"
	type want struct {
		files  []string
		schema string
		err    string
	}
	cases := map[string]struct {
		reason string
		dir    map[string]string
		name   string
		want   want
	}{
		"Found": {
			reason: "Parameters are the parameters with a default.",
			dir:    map[string]string{"kustomization.yaml": kustomization, "a.yaml": config, "intent.yaml": defaults, "README.md": "x", ".git/config": "x"},
			want: want{
				files:  []string{"a.yaml", "intent.yaml", "kustomization.yaml"},
				schema: `{"additionalProperties":false,"properties":{"greeting":{"default":"Hello","type":"string"}},"type":"object"}`,
			},
		},
		"Schema": {
			reason: "A file describes them better.",
			dir:    map[string]string{"kustomization.yaml": kustomization, "a.yaml": config, "parameters.schema.json": `{"type": "object"}`},
			want:   want{files: []string{"a.yaml", "kustomization.yaml"}, schema: `{"type":"object"}`},
		},
		"BadName": {reason: "A name is checked here, not when it is applied.", name: "Web", want: want{err: `"Web" and "1.0.0" must be a name`}},
		"Outside": {
			reason: "A file that reaches outside is refused at once.",
			dir:    map[string]string{"kustomization.yaml": "resources: [../x]"}, want: want{err: "is not a file or a folder of the Blueprint"},
		},
		"NotKustomi": {
			reason: "A directory that kustomize would not build is refused.",
			dir:    map[string]string{"a.yaml": config}, want: want{err: "must have one kustomization.yaml"},
		},
		"More": {
			reason: "A field that no Blueprint has is a mistake.",
			dir:    map[string]string{"kustomization.yaml": kustomization, "a.yaml": config, "blueprint.yaml": "metric: []"}, want: want{err: `unknown field "metric"`},
		},
		"BadQuery": {
			reason: "A query that cannot be asked is refused.",
			dir: map[string]string{
				"kustomization.yaml": kustomization, "a.yaml": config, "blueprint.yaml": "metrics: [{name: up, query: 'up{', direction: AtLeast}]",
			},
			want: want{err: "spec.metrics[0].query: is not PromQL"},
		},
		"BadSchema": {
			reason: "A schema of parameters that is not YAML is refused.",
			dir:    map[string]string{"kustomization.yaml": kustomization, "a.yaml": config, "parameters.schema.yaml": "a: ["},
			want:   want{err: "cannot decode parameters.schema.yaml"},
		},
		"Large": {
			reason: "Files are bounded before they are read.",
			dir:    map[string]string{"a.yaml": strings.Repeat("#", maxBytes+1)}, want: want{err: "a.yaml: has 65537 bytes"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := fstest.MapFS{}
			for file, text := range tc.dir {
				dir[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if tc.name == "" {
				tc.name = "web"
			}
			b, err := Create(dir, Options{Name: tc.name, Version: "1.0.0", Types: []string{"web"}})
			if (err == nil) != (tc.want.err == "") || err != nil && !strings.Contains(err.Error(), tc.want.err) {
				t.Fatalf("\n%s\nCreate(...): want error %q, got %v", tc.reason, tc.want.err, err)
			}
			if err != nil {
				return
			}
			got := want{schema: string(b.Spec.ParametersSchema.Raw)}
			for _, file := range []string{".git/config", "README.md", "a.yaml", "intent.yaml", "kustomization.yaml"} {
				if _, ok := b.Spec.Files[file]; ok {
					got.files = append(got.files, file)
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nCreate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCreateLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(os.DirFS(dir), Options{Name: "web", Version: "1.0.0"}); err == nil || !strings.Contains(err.Error(), "a.yaml: is not a regular file") {
		t.Errorf("Create(...) with a link: got %v", err)
	}
}
