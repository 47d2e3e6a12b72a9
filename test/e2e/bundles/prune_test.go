package bundles

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/scene"
)

// prune runs kubectl-intent prune in the namespace of the stage, and returns what it prints on either stream, and its exit code.
func (s *stage) prune(args ...string) (string, int) {
	s.T.Helper()
	all := slices.Concat([]string{"prune"}, args, []string{"--min-age", "0s", "--namespace", s.Namespace, "--kubeconfig", cp.Kubeconfig})
	c := exec.CommandContext(context.WithoutCancel(s.T.Context()), s.Built("kubectl-intent"), all...)
	out, err := c.CombinedOutput()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		s.T.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// wants compares what a call of prune says, and its exit code.
func (s *stage) wants(code int, says string, args ...string) string {
	s.T.Helper()
	out, got := s.prune(args...)
	if got != code || !strings.Contains(out, says) {
		s.T.Errorf("prune %v: exit code %d, want %d and %q:\n%s", args, got, code, says, out)
	}
	return out
}

// TestPrune removes packages that left their bundle, and none that is used or came back.
func TestPrune(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ apiVersion, other, record string }{"Claim": {claims, namespaced, "platform"}, "Namespaced": {namespaced, claims, "platform.ns"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.pruneLeft(tc.apiVersion, tc.other, tc.record)
			s.pruneOrphaned(tc.apiVersion)
			if !s.isThere("beside") || scene.Field(s.Now(s.bundle(tc.other, "other", "1")), "status", "phase") != "Succeeded" {
				t.Error("Another bundle was changed.")
			}
		})
	}
}

// pruneLeft lets two packages leave a Bundle, and one of them come back between the plan and its confirmation.
func (s *stage) pruneLeft(apiVersion, other, record string) {
	s.T.Helper()
	s.reaches(s.bundle(apiVersion, "platform", "1", s.pkg("front", "1.0", 1, "middle"), s.pkg("middle", "1.0", 1), s.pkg("own", "1.0", 1)), "Succeeded")
	s.reaches(s.bundle(other, "other", "1", s.pkg("beside", "1.0", 1)), "Succeeded")
	s.wants(0, "0 packages to prune, 0 to keep", record, "--confirm")
	u := s.reaches(s.bundle(apiVersion, "platform", "2", s.pkg("own", "1.0", 1)), "Succeeded")
	s.says(u, "front", "unreferenced Unreferenced")
	s.says(u, "middle", "unreferenced Unreferenced")
	s.recorded(record, state.Success, "own success 1.0", "middle unreferenced 1.0", "front unreferenced 1.0")
	s.wants(1, "NotInPlan", record, "--only", "own", "--dry-run")
	s.wants(0, "0 packages to prune", recordOf(s.bundle(other, "other", "1")), "--dry-run")
	plan := s.wants(0, "2 packages to prune, 0 to keep", record, "--dry-run")
	_, digest, _ := strings.Cut(strings.TrimSpace(plan), "Plan ")
	s.wants(0, s.Namespace+"/middle   DependedOn", record, "--only", "middle", "--dry-run")
	// The package comes back between the plan and the confirmation.
	back := s.reaches(s.bundle(apiVersion, "platform", "3", s.pkg("own", "1.0", 1), s.pkg("middle", "1.0", 1)), "Succeeded")
	s.wants(3, "the plan changed", record, "--plan", digest)
	if !s.isThere("middle") || !s.isThere("front") {
		s.T.Fatal("A plan that changed removed something.")
	}
	s.wants(0, "1 package", record, "--confirm")
	if s.isThere("front") || !s.isThere("middle") || s.hasFiles("front") || !s.hasFiles("middle") {
		s.T.Error("Prune removes what left its bundle, and nothing else.")
	}
	s.says(back, "middle", "success")
	s.recorded(record, state.Success, "own success 1.0", "middle success 1.0")
}

