package cause

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
)

func TestFindForPackage(t *testing.T) {
	object := func(kind string, conditions ...Condition) *Object {
		o := &Object{TypeMeta: metav1.TypeMeta{Kind: kind}}
		o.Metadata.Name, o.Status.Conditions = "a", conditions
		return o
	}
	conditionIs := func(typ string, status metav1.ConditionStatus) Condition {
		return Condition{Type: typ, Status: status, Reason: "R", Message: "m"}
	}
	cases := map[string]struct {
		reason string
		found  Finding
		want   Link
	}{
		"Healthy": {
			reason: "A package that is installed and healthy has no cause.",
			found:  FindForPackage(object("Provider", conditionIs("Installed", "True"), conditionIs("Healthy", "True")), metav1.Now().Time),
		},
		"Silent": {reason: "A package without conditions does not count as stuck.", found: FindForPackage(object("Provider"), metav1.Now().Time)},
		"Unhealthy": {
			reason: "A package that is not healthy needs the platform team.",
			found:  FindForPackage(object("Provider", conditionIs("Installed", "True"), conditionIs("Healthy", "False")), metav1.Now().Time),
			want:   Link{Object: "provider a", Reason: advice.ReasonPackageUnhealthy, Message: "Healthy is False (R): m"},
		},
		"Uninstalled": {
			reason: "A package that is not installed needs the platform team.",
			found:  FindForPackage(object("Configuration", conditionIs("Installed", "False")), metav1.Now().Time),
			want:   Link{Object: "configuration a", Reason: advice.ReasonPackageUnhealthy, Message: "Installed is False (R): m"},
		},
		"NotOffered": {
			reason: "A definition whose claims are not offered needs the platform team.",
			found:  FindForDefinition(object("", conditionIs("Established", "True"), conditionIs("Offered", "False")), metav1.Now().Time),
			want:   Link{Object: "definition a", Reason: advice.ReasonDefinitionNotActive, Message: "Offered is False (R): m"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.found.Cause()
			got.Kind = ""
			if diff := cmp.Diff(tc.want, got); diff != "" || tc.found.NeedsPerson() != (tc.want.Reason != "") || tc.found.IsGood == tc.found.NeedsPerson() {
				t.Errorf("\n%s\nneeds a person: %t; -want, +got:\n%s", tc.reason, tc.found.NeedsPerson(), diff)
			}
		})
	}
}
