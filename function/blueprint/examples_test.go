package blueprint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/intent/objective"
	"github.com/intentplane/intentplane/function/render"
)

const examples = "../../examples/blueprints"

// shipped are the options of the Blueprints among the examples, by their directory.
func shipped() map[string]Options {
	return map[string]Options{
		"web":          {Name: "web", Version: "1.1.0", Types: []string{"web"}, Channel: "next"},
		"batch":        {Name: "batch", Version: "1.0.0", Types: []string{"batch"}, Channel: "stable"},
		"adopted":      {Name: "adopted", Version: "1.0.0", Types: []string{"adopted"}, Channel: "stable"},
		"app":          {Name: "app", Version: "1.0.0", Types: []string{"app"}, Channel: "stable"},
		"app-internal": {Name: "app-internal", Version: "1.0.0", Types: []string{"app-internal"}, Channel: "stable"},
		"web-canary":   {Name: "web-canary", Version: "1.0.0", Types: []string{"web-canary"}, Channel: "stable"},
		"telco-slice":  {Name: "telco-slice", Version: "1.0.0", Types: []string{"telco-slice"}, Channel: "stable"},
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
				t.Errorf("The file equals the Blueprint that is made from the directory: -file, +directory:\n%s", diff)
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

// everything checks that the rendered files have each value of an example's intent.
func everything(t *testing.T, b *catalogv1alpha1.Blueprint, e catalogv1alpha1.BlueprintExample, r Result) {
	t.Helper()
	wanted, err := intent.FromText(e.Intent)
	if err != nil {
		t.Fatal(err)
	}
	values, err := render.Explain(render.Input{Blueprint: b, Intent: wanted, Site: render.Site{Name: r.Site, Parameters: plainParameters(e.Parameters)}}, intent.ExplicitInText(e.Intent))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Builder{}
	for _, name := range r.Files.Names() {
		all.Write(r.Files[name])
	}
	for _, v := range values {
		isFromClaim := v.From == render.FromClaim && v.Key != "type" && v.Key != "claim" && v.Key != "namespace"
		if (isFromClaim || v.From == render.FromSite && v.Key != "site") && !strings.Contains(all.String(), v.Value) {
			t.Errorf("%s: %s=%q is in no rendered file", r.Name, v.Key, v.Value)
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
	for _, name := range objective.Metrics() {
		if !measured[name] {
			t.Errorf("An intent can name %s, and no Blueprint among the examples has a query for it", name)
		}
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
		"Structure": {
			reason: "An object that no API server accepts fails.",
			object: "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: 1}\n", intent: `{"service": "a"}`,
			want: `service-a.yaml: Service "a": spec.port: is not a field of this kind`,
		},
		"Secret": {
			reason: "An example that renders a plain Secret fails.",
			object: "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: Yg==}\n", intent: `{"service": "a"}`, want: "plainSecrets",
		},
		"Intent": {
			reason: "An example whose intent cannot be parsed fails.",
			object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", intent: `{"servce": "a"}`, want: "servce",
		},
		"Type": {
			reason: "An example of a type that the Blueprint does not serve fails.",
			object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", intent: `{"service": "a", "type": "db"}`,
			want: `does not serve type "db"`,
		},
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

func TestTracksOfExample(t *testing.T) {
	b, err := Create(os.DirFS(filepath.Join(examples, "web")), shipped()["web"])
	if err != nil {
		t.Fatal(err)
	}
	b.Spec.Canary = &catalogv1alpha1.BlueprintCanary{}
	results, err := Test(t.Context(), b, render.NewRenderer())
	if err != nil {
		t.Fatal(err)
	}
	const unmarked = `cannot render Blueprint "web-1.1.0": spec.canary: no Deployment has the label intentplane.dev/workload: main`
	if results[0].Err == nil || results[0].Err.Error() != unmarked || results[0].Tracks != nil {
		t.Errorf("A workload that is not marked has no tracks: want %q, got %v", unmarked, results[0].Err)
	}
	text := strings.Replace(string(b.Spec.Files["deployment.yaml"]), "metadata:\n", "metadata:\n  labels: {intentplane.dev/workload: main}\n", 1)
	b.Spec.Files["deployment.yaml"] = catalogv1alpha1.File(text)
	if results, err = Test(t.Context(), b, render.NewRenderer()); err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil || r.Tracks == nil || len(r.Tracks.PerTrack) == 0 {
			t.Errorf("%s: an example of a Blueprint with a canary is rendered in a track: got %+v, %v", r.Name, r.Tracks, r.Err)
		}
	}
	// The files of each folder are checked as the files of other Blueprints are.
	bad := strings.Replace(text, "replicas: 2", "replicas: 2\n  paws: true", 1)
	b.Spec.Files["deployment.yaml"] = catalogv1alpha1.File(bad)
	if results, err = Test(t.Context(), b, render.NewRenderer()); err != nil {
		t.Fatal(err)
	}
	if err := results[0].Err; err == nil || !strings.Contains(err.Error(), "paws") {
		t.Errorf("A field that Kubernetes does not know is found in a track: got %v", err)
	}
}

// TestExamplesOfApplicationsAreConfined renders the Blueprints of Applications: their pods run as no root, get no further rights, and have no token of the cluster.
func TestExamplesOfApplicationsAreConfined(t *testing.T) {
	wantPod := &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	wantContainer := &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	for _, dir := range []string{"app", "app-internal"} {
		t.Run(dir, func(t *testing.T) {
			for _, pod := range renderedPods(t, dir) {
				if diff := cmp.Diff([]any{wantPod, new(false)}, []any{pod.SecurityContext, pod.AutomountServiceAccountToken}); diff != "" {
					t.Errorf("The pod runs as no root, and has no token: -want, +got:\n%s", diff)
				}
				for _, c := range pod.Containers {
					if diff := cmp.Diff(wantContainer, c.SecurityContext); diff != "" {
						t.Errorf("Container %s gets no further rights: -want, +got:\n%s", c.Name, diff)
					}
				}
			}
		})
	}
}

// renderedPods returns the pods of all Deployments that the examples of a Blueprint render to.
func renderedPods(t *testing.T, dir string) []corev1.PodSpec {
	t.Helper()
	b, err := Create(os.DirFS(filepath.Join(examples, dir)), shipped()[dir])
	if err != nil {
		t.Fatal(err)
	}
	results, err := Test(t.Context(), b, render.NewRenderer())
	if err != nil {
		t.Fatal(err)
	}
	out := []corev1.PodSpec{}
	for _, r := range results {
		for _, name := range r.Files.Names() {
			if strings.HasPrefix(name, "deployment-") {
				d := &appsv1.Deployment{}
				if err := yaml.Unmarshal(r.Files[name], d); err != nil {
					t.Fatal(err)
				}
				out = append(out, d.Spec.Template.Spec)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("Blueprint %s renders no Deployment", dir)
	}
	return out
}
