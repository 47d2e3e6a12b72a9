package engines

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/engines/coverage"
)

// newArgoReport returns the resources that the last comparison found in sync. A hook, and an object that another Application owns, has no status there; an
// excluded one is not listed at all, and has a warning.
func (a argoApplication) newArgoReport(w Want, s argoSource, main *unstructured.Unstructured) coverage.Report {
	out := coverage.Report{Applied: argoResources(main), Common: s.commonInstructions()}
	if field := a.renamingField(s); field != "" {
		out.Uncompared = fmt.Sprintf("Application %s/%s has %s", main.GetNamespace(), main.GetName(), field)
	}
	for _, c := range a.Status.Conditions {
		if warning, ok := argoWarning(c.Type, c.Message); ok {
			if cleanDirectory(s.Path) == w.ClaimDir {
				warning.Problem = c.Message
			}
			out.Warnings = append(out.Warnings, warning)
		}
	}
	return out
}

// commonInstructions returns the instructions in the annotations that kustomize adds to each object of the source.
func (s argoSource) commonInstructions() []instruction.Instruction {
	annotations, _, _ := unstructured.NestedStringMap(s.Kustomize, "commonAnnotations")
	return coverage.AddedInstructions(catalogv1alpha1.EngineArgoCD, nil, annotations, "kustomize.commonAnnotations of the Application's source")
}

// argoResources yields the resources that the last comparison found in sync.
func argoResources(main *unstructured.Unstructured) iter.Seq[policy.Object] {
	return func(yield func(policy.Object) bool) {
		for r := range listEntries(main, "status", "resources") {
			if textOfEntry(r, "status") != "Synced" || isNonEmptyValue(r["hook"]) || isNonEmptyValue(r["requiresPruning"]) {
				continue
			}
			if !yield(policy.Object{Group: textOfEntry(r, "group"), Kind: textOfEntry(r, "kind"), Namespace: textOfEntry(r, "namespace"), Name: textOfEntry(r, "name")}) {
				return
			}
		}
	}
}

// renamingField returns the field of the spec because of which objects may have other names than in the files, or "".
func (a argoApplication) renamingField(s argoSource) string {
	fields := slices.Sorted(maps.Keys(s.Kustomize))
	switch {
	case a.Spec.SourceHydrator != nil:
		return "spec.sourceHydrator"
	case len(fields) == 0:
		return ""
	case len(a.Spec.Sources) > 0:
		return "spec.sources[].kustomize." + fields[0]
	}
	return "spec.source.kustomize." + fields[0]
}

// argoWarning returns the warning of a condition that is about one object, in words that name no other one. Its message begins with the object.
func argoWarning(conditionType, message string) (coverage.Warning, bool) {
	words := append(strings.Fields(strings.TrimPrefix(message, "Resource ")), "", "")
	switch conditionType {
	case "RepeatedResourceWarning":
		return coverage.Warning{Subject: words[0], Problem: "several files hold it", IsRepeated: true}, true
	case "SharedResourceWarning":
		return coverage.Warning{Subject: words[0], Problem: "another Application owns it"}, true
	case "ExcludedResourceWarning":
		return coverage.Warning{Subject: words[0] + " " + words[1], Problem: "the settings exclude it"}, true
	}
	return coverage.Warning{}, false
}
