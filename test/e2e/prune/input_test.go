package prune

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRefusedObjects are objects that the API server does not take.
func TestRefusedObjects(t *testing.T) {
	s := newStage(t)
	request := func(field string, value any) *unstructured.Unstructured {
		spec := map[string]any{"scope": "Directories", "providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": scene.Config}}
		spec[field] = value
		return s.describeObject("PruneRequest", "bad", spec)
	}
	approval := func(plan string) *unstructured.Unstructured { return s.describeApproval("bad", "one", "uid", plan) }
	cases := map[string]struct {
		reason string
		object *unstructured.Unstructured
		says   string
	}{
		"Scope":       {reason: "A scope that does not exist is refused.", object: request("scope", "Everything"), says: "Unsupported value"},
		"NegativeAge": {reason: "An age is not negative.", object: request("minAge", "-1h"), says: "must not be negative"},
		"NoAge":       {reason: "An age is a duration.", object: request("minAge", "old"), says: "minAge"},
		"OnlyTwice":   {reason: "A name stands once in only.", object: request("only", []any{"a", "a"}), says: "duplicate entries"},
		"OnlyEmpty":   {reason: "An empty list in only would mean nothing, or all.", object: request("only", []any{}), says: "at least 1"},
		"NoDigest":    {reason: "An approval names a digest.", object: approval("yes"), says: "must be the digest of a plan"},
		"HalfDigest":  {reason: "A part of a digest is refused.", object: approval("sha256:" + strings.Repeat("a", 63)), says: "must be the digest of a plan"},
		"UpperDigest": {reason: "A digest has lower-case digits.", object: approval("sha256:" + strings.Repeat("A", 64)), says: "must be the digest of a plan"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if refusal := s.Refused(tc.object); !strings.Contains(refusal, tc.says) {
				t.Errorf("\n%s\nwant %q in: %s", tc.reason, tc.says, refusal)
			}
		})
	}
}

// TestApprovals answers each approval that does not count with a reason, and removes nothing.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.orphanDirectories(s.describeShop("gone"))
	r := s.requestPlan("one")
	s.Apply(s.describeObject("PruneRequest", "other", map[string]any{
		"scope": "Directories", "minAge": "0s", "allowStateful": true, "providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": scene.Config},
	}))
	otherRequest := s.awaitRequest("other", "a plan", func(r *v1alpha1.PruneRequest) bool { return r.Status.Phase != "" })
	cases := map[string]struct {
		reason string
		object *unstructured.Unstructured
		want   any
	}{
		"unknown": {
			reason: "A request that does not exist has no plan.",
			object: s.describeApproval("unknown", "none", "uid", r.Status.Plan.Digest), want: v1alpha1.ReasonUnknownRequest,
		},
		"again": {
			reason: "A request that was created again is another request.",
			object: s.describeApproval("again", "one", "uid", r.Status.Plan.Digest), want: v1alpha1.ReasonOtherRequest,
		},
		"plan": {
			reason: "The plan of another request is another plan.",
			object: s.describeApproval("plan", "one", string(r.GetUID()), otherRequest.Status.Plan.Digest), want: v1alpha1.ReasonOtherPlan,
		},
		"request": {
			reason: "A plan of another request does not match.",
			object: s.describeApproval("request", "other", string(otherRequest.GetUID()), r.Status.Plan.Digest), want: v1alpha1.ReasonOtherPlan,
		},
	}
	for _, tc := range cases {
		t.Log(tc.reason)
		s.Apply(tc.object)
		s.wantAnswer(tc.object, tc.want)
	}
	s.wantDirectory("gone", true)
	if refusal := s.Refused(s.Set(cases["plan"].object.DeepCopy(), r.Status.Plan.Digest, "spec", "plan")); !strings.Contains(refusal, "spec never changes") {
		t.Errorf("an approval never changes: %s", refusal)
	}
	right := s.describeApproval("right", "one", string(r.GetUID()), r.Status.Plan.Digest)
	s.Apply(right)
	s.wantAnswer(right, v1alpha1.ReasonAccepted)
	s.awaitEnd("one", v1alpha1.PhaseDone)
	late := s.describeApproval("late", "one", string(r.GetUID()), r.Status.Plan.Digest)
	s.Apply(late)
	s.wantAnswer(late, v1alpha1.ReasonTooLate)
	if n := s.pruneCommits(); n != 1 {
		t.Errorf("want 1 commit, got %d", n)
	}
}
