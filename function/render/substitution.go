package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/function/intent"
)

// Substitution says whether an engine may replace ${NAME} in what is rendered by values that its own configuration has from Secrets, as Flux does
// where a Kustomization has postBuild.substituteFrom.
type Substitution string

// Substitutions at a Site.
const (
	// SubstitutionNone means that the engine of the Site replaces nothing.
	SubstitutionNone Substitution = ""

	// SubstitutionDisabled means that an annotation of each object disables the substitution.
	SubstitutionDisabled Substitution = "Disabled"

	// SubstitutionPossible means that the engine may replace variables of the Blueprint. Values of a claim must not contain any.
	SubstitutionPossible Substitution = "Possible"
)

const (
	substitutionFile = "substitution.yaml"

	// annotationSubstitute disables the substitution of Flux in an object (fluxcd/pkg/kustomize, SubstituteVariables).
	annotationSubstitute = "kustomize.toolkit.fluxcd.io/substitute"
)

// SubstitutionAt returns whether the engine of a Site may replace variables. Where a Site accepts transformed objects, Blueprints are written for
// that. An engine of type None may be Flux.
func SubstitutionAt(e catalogv1alpha1.SiteEngine) Substitution {
	switch {
	case e.Type == catalogv1alpha1.EngineArgoCD || e.Type == catalogv1alpha1.EngineConfigSync:
		return SubstitutionNone
	case e.Type == catalogv1alpha1.EngineFlux && (e.AcceptProof == "" || e.AcceptProof == "Exact"):
		return SubstitutionDisabled
	}
	return SubstitutionPossible
}

// A SubstitutionError means that the engine of a Site would replace a part of an intent's value by data that the claim's namespace may not read.
type SubstitutionError struct {
	// Field of the intent.
	Field string

	site string
}

// Error names the field and the Site.
func (e *SubstitutionError) Error() string { return e.In("") }

// In is the message with what the path of the field begins with.
func (e *SubstitutionError) In(prefix string) string {
	return fmt.Sprintf("%s%s: the GitOps engine of Site %q may replace ${...} by values of its own Secrets: leave it out, and a $ at the end too", prefix, e.Field, e.site)
}

// CheckSubstitution returns a SubstitutionError for a value of an intent that holds the beginning of a variable, where the engine of a Site may
// replace it.
func CheckSubstitution(i intent.Intent, s Site) error {
	if s.Substitution != SubstitutionPossible {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(i.Parameters)) {
		if beginsVariable(i.Parameters[key]) {
			return &SubstitutionError{Field: "parameters." + key, site: s.Name}
		}
	}
	if beginsVariable(i.Image) {
		return &SubstitutionError{Field: "image", site: s.Name}
	}
	return nil
}

// beginsVariable reports whether a text contains ${, or ends with a $ before which a Blueprint may put a brace.
func beginsVariable(text string) bool {
	return strings.Contains(text, "${") || strings.HasSuffix(text, "$")
}

// addSubstitutionTransformer adds the transformer that annotates every object where the engine is to replace nothing. The pods of a workload are not
// annotated: they would be replaced.
func addSubstitutionTransformer(in Input, own map[string]any, transformers []string) []string {
	if in.Site.Substitution != SubstitutionDisabled {
		return transformers
	}
	own[substitutionFile] = builtinTransformer("AnnotationsTransformer", "substitution", map[string]any{
		"annotations": map[string]string{annotationSubstitute: "disabled"},
		"fieldSpecs":  []map[string]any{{"path": "metadata/annotations", "create": true}},
	})
	return append(transformers, substitutionFile)
}
