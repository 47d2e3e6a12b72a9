package disruption

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// stateRef is where the control plane of the scenes keeps its state.
const stateRef = "refs/intentplane/test/state"

// entry is what the state says of a claim, as far as these tests look.
type entry struct {
	Deleted bool `json:"deleted"`
	Order   struct {
		Revision int64 `json:"revision"`
	} `json:"order"`
}

func stateOf(s *scene.Scene, claim *unstructured.Unstructured) entry {
	s.T.Helper()
	files, err := s.Git.Files(s.T.Context(), s.Namespace, stateRef)
	if err != nil {
		s.T.Fatal(err)
	}
	path := claim.GroupVersionKind().Group + "/" + claim.GetNamespace() + "/" + claim.GetName() + "/0.json"
	e := entry{}
	if err := json.Unmarshal([]byte(files[path]), &e); err != nil {
		s.T.Fatalf("%s of the state: %v", path, err)
	}
	return e
}

// gone waits until a deployment is gone with all that it was made of.
func gone(s *scene.Scene, o *unstructured.Unstructured) {
	s.T.Helper()
	s.Gone(o)
	s.Until("end of the GitDeliveries", scene.Patience, func() bool { return len(s.Deliveries()) == 0 })
}

func TestDeleteClaim(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	other := s.Succeed(s.Composite("other", intent(s, 1, "edge1", "edge2")))
	rest := s.Files()
	s.Succeed(s.Claim("shop", intent(s, 1, "edge1", "edge2")))
	claim := s.Succeed(s.Claim("shop", intent(s, 2, "edge1", "edge2")))

	s.Delete(claim)
	s.Gone(claim)
	if diff := cmp.Diff(rest, s.Files()); diff != "" {
		t.Errorf("files of others: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(entry{Deleted: true, Order: order(2)}, stateOf(s, claim)); diff != "" {
		t.Errorf("state of the deleted claim: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(entry{Order: order(1)}, stateOf(s, other)); diff != "" {
		t.Errorf("state of the other deployment: -want, +got:\n%s", diff)
	}

	again := s.Succeed(s.Claim("shop", intent(s, 1, "edge1", "edge2")))
	if got := scene.Number(again, "status", "revision"); got < 3 {
		t.Errorf("a claim of the same name should go on counting after revision 2, not with %d", got)
	}
	wantCommits(s, 5)
}

func order(revision int64) struct {
	Revision int64 `json:"revision"`
} {
	o := entry{}.Order
	o.Revision = revision
	return o
}

func TestDeleteOrphans(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	claim := s.Succeed(s.Set(s.Claim("shop", intent(s, 1, "edge1")), "Orphan", "spec", "deliveryConfig", "deletionPolicy"))
	before := s.Files()
	s.Delete(claim)
	gone(s, claim)
	if diff := cmp.Diff(before, s.Files()); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
	wantCommits(s, 1)
}

func TestDeleteNamespace(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	s.Succeed(s.Claim("shop", intent(s, 1, "edge1")))
	s.Succeed(s.Composite("other", intent(s, 1, "edge1")))
	s.Run("delete", "namespace", s.Namespace, "--wait", "--timeout=50s")
	if diff := cmp.Diff(map[string]string{"README.md": "Not ours.\n"}, s.Files()); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
}
