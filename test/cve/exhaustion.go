package cve

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/expression"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
)

// renderAtOnce renders Blueprints of several tenants at once. The Blueprints try to change the schemas that all renderings share.
func renderAtOnce(t *testing.T) {
	t.Helper()
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {app: a}}\n" +
		"  template:\n    metadata: {labels: {app: a}}\n    spec: {containers: [{name: a, image: nginx:1}]}\n"
	input := func(kustomization string) render.Input {
		in := render.Input{
			Blueprint: &catalogv1alpha1.Blueprint{}, Intent: intent.Intent{Service: "shop", Type: "web", Replicas: 1},
			Site: render.Site{Name: "edge1"}, Claim: render.Claim{Namespace: "team-a", Name: "shop"},
		}
		in.Blueprint.Spec.Files = map[string]catalogv1alpha1.File{
			"a.yaml": deployment, "kustomization.yaml": catalogv1alpha1.File("resources: [a.yaml]\n" + kustomization),
		}
		return in
	}
	r := render.NewRenderer()
	want, err := r.Build(t.Context(), input(""))
	if err != nil {
		t.Fatal(err)
	}
	all := sync.WaitGroup{}
	for range 8 {
		all.Go(func() {
			if got, err := r.Build(t.Context(), input("")); err != nil || !cmp.Equal(want, got) {
				t.Errorf("Build(...) beside others: %v, -want, +got:\n%s", err, cmp.Diff(want, got))
			}
		})
		all.Go(func() {
			if _, err := r.Build(t.Context(), input("openapi: {version: v1.20.4}\n")); err == nil || !strings.Contains(err.Error(), `"openapi": is not allowed`) {
				t.Errorf("Build(...) of a Blueprint that changes the schemas of all: %v", err)
			}
		})
	}
	all.Wait()
}

// expressionBombs evaluates expressions that grow with each step.
func expressionBombs(t *testing.T) {
	t.Helper()
	for name, tc := range map[string]struct{ text, answer, want string }{
		"Text":  {text: "[answer + answer].all(answer, [answer + answer].all(answer, size(answer) > 0))", answer: `"` + strings.Repeat("a", 1<<15) + `"`, want: "the text is too long"},
		"Lists": {text: "answer + answer == answer", answer: `[[]]`, want: "lists cannot be added"},
		"Steps": {text: "answer.all(a, answer.all(b, answer.all(c, a == c)))", answer: "[" + strings.Repeat("1,", 20_000) + "1]", want: "too"},
	} {
		e, err := expression.NewReader(1).Read(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		var body any
		if err := json.Unmarshal([]byte(tc.answer), &body); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Evaluate(t.Context(), body); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: want error %q, got %v", name, tc.want, err)
		}
	}
}
