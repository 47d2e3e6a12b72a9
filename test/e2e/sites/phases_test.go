package sites

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestEditedInEachPhase changes the intent while a deployment stands in a phase: it begins again, and gets there.
func TestEditedInEachPhase(t *testing.T) {
	t.Parallel()
	for _, p := range standpoints() {
		t.Run(string(p.phase), func(t *testing.T) {
			t.Parallel()
			s := newManySites(t, "edge1")
			u := p.stayInPhase(s)
			p.checkStandpoint(s, u)
			commits := len(s.Commits())
			o := s.Claim(claim, s.intentWithReplicas(7))
			s.Reach(o, "begun anew", func(u *unstructured.Unstructured) bool { return scene.Number(u, "status", "revision") == p.revision+1 })
			s.suspendEngine("edge1", false)
			observed := s.Succeed(o)
			if diff := cmp.Diff(slices.Concat(p.seen, transitionsOfSuccess(fmt.Sprint(p.revision+1), string(p.phase))), s.logOfTransitions(observed)); diff != "" {
				t.Errorf("transitions: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(int32(7), s.replicasAtSite()); diff != "" {
				t.Errorf("replicas at the Site: -want, +got:\n%s", diff)
			}
			s.AwaitCommits(commits + 1)
		})
	}
}

// TestDeletedInEachPhase deletes a deployment while it stands in a phase. Nothing is left but the directory of the Site, and the number of
// the last revision in the state.
func TestDeletedInEachPhase(t *testing.T) {
	t.Parallel()
	for _, p := range standpoints() {
		t.Run(string(p.phase), func(t *testing.T) {
			t.Parallel()
			s := newManySites(t, "edge1")
			o := p.stayInPhase(s)
			s.Delete(o)
			s.Gone(o)
			s.Until("the end of its composed objects", patience.Limit, func() bool { return s.composedNames() == "" })
			if diff := cmp.Diff([]string{"README.md", "clusters/edge1/.placeholder/README"}, scene.Names(s.Files())); diff != "" {
				t.Errorf("files: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff(p.revision, s.closedRevision()); diff != "" {
				t.Errorf("last revision in the state: -want, +got:\n%s", diff)
			}
		})
	}
}
