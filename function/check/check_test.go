package check

import (
	"strings"
	"testing"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

const widget = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: x.org, scope: Namespaced, names: {kind: Widget},
  versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}]}}`

// newInput returns an input that passes.
func newInput() (*catalogv1alpha1.Blueprint, policy.Input) {
	b := &catalogv1alpha1.Blueprint{}
	b.Spec.Files = map[string]catalogv1alpha1.File{"crd.yaml": widget}
	s := &catalogv1alpha1.Site{}
	s.SetName("edge1")
	s.Spec.Repository.Path = "clusters/edge1"
	s.Spec.Repository.Layout = catalogv1alpha1.LayoutManifests
	s.Spec.AllowedNamespaces = []string{"team-a"}
	s.Spec.TargetNamespaces.Allowed = []string{"team-a"}
	c := &configv1alpha1.ProviderConfigSpec{Git: configv1alpha1.GitRemote{Branch: "main"}}
	c.Policy.AllowedKinds = []configv1alpha1.KindSet{{Group: "x.org", Kinds: []string{"Widget"}}}
	return b, policy.Input{
		Claim:      rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "shop"},
		Site:       s,
		ConfigKind: policy.KindClusterProviderConfig,
		Config:     c,
		Branch:     "main",
		Path:       "clusters/edge1/team-a/shop",
		Layout:     catalogv1alpha1.LayoutManifests,
		Files:      tree.Files{"a.yaml": []byte("apiVersion: x.org/v1\nkind: Widget\nmetadata: {name: a, namespace: team-a}\nsize: 1\n")},
	}
}

func TestCheckTrees(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*catalogv1alpha1.Blueprint, *policy.Input)
		want   string
	}{
		"Again": {reason: "The same tree passes again without being checked.", change: func(*catalogv1alpha1.Blueprint, *policy.Input) {}},
		"OtherFile": {
			reason: "A tree with other files is checked again.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) {
				in.Files = tree.Files{"a.yaml": []byte("apiVersion: x.org/v1\nkind: Widget\nmetadata: {name: a, namespace: team-a}\nsize: big\n")}
			},
			want: `Widget.x.org "a": size: must be of type integer`,
		},
		"OtherDefinition": {
			reason: "A tree is checked again when a definition of the Blueprint changes.",
			change: func(b *catalogv1alpha1.Blueprint, _ *policy.Input) {
				b.Spec.Files["crd.yaml"] = catalogv1alpha1.File(strings.Replace(widget, "integer", "string", 1))
			},
			want: "size: must be of type string",
		},
		"OtherPolicy": {
			reason: "A tree is checked again when the configuration allows less.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) { in.Config.Policy.AllowedKinds = nil },
			want:   "allowedKinds does not name this kind",
		},
		"OtherSite": {
			reason: "A tree is checked again when the Site allows less.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) { in.Site.Spec.AllowedNamespaces = nil },
			want:   "may not be used",
		},
		"OtherClaim": {
			reason: "A tree is checked again for another claim.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) { in.Claim.Name = "other" },
			want:   "is not the claim's directory",
		},
		"OtherConfig": {
			reason: "A tree is checked again for another kind of configuration.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) { in.ConfigKind = policy.KindProviderConfig },
			want:   "must be named in spec.policy.allowedKinds of a ClusterProviderConfig",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := New(1)
			b, in := newInput()
			if err := c.Check(b, in); err != nil {
				t.Fatalf("Check(...): %v", err)
			}
			tc.change(b, &in)
			for range 2 {
				err := c.Check(b, in)
				if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
					t.Errorf("\n%s\nCheck(...): want error %q, got %v", tc.reason, tc.want, err)
				}
			}
		})
	}
}

func TestCheckForgets(t *testing.T) {
	c := New(2)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		b, in := newInput()
		in.Config.Policy.Branches = []string{"main", name}
		if err := c.Check(b, in); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(c.passed) + len(c.older); got != 3 {
		t.Errorf("No more than twice the bound is remembered: got %d", got)
	}
}
