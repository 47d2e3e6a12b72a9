package blueprint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
)

const examples = "../../examples/blueprints"

// shipped are the options of the Blueprints among the examples, by their directory.
func shipped() map[string]Options {
	return map[string]Options{
		"web":         {Name: "web", Version: "1.1.0", Types: []string{"web"}, Channel: "next"},
		"batch":       {Name: "batch", Version: "1.0.0", Types: []string{"batch"}, Channel: "stable"},
		"adopted":     {Name: "adopted", Version: "1.0.0", Types: []string{"adopted"}, Channel: "stable"},
		"telco-slice": {Name: "telco-slice", Version: "1.0.0", Types: []string{"telco-slice"}, Channel: "stable"},
	}
}

func TestExamples(t *testing.T) {
	for dir, o := range shipped() {
		t.Run(dir, func(t *testing.T) {
			b, err := Create(os.DirFS(filepath.Join(examples, dir)), o)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(examples, b.GetName()+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			want := &catalogv1alpha1.Blueprint{}
			if err := yaml.UnmarshalStrict(text, want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(encoded(t, want), encoded(t, b)); diff != "" {
				t.Errorf("The file is what is made from the directory: -file, +directory:\n%s", diff)
			}
			results, err := Test(t.Context(), b, render.NewRenderer())
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range results {
				if r.Err != nil {
					t.Errorf("%s: %v", r.Name, r.Err)
				}
				everything(t, b, b.Spec.Examples[i], r)
			}
		})
	}
}

// everything that an example's intent says is in what it renders to.
func everything(t *testing.T, b *catalogv1alpha1.Blueprint, e catalogv1alpha1.BlueprintExample, r Result) {
	t.Helper()
	wanted, err := intent.FromText(e.Intent)
	if err != nil {
		t.Fatal(err)
	}
	values, err := render.Explain(render.Input{Blueprint: b, Intent: wanted, Site: render.Site{Name: r.Site, Parameters: plain(e.Parameters)}}, intent.ExplicitInText(e.Intent))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Builder{}
	for _, name := range r.Files.Names() {
		all.Write(r.Files[name])
	}
	for _, v := range values {
		said := v.From == render.FromClaim && v.Key != "type" && v.Key != "claim" && v.Key != "namespace"
		if (said || v.From == render.FromSite && v.Key != "site") && !strings.Contains(all.String(), v.Value) {
			t.Errorf("%s: %s=%q is nowhere in what was rendered", r.Name, v.Key, v.Value)
		}
	}
}

func encoded(t *testing.T, b *catalogv1alpha1.Blueprint) string {
	t.Helper()
	out, err := yaml.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestExampleQueries(t *testing.T) {
	for dir, o := range shipped() {
		b, err := Create(os.DirFS(filepath.Join(examples, dir)), o)
		if err != nil {
			t.Fatal(err)
		}
		queries, err := promql.Queries(b.Spec.Metrics, promql.Values{Service: "shop", Namespace: "team-a", Site: "edge1"})
		if err != nil || len(queries) == 0 {
			t.Errorf("%s: each example can be judged by something: got %d queries, %v", dir, len(queries), err)
		}
		for _, q := range queries {
			if !strings.Contains(q.Text, "shop") || strings.Contains(q.Text, "{{") {
				t.Errorf("%s: %s does not ask for one service: %s", dir, q.Metric, q.Text)
			}
		}
	}
}

// TestExamplesMeasureMetrics looks for a query of each metric that an intent can name.
func TestExamplesMeasureMetrics(t *testing.T) {
	measured := map[string]bool{}
	for dir, o := range shipped() {
		b, err := Create(os.DirFS(filepath.Join(examples, dir)), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range b.Spec.Metrics {
			measured[m.Name] = true
		}
	}
	for _, name := range intent.Metrics() {
		if !measured[name] {
			t.Errorf("An intent can name %s, and no Blueprint among the examples has a query for it", name)
		}
	}
}

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
			reason: "Parameters are those that have a default.",
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
		"BadName":    {reason: "A name is checked here, not when it is applied.", name: "Web", want: want{err: `"Web" and "1.0.0" must be a name`}},
		"Outside":    {reason: "What reaches outside is refused at once.", dir: map[string]string{"kustomization.yaml": "resources: [../x]"}, want: want{err: "is not a file or a folder of the Blueprint"}},
		"NotKustomi": {reason: "So is what kustomize would not build.", dir: map[string]string{"a.yaml": config}, want: want{err: "must have one kustomization.yaml"}},
		"More": {
			reason: "What a Blueprint has no field for is a mistake.",
			dir:    map[string]string{"kustomization.yaml": kustomization, "a.yaml": config, "blueprint.yaml": "metric: []"}, want: want{err: `unknown field "metric"`},
		},
		"BadQuery": {
			reason: "A query that cannot be asked is refused.",
			dir:    map[string]string{"kustomization.yaml": kustomization, "a.yaml": config, "blueprint.yaml": "metrics: [{name: up, query: 'up{', direction: AtLeast}]"},
			want:   want{err: "spec.metrics[0].query: is not PromQL"},
		},
		"BadSchema": {reason: "A schema is YAML.", dir: map[string]string{"kustomization.yaml": kustomization, "a.yaml": config, "parameters.schema.yaml": "a: ["}, want: want{err: "cannot decode parameters.schema.yaml"}},
		"Large":     {reason: "Files are bounded before they are read.", dir: map[string]string{"a.yaml": strings.Repeat("#", maxBytes+1)}, want: want{err: "a.yaml: has 65537 bytes"}},
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

func TestFailingExamples(t *testing.T) {
	const kustomization = "resources: [a.yaml]\n"
	cases := map[string]struct {
		reason string
		object string
		intent string
		want   string
	}{
		"Structure": {reason: "What no API server takes fails.", object: "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: 1}\n", intent: `{"service": "a"}`, want: `service-a.yaml: Service "a": spec.port: is not a field of this kind`},
		"Secret":    {reason: "So does what would be readable in Git.", object: "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: Yg==}\n", intent: `{"service": "a"}`, want: "plainSecrets"},
		"Intent":    {reason: "So does an intent that nobody understands.", object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", intent: `{"servce": "a"}`, want: "servce"},
		"Type":      {reason: "Or that is for another Blueprint.", object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", intent: `{"service": "a", "type": "db"}`, want: `does not serve type "db"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &catalogv1alpha1.Blueprint{}
			b.Spec.ServiceTypes = []string{"web"}
			b.Spec.Files = map[string]catalogv1alpha1.File{"kustomization.yaml": kustomization, "a.yaml": catalogv1alpha1.File(tc.object)}
			b.Spec.Examples = []catalogv1alpha1.BlueprintExample{{Intent: tc.intent}}
			got, err := Test(t.Context(), b, render.NewRenderer())
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Name != "spec.examples[0]" || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), tc.want) {
				t.Errorf("\n%s\nTest(...): want error %q, got %v", tc.reason, tc.want, got[0].Err)
			}
		})
	}
}

func TestExamplesAreKustomizations(t *testing.T) {
	for dir := range shipped() {
		if _, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(examples, dir)); err != nil {
			t.Errorf("%s: an author can build it with kustomize alone: %v", dir, err)
		}
	}
}
