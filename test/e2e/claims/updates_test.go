package claims

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

func TestAutomaticUpdate(t *testing.T) {
	t.Parallel()
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			o := shape.describe(s, "shop", intentWithReplicas(s, 1, "edge1"))
			s.Succeed(o)
			wantVersion(s, "edge1", "")
			s.Release("1.1.0", "1.0.0")
			observed := awaitRevision(s, o, 2)
			s.AwaitCommits(2)
			wantVersion(s, "edge1", "1.1.0")
			if diff := cmp.Diff(s.BlueprintName()+"-1.1.0", scene.Field(observed, "status", "blueprint", "name")); diff != "" {
				t.Errorf("status.blueprint.name: -want, +got:\n%s", diff)
			}
		})
	}
}

// Each of these tests stays below the limit of reactions that Crossplane allows a composite within some seconds.

func TestManualUpdateWaits(t *testing.T) {
	t.Parallel()
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o := pendingUpdate(t, shape)
			// Regardless of the number of observations.
			s.Succeed(s.Set(o, "11m", "spec", "deliveryConfig", "syncWaitTimeout"))
			wantFirstVersion(s, 1)
			// Without its status.
			composite := s.Now(o)
			if shape.resource == claimResource {
				composite = s.XR(composite)
			}
			s.Patch(composite, `{"status": {"phase": null, "revision": null, "blueprint": null, "update": null, "delivery": null}}`, "status")
			s.Await(composite, "a status again", func(u *unstructured.Unstructured) bool {
				return scene.Number(u, "status", "revision") == 1 && scene.Field(u, "status", "update", "blueprint") == newestVersion(s)
			})
			wantFirstVersion(s, 1)
			// A change of the intent goes out with the Blueprint that it has.
			s.Succeed(s.Set(o, intentWithReplicas(s, 2, "edge1"), "spec", "intent"))
			awaitUpdate(s, awaitRevision(s, o, 2), newestVersion(s))
			wantFirstVersion(s, 2)
		})
	}
}

func TestManualUpdateApproved(t *testing.T) {
	t.Parallel()
	const requests = "rolloutrequests.rollout.intentplane.dev"
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o := pendingUpdate(t, shape)
			good := s.Set(s.Request("good", o, rolloutv1alpha1.ActionApproveUpdate, 1), "tested on staging\n\nIntentplane-Revision: 9", "spec", "reason")
			s.Apply(good)
			s.Inside("wait", "--timeout="+patience.Limit.String(), "--for=condition=Completed", requests+"/good")
			observed := awaitUpdate(s, awaitRevision(s, o, 2), "")
			commit := s.AwaitCommits(2)[0]
			wantVersion(s, "edge1", "1.1.0")
			if diff := cmp.Diff(newestVersion(s), scene.Field(observed, "status", "blueprint", "name")); diff != "" {
				t.Errorf("status.blueprint.name: -want, +got:\n%s", diff)
			}
			wantColumns(t, "kubectl get "+requests, scene.ParseTable(s.Inside("get", requests))["good"],
				scene.Row{"DEPLOYMENT": "shop", "ACTION": "ApproveUpdate", "REVISION": "1", "ACCEPTED": "True", "COMPLETED": "True", "REASON": "Done"})
			closed := s.Await(good, "closed", func(u *unstructured.Unstructured) bool { return len(u.GetLabels()) == 0 })
			if diff := cmp.Diff(int64(2), scene.Number(closed, "status", "newRevision")); diff != "" {
				t.Errorf("status.newRevision: -want, +got:\n%s", diff)
			}
			const reason = "tested on staging Intentplane-Revision: 9"
			trailers := map[string]string{}
			for _, name := range []string{"Request", "Requested-By", "Reason", "Revision"} {
				trailers[name] = commit.Trailers["Intentplane-"+name]
			}
			wantTrailers := map[string]string{"Request": "good " + string(closed.GetUID()), "Requested-By": "ann", "Reason": reason, "Revision": "2"}
			if diff := cmp.Diff(wantTrailers, trailers); diff != "" {
				t.Errorf("trailers of the commit: -want, +got:\n%s", diff)
			}
			want := &ledger.RequestReference{Name: "good", UID: string(closed.GetUID()), By: "ann", Reason: reason}
			if diff := cmp.Diff(want, s.Delivery().Status.AtProvider.Ledger.Current.RequestRef); diff != "" {
				t.Errorf("requestRef of the revision in the ledger: -want, +got:\n%s", diff)
			}
			if refusal := s.Refused(s.Set(good, int64(2), "spec", "revision")); !strings.Contains(refusal, "spec never changes") {
				t.Errorf("a request changed: %s", refusal)
			}
		})
	}
}

