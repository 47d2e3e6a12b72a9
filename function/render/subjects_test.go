package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestSubjectNamespaces tries subjects of bindings. The claim is in the namespace team-a.
func TestSubjectNamespaces(t *testing.T) {
	const account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: shop}\n---\n"
	cases := map[string]struct {
		reason, kind, subject, more string
		kustomization               string
		want                        string
	}{
		"Own": {
			reason:  "A ServiceAccount of the Blueprint is in the claim's namespace.",
			subject: "{kind: ServiceAccount, name: shop}", more: account, want: "team-a",
		},
		"OwnBinding": {
			reason: "The subject of a RoleBinding gets the namespace too.",
			kind:   "RoleBinding", subject: "{kind: ServiceAccount, name: shop}", more: account, want: "team-a",
		},
		"Default": {
			reason:  "The ServiceAccount default gets the namespace, as kustomize gives it.",
			subject: "{kind: ServiceAccount, name: default}", want: "team-a",
		},
		"Unknown": {
			reason:  "A ServiceAccount that is made elsewhere is in the claim's namespace.",
			subject: "{kind: ServiceAccount, name: builder}", want: "team-a",
		},
		"Empty": {reason: "An empty namespace is absent.", subject: "{kind: ServiceAccount, name: builder, namespace: ''}", want: "team-a"},
		"Given": {reason: "A namespace that the author wrote stays.", subject: "{kind: ServiceAccount, name: builder, namespace: ci}", want: "ci"},
		"GivenOwn": {
			reason:  "A namespace that the author wrote stays beside a ServiceAccount of that name.",
			subject: "{kind: ServiceAccount, name: shop, namespace: ci}", more: account, want: "ci",
		},
		"Elsewhere": {
			reason:  "The subject follows a ServiceAccount of the Blueprint to its namespace.",
			subject: "{kind: ServiceAccount, name: shop}", more: strings.Replace(account, "name: shop", "name: shop, namespace: ci", 1), want: "ci",
		},
		"Renamed": {
			reason:  "The subject follows a ServiceAccount whose name the kustomization changes.",
			subject: "{kind: ServiceAccount, name: shop}", more: account, kustomization: "namePrefix: x-\n", want: "team-a",
		},
		"Namespaced": {
			reason:  "The namespace of the kustomization counts before the claim's.",
			subject: "{kind: ServiceAccount, name: shop}", more: account, kustomization: "namespace: ci\n", want: "ci",
		},
		"DefaultHere": {
			reason:  "The namespace of the kustomization counts for default too.",
			subject: "{kind: ServiceAccount, name: default}", kustomization: "namespace: ci\n", want: "ci",
		},
		"User": {reason: "A user has no namespace.", subject: "{kind: User, name: ada, apiGroup: rbac.authorization.k8s.io}"},
		"Group": {
			reason:  "A group has no namespace, whatever its name.",
			subject: "{kind: Group, name: 'system:serviceaccounts:ci', apiGroup: rbac.authorization.k8s.io}",
		},
		"DefaultUser": {reason: "A user that is called default has no namespace.", subject: "{kind: User, name: default, apiGroup: rbac.authorization.k8s.io}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kind := tc.kind
			if kind == "" {
				kind = "ClusterRoleBinding"
			}
			binding := object("rbac.authorization.k8s.io/v1", kind, "{name: bound}")
			in := filesInput(map[string]string{
				"kustomization.yaml": tc.kustomization + "resources: [objects.yaml]\n",
				"objects.yaml": tc.more + strings.Replace(
					binding, "---\n", "subjects: ["+tc.subject+"]\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n", 1,
				),
			})
			files, err := NewRenderer().Build(t.Context(), in)
			if err != nil {
				t.Fatalf("\n%s\nBuild(...): %v", tc.reason, err)
			}
			got := rbacv1.ClusterRoleBinding{}
			for file, b := range files {
				if strings.Contains(file, "rolebinding-") {
					if err := yaml.UnmarshalStrict(b, &got); err != nil {
						t.Fatal(err)
					}
				}
			}
			if len(got.Subjects) != 1 {
				t.Fatalf("\n%s\nBuild(...): no subject in %v", tc.reason, files.Names())
			}
			if diff := cmp.Diff(tc.want, got.Subjects[0].Namespace); diff != "" {
				t.Errorf("\n%s\nnamespace: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
