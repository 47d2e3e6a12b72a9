package deployment

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/render"
)

// TestRemembered changes one value after a call, and compares the answer of the Core with the answer of a Core without a cache.
func TestRemembered(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		isSame bool
	}{
		"Nothing": {reason: "An equal call has an equal answer.", change: func(*world) {}, isSame: true},
		"Intent":  {reason: "Another intent is compiled again.", change: func(w *world) { w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`) }},
		"Waves": {reason: "A spec with other waves is compiled again.", change: func(w *world) {
			w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}}}
		}},
		"Parameter": {reason: "A Site with another parameter is compiled again.", change: func(w *world) {
			w.set("Site", "edge1", map[string]any{"logLevel": "debug"}, "spec", "parameters")
		}},
		"Repository": {reason: "A configuration that names another repository is compiled again.", change: func(w *world) {
			w.set("ClusterProviderConfig", "default", "https://git.example.org/other.git", "spec", "git", "url")
		}},
		"Reached": {reason: "A repository that was reached by another address since is compiled again.", change: func(w *world) {
			w.settle()
			w.set("ClusterProviderConfig", "default", "https://git.example.org/other.git", "spec", "git", "url")
			w.apply(w.call())
			w.deliver()
		}},
		"Claim": {reason: "A deployment of another name is compiled on its own.", change: func(w *world) { w.in.Claim.Name = "other" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.call()
			first := w.run()
			tc.change(w)
			w.answer(first.Needs)
			got := w.run()
			w.core = New(render.NewRenderer())
			w.core.version = firstRenderer
			want := w.run()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			if isSame := cmp.Equal(first.Resources, got.Resources); isSame != tc.isSame {
				t.Errorf("\n%s\nRun(...): want the same resources: %t, got %t", tc.reason, tc.isSame, isSame)
			}
		})
	}
}

// TestRememberedStays plays two revisions, and compares the cached results for the first revision with their copy from the beginning: calls share them.
func TestRememberedStays(t *testing.T) {
	w := newWorld(t)
	w.call()
	previous := w.remembered()
	first := w.in.Spec.Intent
	w.settle()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.settle()
	w.in.Spec.Intent, w.in.Observed = first, nil
	if diff := cmp.Diff(previous, w.remembered()); diff != "" {
		t.Errorf("\nNo call changes a shared result.\nRun(...): -before, +after:\n%s", diff)
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// remembered returns the cached results of the Core for the current spec, as text. It requests them with invalid timeouts: the compiler returns a problem for a
// result that is not cached.
func (w *world) remembered() []string {
	w.t.Helper()
	in := w.in
	in.Spec.Default()
	o, err := w.core.observe(in)
	w.must(err)
	i, field, err := compile.ReadIntent(&in.Spec)
	w.must(err)
	s, _, err := w.core.catalog.Resolve(compile.CatalogQuery(in.Deployment, i, field), in.Answers)
	w.must(err)
	in.Spec.DeliveryConfig.DeliveryTimeout, in.Spec.CompileConfig.RenderTimeout = "never", "never"
	from := compile.Selection{Deployment: in.Deployment, SpecDigest: o.specDigest, Intent: i, Catalog: s, Renderer: firstRenderer}
	compiled, err := w.core.compiler.CompileSelection(from)
	w.must(err)
	rendered, err := w.core.compiler.Render(w.t.Context(), from, "")
	w.must(err)
	var out []string
	for _, v := range []any{s, compiled.Request, compiled.Checks, rendered.Sites, rendered.Deliveries} {
		b, err := json.MarshalIndent(v, "", " ")
		w.must(err)
		out = append(out, string(b))
	}
	return out
}
