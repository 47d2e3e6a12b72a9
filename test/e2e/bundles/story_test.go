package bundles

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/scene"
)

// TestStory follows a Bundle of each shape: three layers, of which the middle one fails and is corrected, a package that leaves and comes back, one that is
// taken away, a record that is lost, and the deletion.
func TestStory(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ apiVersion, record string }{"Claim": {claims, "platform"}, "Namespaced": {namespaced, "platform.ns"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			three := func(version string, middle map[string]any) *unstructured.Unstructured {
				return s.bundle(tc.apiVersion, "platform", version, s.pkg("front", "1.0", 1, "middle"), middle, s.pkg("base", "1.0", 1))
			}
			u := s.reaches(three("1.0.0", s.bad("middle", "1.0", "base")), "Failed")
			if got := statuses(u); got["front"] != "not_deployed AwaitingDependency" || got["middle"] != "failed DeploymentFailed" || s.isThere("front") {
				t.Errorf("behind a failure: %v", got)
			}
			s.says(u, "base", "success")
			s.recorded(tc.record, state.Failed, "base success 1.0", "middle failed", "front not_deployed")
			u = s.reaches(three("1.0.1", s.pkg("middle", "1.1", 1, "base")), "Succeeded")
			s.recorded(tc.record, state.Success, "base success 1.0", "middle success 1.1", "front success 1.0")
			s.checkReports(u)
			s.leaveAndReturn(tc.apiVersion, tc.record)
			s.loseRecord(u, tc.record)
			s.deleted(u)
			for _, name := range []string{"front", "middle", "base"} {
				if s.isThere(name) || s.hasFiles(name) {
					t.Errorf("package %s is left behind", name)
				}
			}
			s.noRecord(tc.record)
		})
	}
}

// TestShared lets two Bundles have one package: one drops it, and then both do. A third one has it with another spec.
func TestShared(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.reaches(s.bundle(claims, "one", "1", s.pkg("shared", "1.0", 1), s.pkg("own", "1.0", 1)), "Succeeded")
	s.reaches(s.bundle(namespaced, "two", "1", s.pkg("shared", "1.0", 1)), "Succeeded")
	third := s.reaches(s.bundle(claims, "third", "1", s.pkg("shared", "2.0", 3)), "Failed")
	s.says(third, "shared", "failed PackageConflict")
	s.deleted(third)
	uid := s.Now(s.packageOf("shared")).GetUID()
	one := s.reaches(s.bundle(claims, "one", "2", s.pkg("own", "1.0", 1)), "Succeeded")
	s.Until("the package is handed over", scene.Patience, func() bool {
		return s.Now(s.packageOf("shared")).GetLabels()["state.intentplane.dev/bundle"] == "two"
	})
	if o := s.Now(s.packageOf("shared")); o.GetUID() != uid || scene.Number(s.Now(one), "status", "unreferenced") != 0 {
		t.Errorf("a package that was handed over: %v, %v", o.GetUID(), s.Now(one).Object["status"])
	}
	two := s.reaches(s.bundle(namespaced, "two", "2", s.pkg("extra", "1.0", 1)), "Succeeded")
	s.says(two, "shared", "unreferenced Unreferenced")
	s.deleted(two)
	if s.isThere("extra") || !s.isThere("shared") || !s.hasFiles("shared") {
		t.Error("The deletion of a Bundle removes what it names, and leaves what left it.")
	}
	s.noRecord("two.ns")
	if got := s.Now(s.packageOf("own")); got.GetDeletionTimestamp() != nil {
		t.Error("The deletion removed a package of another Bundle.")
	}
}

// TestNotTaken gives packages the names of what others made.
func TestNotTaken(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	theirs := s.Composite("shop", s.intent("shop", 1))
	s.Succeed(theirs)
	before := s.Now(theirs)
	u := s.reaches(s.bundle(claims, "platform", "1", s.pkg("shop", "1.0", 2)), "Failed")
	s.says(u, "shop", "failed NameTaken")
	if after := s.Now(theirs); after.GetGeneration() != before.GetGeneration() || len(after.GetLabels()) != len(before.GetLabels()) {
		t.Errorf("what a user made was changed: %v", after.Object["spec"])
	}
	s.reaches(s.bundle(claims, "platform", "2", with(s.pkg("shop", "1.0", 1), "adopt", true)), "Succeeded")
	if after := s.Now(theirs); after.GetUID() != before.GetUID() || after.GetLabels()["state.intentplane.dev/bundle"] != "platform" {
		t.Errorf("labels of what was adopted: %v", after.GetLabels())
	}
	existing := map[string]any{"name": "base", "existing": map[string]any{"kind": "IntentDeployment", "group": "claims.intentplane.dev"}}
	waiting := s.reaches(s.bundle(namespaced, "waiting", "1", s.pkg("front", "1.0", 1, "base"), existing), "Deploying")
	s.says(waiting, "base", "not_deployed Missing")
	base := s.Claim("base", s.intent("base", 1))
	s.Succeed(base)
	s.AwaitPhase(waiting, "Succeeded")
	s.deleted(waiting)
	if s.isThere("front") || s.Now(base).GetDeletionTimestamp() != nil {
		t.Error("The deletion of a Bundle removes what it made, and not what it waited for.")
	}
}

// TestOrphan leaves the packages of a Bundle, and a Bundle of that name takes them up again.
func TestOrphan(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.Set(s.bundle(claims, "platform", "1", s.pkg("shop", "1.0", 1)), "Orphan", "spec", "deletionPolicy")
	u := s.reaches(o, "Succeeded")
	uid := s.Now(s.packageOf("shop")).GetUID()
	s.deleted(u)
	s.noRecord("platform")
	if got := s.Now(s.packageOf("shop")); got.GetDeletionTimestamp() != nil || got.GetAnnotations()["state.intentplane.dev/unreferenced-since"] == "" {
		t.Errorf("an orphaned package: %v", got.GetAnnotations())
	}
	s.reaches(s.bundle(claims, "platform", "1", s.pkg("shop", "1.0", 1)), "Succeeded")
	if got := s.Now(s.packageOf("shop")); got.GetUID() != uid || got.GetAnnotations()["state.intentplane.dev/unreferenced-since"] != "" {
		t.Errorf("an orphaned package that was taken up again: %v", got.GetAnnotations())
	}
	s.Run("delete", "bundlestates.state.intentplane.dev", "--all", "-n", s.Namespace)
	s.Until("the BundleState is made again", scene.Patience, func() bool {
		return strings.Contains(s.Run("get", "bundlestates.state.intentplane.dev", "-n", s.Namespace), "platform")
	})
	if got := s.Now(s.packageOf("shop")); got.GetUID() != uid || got.GetDeletionTimestamp() != nil {
		t.Error("The deletion of a BundleState removed a package while its Bundle lives.")
	}
}

// TestNamespaceDeleted deletes a namespace with a Bundle in it.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.reaches(s.bundle(claims, "platform", "1", s.pkg("front", "1.0", 1, "base"), s.pkg("base", "1.0", 1)), "Succeeded")
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetName(s.Namespace)
	s.Delete(ns)
	s.Gone(ns)
	if s.hasFiles("front") || s.hasFiles("base") {
		t.Error("Files of packages are left in the repository.")
	}
}
