package disruption

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// newDeployments describes so many deployments of each shape, each with a service of its own.
func newDeployments(s *scene.Scene, deployments int) []*unstructured.Unstructured {
	all := []*unstructured.Unstructured{}
	for i := range deployments {
		composite, claim := fmt.Sprintf("composite-%d", i), fmt.Sprintf("claim-%d", i)
		all = append(all, s.Composite(composite, intentOfService(s, composite, 1, "edge1")), s.Claim(claim, intentOfService(s, claim, 1, "edge1")))
	}
	return all
}

// wantOneCommitEach fails the test unless the branch has one commit for the first revision of each of some deployments, and no other one of ours.
func wantOneCommitEach(s *scene.Scene, deployments int) {
	s.T.Helper()
	found := map[string]int{}
	for _, c := range s.Commits() {
		if claim := c.Trailers["Intentplane-Claim"]; claim != "" {
			found[claim+" "+c.Trailers["Intentplane-Revision"]]++
		}
	}
	twice := map[string]int{}
	for subject, n := range found {
		if n > 1 {
			twice[subject] = n
		}
	}
	if diff := cmp.Diff(map[string]int{}, twice); diff != "" || len(found) != deployments {
		s.T.Errorf("%d of %d deployments have their commit; those with more: -want, +got:\n%s", len(found), deployments, diff)
	}
}
