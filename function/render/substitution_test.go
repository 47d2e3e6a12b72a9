package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/function/intent"
)

func TestSubstitutionAt(t *testing.T) {
	cases := map[string]struct {
		reason string
		engine catalogv1alpha1.SiteEngine
		want   Substitution
	}{
		"Flux":            {reason: "The rendered objects disable the substitution of Flux.", engine: catalogv1alpha1.SiteEngine{Type: "Flux", AcceptProof: "Exact"}, want: SubstitutionDisabled},
		"FluxDefault":     {reason: "A Site that does not say which proof it accepts takes the exact one.", engine: catalogv1alpha1.SiteEngine{Type: "Flux"}, want: SubstitutionDisabled},
		"FluxTransformed": {reason: "A Site that accepts what Flux transformed may have Blueprints with variables.", engine: catalogv1alpha1.SiteEngine{Type: "Flux", AcceptProof: "Transformed"}, want: SubstitutionPossible},
		"ArgoCD":          {reason: "Argo CD has no substitution of variables.", engine: catalogv1alpha1.SiteEngine{Type: "ArgoCD"}},
		"None":            {reason: "A Site without a named engine may be read by Flux.", engine: catalogv1alpha1.SiteEngine{Type: "None"}, want: SubstitutionPossible},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := SubstitutionAt(tc.engine); got != tc.want {
				t.Errorf("\n%s\nSubstitutionAt(...): %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestCheckSubstitution(t *testing.T) {
	cases := map[string]struct {
		reason string
		site   Substitution
		value  string
		want   string
	}{
		"Variable": {reason: "A variable of a claim is refused where the engine may replace it.", site: SubstitutionPossible, value: "a ${TOKEN}", want: "spec.intent: parameters.greeting: the GitOps engine of Site \"edge1\" may replace"},
		"Default":  {reason: "A variable with a default is refused too.", site: SubstitutionPossible, value: "${TOKEN:-x}", want: "spec.intent: parameters.greeting: "},
		"Escaped":  {reason: "An escaped variable is refused too, since one more $ before it turns it back.", site: SubstitutionPossible, value: "$${TOKEN}", want: "spec.intent: parameters.greeting: "},
		"Half":     {reason: "Half of a variable is refused, since a Blueprint may put the rest behind it.", site: SubstitutionPossible, value: "cost: 5$", want: "spec.intent: parameters.greeting: "},
		"Dollar":   {reason: "A dollar sign alone begins no variable.", site: SubstitutionPossible, value: "5$ each"},
		"Disabled": {reason: "A claim may contain variables where the objects disable their substitution.", site: SubstitutionDisabled, value: "${TOKEN}"},
		"None":     {reason: "Where the engine replaces nothing, a claim may say what it likes.", value: "${TOKEN}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckSubstitution(intent.Intent{Parameters: map[string]string{"greeting": tc.value}}, Site{Name: "edge1", Substitution: tc.site}); err != nil {
				e, ok := err.(*SubstitutionError) //nolint:errorlint // It is not wrapped.
				if !ok {
					t.Fatal(err)
				}
				got = e.In("spec.intent: ")
			}
			if (tc.want == "") != (got == "") || !strings.HasPrefix(got, tc.want) {
				t.Errorf("\n%s\nCheckSubstitution(...): %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestSubstitutionDisabled annotates each object, and no pod, so that Flux replaces nothing.
func TestSubstitutionDisabled(t *testing.T) {
	in := exampleInput(t, `{"service": "shop", "sites": ["edge1"], "replicas": 2, "parameters": {"greeting": "${TOKEN}"}}`, Site{Name: "edge1"})
	plain, err := NewRenderer().Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	in.Site.Substitution = SubstitutionDisabled
	files, err := NewRenderer().Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if name == kustomizationFile {
			continue
		}
		without := strings.Replace(string(content), "  annotations:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n", "", 1)
		if diff := cmp.Diff(string(plain[name]), without); diff != "" || without == string(content) {
			t.Errorf("%s: without the annotation: -want, +got:\n%s", name, diff)
		}
	}
}
