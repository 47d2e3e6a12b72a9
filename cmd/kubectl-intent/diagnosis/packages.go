package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	xpextv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	xpextv1alpha1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1alpha1"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// packageLines say whether each package is installed and healthy, and whether one is missing.
func packageLines(f *Facts) []Line {
	var out []Line
	for _, p := range []struct {
		kind string
		Part[Package]
	}{{"Configuration", f.Configurations}, {"Function", f.Functions}, {"Provider", f.Providers}} {
		switch {
		case p.Unread != nil:
			out = append(out, unreadLine(checkPackages, p.Unread))
		case len(p.Items) == 0:
			out = append(out, Line{
				Check: checkPackages, Object: p.kind, Result: Problem, Message: "No package of Intentplane is installed.",
				Fix: "Install a Configuration, which brings the function and the provider: docs/install.md says how.",
			})
		}
		for i := range p.Items {
			out = append(out, conditionLine(checkPackages, p.Items[i].kindAndName(), advice.ReasonPackageUnhealthy, p.Items[i].Status.Conditions, string(pkgv1.TypeInstalled), string(pkgv1.TypeHealthy)))
		}
	}
	return out
}

// conditionLine says whether all these conditions are true. Conditions after the first may be absent.
func conditionLine(check, object, reason string, all cause.Conditions, types ...string) Line {
	var trueTypes []string
	for i, typ := range types {
		c := all.Get(typ)
		switch {
		case c.Status == metav1.ConditionFalse:
			return Line{Check: check, Object: object, Result: Problem, Reason: reason, Message: c.Words(), Fix: fixForReason(advice.Installation, reason)}
		case c.Status != metav1.ConditionTrue && i == 0:
			return Line{Check: check, Object: object, Result: Unknown, Message: "no condition " + typ + " says how it is"}
		case c.Status == metav1.ConditionTrue:
			trueTypes = append(trueTypes, typ)
		}
	}
	return Line{Check: check, Object: object, Result: OK, Message: strings.Join(trueTypes, ", ")}
}

// definitionLines say whether our definitions are established, and their claims offered. A Configuration brings all of its definitions.
func definitionLines(e *Expected, f *Facts) []Line {
	if f.Definitions.Unread != nil {
		return []Line{unreadLine(checkDefinitions, f.Definitions.Unread)}
	}
	found := map[string]cause.Object{}
	for _, d := range f.Definitions.Items {
		found[d.Metadata.Name] = d
	}
	var out []Line
	for _, names := range e.Definitions {
		isFound := func(name string) bool { return found[name].Metadata.Name != "" }
		if !slices.ContainsFunc(names, isFound) {
			continue
		}
		for _, name := range names {
			out = append(out, definitionLine(name, found))
		}
	}
	if len(out) == 0 {
		out = append(out, missingLine(checkDefinitions, "definitions of Intentplane", "CompositeResourceDefinition"))
	}
	return out
}

func definitionLine(name string, found map[string]cause.Object) Line {
	d, ok := found[name]
	if !ok {
		return missingLine(checkDefinitions, name, "CompositeResourceDefinition")
	}
	return conditionLine(checkDefinitions, name, advice.ReasonDefinitionNotActive, d.Status.Conditions, string(xpextv1.TypeEstablished), string(xpextv1.TypeOffered))
}

func missingLine(check, object, kind string) Line {
	const reason = advice.ReasonDefinitionNotActive
	return Line{Check: check, Object: object, Result: Problem, Reason: reason, Message: fmt.Sprintf("The cluster has no %s of this name.", kind), Fix: fixForReason(advice.Installation, reason)}
}

// managedKindLines say whether the kinds of the provider are active. All active kinds together have one line.
func managedKindLines(e *Expected, f *Facts) []Line {
	if f.Kinds.Unread != nil {
		return []Line{unreadLine(checkKinds, f.Kinds.Unread)}
	}
	var out []Line
	active := 0
	for _, name := range e.Kinds {
		if l := managedKindLine(name, f.Kinds.Items); l.Result != OK {
			out = append(out, l)
			continue
		}
		active++
	}
	if active > 0 {
		out = append([]Line{{Check: checkKinds, Object: "kinds of the provider", Result: OK, Message: fmt.Sprintf("%d of %d are active", active, len(e.Kinds))}}, out...)
	}
	return out
}

func managedKindLine(name string, all []ManagedKind) Line {
	i := slices.IndexFunc(all, func(k ManagedKind) bool { return k.Metadata.Name == name })
	if i < 0 {
		return missingLine(checkKinds, name, "ManagedResourceDefinition")
	}
	if all[i].Spec.State != string(xpextv1alpha1.ManagedResourceDefinitionActive) {
		const reason = advice.ReasonDefinitionNotActive
		return Line{
			Check: checkKinds, Object: name, Result: Problem, Reason: reason, Message: "The kind is not active: no ManagedResourceActivationPolicy names it.",
			Fix: "Apply the policies of package/activation, or install the Configuration again, which has one.",
		}
	}
	return conditionLine(checkKinds, name, advice.ReasonDefinitionNotActive, all[i].Status.Conditions, string(xpextv1alpha1.TypeEstablished))
}
