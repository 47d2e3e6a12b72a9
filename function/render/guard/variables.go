// Package guard refuses Blueprints, values and rendered objects: a kustomization that reads anything else than the files of its Blueprint, or that costs more
// than a bound allows; values that a Blueprint does not read; images that do not follow the intent; and values of a claim, or objects with variables, that a
// GitOps engine would turn into data which the claim's namespace may not read. It is pure, and does not render.
package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/resource"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/function/intent"
)

// A VariableError means that the engine of a Site would replace a part of a claim's value, or of an object that has it, by data that the claim's
// namespace may not read.
type VariableError struct {
	field, message string
	ofIntent       bool
}

// Error names the field.
func (e *VariableError) Error() string { return e.In("") }

// In is the message with the prefix of the intent's fields, for a field of the intent.
func (e *VariableError) In(prefix string) string {
	if !e.ofIntent {
		prefix = ""
	}
	return prefix + e.field + ": " + e.message
}

// Variables returns the names of the variables that a Blueprint has in its own files, and in the defaults of its parameters.
func Variables(b *catalogv1alpha1.Blueprint) []string { return Context(b).Names }

// Context returns the parts of a Blueprint that could form a variable, from its own files and the defaults of its parameters.
func Context(b *catalogv1alpha1.Blueprint) expansion.Context {
	texts := make([]string, 0, len(b.Spec.Files)+1)
	for _, text := range b.Spec.Files {
		texts = append(texts, string(text))
	}
	if s := b.Spec.ParametersSchema; s != nil {
		texts = append(texts, string(s.Raw))
	}
	return expansion.ContextOf(texts...)
}

// CheckValues returns a VariableError for a text of an intent, or a parameter of a Site, that can make a variable, where the engine of the Site may
// replace it. It looks at all texts of the intent's canonical form, which has everything that is rendered.
func CheckValues(i intent.Intent, site string, parameters map[string]string, c expansion.Context, m expansion.Mode) error {
	if m != expansion.ModePossible {
		return nil
	}
	const message = "%s, and the GitOps engine of Site %q may replace ${...} by values of its own Secrets: leave it out"
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		if reason := c.Explain(parameters[key]); reason != "" {
			return &VariableError{field: fmt.Sprintf("spec.parameters.%s of Site %q", key, site), message: fmt.Sprintf(message, reason, site)}
		}
	}
	values := map[string]any{}
	if err := json.Unmarshal(i.Canonical(), &values); err != nil {
		return errors.Wrap(err, "cannot decode the intent")
	}
	return expansion.EachText(values, func(field, text string) error {
		if reason := c.Explain(text); reason != "" {
			return &VariableError{field: field, message: fmt.Sprintf(message, reason, site), ofIntent: true}
		}
		return nil
	})
}

// DeclareVariables declares the variables of a rendered object in its annotation. It returns a VariableError, which names the object and the field,
// for a variable that is not among the names of the Blueprint. Content is the encoded object: one without a variable is not decoded.
func DeclareVariables(o *resource.Resource, content []byte, names []string) (declared bool, err error) {
	if !bytes.Contains(content, []byte("${")) {
		return false, nil
	}
	object, err := o.Map()
	if err != nil {
		return false, err
	}
	if err := expansion.CheckDeclared(object, names); err != nil {
		return false, &VariableError{field: fmt.Sprintf("%s %q", o.GetKind(), o.GetName()), message: err.Error()}
	}
	annotations := o.GetAnnotations()
	annotations[expansion.AnnotationVariables] = strings.Join(expansion.NamesIn(object), ",")
	return true, o.SetAnnotations(annotations)
}
