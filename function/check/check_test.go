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

// input is one that passes.
func input() (*catalogv1alpha1.Blueprint, policy.Input) {
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

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*catalogv1alpha1.Blueprint, *policy.Input)
		want   string
	}{
		"Again": {reason: "What passed passes again.", change: func(*catalogv1alpha1.Blueprint, *policy.Input) {}},
		"OtherFile": {
			reason: "Other files are checked.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) {
				in.Files = tree.Files{"a.yaml": []byte("apiVersion: x.org/v1\nkind: Widget\nmetadata: {name: a, namespace: team-a}\nsize: big\n")}
			},
			want: `Widget.x.org "a": size: must be of type integer`,
		},
		"OtherDefinition": {
			reason: "So are the same files by another definition.",
			change: func(b *catalogv1alpha1.Blueprint, _ *policy.Input) {
				b.Spec.Files["crd.yaml"] = catalogv1alpha1.File(strings.Replace(widget, "integer", "string", 1))
			},
			want: "size: must be of type string",
		},
		"OtherPolicy": {
			reason: "And when the configuration narrows.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) { in.Config.Policy.AllowedKinds = nil },
			want:   "allowedKinds does not name this kind",
		},
		"OtherSite": {
			reason: "Or the Site.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) { in.Site.Spec.AllowedNamespaces = nil },
			want:   "may not be used",
		},
		"OtherClaim": {
			reason: "Or somebody else asks.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) { in.Claim.Name = "other" },
			want:   "is not the claim's directory",
		},
		"OtherConfig": {
			reason: "Or with another kind of configuration.",
			change: func(_ *catalogv1alpha1.Blueprint, in *policy.Input) { in.ConfigKind = policy.KindProviderConfig },
			want:   "must be named in spec.policy.allowedKinds of a ClusterProviderConfig",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := New(1)
			b, in := input()
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
		b, in := input()
		in.Config.Policy.Branches = []string{"main", name}
		if err := c.Check(b, in); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(c.passed) + len(c.older); got != 3 {
		t.Errorf("No more than twice the bound is remembered: got %d", got)
	}
}
