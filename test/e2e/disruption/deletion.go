package disruption

import (
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// stateRef is the ref of the state of the scenes' control plane.
const stateRef = "refs/intentplane/test/state"

// record has the fields of a claim's record in a repository that these tests read.
type record struct {
	Position ledger.Position `json:"position"`
}

// recordAtRevision is the record of a claim at a revision.
func recordAtRevision(revision int64) record {
	return record{Position: ledger.Position{Epoch: 1, Revision: revision}}
}

func recordOfClaim(s *scene.Scene, claim *unstructured.Unstructured) record {
	s.T.Helper()
	r := record{}
	readStateFile(s, claim, "record.json", &r)
	return r
}

// closedRevision is the last revision of the closed ledger of a deleted claim, or -1 if the ledger is not closed.
func closedRevision(s *scene.Scene, claim *unstructured.Unstructured) int64 {
	s.T.Helper()
	var file struct {
		State ledger.State `json:"state"`
	}
	readStateFile(s, claim, "ledger.json", &file)
	if !file.State.IsClosed {
		return -1
	}
	return file.State.LastNumber
}

// readStateFile reads a file that the state of the repository has about a claim.
func readStateFile(s *scene.Scene, claim *unstructured.Unstructured, name string, into any) {
	s.T.Helper()
	files, err := s.Git.Files(s.T.Context(), s.Namespace, stateRef)
	s.Must(err)
	path := claim.GroupVersionKind().Group + "/" + claim.GetNamespace() + "/" + claim.GetName() + "/" + name
	s.Must(errors.Wrapf(json.Unmarshal([]byte(files[path]), into), "%s of the state", path))
}

// awaitDeletion waits for the deletion of a deployment and its composed objects.
func awaitDeletion(s *scene.Scene, o *unstructured.Unstructured) {
	s.T.Helper()
	s.Gone(o)
	s.Until("end of the GitDeliveries", patience.Limit, func() bool { return len(s.Deliveries()) == 0 })
}

// deliveryUIDs are the UIDs of all GitDeliveries of a scene.
func deliveryUIDs(s *scene.Scene) map[types.UID]bool {
	s.T.Helper()
	out := map[types.UID]bool{}
	for _, d := range s.Deliveries() {
		out[d.GetUID()] = true
	}
	return out
}

// areNewAndDelivered is true for as many GitDeliveries as there were before, all of them others, and delivered.
func areNewAndDelivered(s *scene.Scene, previous map[types.UID]bool) bool {
	s.T.Helper()
	all := s.Deliveries()
	return len(all) == len(previous) && !slices.ContainsFunc(all, func(d deliveryv1alpha1.GitDelivery) bool { return previous[d.GetUID()] || !isDeliveredNow(&d) })
}

// isDeliveredNow reports whether a GitDelivery has delivered its current generation.
func isDeliveredNow(d *deliveryv1alpha1.GitDelivery) bool {
	c := d.GetCondition(xpv2.TypeReady)
	return c.Reason == deliveryv1alpha1.ReasonDelivered && c.ObservedGeneration == d.GetGeneration()
}
