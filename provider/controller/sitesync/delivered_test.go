package sitesync

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/manifest"
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
			f := testFacts(siteFacts{})
			f.namespace, f.spec.Sites[0].Tree = "team-a", tree.ID(files)
			e := &external{connector: &connector{prover: &prover{manifests: manifest.NewReader()}}}
			search := e.failureSearch(t.Context(), f, f.spec.Sites[0], siteFacts{site: site}, &reading{archives: [][]byte{archive}})
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

func TestTriedCommit(t *testing.T) {
	seen := engines.Observation{Commit: "applied", Attempted: "attempted"}
	cases := map[string]struct {
		reason string
		facts  siteFacts
		want   string
	}{
		"Applied": {
			reason: "The commit that the engine applied has the tree.",
			facts:  siteFacts{seen: seen, applied: subtree{id: wantedTree()}, attempted: subtree{id: wantedTree()}}, want: "applied",
		},
		"Attempted": {
			reason: "An engine that still applies another tree attempted a commit with the tree.",
			facts:  siteFacts{seen: seen, applied: subtree{id: otherTree()}, attempted: subtree{id: wantedTree()}}, want: "attempted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.facts.triedCommit(wantedTree()); got != tc.want {
				t.Errorf("\n%s\nwant %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
