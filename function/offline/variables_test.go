package offline

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/function/application"
	"github.com/intentplane/intentplane/function/compile"
)

// A textField is a text of a value that a tenant writes.
type textField struct {
	path string
	set  func(v reflect.Value, text string)
}

// textFieldsOf returns the texts of a type. Setting a text makes the pointers, lists and maps on its path, and keeps existing values. It panics about a type
// whose texts it cannot set: a new field is tested, or the test fails. The spec of a package in a Bundle is that of an IntentDeployment or an Application.
func textFieldsOf(t reflect.Type, path string) []textField {
	if t == reflect.TypeFor[runtime.RawExtension]() {
		return nil
	}
	switch t.Kind() {
	case reflect.Interface, reflect.Uint8, reflect.Array:
		panic(fmt.Sprintf("%s: no text can be put into a %s", path, t))
	case reflect.String:
		return []textField{{path: path, set: func(v reflect.Value, text string) { v.SetString(text) }}}
	case reflect.Pointer:
		return wrapFields(textFieldsOf(t.Elem(), path), func(v reflect.Value, set func(reflect.Value)) {
			if v.IsNil() {
				v.Set(reflect.New(t.Elem()))
			}
			set(v.Elem())
		})
	case reflect.Slice:
		return wrapFields(textFieldsOf(t.Elem(), path+"[0]"), func(v reflect.Value, set func(reflect.Value)) {
			if v.Len() == 0 {
				v.Set(reflect.MakeSlice(t, 1, 1))
			}
			set(v.Index(0))
		})
	case reflect.Map:
		return textFieldsOfMap(t, path)
	case reflect.Struct:
		return textFieldsOfStruct(t, path)
	}
	return nil
}

func textFieldsOfStruct(t reflect.Type, path string) []textField {
	out := []textField{}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		out = append(out, wrapFields(textFieldsOf(t.Field(i).Type, path+"."+t.Field(i).Name), func(v reflect.Value, set func(reflect.Value)) { set(v.Field(i)) })...)
	}
	if t.NumField() > 0 && !slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.IsExported() }) {
		panic(fmt.Sprintf("%s: no text can be put into a %s", path, t))
	}
	return out
}

// textFieldsOfMap returns the texts of the value with the key greeting, and of a key.
func textFieldsOfMap(t reflect.Type, path string) []textField {
	key := reflect.ValueOf("greeting").Convert(t.Key())
	store := func(v, key, value reflect.Value) {
		if v.IsNil() {
			v.Set(reflect.MakeMap(t))
		}
		v.SetMapIndex(key, value)
	}
	values := wrapFields(textFieldsOf(t.Elem(), path+"[greeting]"), func(v reflect.Value, set func(reflect.Value)) {
		value := reflect.New(t.Elem()).Elem()
		set(value)
		store(v, key, value)
	})
	return append(values, textField{path: path + " key", set: func(v reflect.Value, text string) {
		store(v, reflect.ValueOf(text).Convert(t.Key()), reflect.New(t.Elem()).Elem())
	}})
}

func wrapFields(fields []textField, open func(v reflect.Value, set func(reflect.Value))) []textField {
	out := make([]textField, 0, len(fields))
	for _, f := range fields {
		out = append(out, textField{path: f.path, set: func(v reflect.Value, text string) {
			open(v, func(inner reflect.Value) { f.set(inner, text) })
		}})
	}
	return out
}

// sampleExpectation reaches each way into rendered objects.
func sampleExpectation() *deploymentv1alpha1.Expectation {
	return &deploymentv1alpha1.Expectation{
		Service: "shop", Sites: []deploymentv1alpha1.SiteName{"edge1"},
		Runtime: &deploymentv1alpha1.Runtime{
			Env:              []deploymentv1alpha1.EnvVar{{Name: "GREETING", Value: "hello"}},
			Bindings:         []deploymentv1alpha1.Binding{{Name: "db", SecretRef: deploymentv1alpha1.ObjectReference{Name: "db"}}},
			Health:           &deploymentv1alpha1.HealthCheck{Path: "/", Port: 80},
			ImagePullSecrets: []deploymentv1alpha1.ObjectReference{{Name: "registry"}},
			Autoscaling:      &deploymentv1alpha1.Autoscaling{Min: 1, Max: 2, CPUPercent: 70},
		},
	}
}

