package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
)

func TestSaid(t *testing.T) {
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
				t.Errorf("\n%s\nsaid(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMarkedDigest(t *testing.T) {
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
			a, b := markedDigest(tc.a.kinds, tc.a.has), markedDigest(tc.b.kinds, tc.b.has)
			if (a == b) != tc.want || len(a) != digestLength || len(b) != digestLength {
				t.Errorf("\n%s\nmarkedDigest(...): %q and %q: want the same %t", tc.reason, a, b, tc.want)
			}
		})
	}
}

func TestIrreversible(t *testing.T) {
	cases := map[string]struct {
		reason  string
		verdict ledger.Result
		served  string
		want    bool
	}{
		"Added":      {reason: "A Site that was not served keeps its new content.", verdict: ledger.VerdictVerified, served: "other"},
		"Unreadable": {reason: "The earlier content of the Site is unknown.", verdict: ledger.VerdictVerified, served: "edge1", want: true},
		"Unverified": {reason: "The files of the rollback target are not at hand.", verdict: ledger.VerdictRejected, served: "other", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: tc.served, Action: deliveryv1alpha1.ActionKeep}}
			o := Observed{
				state:      ledger.State{Current: &ledger.Revision{}, Verdict: &ledger.Verdict{Result: tc.verdict}},
				deliveries: map[string]*deliveryv1alpha1.GitDelivery{"d": d},
			}
			if got := isIrreversible(nil, o, map[string]string{"edge1": "x"}); got != tc.want {
				t.Errorf("\n%s\nirreversible(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestVerifiedFiles has a verified revision of two steps, of which the provider took the second one while the function was silent.
func TestVerifiedFiles(t *testing.T) {
	files := tree.Files{"a.yaml": []byte("a: b\n")}
	packed, err := tree.Encode(files)
	if err != nil {
		t.Fatal(err)
	}
	first := deliveryv1alpha1.Tree{Site: "edge1", Path: "a", Action: deliveryv1alpha1.ActionDesired, Files: packed}
	second := deliveryv1alpha1.Tree{Site: "edge2", Path: "b", Action: deliveryv1alpha1.ActionDesired, Files: packed}
	kept := deliveryv1alpha1.Tree{Site: "edge2", Path: "b", Action: deliveryv1alpha1.ActionKeep}
	cases := map[string]struct {
		reason   string
		revision int64
		later    int64
		want     map[string]tree.Files
	}{
		"Later": {
			reason: "A Site that got its tree in a later step has the files of the revision.", revision: 2, later: 2,
			want: map[string]tree.Files{"edge1": files, "edge2": files},
		},
		"Followed": {
			reason: "A repository that followed to the revision has the trees that it got by it alone.", revision: 1, later: 2,
			want: map[string]tree.Files{"edge2": files},
		},
		"Earlier": {reason: "Later trees of an earlier revision are no files of the revision.", revision: 2, later: 1, want: map[string]tree.Files{"edge1": files}},
		"Other":   {reason: "A delivery of an earlier revision has no files of the revision.", revision: 1, later: 1, want: map[string]tree.Files{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			d.Spec.ForProvider.Position = &ledger.Position{Revision: tc.revision}
			d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{first, kept}
			d.Spec.ForProvider.Later = []deliveryv1alpha1.LaterTree{{Tree: second, Revision: tc.later, Step: 1}}
			o := Observed{
				state:      ledger.State{Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Step: 1}, Verdict: &ledger.Verdict{Result: ledger.VerdictVerified}},
				deliveries: map[string]*deliveryv1alpha1.GitDelivery{"d": d},
			}
			if diff := cmp.Diff(tc.want, verifiedFiles(o)); diff != "" {
				t.Errorf("\n%s\nverifiedFiles(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
