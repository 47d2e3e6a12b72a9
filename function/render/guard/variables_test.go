package guard

import (
	"reflect"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/function/intent"
)

func TestVariables(t *testing.T) {
	b := &catalogv1alpha1.Blueprint{}
	b.Spec.Files = map[string]catalogv1alpha1.File{"a.yaml": "a: ${HOST}", "b.yaml": "b: ${HOST:-x}${TOKEN}"}
	b.Spec.ParametersSchema = &runtime.RawExtension{Raw: []byte(`{"properties": {"zone": {"default": "${ZONE}"}}}`)}
	if diff := cmp.Diff([]string{"HOST", "TOKEN", "ZONE"}, Variables(b)); diff != "" {
		t.Errorf("Variables(...): -want, +got:\n%s", diff)
	}
}

func TestCheckValues(t *testing.T) {
	greeting := func(text string) intent.Intent { return intent.Intent{Parameters: map[string]string{"greeting": text}} }
	env := intent.Intent{Runtime: &deploymentv1alpha1.Runtime{Env: []deploymentv1alpha1.EnvVar{{Name: "A", Value: "${TOKEN}"}}}}
	cases := map[string]struct {
		reason     string
		mode       expansion.Mode
		intent     intent.Intent
		parameters map[string]string
		context    expansion.Context
		want       string
	}{
		"Variable": {
			reason: "A variable of a claim is refused where the engine may replace it.",
			mode:   expansion.ModePossible, intent: greeting("a ${TOKEN}"),
			want: "spec.intent: parameters.greeting: contains ${, and the GitOps engine of Site \"edge1\" may replace",
		},
		"Default": {
			reason: "A variable with a default is refused too.",
			mode:   expansion.ModePossible, intent: greeting("${TOKEN:-x}"), want: "spec.intent: parameters.greeting: ",
		},
		"Escaped": {
			reason: "An escaped variable is refused too, since one more $ before it turns it back.",
			mode:   expansion.ModePossible, intent: greeting("$${TOKEN}"), want: "spec.intent: parameters.greeting: ",
		},
		"Half": {
			reason: "Half of a variable is refused, since a Blueprint may put the rest behind it.",
			mode:   expansion.ModePossible, intent: greeting("cost: 5$"), context: expansion.Context{Names: []string{"TOKEN"}, HasRest: true},
			want: "spec.intent: parameters.greeting: ends with $",
		},
		"Environment": {
			reason: "A variable of the environment is refused as a parameter is.",
			mode:   expansion.ModePossible, intent: env, want: "spec.intent: runtime.env[0].value: ",
		},
		"Site": {
			reason: "A variable in a parameter of the Site is refused: a WorkloadCluster publishes the parameters of its Site.",
			mode:   expansion.ModePossible, parameters: map[string]string{"zone": "${TOKEN}"}, want: `spec.parameters.zone of Site "edge1": `,
		},
		"Pattern": {
			reason: "A $ at the end of a regular expression makes no variable where the Blueprint has no rest of one.",
			mode:   expansion.ModePossible, intent: greeting(`^https://shop\.example\.com$`), context: expansion.Context{Names: []string{"TOKEN"}},
		},
		"Rest": {
			reason: "The rest of a variable is refused, since a Blueprint may put a $ before it.",
			mode:   expansion.ModePossible, intent: greeting("{s}"), context: expansion.Context{Names: []string{"s"}},
			want: "spec.intent: parameters.greeting: begins with {",
		},
		"Format": {
			reason: "A brace before a longer name makes no variable of the Blueprint.",
			mode:   expansion.ModePossible, intent: greeting("{service} {level}"), context: expansion.Context{Names: []string{"s"}},
		},
		"Dollar": {reason: "A dollar sign alone begins no variable.", mode: expansion.ModePossible, intent: greeting("5$ each")},
		"Disabled": {
			reason: "A claim may contain variables where the objects disable their substitution.",
			mode:   expansion.ModeDisabled, intent: greeting("${TOKEN}"),
		},
		"None": {reason: "Where the engine replaces nothing, a claim may have each text.", intent: greeting("${TOKEN}")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckValues(tc.intent, "edge1", tc.parameters, tc.context, tc.mode); err != nil {
				e := &VariableError{}
				if !errors.As(err, &e) {
					t.Fatal(err)
				}
				got = e.In("spec.intent: ")
			}
			if (tc.want == "") != (got == "") || !strings.HasPrefix(got, tc.want) {
				t.Errorf("\n%s\nCheckValues(...): %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestCheckValuesReadsEachText puts a variable into each text that an Intent has, so that a new field is checked without an edit here.
func TestCheckValuesReadsEachText(t *testing.T) {
	count := 0
	for i, name := range textFields(reflect.TypeFor[intent.Intent](), "") {
		v := intent.Intent{}
		setText(reflect.ValueOf(&v).Elem(), i, "${TOKEN}")
		if err := CheckValues(v, "edge1", nil, expansion.Context{}, expansion.ModePossible); err == nil {
			t.Errorf("CheckValues(...) lets a variable pass in %s", name)
		}
		count++
	}
	if count < 30 {
		t.Errorf("An Intent has %d texts: the walk misses some", count)
	}
}

// textFields returns the paths of the texts of a type, in the order in which setText counts them.
func textFields(t reflect.Type, path string) []string {
	switch t.Kind() {
	case reflect.String:
		return []string{path}
	case reflect.Pointer:
		return textFields(t.Elem(), path)
	case reflect.Slice:
		return textFields(t.Elem(), path+"[0]")
	case reflect.Map:
		return append(textFields(t.Key(), path+" key"), textFields(t.Elem(), path+"[a]")...)
	case reflect.Struct:
		out := []string{}
		for f := range t.Fields() {
			out = append(out, textFields(f.Type, path+"."+f.Name)...)
		}
		return out
	}
	return nil
}

// setText sets the text with this number, and makes the pointers, lists and maps that lead to it.
func setText(v reflect.Value, number int, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setText(v.Elem(), number, text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setText(v.Index(0), number, text)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if keys := len(textFields(key.Type(), "")); number < keys {
			setText(key, number, text)
		} else {
			setText(value, number-keys, text)
		}
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for _, value := range v.Fields() {
			fields := len(textFields(value.Type(), ""))
			if number < fields {
				setText(value, number, text)
				return
			}
			number -= fields
		}
	}
}

func TestDeclareVariables(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n"
	cases := map[string]struct {
		reason  string
		content string
		want    string
		err     string
	}{
		"None": {reason: "An object without variables gets no annotation.", content: object + "data:\n  a: $(A)\n", want: object + "data:\n  a: $(A)\n"},
		"Own": {
			reason:  "An object declares the variables of the Blueprint.",
			content: object + "data:\n  a: ${TOKEN}.${HOST}\n",
			want:    object + "  annotations:\n    render.intentplane.dev/variables: HOST,TOKEN\ndata:\n  a: ${TOKEN}.${HOST}\n",
		},
		"Forged": {
			reason:  "A list that the object has is replaced.",
			content: object + "  annotations:\n    render.intentplane.dev/variables: 'SECRET'\ndata:\n  a: ${HOST}\n",
			want:    object + "  annotations:\n    render.intentplane.dev/variables: HOST\ndata:\n  a: ${HOST}\n",
		},
		"Other": {
			reason:  "Another variable is refused with its field.",
			content: object + "data:\n  a: ${SECRET}\n", err: `ConfigMap "web": data.a: variable "SECRET" is not in the files of the Blueprint`,
		},
		"Composed": {
			reason:  "A name that the intent completes is another one.",
			content: object + "data:\n  a: ${HOST_shop}\n", err: `ConfigMap "web": data.a: variable "HOST_shop" is not`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &resource.Resource{RNode: *yaml.MustParse(tc.content)}
			declared, err := DeclareVariables(o, []byte(tc.content), []string{"HOST", "TOKEN"})
			if tc.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.err) {
					t.Errorf("\n%s\nDeclareVariables(...): %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, o.MustString()); err != nil || diff != "" {
				t.Errorf("\n%s\nDeclareVariables(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if declared != strings.Contains(tc.content, "${") {
				t.Errorf("\n%s\nDeclareVariables(...): %t", tc.reason, declared)
			}
		})
	}
}
