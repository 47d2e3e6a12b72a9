package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjectsIn(t *testing.T) {
	cases := map[string]struct {
		reason  string
		name    string
		content string
		want    []Object
	}{
		"Several": {
			reason:  "Each document of a file is an object, and the version is not part of its identity.",
			name:    "a.yaml",
			content: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: c}\n",
			want:    []Object{{Group: "apps", Kind: "Deployment", Namespace: "b", Name: "a"}, {Kind: "Namespace", Name: "c"}},
		},
		"Kustomization": {
			reason: "A kustomization file holds no objects.",
			name:   "kustomization.yaml", content: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
		},
		"Broken": {
			reason: "A file that cannot be read has no objects: it is refused elsewhere.",
			name:   "a.yaml", content: "a: [",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ObjectsIn(tc.name, []byte(tc.content))); diff != "" {
				t.Errorf("\n%s\nObjectsIn(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStemOfFile(t *testing.T) {
	for file, want := range map[string]string{
		"deployment-shop.yaml":            StemOf("Deployment", "shop"),
		"deployment-shop_0123456789.yaml": StemOf("Deployment", "shop"),
		"clusterrole-a-b_0123456789.yaml": StemOf("ClusterRole", "a:b"),
	} {
		if diff := cmp.Diff(want, StemOfFile(file)); diff != "" {
			t.Errorf("StemOfFile(%q): -want, +got:\n%s", file, diff)
		}
	}
}
