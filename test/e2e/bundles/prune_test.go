package bundles

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestPrunePackages removes packages that left their bundle, except for used and returned packages.
func TestPrunePackages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ apiVersion, other, record string }{"Claim": {claims, namespaced, "platform"}, "Namespaced": {namespaced, claims, "platform.ns"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBundleStage(t)
			s.pruneLeftovers(tc.apiVersion, tc.other, tc.record)
			s.pruneOrphaned(tc.apiVersion)
			if !s.objectExists("beside") || scene.Field(s.Now(s.describeBundle(tc.other, "other", "1")), "status", "phase") != "Succeeded" {
				t.Error("Another bundle was changed.")
			}
		})
	}
}

// TestPruneAfterSuccess has Bundles of both shapes that prune their unreferenced packages: not while a package fails, not a package that another Bundle names,
// and not before its time.
func TestPruneAfterSuccess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ apiVersion, record string }{"Claim": {claims, "platform"}, "Namespaced": {namespaced, "platform.ns"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBundleStage(t)
			pruning := func(version, age string, packages ...map[string]any) *unstructured.Unstructured {
				o := s.describeBundle(tc.apiVersion, "platform", version, packages...)
				spec, _ := o.Object["spec"].(map[string]any)
				spec["prune"], spec["pruneMinAge"] = "AfterSuccess", age
				return o
			}
			s.applyAndAwaitPhase(pruning("1", "1h", s.describePackage("own", "1.0", 1), s.describePackage("base", "1.0", 1), s.describePackage("front", "1.0", 1, "base"), s.describePackage("kept", "1.0", 1)), "Succeeded")
			s.Run("label", "intentdeployments.intentplane.dev/kept", "-n", s.Namespace, "intentplane.dev/prune=keep")
			u := s.applyAndAwaitPhase(pruning("2", "1h", s.describePackage("own", "1.0", 1)), "Succeeded")
			s.awaitMessage(u, "front", "unreferenced Unreferenced")
			u = s.applyAndAwaitPhase(pruning("3", "0s", s.brokenPackage("own", "1.1")), "Failed")
			s.awaitMessage(u, "own", "failed DeploymentFailed")
			if !s.objectExists("front") || !s.objectExists("base") {
				t.Error("A Bundle that failed, or whose packages left just now, prunes nothing.")
			}
			u = s.applyAndAwaitPhase(pruning("4", "0s", s.describePackage("own", "1.2", 1)), "Succeeded")
			s.Until("the unreferenced packages are removed", patience.Limit, func() bool { return !s.objectExists("front") && !s.objectExists("base") })
			if s.hasPackageFiles("front") || s.hasPackageFiles("base") || !s.objectExists("kept") || !s.hasPackageFiles("own") {
				t.Error("The Bundle prunes its unreferenced packages, and nothing else.")
			}
			s.awaitRecorded(tc.record, state.Success, "own success 1.2", "kept unreferenced 1.0")
			s.awaitMessage(u, "kept", "unreferenced Unreferenced")
			events := s.Run("get", "events", "-n", s.Namespace, "--field-selector", "reason=PackagePruned", "-o", "jsonpath={.items[*].message}")
			if !strings.Contains(events, "Package front is removed") || !strings.Contains(events, "Package base is removed") {
				t.Errorf("events: %s", events)
			}
			s.awaitDeleted(u)
			if !s.objectExists("kept") {
				t.Error("The deletion of the Bundle removed an unreferenced package.")
			}
		})
	}
}

// TestPruneTenants requests to prune packages of another namespace.
func TestPruneTenants(t *testing.T) {
	t.Parallel()
	firstTenant, secondTenant := newBundleStage(t), newBundleStage(t)
	firstTenant.applyAndAwaitPhase(firstTenant.describeBundle(claims, "platform", "1", firstTenant.describePackage("gone", "1.0", 1), firstTenant.describePackage("own", "1.0", 1)), "Succeeded")
	u := firstTenant.applyAndAwaitPhase(firstTenant.describeBundle(claims, "platform", "2", firstTenant.describePackage("own", "1.0", 1)), "Succeeded")
	firstTenant.awaitMessage(u, "gone", "unreferenced Unreferenced")
	out := secondTenant.wantPruneOutput(0, "0 packages to prune, 0 to keep", "--namespaces", firstTenant.Namespace, "--confirm")
	out += secondTenant.wantPruneOutput(0, "0 packages to prune, 0 to keep", "platform", "--namespaces", "*", "--confirm")
	if strings.Contains(out, firstTenant.Namespace) || strings.Contains(out, "gone") || !firstTenant.objectExists("gone") {
		t.Errorf("a request of another namespace sees or removes a package:\n%s", out)
	}
}
