package expansion

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestModeAt(t *testing.T) {
	cases := map[string]struct {
		reason string
		engine catalogv1alpha1.SiteEngine
		want   Mode
	}{
		"Flux": {
			reason: "The rendered objects disable the substitution of Flux.",
			engine: catalogv1alpha1.SiteEngine{Type: "Flux", AcceptProof: "Exact"}, want: ModeDisabled,
		},
		"FluxDefault": {
			reason: "A Site that does not say which proof it accepts takes the exact one.",
			engine: catalogv1alpha1.SiteEngine{Type: "Flux"}, want: ModeDisabled,
		},
		"FluxTransformed": {
			reason: "A Site that accepts objects which Flux transformed may have Blueprints with variables.",
			engine: catalogv1alpha1.SiteEngine{Type: "Flux", AcceptProof: "Transformed"}, want: ModePossible,
		},
		"ArgoCD":     {reason: "Argo CD replaces no variables in files.", engine: catalogv1alpha1.SiteEngine{Type: "ArgoCD"}},
		"ConfigSync": {reason: "Config Sync replaces no variables in files.", engine: catalogv1alpha1.SiteEngine{Type: "ConfigSync"}},
		"None":       {reason: "A Site without a named engine may be read by Flux.", engine: catalogv1alpha1.SiteEngine{Type: "None"}, want: ModePossible},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ModeAt(tc.engine); got != tc.want {
				t.Errorf("\n%s\nModeAt(...): %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Plain": {reason: "A variable has the name between its braces.", text: "a ${TOKEN} b", want: []string{"TOKEN"}},
		"Default": {
			reason: "A function of a variable is not a part of its name.",
			text:   "${A:-x} ${B/c/d} ${C^^} ${D:0:1} ${E%x} ${F=1}", want: []string{"A", "B", "C", "D", "E", "F"},
		},
		"Nested":  {reason: "A variable in the default of another one counts.", text: "${A:-${B}}", want: []string{"A", "B"}},
		"Length":  {reason: "The length of a value reveals a part of it.", text: "${#TOKEN}", want: []string{"TOKEN"}},
		"Escaped": {reason: "An escaped variable counts, since one more $ before it makes it a variable.", text: "$${A} $$${B}", want: []string{"A", "B"}},
		"Letters": {reason: "The engine takes each Unicode character of class L as a part of a name.", text: "${naïve_1}", want: []string{"naïve_1"}},
		"Unnamed": {reason: "A variable without a name has an empty one.", text: "${} ${-}", want: []string{""}},
		"Open":    {reason: "A variable without an end can get one from the text behind it.", text: "${TOKEN", want: []string{"TOKEN"}},
		"None":    {reason: "The engine replaces no $NAME and no $(NAME).", text: "$A $(B) {C} $ {D}", want: []string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Names(tc.text)); diff != "" {
				t.Errorf("\n%s\nNames(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	const contains, begins, ends = "contains ${", "begins with { and the name of a variable of the Blueprint", "ends with $, and the Blueprint has a { and the name of a variable"
	cases := map[string]struct {
		reason    string
		blueprint string
		text      string
		want      string
	}{
		"Variable":  {reason: "A whole variable is one.", text: "a ${TOKEN}", want: contains},
		"Half":      {reason: "A Blueprint may have the rest of a variable behind a $.", blueprint: "a: ${TOKEN}\nb: x{TOKEN}", text: "cost: 5$", want: ends},
		"HalfFirst": {reason: "A file may begin with the rest of a variable.", blueprint: "{TOKEN} ${TOKEN}", text: "$", want: ends},
		"Delimiter": {reason: "A replacement may put a brace between two texts.", blueprint: "options: {delimiter: '{', index: 0}", text: "$", want: ends},
		"Pattern":   {reason: "A $ at the end makes no variable without a rest.", blueprint: "a: ${TOKEN}\nb: {name: TOKEN}", text: "^a$"},
		"Rest":      {reason: "A Blueprint may put a $ before the rest of a variable.", blueprint: "a: ${TOKEN}", text: "{TOKEN}", want: begins},
		"Length":    {reason: "A rest reveals the length of a value, too.", blueprint: "a: ${TOKEN}", text: "{#TOKEN}", want: begins},
		"Open":      {reason: "The rest of a variable may end in the Blueprint.", blueprint: "a: ${TOKEN}", text: "{TOKEN", want: begins},
		"Longer":    {reason: "A longer name is another variable, which the check of objects refuses.", blueprint: "a: ${s}", text: "{service} {level}"},
		"Other":     {reason: "A brace before another name makes no variable of the Blueprint.", blueprint: "a: ${TOKEN}", text: `{"greeting": 1}`},
		"Dollar":    {reason: "A dollar sign alone begins no variable.", text: "5$ each"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ContextOf(tc.blueprint).Explain(tc.text)); diff != "" {
				t.Errorf("\n%s\nExplain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckExpansion(t *testing.T) {
	const replaced = ` is not in the files of the Blueprint, and the GitOps engine may replace it by a value of its own Secrets`
	env := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"env": []any{map[string]any{"name": "A", "value": "${TOKEN}"}}}}}}
	key := map[string]any{"data": map[string]any{"${TOKEN}": "a"}}
	cases := map[string]struct {
		reason      string
		object      map[string]any
		annotations map[string]string
		mode        Mode
		delivered   []string
		want        string
	}{
		"None": {reason: "Where the engine replaces nothing, an object may have each text.", object: env},
		"Disabled": {
			reason: "Flux leaves an object with the annotation alone.",
			object: env, annotations: map[string]string{AnnotationSubstitute: "disabled"}, mode: ModeDisabled,
		},
		"Unmarked": {
			reason: "Flux replaces variables in an object without the annotation.",
			object: env, mode: ModeDisabled, want: `spec.containers[0].env[0].value: variable "TOKEN"` + replaced,
		},
		"Declared": {
			reason: "An object may have the variables that it declares.",
			object: env, annotations: map[string]string{AnnotationVariables: "HOST,TOKEN"}, mode: ModePossible,
		},
		"Undeclared": {
			reason: "An object may have no other variable.",
			object: env, annotations: map[string]string{AnnotationVariables: "HOST"}, mode: ModePossible,
			want: `spec.containers[0].env[0].value: variable "TOKEN"` + replaced,
		},
		"NoList": {
			reason: "An object without a list declares none.",
			object: env, mode: ModePossible, want: `spec.containers[0].env[0].value: variable "TOKEN"` + replaced,
		},
		"Key": {reason: "The engine replaces variables in keys too.", object: key, mode: ModePossible, want: `data[${TOKEN}]: variable "TOKEN"` + replaced},
		"Exact": {
			reason: "An object from before the Site accepted transformed objects is left alone by Flux.",
			object: env, annotations: map[string]string{AnnotationSubstitute: "disabled"}, mode: ModePossible,
		},
		"Transformed": {
			reason: "An object from the time when the Site accepted transformed objects has its list.",
			object: env, annotations: map[string]string{AnnotationVariables: "TOKEN"}, mode: ModeDisabled,
		},
		"Enabled": {
			reason: "Another value of the annotation disables nothing.",
			object: env, annotations: map[string]string{AnnotationSubstitute: "enabled"}, mode: ModePossible,
			want: `spec.containers[0].env[0].value: variable "TOKEN"` + replaced,
		},
		"Delivered": {reason: "An object may have the variables that its directory has.", object: env, delivered: []string{"TOKEN"}, mode: ModePossible},
		"Another": {
			reason: "An object may have no other variable than its directory.",
			object: env, delivered: []string{"HOST"}, mode: ModePossible, want: `spec.containers[0].env[0].value: variable "TOKEN"` + replaced,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, got := &unstructured.Unstructured{Object: runtimeCopy(tc.object)}, ""
			o.SetAnnotations(tc.annotations)
			if err := Check(o, tc.mode, tc.delivered); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func runtimeCopy(object map[string]any) map[string]any {
	return (&unstructured.Unstructured{Object: object}).DeepCopy().Object
}
