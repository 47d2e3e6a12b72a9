package diagnosis

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// rightLines say whether the provider has the rights of examples/rbac/provider.yaml: a line for each rule that it does not have.
func rightLines(e *Expected, f *Facts) []Line {
	object := "ServiceAccount " + f.Account.String()
	return missingRightLines(e.Rules, f, Line{
		Check: checkRights, Object: object, Message: "has the rights of examples/rbac/provider.yaml",
		Fix: fmt.Sprintf("kubectl apply -f examples/rbac/provider.yaml; the subject of its binding has to be %s.", f.Account),
	})
}

// missingRightLines return the missing rights of rules, or the line that none is missing. That one has the fix of the others.
func missingRightLines(rules []rbacv1.PolicyRule, f *Facts, good Line) []Line {
	var out []Line
	unanswered := 0
	for _, rule := range rules {
		var denied []Right
		for _, r := range rightsOfRules(rule) {
			allowed, ok := f.Allowed[r]
			switch {
			case !ok:
				unanswered++
			case !allowed:
				denied = append(denied, r)
			}
		}
		if len(denied) > 0 {
			out = append(out, Line{Check: good.Check, Object: good.Object, Result: Problem, Message: "may not " + formatRights(denied), Fix: good.Fix})
		}
	}
	if unanswered > 0 && f.Unasked != nil {
		out = append(out, unreadLine(good.Check, f.Unasked))
	}
	if len(out) == 0 {
		good.Result, good.Fix = OK, ""
		out = append(out, good)
	}
	return out
}

// formatRights names the resources, each behind its denied verbs. Rights of one resource stand side by side, as in a rule.
func formatRights(all []Right) string {
	out := strings.Builder{}
	for i, r := range all {
		out.WriteString(r.Verb)
		next := Right{}
		if i+1 < len(all) {
			next = all[i+1]
		}
		switch {
		case next.Group == r.Group && next.Resource == r.Resource:
			out.WriteString(", ")
		case next.Verb != "":
			out.WriteString(" " + r.resourceName() + "; ")
		default:
			out.WriteString(" " + r.resourceName())
		}
	}
	return out.String()
}

// escalateRight is the right to give rights that the user does not have.
func escalateRight() Right {
	return Right{Verb: "escalate", Group: rbacv1.GroupName, Resource: "clusterroles"}
}

// Asked returns the rights of the user that are checked before an installation.
func (e *Expected) Asked() []Right {
	return append(append([]Right{escalateRight()}, rightsOfRules(e.Installer...)...), rightsOfRules(e.Rules...)...)
}

// installerLines say whether the user may install.
func installerLines(e *Expected, f *Facts) []Line {
	out := missingRightLines(e.Installer, f, Line{
		Check: checkRights, Object: "you", Message: "may apply examples/install, and install Configurations", Fix: "Ask an administrator of the cluster for the right, or to install it.",
	})
	if f.Allowed[escalateRight()] {
		return out
	}
	return append(out, missingRightLines(e.Rules, f, Line{
		Check: checkRights, Object: "you", Message: "may give the provider the rights of examples/rbac/provider.yaml",
		Fix: "Let an administrator apply examples/rbac/provider.yaml: Kubernetes lets a user give only the rights that the user has.",
	})...)
}