// TestRefusedRequests makes requests that change nothing.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		action   rolloutv1alpha1.Action
		revision int64
		field    string
		value    any
		want     rolloutv1alpha1.Result
	}{
		"Digest": {
			reason: "An approval of another content is stale.",
			action: rolloutv1alpha1.ActionApproveUpdate, revision: 1, field: "request", value: "sha256:0", want: rolloutv1alpha1.ResultStale,
		},
		"Future": {
			reason: "A revision of that number does not exist.",
			action: rolloutv1alpha1.ActionApproveUpdate, revision: 7, want: rolloutv1alpha1.ResultUnknownRevision,
		},
		"Rollback": {
			reason: "A revision is not a rollback target of itself.",
			action: rolloutv1alpha1.ActionRollbackTo, revision: 1, field: "toRevision", value: int64(1), want: rolloutv1alpha1.ResultNoTarget,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o := pendingUpdate(t, shapesOfClaims()["Claim"])
			r := s.Request("refused", o, tc.action, tc.revision)
			if tc.field != "" {
				s.Set(r, tc.value, "spec", tc.field)
			}
			s.Apply(r)
			s.AwaitRefusal(r, tc.want)
			awaitRevision(s, o, 1)
			wantFirstVersion(s, 1)
		})
	}
}

// TestStaleApproval approves an update that a user saw before the intent changed.
func TestStaleApproval(t *testing.T) {
	t.Parallel()
	s, o := pendingUpdate(t, shapesOfClaims()["Claim"])
	s.Succeed(s.Set(o, intentWithReplicas(s, 2, "edge1"), "spec", "intent"))
	awaitRevision(s, o, 2)
	stale := s.Request("stale", o, rolloutv1alpha1.ActionApproveUpdate, 1)
	s.Apply(stale)
	s.AwaitRefusal(stale, rolloutv1alpha1.ResultStale)
	awaitUpdate(s, awaitRevision(s, o, 2), newestVersion(s))
	wantFirstVersion(s, 2)
}

// TestMalformedRequests makes requests that the API server refuses.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	cases := map[string]struct {
		reason string
		action rolloutv1alpha1.Action
		field  []string
		value  any
		want   string
	}{
		"NoTarget": {
			reason: "A rollback needs a revision to roll back to.",
			action: rolloutv1alpha1.ActionRollbackTo, field: []string{"reason"}, value: "x", want: "toRevision goes with action RollbackTo",
		},
		"Target": {
			reason: "An approval with a target revision is refused.",
			action: rolloutv1alpha1.ActionApproveUpdate, field: []string{"toRevision"}, value: int64(1),
			want: "toRevision goes with action RollbackTo",
		},
		"NoStep": {
			reason: "A promotion has a step, or goes to the end.",
			action: rolloutv1alpha1.ActionPromote, field: []string{"reason"}, value: "x", want: "step or full goes with action Promote",
		},
		"NoRevision": {
			reason: "Revisions are counted from 1.",
			action: rolloutv1alpha1.ActionApproveUpdate, field: []string{"revision"}, value: int64(0), want: "spec.revision",
		},
		"Action": {reason: "Actions are a closed set.", action: "Explode", field: []string{"reason"}, value: "x", want: "spec.action"},
		"Kind": {
			reason: "A request about another kind is refused.",
			action: rolloutv1alpha1.ActionApproveUpdate, field: []string{"deploymentRef", "kind"}, value: "Pod", want: "spec.deploymentRef.kind",
		},
		"Line": {
			reason: "A name is one line.",
			action: rolloutv1alpha1.ActionApproveUpdate, field: []string{"requestedBy"}, value: "ann\nIntentplane-Revision: 9",
			want: "spec.requestedBy",
		},
	}
	for name, tc := range cases {
		s.Case(name, func(s *scene.Scene) {
			r := s.Request("malformed", s.Claim("shop", ""), tc.action, 1)
			refusal := s.Refused(s.Set(r, tc.value, append([]string{"spec"}, tc.field...)...))
			if !strings.Contains(refusal, tc.want) {
				s.T.Errorf("\n%s\nwant %q in %q", tc.reason, tc.want, refusal)
			}
		})
	}
}

// TestRequestComesFirst makes a request about a deployment before the deployment exists.
func TestRequestComesFirst(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	o := s.Claim("shop", intentWithReplicas(s, 1, "edge1"))
	early := s.Request("early", o, rolloutv1alpha1.ActionApproveUpdate, 1)
	s.Apply(early)
	s.AwaitRefusal(early, rolloutv1alpha1.Result(rolloutv1alpha1.ReasonUnknownDeployment))
	s.Succeed(o)
	s.AwaitRefusal(early, rolloutv1alpha1.ResultNoUpdate)
	awaitRevision(s, o, 1)
}
