package claims

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// revision waits until a deployment succeeded with a revision.
func revision(s *scene.Scene, o *unstructured.Unstructured, want int64) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(o, "Succeeded and Ready with another revision", func(u *unstructured.Unstructured) bool {
		return scene.Number(u, "status", "revision") == want && scene.Field(u, "status", "phase") == "Succeeded" &&
			scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
}

// update waits until a deployment's status says that a Blueprint waits. Empty means that none does.
func update(s *scene.Scene, o *unstructured.Unstructured, want string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(o, "update "+want, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "update", "blueprint") == want && scene.Field(u, "status", "phase") == "Succeeded"
	})
}

// wantVersion fails the test unless the Deployment at a Site is of a version of the Blueprint. Empty is the first one.
func wantVersion(s *scene.Scene, site, want string) {
	s.T.Helper()
	file := s.FilesBelow(s.Directory(site, "shop"))["deployment-shop.yaml"]
	_, got, _ := strings.Cut(file, "example.org/version: ")
	got, _, _ = strings.Cut(got, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		s.T.Errorf("version at %s: -want, +got:\n%s", site, diff)
	}
}

func TestAutomaticUpdate(t *testing.T) {
	t.Parallel()
	for name, shape := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			o := shape.describe(s, "shop", intent(s, 1, "edge1"))
			s.Succeed(o)
			wantVersion(s, "edge1", "")
			s.Release("1.1.0", "1.0.0")
			seen := revision(s, o, 2)
			s.AwaitCommits(2)
			wantVersion(s, "edge1", "1.1.0")
			if diff := cmp.Diff(s.BlueprintName()+"-1.1.0", scene.Field(seen, "status", "blueprint", "name")); diff != "" {
				t.Errorf("status.blueprint.name: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestManualUpdate(t *testing.T) {
	t.Parallel()
	for name, shape := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1", "edge2")
			o := s.Set(shape.describe(s, "shop", intent(s, 1, "edge1")), "Manual", "spec", "blueprint", "updatePolicy")
			s.Succeed(o)
			s.Release("1.1.0", "1.0.0")
			newest := s.BlueprintName() + "-1.1.0"
			seen := update(s, o, newest)
			if message := scene.Field(seen, "status", "message"); !strings.Contains(message, "An update waits: Blueprint "+newest) {
				t.Errorf("status.message does not say what waits: %q", message)
			}
			holds(s, o, newest)

			// A change of the intent goes out with the Blueprint that it has.
			s.Set(o, intent(s, 2, "edge1", "edge2"), "spec", "intent")
			s.Succeed(o)
			revision(s, o, 2)
			s.AwaitCommits(2)
			wantVersion(s, "edge1", "")
			approve(s, o, newest)
		})
	}
}

// holds shows that a deployment stays as it is, however often it is looked at, and without its status.
func holds(s *scene.Scene, o *unstructured.Unstructured, newest string) {
	s.T.Helper()
	for _, timeout := range []string{"11m", "12m", "13m"} {
		s.Succeed(s.Set(o, timeout, "spec", "deliveryConfig", "syncWaitTimeout"))
	}
	composite := s.Now(o)
	if o.GroupVersionKind().Group == "claims.intentplane.dev" {
		composite = s.XR(composite)
	}
	s.Patch(composite, `{"status": {"phase": null, "revision": null, "blueprint": null, "update": null, "delivery": null}}`, "status")
	update(s, o, newest)
	revision(s, o, 1)
	s.AwaitCommits(1)
	wantVersion(s, "edge1", "")
}

// approve lets the update through, after two that may not.
func approve(s *scene.Scene, o *unstructured.Unstructured, newest string) {
	s.T.Helper()
	const requests = "rolloutrequests.rollout.intentplane.dev"
	stale := s.Request("stale", o, rolloutv1alpha1.ActionApproveUpdate, 1)
	s.Apply(stale)
	s.AwaitRefusal(stale, rolloutv1alpha1.ResultStale)
	later := s.Set(s.Request("later", o, rolloutv1alpha1.ActionRollbackTo, 2), int64(1), "spec", "toRevision")
	s.Apply(later)
	s.AwaitRefusal(later, rolloutv1alpha1.ResultNotSupported)
	revision(s, o, 2)
	s.AwaitCommits(2)

	good := s.Request("good", o, rolloutv1alpha1.ActionApproveUpdate, 2)
	s.Apply(good)
	s.Inside("wait", "--timeout=60s", "--for=condition=Completed", requests+"/good")
	seen := revision(s, o, 3)
	s.AwaitCommits(3)
	wantVersion(s, "edge1", "1.1.0")
	wantVersion(s, "edge2", "1.1.0")
	update(s, o, "")
	if diff := cmp.Diff(newest, scene.Field(seen, "status", "blueprint", "name")); diff != "" {
		s.T.Errorf("status.blueprint.name: -want, +got:\n%s", diff)
	}
	wants(s.T, "kubectl get "+requests, scene.ParseTable(s.Inside("get", requests))["good"],
		scene.Row{"DEPLOYMENT": "shop", "ACTION": "ApproveUpdate", "REVISION": "2", "ACCEPTED": "True", "COMPLETED": "True", "REASON": "Done"})
	closed := s.Await(good, "closed", func(u *unstructured.Unstructured) bool { return len(u.GetLabels()) == 0 })
	if diff := cmp.Diff(int64(3), scene.Number(closed, "status", "newRevision")); diff != "" {
		s.T.Errorf("status.newRevision: -want, +got:\n%s", diff)
	}
	order := s.Delivery().Spec.ForProvider.Order
	want := &rolloutv1alpha1.RequestReference{Name: "good", UID: string(closed.GetUID()), By: "ann"}
	if diff := cmp.Diff(want, order.RequestRef); diff != "" {
		s.T.Errorf("order.requestRef: -want, +got:\n%s", diff)
	}
	if refused := s.Refused(s.Set(s.Request("good", o, rolloutv1alpha1.ActionApproveUpdate, 2), int64(3), "spec", "revision")); !strings.Contains(refused, "spec never changes") {
		s.T.Errorf("a request changed: %s", refused)
	}
}

// TestRequestComesFirst asks something of a deployment that is not there yet.
func TestRequestComesFirst(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	o := s.Claim("shop", intent(s, 1, "edge1"))
	early := s.Request("early", o, rolloutv1alpha1.ActionApproveUpdate, 1)
	s.Apply(early)
	s.AwaitRefusal(early, rolloutv1alpha1.Result(rolloutv1alpha1.ReasonUnknownDeployment))
	s.Succeed(o)
	s.AwaitRefusal(early, rolloutv1alpha1.ResultNoUpdate)
	revision(s, o, 1)
}