// pruneOrphaned deletes the Bundle that a package left. It goes, too, once no record or bundle names it.
func (s *stage) pruneOrphaned(apiVersion string) {
	s.T.Helper()
	less := s.bundle(apiVersion, "platform", "4", s.pkg("own", "1.0", 1))
	s.reaches(less, "Succeeded")
	s.says(less, "middle", "unreferenced Unreferenced")
	s.deleted(less)
	theirs, err := state.NewClient(s.kube, state.Options{Namespace: s.Namespace, Prefix: "theirs-", Writer: "test"})
	s.must(err)
	_, err = theirs.InitBundleState(s.T.Context(), state.Bundle{Name: "uses", Version: "1", Packages: []state.Package{{Name: "middle"}}}, state.NotDeployed)
	s.must(err)
	s.wants(0, "UsedByBundle", "--confirm")
	s.must(theirs.RemoveBundleState(s.T.Context(), "uses"))
	s.wants(0, "removed 1 package", "--confirm")
	if s.isThere("middle") || s.hasFiles("middle") {
		s.T.Error("What a deleted bundle left is still there.")
	}
}

// TestPruneAfterSuccess lets Bundles of both shapes prune what left them: not while a package fails, not what another Bundle names, and not before its time.
func TestPruneAfterSuccess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ apiVersion, record string }{"Claim": {claims, "platform"}, "Namespaced": {namespaced, "platform.ns"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			pruning := func(version, age string, packages ...map[string]any) *unstructured.Unstructured {
				o := s.bundle(tc.apiVersion, "platform", version, packages...)
				spec, _ := o.Object["spec"].(map[string]any)
				spec["prune"], spec["pruneMinAge"] = "AfterSuccess", age
				return o
			}
			s.reaches(pruning("1", "1h", s.pkg("own", "1.0", 1), s.pkg("base", "1.0", 1), s.pkg("front", "1.0", 1, "base"), s.pkg("kept", "1.0", 1)), "Succeeded")
			s.Run("label", "intentdeployments.intentplane.dev/kept", "-n", s.Namespace, "intentplane.dev/prune=keep")
			u := s.reaches(pruning("2", "1h", s.pkg("own", "1.0", 1)), "Succeeded")
			s.says(u, "front", "unreferenced Unreferenced")
			u = s.reaches(pruning("3", "0s", s.bad("own", "1.1")), "Failed")
			s.says(u, "own", "failed DeploymentFailed")
			if !s.isThere("front") || !s.isThere("base") {
				t.Error("A Bundle that failed, or whose packages left just now, prunes nothing.")
			}
			u = s.reaches(pruning("4", "0s", s.pkg("own", "1.2", 1)), "Succeeded")
			s.Until("what left is gone", scene.Patience, func() bool { return !s.isThere("front") && !s.isThere("base") })
			if s.hasFiles("front") || s.hasFiles("base") || !s.isThere("kept") || !s.hasFiles("own") {
				t.Error("The Bundle prunes what left it, and nothing else.")
			}
			s.recorded(tc.record, state.Success, "own success 1.2", "kept unreferenced 1.0")
			s.says(u, "kept", "unreferenced Unreferenced")
			events := s.Run("get", "events", "-n", s.Namespace, "--field-selector", "reason=PackagePruned", "-o", "jsonpath={.items[*].message}")
			if !strings.Contains(events, "Package front is removed") || !strings.Contains(events, "Package base is removed") {
				t.Errorf("events: %s", events)
			}
			s.deleted(u)
			if !s.isThere("kept") {
				t.Error("The deletion of the Bundle removed what had left it.")
			}
		})
	}
}

// TestPruneTenants asks about packages of another namespace.
func TestPruneTenants(t *testing.T) {
	t.Parallel()
	one, two := newStage(t), newStage(t)
	one.reaches(one.bundle(claims, "platform", "1", one.pkg("gone", "1.0", 1), one.pkg("own", "1.0", 1)), "Succeeded")
	u := one.reaches(one.bundle(claims, "platform", "2", one.pkg("own", "1.0", 1)), "Succeeded")
	one.says(u, "gone", "unreferenced Unreferenced")
	out := two.wants(0, "0 packages to prune, 0 to keep", "--namespaces", one.Namespace, "--confirm")
	out += two.wants(0, "0 packages to prune, 0 to keep", "platform", "--namespaces", "*", "--confirm")
	if strings.Contains(out, one.Namespace) || strings.Contains(out, "gone") || !one.isThere("gone") {
		t.Errorf("a request of another namespace sees or removes a package:\n%s", out)
	}
}
