package irreversible

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
)

func TestIsChanged(t *testing.T) {
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
			v := Served{
				State:      ledger.State{Current: &ledger.Revision{}, Verdict: &ledger.Verdict{Result: tc.verdict}},
				Deliveries: map[string]*deliveryv1alpha1.GitDelivery{"d": d},
			}
			if got := v.isContentChanged(nil, map[string]string{"edge1": "x"}); got != tc.want {
				t.Errorf("\n%s\nisChanged(...): want %t, got %t", tc.reason, tc.want, got)
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
			s := ledger.State{
				Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Step: 1}, Verdict: &ledger.Verdict{Result: ledger.VerdictVerified},
			}
			d := &deliveryv1alpha1.GitDelivery{}
			d.Spec.ForProvider.Position = &ledger.Position{Revision: tc.revision}
			d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{first, kept}
			d.Spec.ForProvider.Later = []deliveryv1alpha1.LaterTree{{Tree: second, Revision: tc.later, Request: s.Current.Request.Digest(), Step: 1}}
			v := Served{State: s, Deliveries: map[string]*deliveryv1alpha1.GitDelivery{"d": d}}
			if diff := cmp.Diff(tc.want, v.verifiedFiles()); diff != "" {
				t.Errorf("\n%s\nverifiedFiles(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
