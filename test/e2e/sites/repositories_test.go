package sites

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestMovedRepository moves a Site to another repository. The old repository keeps its files until the Site runs the files of
// the new repository.
func TestMovedRepository(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		live   bool
	}{
		"Delivering": {reason: "A Site changes its repository before anything runs there."},
		"Succeeded":  {reason: "A Site changes its repository while its deployment runs.", live: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			s := newManySites(t, "edge1")
			otherRepository := s.Namespace + "-other"
			s.Must(s.Git.CreateRepo(t.Context(), otherRepository, map[string]string{"README.md": "Not ours.\n"}))
			s.Apply(s.Set(s.ClusterProviderConfig(), s.Git.URL(otherRepository), "spec", "git", "url"))
			claim := s.Claim("shop", s.intentForSites("shop", 1, "edge1"))
			if tc.live {
				s.suspendEngine("edge1", false)
				s.Succeed(claim)
				s.suspendEngine("edge1", true)
			}
			s.Reach(claim, "delivered", func(u *unstructured.Unstructured) bool {
				return scene.Is(u, "Delivered", corev1.ConditionTrue, "Delivered")
			})

			s.Patch(s.NewSite("edge1"), fmt.Sprintf(`{"spec":{"repository":{"providerConfigRef":{"name":%q}}}}`, s.Namespace))
			if !tc.live {
				s.suspendEngine("edge1", false) // A change of the catalog waits for the verdict on the revision that was begun.
			}
			// Crossplane writes the fields of a claim before its conditions: the revision and the Site's state are of one write.
			s.Await(claim, "revision 2 in the new repository", func(u *unstructured.Unstructured) bool {
				return scene.Number(u, "status", "revision") == 2 && s.stateOfSite(u, "edge1") == "Syncing"
			})
			directories := []string{"clusters/edge1"}
			s.wantDirectories("the old one stays until the new one runs", "shop", directories...)
			if diff := cmp.Diff(directories, s.directoriesInRepository(otherRepository, "shop")); diff != "" {
				t.Errorf("directories in the new repository: -want, +got:\n%s", diff)
			}

			if tc.live {
				s.deleteHomeDelivery()
				s.wantDirectories("a user's deletion does not remove it before that", "shop", directories...)
			}
			s.patchAtSite(s.sourceAtSite(), fmt.Sprintf(`{"spec":{"url":%q}}`, s.Git.URL(otherRepository)))
			s.suspendEngine("edge1", false)
			s.Await(claim, "Succeeded", func(u *unstructured.Unstructured) bool {
				return scene.Field(u, "status", "phase") == "Succeeded" && scene.Number(u, "status", "liveRevision") == 2
			})
			s.Until("nothing left behind", patience.Limit, func() bool { return len(s.directoriesOfClaim("shop")) == 0 && len(s.Deliveries()) == 2 }) // The first repository holds the ledger.
			if diff := cmp.Diff(directories, s.directoriesInRepository(otherRepository, "shop")); diff != "" {
				t.Errorf("directories in the new repository at the end: -want, +got:\n%s", diff)
			}
			if got := s.replicasAtSite(); got != 1 {
				t.Errorf("replicas at the Site: want 1, got %d", got)
			}
		})
	}
}

// TestDeletedUnreachable deletes claims while the cluster of their Site does not answer. It is not needed to leave it.
func TestDeletedUnreachable(t *testing.T) {
	t.Parallel()
	s := newManySites(t, "far")
	far := s.moveBehindWire("far")
	s.suspendEngine("far", false)
	live := s.Claim("live", s.intentForSites("live", 1, "far"))
	s.Succeed(live)
	s.Must(far.Cut())
	begun := s.Claim("begun", s.intentForSites("begun", 1, "far"))
	s.Apply(begun)
	for _, c := range []*unstructured.Unstructured{live, begun} {
		s.Await(c, "the running trees are unknown", func(u *unstructured.Unstructured) bool {
			return strings.Contains(scene.Field(u, "status", "delivery", "sites", s.Site("far"), "message"), "ClusterUnreachable")
		})
	}
	for _, c := range []*unstructured.Unstructured{live, begun} {
		s.Delete(c)
	}
	for _, c := range []*unstructured.Unstructured{live, begun} {
		s.Gone(c)
	}
	if diff := cmp.Diff([]string{"README.md", "clusters/far/.placeholder/README"}, scene.Names(s.Files())); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
	s.Until("nothing of them", patience.Limit, func() bool {
		return s.Inside("get", "gitdeliveries.delivery.intentplane.dev,sitesyncs.delivery.intentplane.dev", "-o", "name") == ""
	})
}
