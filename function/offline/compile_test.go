package offline

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/render"
)

// A noiseRenderer renders a ConfigMap of so many bytes that nothing compresses.
type noiseRenderer int

func (n noiseRenderer) Build(context.Context, render.Input) (tree.Files, error) {
	b, from := make([]byte, n), rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(from.Uint32())
	}
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team-a}\nbinaryData: {a: \"" + base64.StdEncoding.EncodeToString(b) + "\"}\n"
	return tree.Files{
		"a.yaml":             []byte(text),
		"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"),
	}, nil
}

// quickstart is a deployment, the catalog of the quickstart, a core, and a compiler with the same renderer.
type quickstart struct {
	t        *testing.T
	in       deployment.Input
	objects  []*unstructured.Unstructured
	core     *deployment.Core
	compiler *compile.Compiler
}

func newQuickstart(t *testing.T) *quickstart {
	t.Helper()
	q := &quickstart{t: t, core: deployment.New(render.NewRenderer()), compiler: compile.New(render.NewRenderer())}
	q.in.Claim = rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupClaims, Kind: deploymentv1alpha1.Kind, Namespace: "team-a", Name: "shop"}
	q.setIntent(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 2}`)
	for _, file := range []string{"trial/10-sites.yaml", "quickstart/20-blueprint.yaml", "quickstart/30-config.yaml"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "examples", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for doc := range bytes.SplitSeq(b, []byte("\n---\n")) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(doc, &o.Object); err != nil {
				t.Fatal(err)
			}
			q.objects = append(q.objects, o)
		}
	}
	for _, site := range []string{"edge1", "edge2"} {
		// The API server sets this default, and the provider the label.
		q.setField("Site", site, []any{"{claimNamespace}"}, "spec", "targetNamespaces", "allowed")
		q.setField("Site", site, q.site(site).UsableFrom(), "metadata", "labels", catalogv1alpha1.LabelUsableFrom)
	}
	return q
}

func (q *quickstart) setIntent(intent string) { q.in.Spec.Intent = &intent }

func (q *quickstart) object(kind, name string) *unstructured.Unstructured {
	q.t.Helper()
	for _, o := range q.objects {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	q.t.Fatalf("the quickstart has no %s %s", kind, name)
	return nil
}

func (q *quickstart) site(name string) *catalogv1alpha1.Site {
	q.t.Helper()
	s := &catalogv1alpha1.Site{}
	s.Spec.AllowedNamespaces, _, _ = unstructured.NestedStringSlice(q.object("Site", name).Object, "spec", "allowedNamespaces")
	return s
}

func (q *quickstart) setField(kind, name string, value any, path ...string) {
	q.t.Helper()
	if err := unstructured.SetNestedField(q.object(kind, name).Object, value, path...); err != nil {
		q.t.Fatal(err)
	}
}

// setMetrics lets the Blueprint measure a latency, and names a Prometheus server for each Site.
func (q *quickstart) setMetrics() {
	q.t.Helper()
	metric := map[string]any{"name": "latency_p99", "query": `p99{site="{{site}}"}`, "unit": "s", "direction": "AtMost"}
	q.setField("Blueprint", "web-1.0.0", []any{metric}, "spec", "metrics")
	for _, site := range []string{"edge1", "edge2"} {
		q.setField("Site", site, "http://prometheus", "spec", "metrics", "prometheus", "address")
	}
}

// answer returns the objects of the catalog that needs select.
func (q *quickstart) answer(needs []catalog.Need) (catalog.Answers, error) {
	out := catalog.Answers{}
	for _, n := range needs {
		out[n.Name] = []json.RawMessage{}
		for _, o := range q.objects {
			if o.GetKind() != n.Kind || n.MatchName != "" && o.GetName() != n.MatchName || o.GetNamespace() != n.Namespace || !hasLabels(o, n.MatchLabels) {
				continue
			}
			b, err := json.Marshal(o)
			if err != nil {
				return nil, err
			}
			out[n.Name] = append(out[n.Name], b)
		}
	}
	return out, nil
}

func hasLabels(o *unstructured.Unstructured, labels map[string]string) bool {
	for key, value := range labels {
		if o.GetLabels()[key] != value {
			return false
		}
	}
	return true
}

// compile compiles and renders the deployment without a control plane.
func (q *quickstart) compile() error {
	compiled, err := Compile(q.in.Deployment, q.answer)
	if err == nil {
		_, err = Render(q.t.Context(), q.compiler, q.in.Deployment, compiled)
	}
	return err
}

// call runs the core until its needs are answered, as Crossplane does.
func (q *quickstart) call() *deployment.Output {
	q.t.Helper()
	for range maxRounds {
		out, err := q.core.Run(q.t.Context(), q.in)
		if err != nil {
			q.t.Fatal(err)
		}
		answers, err := q.answer(out.Needs)
		if err != nil {
			q.t.Fatal(err)
		}
		if cmp.Equal(q.in.Answers, answers) {
			return out
		}
		q.in.Answers = answers
	}
	q.t.Fatal("the needs change with each call")
	return nil
}

// TestCompileAgreesWithCalls compares the result for a deployment without a control plane with the conditions that a call returns.
func TestCompileAgreesWithCalls(t *testing.T) {
	const latency = `{"service": "shop", "sites": ["edge1", "edge2"], "slos": {"latency_p99": "< 500ms"}}`
	threshold := func(s deploymentv1alpha1.Threshold) func(*quickstart) {
		return func(q *quickstart) {
			q.setIntent(latency)
			q.setMetrics()
			q.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"latency_p99": s}
		}
	}
	waves := func(site deploymentv1alpha1.SiteName) func(*quickstart) {
		return func(q *quickstart) {
			q.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "a", Sites: []deploymentv1alpha1.SiteName{site}}}
		}
	}
	noise := func(bytes int) func(*quickstart) {
		return func(q *quickstart) {
			q.core, q.compiler = deployment.New(noiseRenderer(bytes)), compile.New(noiseRenderer(bytes))
		}
	}
	cases := map[string]struct {
		reason string
		change func(*quickstart)
		want   string
	}{
		"Valid":     {reason: "A deployment that would be delivered has no problem.", change: func(*quickstart) {}},
		"Agreed":    {reason: "The intent and the gates may set one metric to the same value.", change: threshold("<0.5 s")},
		"Conflict":  {reason: "A metric with two values is refused.", change: threshold("400ms"), want: deploymentv1alpha1.ReasonInvalidIntent},
		"Threshold": {reason: "A threshold that cannot be read is refused.", change: threshold("fast"), want: deploymentv1alpha1.ReasonInvalidIntent},
		"Unknown": {
			reason: "A metric that the Blueprint does not measure is refused.", change: func(q *quickstart) { q.setIntent(latency) },
			want: deploymentv1alpha1.ReasonInvalidSpec,
		},
		"Waves": {reason: "A wave with a Site that was not chosen is refused.", change: waves("edge9"), want: deploymentv1alpha1.ReasonInvalidSpec},
		"Intent": {
			reason: "An intent that names no service is refused.", change: func(q *quickstart) { q.setIntent("{}") },
			want: deploymentv1alpha1.ReasonInvalidIntent,
		},
		"Policy": {
			reason: "More Sites than the configuration allows are refused.",
			change: func(q *quickstart) {
				q.setField("ClusterProviderConfig", "default", int64(1), "spec", "policy", "maxSites")
			},
			want: deploymentv1alpha1.ReasonPolicyDenied,
		},
		"Tree":     {reason: "A tree that is too large for one object is refused.", change: noise(800 << 10), want: deploymentv1alpha1.ReasonTooLarge},
		"Delivery": {reason: "Trees that are too large for one object together are refused.", change: noise(400 << 10), want: deploymentv1alpha1.ReasonTooLarge},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := newQuickstart(t)
			tc.change(q)
			err := q.compile()
			if diff := cmp.Diff(tc.want, compile.ReasonOf(err)); diff != "" {
				t.Errorf("\n%s\nCompile(...), Render(...): %v: -want reason, +got reason:\n%s", tc.reason, err, diff)
			}
			called := ""
			for _, c := range q.call().Conditions {
				if err != nil && strings.Contains(c.Message, err.Error()) {
					called = c.Reason
				}
			}
			if diff := cmp.Diff(tc.want, called); diff != "" {
				t.Errorf("\n%s\nRun(...) has no condition that says %v: -want reason, +got reason:\n%s", tc.reason, err, diff)
			}
		})
	}
}
