package kpack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAddFile(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		// plain and webhooks are the kinds of the objects that are installed at once, and the URLs of the objects that wait until
		// their webhook is served.
		plain, webhooks []string
	}{
		"Template": {
			reason: "Objects that a template has to fill are left out.",
			file:   "kind: Deployment\n---\nkind: ConfigMap\nmetadata: {name: build-init-image}\n---\nkind: ClusterLifecycle",
		},
		"NotObject": {reason: "Values of the templates are not objects.", file: "kpack_version: dev"},
		"Plain": {
			reason: "Accounts are applied as they are.",
			file:   "kind: Namespace\n---\nkind: ServiceAccount", plain: []string{"Namespace", "ServiceAccount"},
		},
		"Logging": {reason: "The settings of logs are applied.", file: "kind: ConfigMap\nmetadata: {name: config-logging}", plain: []string{"ConfigMap"}},
		"Webhooks": {
			reason: "Each webhook is called at the path that serves it.", webhooks: []string{"https://here/defaults", "https://here/validate"},
			file: "kind: MutatingWebhookConfiguration\nwebhooks: [{name: a}]\n---\nkind: ValidatingWebhookConfiguration\nwebhooks: [{name: b}]",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := manifests{}
			if err := m.addManifestFile([]byte(tc.file), "https://here", []byte("ca")); err != nil {
				t.Fatal(err)
			}
			got := [][]string{nil, nil}
			for _, o := range m.plain {
				got[0] = append(got[0], o.GetKind())
			}
			for _, o := range m.webhooks {
				hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
				hook, _ := hooks[0].(map[string]any)
				url, _, _ := unstructured.NestedString(hook, "clientConfig", "url")
				got[1] = append(got[1], url)
			}
			if diff := cmp.Diff([][]string{tc.plain, tc.webhooks}, got); diff != "" {
				t.Errorf("\n%s\nkinds and URLs: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConversion(t *testing.T) {
	m := manifests{}
	if err := m.addManifestFile([]byte("kind: CustomResourceDefinition\nspec: {conversion: {strategy: Webhook, webhook: {}}}"), "https://here", nil); err != nil {
		t.Fatal(err)
	}
	got, _, _ := unstructured.NestedMap(m.plain[0].Object, "spec", "conversion")
	if diff := cmp.Diff(map[string]any{"strategy": "None"}, got); diff != "" {
		t.Errorf("conversion of a definition: -want, +got:\n%s", diff)
	}
}