// sampleApplication reaches each way into the IntentDeployment of an Application.
func sampleApplication() applicationv1alpha1.ApplicationSpec {
	e, s := sampleExpectation(), applicationv1alpha1.ApplicationSpec{Image: "registry.example.org/shop:1", Env: []deploymentv1alpha1.EnvVar{{Name: "GREETING", Value: "hello"}}}
	s.Deploy.Sites, s.Deploy.Type = e.Sites, "web"
	return s
}

// expandingEngines are the engines that may replace a text of a file, as apis/expansion says, by their names.
func expandingEngines() map[string]map[string]any {
	return map[string]map[string]any{
		"Flux":            {"type": "Flux"},
		"FluxTransformed": {"type": "Flux", "acceptProof": "Transformed"},
		"FluxHydrated":    {"type": "Flux", "acceptProof": "Hydrated"},
		"None":            {"type": "None"},
	}
}

// texts that an engine may replace, alone or with the $ of the Blueprint.
func expandedTexts() []string {
	return []string{"${TOKEN}", "x${TOKEN:-${OWN}}", "$${TOKEN}", "${OWN}", "{OWN}", "x$"}
}

// newExpandingSite is a quickstart whose Site has an engine, and whose Blueprint has a variable and the beginning of one, and gives its workload to the intent.
func newExpandingSite(t *testing.T, engine map[string]any) *quickstart {
	t.Helper()
	q := newQuickstart(t)
	q.setField("Site", "edge1", engine, "spec", "engine")
	edit := func(file, old, text string) {
		content, _, _ := unstructured.NestedString(q.object("Blueprint", "web-1.0.0").Object, "spec", "files", file)
		if !strings.Contains(content, old) {
			t.Fatalf("%s of the quickstart has no %q", file, old)
		}
		q.setField("Blueprint", "web-1.0.0", strings.Replace(content, old, text, 1), "spec", "files", file)
	}
	edit("deployment.yaml", "  name: web\n", "  name: web\n  labels: {intentplane.dev/workload: main}\n")
	edit("configmap.yaml", "  index.html: Hello", "  index.html: '<$>'\n  own: ${OWN}")
	edit("replacements.yaml", "fieldPaths: [\"data.[index.html]\"]", "fieldPaths: [\"data.[index.html]\"]\n    options: {delimiter: '>', index: 0}")
	return q
}

// leak returns a file with an object in which the engine would replace a text of the tenant, or "".
func (q *quickstart) leak() (leak string, err error) {
	compiled, err := Compile(q.in.Deployment, q.answer)
	if err != nil {
		return "", err
	}
	rendered, err := Render(q.t.Context(), q.compiler, q.in.Deployment, compiled)
	if err != nil {
		return "", err
	}
	for _, site := range rendered {
		for name, content := range site.Files {
			if bytes.Contains(content, []byte(expansion.AnnotationSubstitute+": disabled")) {
				continue
			}
			remaining := bytes.ReplaceAll(content, []byte("own: ${OWN}"), nil)
			if bytes.Contains(remaining, []byte("${")) {
				return name + ":\n" + string(content), nil
			}
		}
	}
	return "", nil
}

