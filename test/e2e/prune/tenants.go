package prune

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// crossplane is the namespace whose requests may be about others.
const crossplane = "crossplane-system"

// wantApprovalResult waits for the result of an approval.
func (s *stage) wantApprovalResult(o *unstructured.Unstructured, want any) {
	s.T.Helper()
	s.Await(o, "an answer", func(u *unstructured.Unstructured) bool {
		c := scene.Condition(u, string(v1alpha1.TypeAccepted))
		return c.Reason == want && (c.Status == "True") == (want == v1alpha1.ReasonAccepted)
	})
}
