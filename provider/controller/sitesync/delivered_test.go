package sitesync

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/manifest"
	"github.com/intentplane/intentplane/provider/proof"
)

func TestFailureSearch(t *testing.T) {
	files := tree.Files{"a.yaml": []byte("apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: own, namespace: team-a}\n---\n" +
		"apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: foreign, namespace: team-b}\n")}
	archive, err := tree.Encode(files)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		allowed []string
		want    []string
	}{
		"Own":  {reason: "Objects in the namespace of the claim are read where the Site allows that.", allowed: []string{"{claimNamespace}"}, want: []string{"own"}},
		"Each": {reason: "Objects in each namespace that the Site allows are read.", allowed: []string{"*"}, want: []string{"own", "foreign"}},
		"None": {reason: "A Site that allows no namespace has no objects read."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site := &catalogv1alpha1.Site{}
			site.Spec.TargetNamespaces.Allowed = tc.allowed
			f := testFacts(proof.SiteFacts{})
			f.Namespace, f.Spec.Sites[0].Tree = "team-a", tree.ID(files)
			e := &external{connector: &connector{prover: &prover{manifests: manifest.NewReader()}}}
			search := e.failureSearch(t.Context(), f, f.Spec.Sites[0], proof.SiteFacts{Site: site}, &reading{archives: [][]byte{archive}})
			var got []string
			for _, m := range search.Delivered {
				got = append(got, m.Object.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfailureSearch(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
