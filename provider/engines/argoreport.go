package engines

import (
	"strings"

	"github.com/intentplane/intentplane/apis/policy"
)

// report returns the resources that the last comparison found in sync. A hook, and an object that another Application owns, has no status there; an
// excluded one is not listed at all, and has a warning.
func (a argoApplication) report(w Want, s argoSource) Report {
	out := Report{Renames: len(s.Kustomize) > 0 || a.Spec.SourceHydrator != nil}
	for _, c := range a.Status.Conditions {
		if warning, ok := argoWarning(c.Type, c.Message); ok {
			if cleanPath(s.Path) == w.ClaimDir {
				warning.Problem = c.Message
			}
			out.Warnings = append(out.Warnings, warning)
		}
	}
	if len(a.Status.Resources)+len(out.Warnings) == 0 {
		return out
	}
	out.Applied = map[policy.Object]bool{}
	for _, r := range a.Status.Resources {
		if r.Status == "Synced" && !r.Hook && !r.RequiresPruning {
			out.Applied[policy.Object{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}] = true
		}
	}
	return out
}

// argoWarning returns the warning of a condition that is about one object, in words that name no other one. Its message begins with the object.
func argoWarning(conditionType, message string) (Warning, bool) {
	words := append(strings.Fields(strings.TrimPrefix(message, "Resource ")), "", "")
	switch conditionType {
	case "RepeatedResourceWarning":
		return Warning{Subject: words[0], Problem: "several files hold it", IsRepeated: true}, true
	case "SharedResourceWarning":
		return Warning{Subject: words[0], Problem: "another Application owns it"}, true
	case "ExcludedResourceWarning":
		return Warning{Subject: words[0] + " " + words[1], Problem: "the settings exclude it"}, true
	}
	return Warning{}, false
}
