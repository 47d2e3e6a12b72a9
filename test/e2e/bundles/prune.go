package bundles

import (
	"context"
	"os/exec"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/bundles/state"
)

// runPruneCommand runs kubectl-intent prune in the namespace of the stage, and returns its output on both streams, and its exit code.
func (s *stage) runPruneCommand(args ...string) (string, int) {
	s.T.Helper()
	all := slices.Concat([]string{"prune"}, args, []string{"--min-age", "0s", "--namespace", s.Namespace, "--kubeconfig", cp.Kubeconfig})
	c := exec.CommandContext(context.WithoutCancel(s.T.Context()), s.Built("kubectl-intent"), all...)
	out, err := c.CombinedOutput()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		s.T.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// wantPruneOutput compares the output of a call of prune, and its exit code.
func (s *stage) wantPruneOutput(code int, says string, args ...string) string {
	s.T.Helper()
	out, got := s.runPruneCommand(args...)
	if got != code || !strings.Contains(out, says) {
		s.T.Errorf("prune %v: exit code %d, want %d and %q:\n%s", args, got, code, says, out)
	}
	return out
}

// pruneLeftovers removes two packages from a Bundle, and adds one of them again between the plan and its confirmation.
func (s *stage) pruneLeftovers(apiVersion, otherVersion, record string) {
	s.T.Helper()
	s.applyAndAwaitPhase(s.describeBundle(apiVersion, "platform", "1", s.describePackage("front", "1.0", 1, "middle"), s.describePackage("middle", "1.0", 1), s.describePackage("own", "1.0", 1)), "Succeeded")
	s.applyAndAwaitPhase(s.describeBundle(otherVersion, "other", "1", s.describePackage("beside", "1.0", 1)), "Succeeded")
	s.wantPruneOutput(0, "0 packages to prune, 0 to keep", record, "--confirm")
	u := s.applyAndAwaitPhase(s.describeBundle(apiVersion, "platform", "2", s.describePackage("own", "1.0", 1)), "Succeeded")
	s.awaitMessage(u, "front", "unreferenced Unreferenced")
	s.awaitMessage(u, "middle", "unreferenced Unreferenced")
	s.awaitRecorded(record, state.Success, "own success 1.0", "middle unreferenced 1.0", "front unreferenced 1.0")
	s.wantPruneOutput(1, "NotInPlan", record, "--only", "own", "--dry-run")
	s.wantPruneOutput(0, "0 packages to prune", bundleRecordName(s.describeBundle(otherVersion, "other", "1")), "--dry-run")
	plan := s.wantPruneOutput(0, "2 packages to prune, 0 to keep", record, "--dry-run")
	_, digest, _ := strings.Cut(strings.TrimSpace(plan), "Plan ")
	s.wantPruneOutput(0, s.Namespace+"/middle   DependedOn", record, "--only", "middle", "--dry-run")
	// The package returns between the plan and the confirmation.
	back := s.applyAndAwaitPhase(s.describeBundle(apiVersion, "platform", "3", s.describePackage("own", "1.0", 1), s.describePackage("middle", "1.0", 1)), "Succeeded")
	s.wantPruneOutput(3, "the plan changed", record, "--plan", digest)
	if !s.objectExists("middle") || !s.objectExists("front") {
		s.T.Fatal("A plan that changed removed something.")
	}
	s.wantPruneOutput(0, "1 package", record, "--confirm")
	if s.objectExists("front") || !s.objectExists("middle") || s.hasPackageFiles("front") || !s.hasPackageFiles("middle") {
		s.T.Error("Prune removes packages that left their bundle, and nothing else.")
	}
	s.awaitMessage(back, "middle", "success")
	s.awaitRecorded(record, state.Success, "own success 1.0", "middle success 1.0")
}

// pruneOrphaned deletes the Bundle that a package left. It goes, too, once no record or bundle names it.
func (s *stage) pruneOrphaned(apiVersion string) {
	s.T.Helper()
	smaller := s.describeBundle(apiVersion, "platform", "4", s.describePackage("own", "1.0", 1))
	s.applyAndAwaitPhase(smaller, "Succeeded")
	s.awaitMessage(smaller, "middle", "unreferenced Unreferenced")
	s.awaitDeleted(smaller)
	theirs, err := state.NewClient(s.kube, state.Options{Namespace: s.Namespace, Prefix: "theirs-", Writer: "test"})
	s.Must(err)
	_, err = theirs.InitBundleState(s.T.Context(), state.Bundle{Name: "uses", Version: "1", Packages: []state.Package{{Name: "middle"}}}, state.NotDeployed)
	s.Must(err)
	s.wantPruneOutput(0, "UsedByBundle", "--confirm")
	s.Must(theirs.RemoveBundleState(s.T.Context(), "uses"))
	s.wantPruneOutput(0, "removed 1 package", "--confirm")
	if s.objectExists("middle") || s.hasPackageFiles("middle") {
		s.T.Error("The packages of a deleted bundle still exist.")
	}
}
