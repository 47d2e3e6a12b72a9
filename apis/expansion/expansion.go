// Package expansion finds the texts that a GitOps engine replaces in the files of a Site before it applies them. The function declares the variables
// of its rendered files, and function and provider refuse each other variable before a push. It is pure.
//
//   - Flux replaces ${NAME} in each object of a Kustomization with spec.postBuild, after kustomize, in the YAML of the object as a whole. An annotation
//     of the object disables that (fluxcd/pkg/kustomize, SubstituteVariables; fluxcd/pkg/envsubst, parse).
//   - Argo CD replaces nothing in files of a directory or of a kustomization. It expands $ARGOCD_APP_NAME and its like in fields of the Application
//     (argo-cd, reposerver/repository, newEnv). A config management plugin, Helm or Jsonnet may replace anything: a Site whose Application has one is
//     never live (EngineNotProvable), and no name of a delivered file is one that Helm or Jsonnet reads.
//   - An ApplicationSet expands Go templates of its own spec, and takes values from files that its generator names. It expands no template in them.
//   - Config Sync runs kustomize and Helm, and applies other files as they are (kpt-config-sync, pkg/hydrate).
//   - kustomize at a Site replaces $(NAME) where a kustomization of the platform declares it in vars, by fields of objects of the same kustomization
//     (kustomize, api/internal/accumulator). Delivered kustomizations have resources alone.
//   - The kubelet replaces $(NAME) in a container by the environment of that container (kubernetes, third_party/forked/golang/expansion).
package expansion

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// Mode specifies whether the engine of a Site may replace variables in the objects that it applies.
type Mode string

// Modes of a Site.
const (
	// ModeNone means that the engine of the Site replaces nothing.
	ModeNone Mode = ""

	// ModeDisabled means that an annotation of each object disables the replacement.
	ModeDisabled Mode = "Disabled"

	// ModePossible means that the engine may replace variables. Objects may contain only the variables that they declare.
	ModePossible Mode = "Possible"
)

// Annotations of objects.
const (
	// AnnotationSubstitute disables the replacement of variables by Flux with the value SubstituteDisabled.
	AnnotationSubstitute = "kustomize.toolkit.fluxcd.io/substitute"

	// SubstituteDisabled is the value of AnnotationSubstitute.
	SubstituteDisabled = "disabled"

	// AnnotationVariables names the variables of an object that its Blueprint has in its own files, with commas between them. It stays with the object
	// in Git, so that a tree of an earlier revision has the variables of its own Blueprint.
	AnnotationVariables = "render.intentplane.dev/variables"
)

// ModeAt returns whether the engine of a Site may replace variables. Where a Site accepts transformed objects, Blueprints are written for that. An
// engine of type None may be Flux.
func ModeAt(e catalogv1alpha1.SiteEngine) Mode {
	switch {
	case e.Type == catalogv1alpha1.EngineArgoCD || e.Type == catalogv1alpha1.EngineConfigSync:
		return ModeNone
	case e.Type == catalogv1alpha1.EngineFlux && (e.AcceptProof == "" || e.AcceptProof == "Exact"):
		return ModeDisabled
	}
	return ModePossible
}

// begin is the text that a variable begins with.
const begin = "${"

// variable matches the beginning of a variable with its name, or with none. ${#NAME} is the length of a value. Escaped variables match too: one more $
// before an escaped variable makes it one again.
var variable = regexp.MustCompile(`\$\{#?([\p{L}\p{N}_]*)`)

