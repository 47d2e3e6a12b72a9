package disruption

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// reasonOfReady returns the reason of a GitDelivery's Ready condition.
func reasonOfReady(d *deliveryv1alpha1.GitDelivery) string {
	return string(d.Status.GetCondition(xpv2.TypeReady).Reason)
}

func isDeliveryReady(d *deliveryv1alpha1.GitDelivery) bool {
	return d.Status.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
}

// awaitSecondRevision delivers the second revision of a deployment.
func awaitSecondRevision(s *scene.Scene) *unstructured.Unstructured {
	s.T.Helper()
	s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1", "edge2")))
	claim := s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2")))
	if diff := cmp.Diff(int64(2), scene.Number(claim, "status", "revision")); diff != "" {
		s.T.Fatalf("revision: -want, +got:\n%s", diff)
	}
	wantCommits(s, 2)
	return claim
}

// withoutEndTimes leaves out when an attempt ended: nothing but the status knew.
func withoutEndTimes() cmp.Option {
	return cmpopts.IgnoreFields(deliveryv1alpha1.GitDeliveryObservation{}, "Attempt.EndedAt")
}

// withoutEvents leaves out which events led to the head of the ledger: a delivery that is made again has nothing to record.
func withoutEvents() cmp.Option {
	return cmpopts.IgnoreFields(deliveryv1alpha1.GitDeliveryParameters{}, "Ledger")
}

// wantSameOutcome fails the test unless a deployment gets to where it was before, without a commit.
func wantSameOutcome(s *scene.Scene, claim *unstructured.Unstructured) {
	s.T.Helper()
	now := s.Await(claim, "Ready", func(u *unstructured.Unstructured) bool {
		return scene.Condition(u, "Ready").Status == corev1.ConditionTrue && scene.Field(u, "status", "phase") == "Succeeded"
	})
	for _, field := range [][]string{{"status", "delivery", "gitCommit"}, {"status", "intentDigest"}, {"status", "outcome"}} {
		s.WantEqual(strings.Join(field, "."), scene.Field(claim, field...), scene.Field(now, field...))
	}
	s.WantEqual("revision", int64(2), scene.Number(now, "status", "revision"))
	wantCommits(s, 2)
}
