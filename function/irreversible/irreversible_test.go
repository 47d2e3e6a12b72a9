package irreversible

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// TestMarkedFields reads the marked fields of a claim for a volume.
func TestMarkedFields(t *testing.T) {
	claim := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"namespace": "a", "name": "b"}, "spec": map[string]any{"size": "1Gi"},
	}}
	cases := map[string]struct {
		reason string
		mark   catalogv1alpha1.IrreversibleKind
		want   []string
	}{
		"Field": {
			reason: "A marked field is part of the content.",
			mark:   catalogv1alpha1.IrreversibleKind{Kind: "PersistentVolumeClaim", FieldPaths: []string{"spec.size"}},
			want:   []string{`PersistentVolumeClaim. a/b spec.size "1Gi"`},
		},
		"Nowhere": {
			reason: "A path that leads nowhere says nothing.",
			mark:   catalogv1alpha1.IrreversibleKind{Kind: "PersistentVolumeClaim", FieldPaths: []string{"spec.none", "spec.size.none"}},
		},
		"Other": {reason: "Another kind has nothing that is marked.", mark: catalogv1alpha1.IrreversibleKind{Kind: "Secret"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, markedFields(tc.mark, claim)); diff != "" {
				t.Errorf("\n%s\nmarkedFields(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDigest compares the digests of the contents of Sites.
func TestDigest(t *testing.T) {
	kinds := []catalogv1alpha1.IrreversibleKind{{Kind: "PersistentVolumeClaim"}}
	type args struct {
		kinds []catalogv1alpha1.IrreversibleKind
		has   map[string]string
	}
	cases := map[string]struct {
		reason string
		a, b   args
		want   bool
	}{
		"Equal": {
			reason: "The same is the same.",
			a:      args{kinds, map[string]string{"a": "x", "b": "y"}}, b: args{kinds, map[string]string{"b": "y", "a": "x"}}, want: true,
		},
		"Added": {
			reason: "Sites that are alike are not named.",
			a:      args{kinds, map[string]string{"a": "x"}}, b: args{kinds, map[string]string{"a": "x", "b": "x"}}, want: true,
		},
		"Moved": {
			reason: "A Site that replaces another with the same content changes nothing irreversible.",
			a:      args{kinds, map[string]string{"a": "x"}}, b: args{kinds, map[string]string{"b": "x"}}, want: true,
		},
		"Changed": {
			reason: "A change at one Site changes the digest.",
			a:      args{kinds, map[string]string{"a": "x", "b": "x"}}, b: args{kinds, map[string]string{"a": "x", "b": "y"}},
		},
		"Swapped": {
			reason: "Sites that swap their content change the digest.",
			a:      args{kinds, map[string]string{"a": "x", "b": "y"}}, b: args{kinds, map[string]string{"a": "y", "b": "x"}},
		},
		"Gained": {
			reason: "A Site without anything counts.",
			a:      args{kinds, map[string]string{"a": "", "b": "x"}}, b: args{kinds, map[string]string{"a": "x", "b": "x"}},
		},
		"Marks": {
			reason: "Other marks are about another thing.",
			a:      args{kinds, map[string]string{"a": ""}}, b: args{[]catalogv1alpha1.IrreversibleKind{{Kind: "Secret"}}, map[string]string{"a": ""}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, b := digestOfContent(tc.a.kinds, tc.a.has), digestOfContent(tc.b.kinds, tc.b.has)
			if (a == b) != tc.want || len(a) != digestLength || len(b) != digestLength {
				t.Errorf("\n%s\ndigestOf(...): %q and %q: want the same %t", tc.reason, a, b, tc.want)
			}
		})
	}
}