// TestExpandedTexts puts each text that an engine may replace into each text of an intent, an Application, a package of a Bundle and the parameters
// of a Site, which a WorkloadCluster publishes, and renders them. None reaches an object in which the engine would replace it.
func TestExpandedTexts(t *testing.T) {
	for name, engine := range expandingEngines() {
		t.Run(name, func(t *testing.T) {
			q := newExpandingSite(t, engine)
			fields := textFieldsOf(reflect.TypeFor[deploymentv1alpha1.Expectation](), "")
			refused := tryTexts(t, q, fields, sampleExpectation, func(e *deploymentv1alpha1.Expectation) bool {
				q.in.Spec = deploymentv1alpha1.IntentDeploymentSpec{Expectation: e}
				return true
			})
			fields = textFieldsOf(reflect.TypeFor[applicationv1alpha1.ApplicationSpec](), "")
			newApplication := func() *applicationv1alpha1.ApplicationSpec { s := sampleApplication(); return &s }
			refused += tryTexts(t, q, fields, newApplication, func(s *applicationv1alpha1.ApplicationSpec) bool {
				d, err := application.Compile("team-a", "shop", *s)
				if err == nil {
					q.in.Spec = d.Spec
				}
				return err == nil
			})
			fields = textFieldsOf(reflect.TypeFor[bundlev1alpha1.Package](), "")
			refused += tryTexts(t, q, fields, func() *bundlev1alpha1.Package { return &bundlev1alpha1.Package{} }, func(p *bundlev1alpha1.Package) bool {
				q.in.Claim.Name, q.in.Spec = string(p.Name), deploymentv1alpha1.IntentDeploymentSpec{Expectation: sampleExpectation()}
				return len(validation.IsDNS1123Label(q.in.Claim.Name)) == 0
			})
			q.in.Claim.Name, q.in.Spec = "shop", deploymentv1alpha1.IntentDeploymentSpec{Expectation: sampleExpectation()}
			fields = textFieldsOf(reflect.TypeFor[siteParameters](), "")
			refused += tryTexts(t, q, fields, func() *siteParameters { return &siteParameters{} }, func(p *siteParameters) bool {
				parameters := map[string]any{}
				for key, value := range *p {
					parameters[key] = string(value)
				}
				q.setField("Site", "edge1", parameters, "spec", "parameters")
				return true
			})
			if expects := name != "Flux"; expects != (refused > 0) {
				t.Errorf("%d texts were refused because the engine may replace them", refused)
			}
		})
	}
}

// siteParameters are the parameters of a Site.
type siteParameters map[string]catalogv1alpha1.ParameterValue

// TestExpandedTextsOfSpec puts each text into each text of an IntentDeployment beside its expectation, at a Site whose engine may replace each variable.
func TestExpandedTextsOfSpec(t *testing.T) {
	q := newExpandingSite(t, expandingEngines()["None"])
	fields := slices.DeleteFunc(textFieldsOf(reflect.TypeFor[deploymentv1alpha1.IntentDeploymentSpec](), ""), func(f textField) bool {
		return strings.HasPrefix(f.path, ".Expectation")
	})
	if len(fields) < 10 {
		t.Errorf("An IntentDeployment has %d texts beside its expectation: the walk misses some", len(fields))
	}
	sample := func() *deploymentv1alpha1.IntentDeploymentSpec {
		return &deploymentv1alpha1.IntentDeploymentSpec{Expectation: sampleExpectation()}
	}
	tryTexts(t, q, fields, sample, func(s *deploymentv1alpha1.IntentDeploymentSpec) bool {
		q.in.Spec = *s
		return true
	})
}

// tryTexts puts each text into each of some fields of a value, renders it, and returns how many texts were refused because the engine may replace them.
func tryTexts[T any](t *testing.T, q *quickstart, fields []textField, sample func() *T, put func(*T) bool) int {
	t.Helper()
	refused := 0
	for _, field := range fields {
		for _, text := range expandedTexts() {
			v := sample()
			field.set(reflect.ValueOf(v).Elem(), text)
			if !put(v) {
				continue
			}
			leak, err := q.leak()
			if leak != "" {
				t.Errorf("%T%s: %q reaches %s", *v, field.path, text, leak)
			}
			if err != nil && strings.Contains(err.Error(), "may replace") {
				if reason := compile.ReasonOf(err); reason != deploymentv1alpha1.ReasonPolicyDenied {
					t.Errorf("%T%s: %q is refused with reason %q: %v", *v, field.path, text, reason, err)
				}
				refused++
			}
		}
	}
	return refused
}
