package prune

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestObjectsOf(t *testing.T) {
	service, volume := "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   []Object
	}{
		"Objects": {
			reason: "Each object counts, also in a folder.",
			files:  map[string]string{"service-web.yaml": service, "blue/pvc-data.yaml": volume},
			want:   []Object{{Kind: "PersistentVolumeClaim", Name: "data"}, {Kind: "Service", Name: "web"}},
		},
		"Own": {
			reason: "The marker and the kustomization file of a directory are not objects.",
			files:  map[string]string{".intentplane": "{}", "kustomization.yaml": "resources: []", "blue/kustomization.yaml": "resources: []"}, want: []Object{},
		},
		"Malformed": {
			reason: "With an unreadable file, the objects of the directory are unknown.",
			files:  map[string]string{"service-web.yaml": service, "x.yaml": "kind: ["},
		},
		"Other": {
			reason: "With a file that has no object, the objects of the directory are unknown.",
			files:  map[string]string{"service-web.yaml": service, "README.md": "hello"},
		},
		"Missing": {reason: "A directory that was not read is unknown."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var files map[string][]byte
			if tc.files != nil {
				files = map[string][]byte{}
			}
			for name, content := range tc.files {
				files[name] = []byte(content)
			}
			got := ObjectsOf(files)
			slices.SortFunc(got, func(a, b Object) int { return len(b.Kind) - len(a.Kind) })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nObjectsOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIrreversibleKinds(t *testing.T) {
	b := catalogv1alpha1.Blueprint{}
	b.Spec.Irreversible = []catalogv1alpha1.IrreversibleKind{{Kind: "Job"}, {Kind: "ConfigMap", FieldPaths: []string{"data"}}}
	if diff := cmp.Diff(map[string]bool{"Job": true}, IrreversibleKinds([]catalogv1alpha1.Blueprint{b})); diff != "" {
		t.Errorf("IrreversibleKinds(...): -want, +got:\n%s", diff)
	}
}
