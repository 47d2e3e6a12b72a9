package clusterapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

func TestAdd(t *testing.T) {
	client := func(path string) map[string]any {
		return map[string]any{"url": "https://here" + path, "caBundle": "Y2E="}
	}
	cases := map[string]struct {
		reason string
		object string
		// plain and webhooks are the clients of the objects that are installed at once, and of the objects that wait until their
		// webhook is served.
		plain, webhooks []any
	}{
		"Deployment": {reason: "A Deployment is left out, since its program runs beside the control plane.", object: "kind: Deployment"},
		"Role":       {reason: "A role is applied as it is.", object: "kind: ClusterRole", plain: []any{nil}},
		"Kind": {
			reason: "A definition is converted by URL.", plain: []any{client("/convert")},
			object: "kind: CustomResourceDefinition\nspec: {conversion: {webhook: {clientConfig: {service: {path: /convert}}}}}",
		},
		"Webhook": {
			reason: "A webhook is called at the path of its service.", webhooks: []any{client("/mutate")},
			object: "kind: MutatingWebhookConfiguration\nwebhooks: [{clientConfig: {service: {name: s, path: /mutate}}}]",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects, err := kubernetes.ParseYAML([]byte(tc.object))
			if err != nil {
				t.Fatal(err)
			}
			m := manifests{}
			if err := m.addManifest(objects[0], "https://here", "Y2E="); err != nil {
				t.Fatal(err)
			}
			got := [][]any{clients(m.plain), clients(m.webhooks)}
			if diff := cmp.Diff([][]any{tc.plain, tc.webhooks}, got); diff != "" {
				t.Errorf("\n%s\nclients: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// clients returns the client configuration of each object's webhook, or nil for objects without one.
func clients(all []*unstructured.Unstructured) []any {
	var out []any
	for _, o := range all {
		c, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "conversion", "webhook", "clientConfig")
		if hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks"); len(hooks) > 0 {
			hook, _ := hooks[0].(map[string]any)
			c = hook["clientConfig"]
		}
		out = append(out, c)
	}
	return out
}
