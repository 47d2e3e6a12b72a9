package bundles

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestBundleLifecycle follows a Bundle of each shape: three layers, of which the middle layer fails and is corrected, a package that leaves and returns, a
// package that is removed, a lost record, and the deletion.
func TestBundleLifecycle(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ apiVersion, record string }{"Claim": {claims, "platform"}, "Namespaced": {namespaced, "platform.ns"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBundleStage(t)
			three := func(version string, middle map[string]any) *unstructured.Unstructured {
				return s.describeBundle(tc.apiVersion, "platform", version, s.describePackage("front", "1.0", 1, "middle"), middle, s.describePackage("base", "1.0", 1))
			}
			u := s.applyAndAwaitPhase(three("1.0.0", s.brokenPackage("middle", "1.0", "base")), "Failed")
			if got := statusesOfPackages(u); got["front"] != "not_deployed AwaitingDependency" || got["middle"] != "failed DeploymentFailed" || s.objectExists("front") {
				t.Errorf("behind a failure: %v", got)
			}
			s.awaitMessage(u, "base", "success")
			s.awaitRecorded(tc.record, state.Failed, "base success 1.0", "middle failed", "front not_deployed")
			u = s.applyAndAwaitPhase(three("1.0.1", s.describePackage("middle", "1.1", 1, "base")), "Succeeded")
			s.awaitRecorded(tc.record, state.Success, "base success 1.0", "middle success 1.1", "front success 1.0")
			s.checkReports(u)
			s.leaveAndReturn(tc.apiVersion, tc.record)
			s.loseBundleRecord(u, tc.record)
			s.awaitDeleted(u)
			for _, name := range []string{"front", "middle", "base"} {
				if s.objectExists(name) || s.hasPackageFiles(name) {
					t.Errorf("package %s is left behind", name)
				}
			}
			s.awaitNoRecord(tc.record)
		})
	}
}

// TestSharedPackage has one package in two Bundles: the first drops it, and then the second. A third Bundle has it with another spec.
func TestSharedPackage(t *testing.T) {
	t.Parallel()
	s := newBundleStage(t)
	s.applyAndAwaitPhase(s.describeBundle(claims, "one", "1", s.describePackage("shared", "1.0", 1), s.describePackage("own", "1.0", 1)), "Succeeded")
	s.applyAndAwaitPhase(s.describeBundle(namespaced, "two", "1", s.describePackage("shared", "1.0", 1)), "Succeeded")
	third := s.applyAndAwaitPhase(s.describeBundle(claims, "third", "1", s.describePackage("shared", "2.0", 3)), "Failed")
	s.awaitMessage(third, "shared", "failed PackageConflict")
	s.awaitDeleted(third)
	uid := s.Now(s.objectOfPackage("shared")).GetUID()
	bundle := s.applyAndAwaitPhase(s.describeBundle(claims, "one", "2", s.describePackage("own", "1.0", 1)), "Succeeded")
	s.Until("the package is handed over", patience.Limit, func() bool {
		return s.Now(s.objectOfPackage("shared")).GetLabels()["state.intentplane.dev/bundle"] == "two"
	})
	if o := s.Now(s.objectOfPackage("shared")); o.GetUID() != uid || scene.Number(s.Now(bundle), "status", "unreferenced") != 0 {
		t.Errorf("a package that was handed over: %v, %v", o.GetUID(), s.Now(bundle).Object["status"])
	}
	two := s.applyAndAwaitPhase(s.describeBundle(namespaced, "two", "2", s.describePackage("extra", "1.0", 1)), "Succeeded")
	s.awaitMessage(two, "shared", "unreferenced Unreferenced")
	s.awaitDeleted(two)
	if s.objectExists("extra") || !s.objectExists("shared") || !s.hasPackageFiles("shared") {
		t.Error("The deletion of a Bundle removes its named packages, and leaves unreferenced packages.")
	}
	s.awaitNoRecord("two.ns")
	if got := s.Now(s.objectOfPackage("own")); got.GetDeletionTimestamp() != nil {
		t.Error("The deletion removed a package of another Bundle.")
	}
}

