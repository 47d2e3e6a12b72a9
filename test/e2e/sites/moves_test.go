package sites

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestMovedSite moves a Site to another directory. The old directory stays until the Site runs the new directory.
func TestMovedSite(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		live   bool
	}{
		"Delivering": {reason: "A Site moves before anything runs there."},
		"Succeeded":  {reason: "A Site moves while its deployment runs.", live: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newManySites(t, "edge1")
			claim := s.Claim("shop", s.intentForSites("shop", 1, "edge1"))
			if tc.live {
				s.suspendEngine("edge1", false)
				s.Succeed(claim)
			}
			s.Reach(claim, "delivered", func(u *unstructured.Unstructured) bool {
				return scene.Is(u, "Delivered", corev1.ConditionTrue, "Delivered")
			})

			s.Patch(s.NewSite("edge1"), `{"spec":{"repository":{"path":"clusters/moved"}}}`)
			s.Await(claim, "revision 2 in the new directory", func(u *unstructured.Unstructured) bool {
				return scene.Number(u, "status", "revision") == 2 && s.stateOfSite(u, "edge1") == "Syncing"
			})
			s.wantDirectories(tc.reason, "shop", "clusters/edge1", "clusters/moved")

			s.patchAtSite(newFluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", s.Site("edge1")), `{"spec":{"path":"./clusters/moved","suspend":false}}`)
			s.Await(claim, "Succeeded", func(u *unstructured.Unstructured) bool {
				return scene.Field(u, "status", "phase") == "Succeeded" && scene.Number(u, "status", "liveRevision") == 2
			})
			s.wantDirectories(tc.reason, "shop", "clusters/moved")
			if got := s.replicasAtSite(); got != 1 {
				t.Errorf("\n%s\nreplicas at the Site: want 1, got %d", tc.reason, got)
			}
		})
	}
}

// TestLeftSite leaves a Site, and returns to it.
func TestLeftSite(t *testing.T) {
	t.Parallel()
	s := newManySites(t, "edge1", "edge2")
	s.suspendEngine("edge1", false)
	s.suspendEngine("edge2", false)
	claim := s.Claim("shop", s.intentForSites("shop", 1, "edge1", "edge2"))
	s.Succeed(claim)

	s.suspendEngine("edge1", true)
	s.Reach(s.Set(claim, s.intentForSites("shop", 2, "edge1"), "spec", "intent"), "delivered", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Delivered", corev1.ConditionTrue, "Delivered")
	})
	s.wantRepoReplicas("the remaining tree stays until the rest is live", "2", "1")
	s.suspendEngine("edge1", false)
	s.Succeed(claim)
	s.wantRepoReplicas("then it goes", "2", "")
	s.Succeed(s.Set(claim, s.intentForSites("shop", 2, "edge1", "edge2"), "spec", "intent"))
	s.wantRepoReplicas("and comes again", "2", "2")
}

// TestPausedParticipants pauses the participants of a delivery, one at a time. A paused participant holds still, and continues when it is
// resumed.
func TestPausedParticipants(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		which  func(*stage, *unstructured.Unstructured) *unstructured.Unstructured
		held   string
	}{
		"Composite": {
			reason: "While the composite is paused, no revision is ordered.",
			which:  func(_ *stage, o *unstructured.Unstructured) *unstructured.Unstructured { return o }, held: "1",
		},
		"GitDelivery": {reason: "While the GitDelivery is paused, nothing is written.", held: "1", which: func(s *stage, _ *unstructured.Unstructured) *unstructured.Unstructured {
			return s.composedObject("GitDelivery")
		}},
		"SiteSync": {reason: "While the SiteSync is paused, a revision is delivered and stays unobserved.", held: "2", which: func(s *stage, _ *unstructured.Unstructured) *unstructured.Unstructured {
			return s.composedObject("SiteSync")
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newManySites(t, "edge1", "edge2")
			s.suspendEngine("edge1", false)
			s.suspendEngine("edge2", false)
			shop, otherClaim := s.Composite("shop", s.intentForSites("shop", 1, "edge1")), s.Composite("other", s.intentForSites("other", 1, "edge2"))
			s.Succeed(shop)
			paused := tc.which(s, shop)
			s.Patch(paused, `{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`)
			s.Await(paused, "paused", func(u *unstructured.Unstructured) bool {
				return scene.Is(u, "Synced", corev1.ConditionFalse, "ReconcilePaused")
			})
			s.Apply(s.Set(shop, s.intentForSites("shop", 2, "edge1"), "spec", "intent"))
			s.Succeed(otherClaim)
			s.Until("the other deployment goes on", patience.Limit, func() bool { return s.replicasInRepository("edge1")[0] == tc.held })
			if u := s.Now(shop); scene.Field(u, "status", "phase") == "Succeeded" && scene.Field(u, "status", "intentDigest") == s.Digest(shop) {
				t.Errorf("\n%s\nit succeeded while it was paused", tc.reason)
			}
			s.Patch(paused, `{"metadata":{"annotations":{"crossplane.io/paused":null}}}`)
			s.Succeed(shop)
			if diff := cmp.Diff([]string{"2", "1"}, []string{s.replicasInRepository("edge1")[0], fmt.Sprint(s.replicasInCluster(s.Namespace, "other"))}); diff != "" {
				t.Errorf("\n%s\nat the end: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
