package bundles

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

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
	s := newStage(t)
	s.reaches(s.bundle(namespaced, "platform", "1", s.pkg("front", "1.0", 1, "middle"), s.pkg("middle", "1.0", 1), s.pkg("own", "1.0", 1)), "Succeeded")
	s.reaches(s.bundle(claims, "other", "1", s.pkg("beside", "1.0", 1)), "Succeeded")
	s.wants(0, "0 packages to prune, 0 to keep", "platform.ns", "--confirm")
	less := s.bundle(namespaced, "platform", "2", s.pkg("own", "1.0", 1))
	u := s.reaches(less, "Succeeded")
	s.says(u, "front", "unreferenced Unreferenced")
	s.says(u, "middle", "unreferenced Unreferenced")
	s.recorded("platform.ns", state.Success, "own success 1.0", "middle unreferenced 1.0", "front unreferenced 1.0")
	s.wants(1, "NotInPlan", "platform.ns", "--only", "own", "--dry-run")
	s.wants(0, "0 packages to prune", "other", "--dry-run")
	plan := s.wants(0, "2 packages to prune, 0 to keep", "platform.ns", "--dry-run")
	_, digest, _ := strings.Cut(strings.TrimSpace(plan), "Plan ")
	s.wants(0, s.Namespace+"/middle   DependedOn", "platform.ns", "--only", "middle", "--dry-run")
	// The package comes back between the plan and the confirmation.
	back := s.reaches(s.bundle(namespaced, "platform", "3", s.pkg("own", "1.0", 1), s.pkg("middle", "1.0", 1)), "Succeeded")
	s.wants(3, "the plan changed", "platform.ns", "--plan", digest)
	if !s.isThere("middle") || !s.isThere("front") {
		t.Fatal("A plan that changed removed something.")
	}
	s.wants(0, "1 package", "platform.ns", "--confirm")
	if s.isThere("front") || !s.isThere("middle") || s.hasFiles("front") || !s.hasFiles("middle") {
		t.Error("Prune removes what left its bundle, and nothing else.")
	}
	s.says(back, "middle", "success")
	s.recorded("platform.ns", state.Success, "own success 1.0", "middle success 1.0")
	// What a deleted bundle left goes, too, once no record or bundle names it.
	s.reaches(less, "Succeeded")
	s.says(less, "middle", "unreferenced Unreferenced")
	s.deleted(less)
	theirs, err := state.NewClient(s.kube, state.Options{Namespace: s.Namespace, Prefix: "theirs-", Writer: "test"})
	s.must(err)
	_, err = theirs.InitBundleState(t.Context(), state.Bundle{Name: "uses", Version: "1", Packages: []state.Package{{Name: "middle"}}}, state.NotDeployed)
	s.must(err)
	s.wants(0, "UsedByBundle", "--confirm")
	s.must(theirs.RemoveBundleState(t.Context(), "uses"))
	s.wants(0, "removed 1 package", "--confirm")
	if s.isThere("middle") || s.hasFiles("middle") || !s.isThere("beside") {
		t.Error("What a deleted bundle left is still there, or a package of another bundle is gone.")
	}
	if scene.Field(s.Now(s.bundle(claims, "other", "1")), "status", "phase") != "Succeeded" {
		t.Error("another bundle was changed")
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