// TestNotTaken gives packages the names of other users' objects.
func TestNotTaken(t *testing.T) {
	t.Parallel()
	s := newBundleStage(t)
	theirs := s.Composite("shop", s.runIntent("shop", 1))
	s.Succeed(theirs)
	previous := s.Now(theirs)
	u := s.applyAndAwaitPhase(s.describeBundle(claims, "platform", "1", s.describePackage("shop", "1.0", 2)), "Failed")
	s.awaitMessage(u, "shop", "failed NameTaken")
	if current := s.Now(theirs); current.GetGeneration() != previous.GetGeneration() || len(current.GetLabels()) != len(previous.GetLabels()) {
		t.Errorf("the object of a user was changed: %v", current.Object["spec"])
	}
	s.applyAndAwaitPhase(s.describeBundle(claims, "platform", "2", withPackageField(s.describePackage("shop", "1.0", 1), "adopt", true)), "Succeeded")
	if current := s.Now(theirs); current.GetUID() != previous.GetUID() || current.GetLabels()["state.intentplane.dev/bundle"] != "platform" {
		t.Errorf("labels of the adopted object: %v", current.GetLabels())
	}
	existing := map[string]any{"name": "base", "existing": map[string]any{"kind": "IntentDeployment", "group": "claims.intentplane.dev"}}
	waiting := s.applyAndAwaitPhase(s.describeBundle(namespaced, "waiting", "1", s.describePackage("front", "1.0", 1, "base"), existing), "Deploying")
	s.awaitMessage(waiting, "base", "not_deployed Missing")
	base := s.Claim("base", s.runIntent("base", 1))
	s.Succeed(base)
	s.AwaitPhase(waiting, "Succeeded")
	s.awaitDeleted(waiting)
	if s.objectExists("front") || s.Now(base).GetDeletionTimestamp() != nil {
		t.Error("The deletion of a Bundle removes its own objects, and not the objects that it waited for.")
	}
}

// TestForgedLabels writes the labels of a Bundle on a user's deployment. The Bundle does not give it another spec.
func TestForgedLabels(t *testing.T) {
	t.Parallel()
	s := newBundleStage(t)
	theirs := s.Composite("shop", s.runIntent("shop", 1))
	theirs.SetLabels(map[string]string{
		"state.intentplane.dev/bundle": "platform", "state.intentplane.dev/bundle-group": "claims.intentplane.dev", "state.intentplane.dev/package": "shop",
	})
	s.Succeed(theirs)
	previous := s.Now(theirs)
	u := s.applyAndAwaitPhase(s.describeBundle(claims, "platform", "1", s.describePackage("shop", "1.0", 2)), "Failed")
	s.awaitMessage(u, "shop", "failed NameTaken")
	if current := s.Now(theirs); current.GetGeneration() != previous.GetGeneration() {
		t.Errorf("the labels of a Bundle let it change an object of a user: %v", current.Object["spec"])
	}
}

// TestOrphanedPackages leaves the packages of a Bundle, and a Bundle of that name takes them up again.
func TestOrphanedPackages(t *testing.T) {
	t.Parallel()
	s := newBundleStage(t)
	o := s.Set(s.describeBundle(claims, "platform", "1", s.describePackage("shop", "1.0", 1)), "Orphan", "spec", "deletionPolicy")
	u := s.applyAndAwaitPhase(o, "Succeeded")
	uid := s.Now(s.objectOfPackage("shop")).GetUID()
	s.awaitDeleted(u)
	s.awaitNoRecord("platform")
	if got := s.Now(s.objectOfPackage("shop")); got.GetDeletionTimestamp() != nil || got.GetAnnotations()["state.intentplane.dev/unreferenced-since"] == "" {
		t.Errorf("an orphaned package: %v", got.GetAnnotations())
	}
	s.applyAndAwaitPhase(s.describeBundle(claims, "platform", "1", s.describePackage("shop", "1.0", 1)), "Succeeded")
	if got := s.Now(s.objectOfPackage("shop")); got.GetUID() != uid || got.GetAnnotations()["state.intentplane.dev/unreferenced-since"] != "" {
		t.Errorf("an orphaned package that was taken up again: %v", got.GetAnnotations())
	}
	s.Run("delete", "bundlestates.state.intentplane.dev", "--all", "-n", s.Namespace)
	s.Until("the BundleState is made again", patience.Limit, func() bool {
		return strings.Contains(s.Run("get", "bundlestates.state.intentplane.dev", "-n", s.Namespace), "platform")
	})
	if got := s.Now(s.objectOfPackage("shop")); got.GetUID() != uid || got.GetDeletionTimestamp() != nil {
		t.Error("The deletion of a BundleState removed a package while its Bundle lives.")
	}
}

// TestNamespaceDeleted deletes a namespace with a Bundle in it.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	s := newBundleStage(t)
	s.applyAndAwaitPhase(s.describeBundle(claims, "platform", "1", s.describePackage("front", "1.0", 1, "base"), s.describePackage("base", "1.0", 1)), "Succeeded")
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetName(s.Namespace)
	s.Delete(ns)
	s.Gone(ns)
	if s.hasPackageFiles("front") || s.hasPackageFiles("base") {
		t.Error("Files of packages are left in the repository.")
	}
}
