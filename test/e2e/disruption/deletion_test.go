package disruption

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

func TestDeleteClaim(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	otherDeployment := s.Succeed(s.Composite("other", intentOfService(s, "other", 1, "edge1", "edge2")))
	rest := s.Files()
	s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1", "edge2")))
	claim := s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2")))

	s.Delete(claim)
	s.Gone(claim)
	if diff := cmp.Diff(rest, s.Files()); diff != "" {
		t.Errorf("files of others: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(int64(2), closedRevision(s, claim)); diff != "" {
		t.Errorf("last revision of the deleted claim: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(recordAtRevision(1), recordOfClaim(s, otherDeployment)); diff != "" {
		t.Errorf("state of the other deployment: -want, +got:\n%s", diff)
	}

	recreated := s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1", "edge2")))
	if got := scene.Number(recreated, "status", "revision"); got < 3 {
		t.Errorf("a claim of the same name should go on counting after revision 2, not with %d", got)
	}
	wantCommits(s, 5)
}

func TestDeleteOrphans(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	claim := s.Succeed(s.Set(s.Claim("shop", intentWithReplicas(s, 1, "edge1")), "Orphan", "spec", "deliveryConfig", "deletionPolicy"))
	previous := s.Files()
	s.Delete(claim)
	awaitDeletion(s, claim)
	if diff := cmp.Diff(previous, s.Files()); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
	wantCommits(s, 1)
}

func TestDeleteNamespace(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1")))
	s.Succeed(s.Composite("other", intentOfService(s, "other", 1, "edge1")))
	s.Run("delete", "namespace", s.Namespace, "--wait", "--timeout="+patience.Limit.String())
	if diff := cmp.Diff(map[string]string{"README.md": "Not ours.\n"}, s.Files()); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
}

// TestDeleteManaged deletes the composed objects of two living deployments. They are composed again, and continue at their position; with
// its deployment each is deleted for good.
func TestDeleteManaged(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	composite := s.Succeed(s.Composite("other", intentOfService(s, "other", 1, "edge1", "edge2")))
	s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1", "edge2")))
	claim := s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2")))
	previous, files := deliveryUIDs(s), s.Files()

	s.Run("delete", "managed", "--all", "-n", s.Namespace, "--wait", "--timeout="+patience.Limit.String())
	s.Until("the GitDeliveries are there again, and delivered", patience.Limit, func() bool { return areNewAndDelivered(s, previous) })
	for o, revision := range map[*unstructured.Unstructured]int64{composite: 1, claim: 2} {
		observed := s.Await(o, "as it was before", func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Ready", corev1.ConditionTrue, "") && scene.Number(u, "status", "verifiedRevision") == revision
		})
		if got := scene.Number(observed, "status", "revision"); got != revision {
			t.Errorf("%s %s: want revision %d, got %d", o.GetKind(), o.GetName(), revision, got)
		}
		if diff := cmp.Diff(recordAtRevision(revision), recordOfClaim(s, o)); diff != "" {
			t.Errorf("state of %s: -want, +got:\n%s", o.GetName(), diff)
		}
	}
	if diff := cmp.Diff(files, s.Files()); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
	wantCommits(s, 3)

	s.Delete(composite)
	s.Delete(claim)
	s.Gone(composite)
	s.Gone(claim)
	if diff := cmp.Diff(map[string]string{"README.md": "Not ours.\n"}, s.Files()); diff != "" {
		t.Errorf("files after the deployments: -want, +got:\n%s", diff)
	}
}