// Names returns the names of the variables in texts, sorted. A variable without a name has the name "".
func Names(texts ...string) []string {
	out := []string{}
	for _, text := range texts {
		if !strings.Contains(text, begin) {
			continue
		}
		for _, match := range variable.FindAllStringSubmatch(text, -1) {
			out = append(out, match[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A Context has the texts of a Blueprint that could form a variable together with a text of another origin before or behind them.
type Context struct {
	// Names of the variables of the Blueprint.
	Names []string

	// HasRest is true if one of the names follows a brace without a preceding $, or if a brace is a delimiter of a replacement.
	HasRest bool
}

// delimiter matches a delimiter of a replacement with a brace.
var delimiter = regexp.MustCompile(`delimiter["']?:.*\{`)

// ContextOf returns the context that texts of a Blueprint are.
func ContextOf(texts ...string) Context {
	c := Context{Names: Names(texts...)}
	c.HasRest = slices.ContainsFunc(texts, func(text string) bool { return delimiter.MatchString(text) || c.hasBracedName(text) })
	return c
}

func (c Context) hasBracedName(text string) bool {
	for i, char := range text {
		if char == '{' && (i == 0 || text[i-1] != '$') && c.beginsWithName(text[i:]) {
			return true
		}
	}
	return false
}

// Explain returns the reason why a text can make a variable, alone or with its context, or "".
func (c Context) Explain(text string) string {
	switch {
	case strings.Contains(text, begin):
		return "contains ${"
	case c.beginsWithName(text):
		return "begins with { and the name of a variable of the Blueprint"
	case c.HasRest && strings.HasSuffix(text, "$"):
		return "ends with $, and the Blueprint has a { and the name of a variable"
	}
	return ""
}

// beginsWithName reports whether a text begins with a brace and one of the names. A longer name is another name.
func (c Context) beginsWithName(text string) bool {
	behind, ok := strings.CutPrefix(text, "{")
	if !ok {
		return false
	}
	name := nameAtBeginning.FindString(strings.TrimPrefix(behind, "#"))
	return name != "" && slices.Contains(c.Names, name)
}

// nameAtBeginning matches the name that a text begins with.
var nameAtBeginning = regexp.MustCompile(`^[\p{L}\p{N}_]*`)

// Check returns an error, which names the field and the variable, for an object with a variable that the engine may replace, and that neither the object
// declares nor the directory of the object has. Modes of a Site may follow one another, and trees of an earlier one are restored, so each mode takes the
// annotations of the other one. The engines that replace variables are Flux, which leaves an object with its annotation alone.
func Check(o *unstructured.Unstructured, m Mode, delivered []string) error {
	if m == ModeNone || o.GetAnnotations()[AnnotationSubstitute] == SubstituteDisabled {
		return nil
	}
	return CheckDeclared(o.Object, append(declaredVariables(o), delivered...))
}

// declaredVariables returns the names in the annotation of an object. An object without it declares none.
func declaredVariables(o *unstructured.Unstructured) []string {
	text, ok := o.GetAnnotations()[AnnotationVariables]
	if !ok {
		return nil
	}
	return strings.Split(text, ",")
}

// CheckDeclared returns an error, which names the field and the variable, for a value of JSON with a variable that is not declared.
func CheckDeclared(value any, declared []string) error {
	return EachText(value, func(field, text string) error {
		for _, name := range Names(text) {
			if !slices.Contains(declared, name) {
				return errors.Errorf("%s: variable %q is not in the files of the Blueprint, and the GitOps engine may replace it by a value of its own Secrets", field, name)
			}
		}
		return nil
	})
}

// NamesIn returns the names of the variables in a value of JSON, sorted.
func NamesIn(value any) []string {
	out := []string{}
	_ = EachText(value, func(_, text string) error {
		out = append(out, Names(text)...)
		return nil
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// EachText visits the keys and the texts of a value of JSON, in the order of their fields, and returns the first error of visit.
func EachText(value any, visit func(field, text string) error) error {
	return walkTexts(value, "", visit)
}

func walkTexts(value any, field string, visit func(field, text string) error) error {
	switch v := value.(type) {
	case string:
		return visit(field, v)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			path := fieldPathOfKey(field, key)
			if err := visit(path, key); err != nil {
				return err
			}
			if err := walkTexts(v[key], path, visit); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range v {
			if err := walkTexts(item, fmt.Sprintf("%s[%d]", field, i), visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainKey matches a key that needs no brackets in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// fieldPathOfKey returns the path of a key. A key is shortened: a tenant writes it.
func fieldPathOfKey(parent, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return fmt.Sprintf("%s[%.64s]", parent, key)
	case parent == "":
		return key
	}
	return parent + "." + key
}
